// Calibration: what was predicted against what was observed, in groups of rows.

const MOST_POINTS = 10;

/** Return groups with their mean prediction; with rules switched off, only those with known conditions. */
function predictedGroups() {
  const off = switchedOff();
  const scored = groupsHere() ? scoredGroups(current(), off).map((g) => ({ ...g, predicted: inverseLink(g.score) })) : [];
  const given = figures.predicted[state.size];
  const others = allGroups.slice(allGroups.length - given.length).map((g, index) => ({ ...g, predicted: predictedOf(given[index]) }));
  return (off.size ? scored : [...scored, ...others]).filter(({ predicted }) => predicted !== null);
}

/** Return the mean prediction of a group or, of many classes, one for each. */
function predictedOf(figure) {
  return many ? figure.map(numberOf) : numberOf(figure);
}

/** Return groups with the prediction and target of the class in question, if there are many. */
function inQuestion(groups) {
  if (!many) return groups;
  return groups.map((g) => {
    const code = state.asked ?? calledClass(g);
    return { ...g, predicted: g.predicted[code], target: g.target[code] };
  });
}

/** Merge groups with the same prediction, and like ones until there are few points, of about the same weight. */
function calibrationPoints(predicted) {
  const sorted = [...predicted].sort((a, b) => a.predicted - b.predicted);
  // The predictions of merged groups are given in four digits, so these tell which are the same.
  const same = binned(sorted, (g) => g.predicted.toPrecision(4)).map(calibrationPoint);
  if (same.length <= MOST_POINTS) return same;
  const share = sum(same, (point) => point.weight) / MOST_POINTS;
  let before = 0;
  const bins = binned(same, ({ weight }) => {
    before += weight;
    return Math.floor((before - weight / 2) / share);
  });
  return bins.map((points) => calibrationPoint(points.flatMap(({ parts }) => parts)));
}

/** Put neighbours of the same bin together. */
function binned(items, binOf) {
  const bins = [];
  for (const item of items) {
    const bin = binOf(item);
    if (bins.at(-1)?.bin === bin) bins.at(-1).members.push(item);
    else bins.push({ bin, members: [item] });
  }
  return bins.map(({ members }) => members);
}

function calibrationPoint(parts) {
  const [rows, weight] = [sum(parts, (g) => g.rows), sum(parts, (g) => g.weight)];
  const observed = sum(parts, (g) => g.target) / weight;
  const predicted = sum(parts, (g) => g.weight * g.predicted) / weight;
  return { parts, rows, weight, observed, predicted, interval: INTERVALS[data.loss](observed, rows, parts, weight) };
}

const NORMAL_QUANTILE = 1.959963984540054;
function intervalOfMean(mean, n, parts, weight) {
  const error = NORMAL_QUANTILE * Math.sqrt((dispersion() * mean ** POWERS[data.loss]) / (hasExposure ? weight : n));
  return [Math.max(0, mean - error), mean + error];
}

const INTERVALS = {
  logistic: (p, n) => wilson(p, n),
  multinomial: (p, n) => wilson(p, n),
  squared: (mean, n, parts, weight) => {
    const deviation = Math.sqrt(sum(parts, (g) => g.spread + g.weight * (g.target / g.weight - mean) ** 2) / weight);
    return [mean - deviation, mean + deviation];
  },
  poisson: intervalOfMean,
  gamma: intervalOfMean,
  tweedie: intervalOfMean,
};
const INTERVAL_OF_MEAN = "Bars are 95\u00a0% intervals of a mean, as wide as the dispersion of the rows makes them.";
const INTERVAL_WORDS = {
  logistic: "Bars are 95\u00a0% intervals.",
  multinomial: "Bars are 95\u00a0% intervals.",
  squared: "Bars are one standard deviation of the rows.",
  poisson: "Bars are 95\u00a0% intervals of a mean count, as wide as the dispersion of the rows makes them.",
  gamma: INTERVAL_OF_MEAN,
  tweedie: INTERVAL_OF_MEAN,
};

/** Return the deviance of a row on average; for counts at least 1: they vary that much more than a Poisson distribution says. */
function dispersion() {
  const exposure = hasExposure ? sum(allGroups, (g) => g.weight) / figures.rows : 1;
  return Math.max(data.loss === "poisson" ? 1 : 0, numberOf(figures.measures[position()][0]) * exposure);
}

function wilson(p, n) {
  const z2 = NORMAL_QUANTILE ** 2;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (NORMAL_QUANTILE / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

function drawCalibration() {
  byId("calibration-card").hidden = !figures;
  document.querySelector(".pair").classList.toggle("single", !figures);
  if (!figures) return;
  renderAsked();
  const points = calibrationPoints(inQuestion(predictedGroups()));
  byId("calibration-details").hidden = !points.length;
  byId("calibration").replaceChildren(...(points.length ? [calibrationPicture(points)] : []));
  say("calibration-note", points.length ? calibrationWords() : inexactWords());
  tabulateCalibration(points);
}

function calibrationWords() {
  const ideal =
    many && state.asked === null ? "what is predicted is right as often as its probability says" : "what is predicted is what happens";
  const unit = hasExposure ? ", for an exposure of 1" : "";
  return `Each point is a group of rows with like predictions${unit}. On the dashed line, ${ideal}. ${INTERVAL_WORDS[data.loss]}`;
}

/** Offer the classes whose calibration can be shown, the predicted one first. */
function renderAsked() {
  byId("asked-part").hidden = !many;
  const select = byId("asked");
  if (!many || select.options.length) return;
  const entries = classes.map((code) => element("option", { value: code }, className(code)));
  select.replaceChildren(element("option", { value: "" }, "the predicted class"), ...entries);
  select.addEventListener("change", () => {
    state.asked = select.value === "" ? null : Number(select.value);
    drawCalibration();
  });
}

function axisNames() {
  if (many && state.asked === null) return ["probability of the predicted class", "share that is right"];
  const what = predictsShares ? "share" : hasExposure ? "rate" : "mean";
  return [`predicted ${what}`, `observed ${what}`];
}

function calibrationPicture(points) {
  const range = predictsShares ? [0, 1] : padded(points.flatMap(({ predicted, interval }) => [predicted, ...interval]));
  const picture = chart(byId("calibration"), 300, range, range, ...axisNames(), predictsShares ? percentAxis : readable);
  drawPoints(picture, points, range);
  picture.svg.setAttribute(
    "aria-label",
    `Observed against predicted in ${counted(points.length, "group")} of rows; the table below has the numbers.`,
  );
  return picture.svg;
}

function drawPoints({ svg, x, y }, points, [low, high]) {
  svg.append(drawn("line", { class: "ideal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  const heaviest = Math.max(...points.map(({ weight }) => weight));
  for (const { predicted, interval } of points) {
    svg.append(
      drawn("line", { class: "interval", x1: x(predicted), x2: x(predicted), y1: y(interval[0]), y2: y(interval[1]) }),
    );
  }
  for (const { predicted, observed, weight } of points) {
    svg.append(
      drawn("circle", { class: "point", cx: x(predicted), cy: y(observed), r: 3.5 + 5 * Math.sqrt(weight / heaviest) }),
    );
  }
}

function inexactWords() {
  if (hasOffset) return "The offset differs from row to row, so there are no figures with rules switched off.";
  if (hasSlopes) return "What some rules add differs from row to row, so there are no figures with rules switched off.";
  return figures
    ? `At this size, too few rows share a combination of rules for groups of ${figures.least} or more, ` +
        "so there are no figures with rules switched off."
    : "";
}

function tabulateCalibration(points) {
  const write = predictsShares ? percent : readable;
  const line = ({ rows, predicted, observed, interval }) => [
    rows,
    write(predicted),
    write(observed),
    interval.map(write).join(" to "),
  ];
  const lines = points.map((point) => element("tr", {}, ...line(point).map((text) => element("td", {}, pretty(String(text))))));
  const heading = element(
    "tr",
    {},
    ...["rows", "predicted", "observed", "interval"].map((text) => element("th", { scope: "col" }, text)),
  );
  byId("calibration-table").replaceChildren(element("thead", {}, heading), element("tbody", {}, ...lines));
}
