// Decisions: errors and benefit at a threshold of the probability.

/** A score decides where it is known, as in the library; else the mean prediction of the group. */
function isPositive({ score: value, predicted }) {
  return value === undefined ? predicted > state.threshold : value > LINKS.logistic(state.threshold);
}

/** Return the weight of the rows that are called positive or negative, rightly or wrongly. */
function decisionCounts(groups) {
  const [called, others] = [groups.filter(isPositive), groups.filter((g) => !isPositive(g))];
  const [targets, rest] = [(g) => g.target, (g) => g.weight - g.target];
  return {
    truePositive: sum(called, targets),
    falsePositive: sum(called, rest),
    falseNegative: sum(others, targets),
    trueNegative: sum(others, rest),
  };
}

function shareOf(part, other) {
  return part + other > 0 ? part / (part + other) : null;
}

/** True positives minus false ones, which count by the odds of the threshold, for each row. */
function netBenefit(truePositive, falsePositive, total) {
  return (truePositive - falsePositive * Math.exp(LINKS.logistic(state.threshold))) / total;
}

function decisionFigures({ truePositive: tp, falsePositive: fp, falseNegative: fn, trueNegative: tn }) {
  const total = tp + fp + fn + tn;
  const [negative, positive] = data.words.labels.map(visible);
  const [fewer, more] = tp + fn < fp + tn ? [tp + fn, negative] : [fp + tn, positive];
  return [
    { name: "sensitivity", of: shareOf(tp, fn), says: `of ${positive}, called so` },
    { name: "specificity", of: shareOf(tn, fp), says: `of ${negative}, called so` },
    { name: "positive predictive value", of: shareOf(tp, fp), says: `of those called ${positive}, right` },
    { name: "negative predictive value", of: shareOf(tn, fn), says: `of those called ${negative}, right` },
    { name: "errors", of: shareOf(fp + fn, tp + tn), says: `${percent(fewer / total)} if all are called ${more}` },
    { name: "base rate", of: shareOf(tp + fn, fp + tn), says: `are ${positive}` },
    {
      name: "net benefit",
      of: netBenefit(tp, fp, total),
      write: (value) => readable(Number(value.toFixed(4))),
      says: `${readable(Number(netBenefit(tp + fn, fp + tn, total).toFixed(4)))} if all are called ${positive}, 0 if none`,
    },
  ];
}

function renderDecision() {
  byId("decision-card").hidden = many || !(figures && data.words.labels);
  if (byId("decision-card").hidden) return;
  const groups = predictedGroups();
  const counts = decisionCounts(groups);
  byId("decision").replaceChildren(...(groups.length ? decisionFigures(counts).map(decisionTile) : []));
  byId("decision-details").hidden = !groups.length;
  tabulateDecision(counts);
  say("decision-rows", groups.length ? decisionBasis(groups) : inexactWords());
}

function decisionTile({ name, of: value, write = percent, says }) {
  return element(
    "div",
    {},
    element("dt", {}, name),
    element("dd", { "data-decision": name, "data-value": value }, value === null ? "–" : pretty(write(value))),
    element("dd", { class: "change" }, pretty(says)),
  );
}

/** Say on which rows, and how many of them are decided on together. */
function decisionBasis(groups) {
  const merged = sum(groups, (g) => (g.score === undefined ? g.rows : 0));
  const which = isGroupedByScore ? "Rows" : `${counted(merged, "row")} with rare combinations of conditions`;
  return (
    `On ${rowsWords()}.` +
    (merged ? ` ${which} are decided on in groups of like predictions, so these figures are close, but not exact.` : "")
  );
}

function tabulateDecision({ truePositive, falsePositive, falseNegative, trueNegative }) {
  const [negative, positive] = data.words.labels.map(visible);
  const line = (name, ...numbers) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...numbers.map((number) => element("td", {}, pretty(readable(number)))),
    );
  const headings = [`are ${positive}`, `are ${negative}`].map((text) => element("th", { scope: "col" }, text));
  byId("decision-table").replaceChildren(
    element("thead", {}, element("tr", {}, element("td", {}), ...headings)),
    element(
      "tbody",
      {},
      line(`called ${positive}`, truePositive, falsePositive),
      line(`called ${negative}`, falseNegative, trueNegative),
    ),
  );
}

/** Take a threshold in per cent, if it is one; the slider and the field show the same. */
function chooseThreshold(text, chosenIn) {
  const share = Number(text) / 100;
  if (text.trim() === "" || !(share > 0 && share < 1)) return;
  state.threshold = share;
  for (const id of ["threshold", "threshold-number"]) if (id !== chosenIn) byId(id).value = text;
  renderDecision();
  renderCase();
}
