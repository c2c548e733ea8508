"use strict";
// The script of the workbench. Text is only ever set as text: no name and no label is read as markup or code.

// ---- Data -----------------------------------------------------------------------------------------------------------------

const data = JSON.parse(document.getElementById("payload").textContent);
const file = JSON.parse(data.file);
const figures = data.figures;
const quoted = new Set(data.quoted);
const ensembles = data.ensembles.map(([intercept, weights, conditions]) => ({
  intercept,
  rules: weights.map((weight, index) => ({ weight, condition: conditions[index] })),
}));
const allGroups = figures ? decodedGroups(figures) : [];
const state = { size: data.present, off: new Map(), values: new Map(Object.entries(startValues())) };

function startValues() {
  const medians = figures ? figures.medians : {};
  return Object.fromEntries(Object.entries(medians).map(([column, value]) => [column, String(value)]));
}

/** Return the groups of rows, each with the conditions that hold. */
function decodedGroups({ conditions, groups: table }) {
  return table.patterns.map((pattern, index) => {
    const holds = new Set(conditions.filter((_, bit) => (parseInt(pattern[bit >> 2], 16) >> (3 - (bit & 3))) & 1));
    const { rows, weight, target, spread } = table;
    return { holds, rows: rows[index], weight: weight[index], target: target[index], spread: spread ? spread[index] : 0 };
  });
}

function position() { return data.sizes[state.size]; }
function current() { return ensembles[position()]; }
function switchedOff() { return state.off.get(state.size) ?? new Set(); }

/** Return the groups of rows if they speak for the present size, else null. */
function groupsHere() { return figures && figures.spoken[state.size] && allGroups.length ? allGroups : null; }

// ---- One arithmetic -------------------------------------------------------------------------------------------------------
// As everywhere in obliquerules: products added from left to right and compared with >=; the constant, then the weights of the
// rules that fire, added from left to right. A missing value is NaN, which compares as false.

function project([columns, weights], value) {
  let total = weights[0] * value(columns[0]);
  for (let index = 1; index < columns.length; index += 1) total += weights[index] * value(columns[index]);
  return total;
}

function propositionHolds(proposition, value) { return project(proposition, value) >= proposition[2]; }

function conditionHolds(condition, value) {
  return data.conditions[condition].every((proposition) => propositionHolds(proposition, value));
}

/** Add up the weights of the rules that are on and fire. */
function score(ensemble, off, fires) {
  let total = ensemble.intercept;
  ensemble.rules.forEach((rule, index) => { if (!off.has(index) && fires(rule.condition)) total += rule.weight; });
  return total;
}

const LARGEST_EXPONENT = 600;
const INVERSE_LINKS = {
  logistic: (f) => 1 / (1 + Math.exp(-f)),
  squared: (f) => f,
  poisson: (f) => Math.exp(Math.min(f, LARGEST_EXPONENT)),
};
const inverseLink = INVERSE_LINKS[data.loss];

function conditionComplexity(condition) {
  const propositions = data.conditions[condition];
  return propositions.length ? 1 + propositions.reduce((sum, [columns]) => sum + 1 + columns.length, 0) : 0;
}

function complexity(ensemble, off = new Set()) {
  return ensemble.rules.reduce((sum, rule, index) => sum + (off.has(index) ? 0 : conditionComplexity(rule.condition)), 0);
}

// ---- Measures, exact from the groups --------------------------------------------------------------------------------------

/** The loss of a group whose rows all have the score f. */
const GROUP_LOSSES = {
  logistic: (f, g) => g.weight * (Math.max(f, 0) + Math.log1p(Math.exp(-Math.abs(f)))) - g.target * f,
  squared: (f, g) => 0.5 * (g.spread + g.weight * (g.target / g.weight - f) ** 2),
  poisson: (f, g) => {
    const bounded = Math.min(f, LARGEST_EXPONENT);
    const excess = g.weight * Math.exp(bounded) - g.target;
    const entropy = g.target > 0 ? g.target * Math.log(g.target / g.weight) : 0;
    return g.spread + excess + (entropy - g.target * bounded) + excess * (f - bounded);
  },
};

function sum(items, value) { return items.reduce((total, item) => total + value(item), 0); }

function scoredGroups(ensemble, off) {
  return groupsHere().map((group) => ({ ...group, score: score(ensemble, off, (condition) => group.holds.has(condition)) }));
}

function meanLoss(scored) { return sum(scored, (g) => GROUP_LOSSES[data.loss](g.score, g)) / sum(scored, (g) => g.weight); }

function errorRate(scored) {
  return sum(scored, (g) => (g.score > 0 ? g.weight - g.target : g.target)) / sum(scored, (g) => g.weight);
}

/** Return the share of pairs of rows, one of each class, that the score puts in order; equal scores count half. */
function areaUnderCurve(scored) {
  let below = 0;
  let ordered = 0;
  for (const { target, weight } of mergedByScore(scored)) {
    ordered += target * (below + 0.5 * (weight - target));
    below += weight - target;
  }
  const pairs = below * sum(scored, (g) => g.target);
  return pairs > 0 ? ordered / pairs : null;
}

/** Return what share of the loss of the best constant the rules take away. */
function explained(scored) {
  const mean = sum(scored, (g) => g.target) / sum(scored, (g) => g.weight);
  const constant = data.loss === "poisson" ? Math.log(mean) : mean;
  const least = meanLoss(scored.map((g) => ({ ...g, score: constant })));
  return least > 0 ? 1 - meanLoss(scored) / least : null;
}

function mergedByScore(scored) {
  const merged = [];
  for (const group of [...scored].sort((a, b) => a.score - b.score)) {
    const last = merged.at(-1);
    if (last && last.score === group.score) merged[merged.length - 1] = together(last, group);
    else merged.push({ ...group, parts: [group] });
  }
  return merged;
}

function together(a, b) {
  return {
    score: a.score, rows: a.rows + b.rows, weight: a.weight + b.weight, target: a.target + b.target, parts: [...a.parts, ...(b.parts ?? [b])],
  };
}

const MEASURES = {
  logistic: [
    { name: "log loss", of: meanLoss, write: readable },
    { name: "errors", of: errorRate, write: percent },
    { name: "area under the ROC curve", short: "AUC", of: areaUnderCurve, write: readable },
  ],
  squared: [
    { name: "root mean squared error", short: "RMSE", of: (scored) => Math.sqrt(2 * meanLoss(scored)), write: readable },
    { name: "variance explained", short: "R²", of: explained, write: percent },
  ],
  poisson: [
    { name: "mean Poisson deviance", short: "mean deviance", of: (scored) => 2 * meanLoss(scored), write: readable },
    { name: "deviance explained", of: explained, write: percent },
  ],
}[data.loss];

// ---- Words and numbers ----------------------------------------------------------------------------------------------------

function significantDigits(number) {
  return String(Math.abs(number)).split("e")[0].replace(".", "").replace(/^0+|0+$/g, "").length || 1;
}

/** Write a number as the library prints it: a short decimal in full, any other with four significant digits. */
function readable(number) {
  if (number === 0) return "0";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  const meant = significantDigits(number);
  const digits = meant <= 7 ? meant : 4;
  const magnitude = Number(number.toExponential().split("e")[1]);
  if (magnitude < -5 || magnitude > 9) return withExponent(number, digits);
  const decimals = Math.max(0, digits - 1 - magnitude);
  const text = number.toFixed(decimals);
  return decimals ? text.replace(/\.?0+$/, "") : text;
}

function withExponent(number, digits) {
  const [mantissa, exponent] = number.toExponential(digits - 1).split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function signed(number) {
  const text = readable(number);
  return text.startsWith("-") ? text : `+${text}`;
}

function percent(share) { return `${(100 * share).toFixed(1)} %`; }
function counted(number, what) { return `${number.toLocaleString("en-GB")} ${number === 1 ? what : `${what}s`}`; }
function pretty(text) { return text.replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("-", "−"); }
function withCapital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

function plainName(column) {
  const name = file.feature_names ? file.feature_names[column] : `x${column}`;
  return quoted.has(column) ? JSON.stringify(name) : name;
}

const LONGEST_NAME = 90;

/** Return a name as it is shown: cut in the middle if it would fill the page, never empty to the eye. */
function shownName(column) {
  return visible(plainName(column)) || `column ${column}`;
}

function visible(text) {
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)) return "";
  const letters = Array.from(text.slice(0, 4 * LONGEST_NAME));
  return text.length <= LONGEST_NAME ? text : `${letters.slice(0, LONGEST_NAME - 15).join("")}…${Array.from(text.slice(-24)).slice(-12).join("")}`;
}

function plainCondition(condition) {
  const texts = data.conditions[condition].map(([, , , pieces]) =>
    pieces.map((piece) => (typeof piece === "number" ? plainName(piece) : piece)).join(""));
  return texts.join(" & ") || "True";
}

// ---- Elements -------------------------------------------------------------------------------------------------------------

function byId(id) { return document.getElementById(id); }

/** Make an element; attributes are set as such, children are elements or text. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

function say(id, text) { byId(id).textContent = text; }

function nameElement(column) {
  const name = plainName(column);
  const shown = shownName(column);
  return element("b", { title: shown === name ? null : name.slice(0, 2000) }, element("bdi", {}, shown));
}

function propositionNodes([, , , pieces]) {
  return pieces.map((piece) => (typeof piece === "number" ? nameElement(piece) : pretty(piece)));
}

/** Return a condition as nodes, its propositions joined by "and". */
function conditionNodes(condition) {
  const nodes = data.conditions[condition].flatMap((proposition, index) => [
    ...(index ? [element("span", { class: "and" }, " and ")] : []),
    ...propositionNodes(proposition),
  ]);
  return nodes.length ? nodes : ["always"];
}

/** A bar of rectangles on a width of 100: each has a class, a start and an end. */
function bar(...parts) {
  const rectangles = parts.map(([kind, from, to]) => {
    const thin = kind === "zero";
    const width = Math.max(Math.abs(to - from), thin ? 0.4 : 0.8);
    const [y, height] = { zero: [0, 10], track: [2, 6] }[kind] ?? [1, 8];
    return drawn("rect", { class: kind, x: Math.min(from, to, 100 - width), width, y, height, rx: 0 });
  });
  return drawn("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, ...rectangles);
}

// ---- Charts ---------------------------------------------------------------------------------------------------------------

/** Return round numbers from low to high. */
function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Return the scales of a chart of the given ranges, and its svg with axes drawn. */
function chart(host, height, [x0, x1], [y0, y1], xName, yName, write = readable) {
  const width = Math.max(280, Math.round(host.clientWidth || 560));
  const labels = ticks(y0, y1, 5).map((value) => [value, pretty(write(value))]);
  const left = 18 + 7 * Math.max(...labels.map(([, text]) => text.length));
  const [right, top, bottom] = [22, 26, 44];
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const [value, text] of labels) {
    svg.append(drawn("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  for (const value of ticks(x0, x1, Math.max(3, Math.floor(width / 90)))) {
    svg.append(drawn("text", { x: x(value), y: height - bottom + 18, "text-anchor": "middle" }, pretty(write === percentAxis ? write(value) : readable(value))));
  }
  svg.append(drawn("text", { x: left + (width - left - right) / 2, y: height - 6, "text-anchor": "middle" }, xName));
  svg.append(drawn("text", { x: 0, y: 12 }, yName));
  return { svg, x, y, width, left, right, top, bottom: height - bottom };
}

function percentAxis(share) { return `${Math.round(100 * share)} %`; }

function padded(values, share = 0.06) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

function pathOf(points) { return points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join(""); }

/** Return what the curve of sizes shows: lines of [complexity, height] along the path. */
function curveLines() {
  const path = pathMembers().map((ensemble) => complexity(ensemble));
  const along = (heights) => path.map((size, index) => [size, heights[index]]);
  const lines = {};
  if (figures) lines.rows = along(figures.measures.map(([risk]) => risk));
  if (data.crossValidated) {
    lines.crossValidated = along(data.crossValidated.mean);
    lines.band = [...along(data.crossValidated.low), ...along(data.crossValidated.high).reverse()];
  }
  if (!figures && !data.crossValidated) lines.rules = along(pathMembers().map((ensemble) => ensemble.rules.length));
  return lines;
}

function pathMembers() { return data.edits ? ensembles.slice(0, -1) : ensembles; }

/** Return where an ensemble stands on the curve. */
function heightOf(index) {
  if (figures) return figures.measures[index][0];
  if (data.crossValidated) return data.crossValidated.mean[index] ?? null;
  return ensembles[index].rules.length;
}

function drawCurve() {
  const lines = curveLines();
  const points = Object.values(lines).flat();
  const stops = data.sizes.map((index) => [complexity(ensembles[index]), heightOf(index)]);
  const heights = [...points, ...stops].map(([, height]) => height).filter((height) => height !== null);
  const sizes = [...points, ...stops].map(([size]) => size);
  const yName = lines.rules ? "rules" : MEASURES[0].name;
  const picture = chart(byId("curve"), 300, padded(sizes, 0.03), lines.rules ? [0, Math.max(...heights, 1)] : padded(heights), "complexity: rules, conditions and variables", yName);
  for (const [kind, look] of [["band", "band"], ["crossValidated", "second"], ["rows", "curve"], ["rules", "curve"]]) {
    if (lines[kind]) picture.svg.append(drawn("path", { class: look, d: pathOf(lines[kind].map(([size, height]) => [picture.x(size), picture.y(height)])) }));
  }
  drawMembers(picture, lines, stops);
  drawKey(picture, lines);
  picture.svg.setAttribute("aria-label", `${withCapital(yName)} against complexity for ${counted(pathMembers().length, "size")} of the model. ${sizeWords()}.`);
  byId("curve").replaceChildren(picture.svg);
}

function drawMembers({ svg, x, y, bottom }, lines, stops) {
  const dots = lines.rows ?? lines.crossValidated ?? lines.rules;
  for (const [size, height] of dots) svg.append(drawn("circle", { class: "dot", cx: x(size), cy: y(height), r: 2.2 }));
  stops.forEach(([size, height], index) => {
    const here = index === state.size;
    if (here) svg.append(drawn("line", { class: "drop", x1: x(size), x2: x(size), y1: height === null ? 26 : y(height), y2: bottom }));
    if (height === null) return;
    const circle = drawn("circle", { class: here ? "here" : "stop", cx: x(size), cy: y(height), r: here ? 7 : 5.5 });
    circle.addEventListener("click", () => chooseSize(index));
    svg.append(circle);
  });
  const off = switchedOff();
  if (off.size && groupsHere() && !figures.rest) {
    const [cx, cy] = [x(complexity(current(), off)), y(MEASURES[0].of(scoredGroups(current(), off)))];
    if (cy > 20 && cy < bottom) svg.append(drawn("circle", { class: "edited", cx, cy, r: 6 }));
  }
}

/** Name the lines, if there are two. */
function drawKey({ svg, width }, lines) {
  if (!lines.rows || !lines.crossValidated) return;
  svg.append(drawn("text", { class: "key", x: width - 14, y: 12, "text-anchor": "end" }, `— ${figures.name}`));
  svg.append(drawn("text", { class: "second-key", x: width - 14, y: 28, "text-anchor": "end" }, "- - cross-validated, ± one standard error"));
}

// ---- Calibration ----------------------------------------------------------------------------------------------------------

const MOST_POINTS = 10;

/** Merge neighbours until there are few points, of about the same weight. */
function calibrationPoints(scored) {
  const merged = mergedByScore(scored);
  const share = sum(merged, (g) => g.weight) / MOST_POINTS;
  const points = [];
  let before = 0;
  for (const group of merged) {
    const bin = merged.length <= MOST_POINTS ? points.length : Math.floor((before + group.weight / 2) / share);
    before += group.weight;
    const last = points.at(-1);
    if (last && last.bin === bin) points[points.length - 1] = { ...together(last, group), bin };
    else points.push({ ...group, bin });
  }
  return points.map(calibrationPoint);
}

function calibrationPoint({ rows, weight, target, parts }) {
  const observed = target / weight;
  const predicted = sum(parts, (g) => g.weight * inverseLink(g.score)) / weight;
  return { rows, weight, observed, predicted, interval: INTERVALS[data.loss](observed, rows, parts, weight) };
}

const NORMAL_QUANTILE = 1.959963984540054;
const INTERVALS = {
  logistic: (p, n) => wilson(p, n),
  squared: (mean, n, parts, weight) => {
    const deviation = Math.sqrt(sum(parts, (g) => g.spread + g.weight * (g.target / g.weight - mean) ** 2) / weight);
    return [mean - deviation, mean + deviation];
  },
  poisson: (mean, n) => {
    const error = NORMAL_QUANTILE * Math.sqrt(mean / n);
    return [Math.max(0, mean - error), mean + error];
  },
};
const INTERVAL_WORDS = {
  logistic: "Bars are 95 % intervals.",
  squared: "Bars are one standard deviation of the rows.",
  poisson: "Bars are 95 % intervals of a Poisson mean.",
};

function wilson(p, n) {
  const z2 = NORMAL_QUANTILE ** 2;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (NORMAL_QUANTILE / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

function drawCalibration() {
  byId("calibration-card").hidden = !figures;
  document.querySelector(".pair").classList.toggle("single", !figures);
  byId("calibration-details").hidden = !groupsHere();
  if (!groupsHere()) {
    byId("calibration").replaceChildren();
    say("calibration-note", unspokenWords());
    return;
  }
  const points = calibrationPoints(scoredGroups(current(), switchedOff()));
  const rest = figures.rest && !switchedOff().size ? figures.rest : null;
  const share = data.loss === "logistic";
  const reach = points.flatMap(({ predicted, interval }) => [predicted, ...interval]).concat(rest ? [rest.target, rest.predicted[state.size]] : []);
  const range = share ? [0, 1] : padded(reach);
  const what = share ? "share" : "mean";
  const picture = chart(byId("calibration"), 300, range, range, `predicted ${what}`, `observed ${what}`, share ? percentAxis : readable);
  drawPoints(picture, points, range, rest);
  picture.svg.setAttribute("aria-label", `Observed against predicted in ${counted(points.length, "group")} of rows; the table below has the numbers.`);
  byId("calibration").replaceChildren(picture.svg);
  const which = rest ? ` The ring is the ${counted(rest.rows, "row")} with rare combinations of rules.` : "";
  say("calibration-note", `Each point is a group of rows with like predictions. On the dashed line, what is predicted is what happens. ${INTERVAL_WORDS[data.loss]}${which}`);
  tabulateCalibration(points, rest);
}

function drawPoints({ svg, x, y }, points, [low, high], rest) {
  svg.append(drawn("line", { class: "ideal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  const heaviest = Math.max(...points.map(({ weight }) => weight));
  for (const { predicted, interval } of points) {
    svg.append(drawn("line", { class: "interval", x1: x(predicted), x2: x(predicted), y1: y(interval[0]), y2: y(interval[1]) }));
  }
  for (const { predicted, observed, weight } of points) {
    svg.append(drawn("circle", { class: "point", cx: x(predicted), cy: y(observed), r: 3.5 + 5 * Math.sqrt(weight / heaviest) }));
  }
  if (rest) svg.append(drawn("circle", { class: "rest", cx: x(rest.predicted[state.size]), cy: y(rest.target), r: 6 }));
}

function unspokenWords() {
  return figures ? `At this size, too few rows share a combination of rules for groups of ${figures.least} or more, so this is not shown.` : "";
}

function tabulateCalibration(points, rest) {
  const write = data.loss === "logistic" ? percent : readable;
  const line = (rows, predicted, observed, interval) => element("tr", {}, ...[rows, write(predicted), write(observed), interval].map((text) => element("td", {}, pretty(String(text)))));
  const lines = points.map(({ rows, predicted, observed, interval }) => line(rows, predicted, observed, interval.map(write).join(" to ")));
  if (rest) lines.push(line(`${rest.rows} (rare)`, rest.predicted[state.size], rest.target, ""));
  const heading = element("tr", {}, ...["rows", "predicted", "observed", "interval"].map((text) => element("th", { scope: "col" }, text)));
  byId("calibration-table").replaceChildren(element("thead", {}, heading), element("tbody", {}, ...lines));
}

// ---- Size and figures -----------------------------------------------------------------------------------------------------

function sizeWords() {
  const off = switchedOff();
  const total = current().rules.length;
  const rules = off.size ? `${total - off.size} of ${counted(total, "rule")}` : counted(total, "rule");
  return `Complexity ${complexity(current(), off)}, ${rules}`;
}

/** Return each measure at the present size: as it is, with all rules on, and as it is written. */
function measured() {
  const off = switchedOff();
  if (!figures) return [];
  const now = groupsHere() && scoredGroups(current(), off);
  const whole = groupsHere() && scoredGroups(current(), new Set());
  return MEASURES.map((measure, index) => {
    const value = now && measure.of(now);
    const onAll = now && !figures.rest ? value : figures.measures[position()][index];
    const shown = off.size ? value : onAll;
    return { ...measure, value, before: whole && measure.of(whole), text: shown === null ? "–" : pretty(measure.write(shown)) };
  });
}

function rowsWords() {
  const all = `${figures.rows.toLocaleString("en-GB")} ${figures.name}`;
  return switchedOff().size && figures.rest ? `${(figures.rows - figures.rest.rows).toLocaleString("en-GB")} of ${all}` : all;
}

function renderFigures() {
  const found = measured();
  const tiles = [
    { name: "complexity", text: String(complexity(current(), switchedOff())) },
    { name: "rules", text: String(current().rules.length - switchedOff().size) },
    ...found,
  ].map(figureTile);
  byId("figures").replaceChildren(...tiles);
  say("figures-rows", figures ? basisWords() : "");
  const parts = found.map(({ name, short, text }) => `${short ?? name} ${text}`);
  say("status", `${sizeWords()}${parts.length ? `: ${parts.join(", ")} on ${rowsWords()}` : ""}.`);
}

function basisWords() {
  if (!switchedOff().size) return `on ${rowsWords()}`;
  return groupsHere() ? `on ${rowsWords()}${figures.rest ? ", without rare combinations" : ""}` : unspokenWords();
}

function figureTile({ name, short, text, value, before, write }) {
  const change = switchedOff().size && before !== undefined && before !== null ? `${pretty(write(before))} with all rules` : "";
  return element("div", {},
    element("dt", { title: short ? name : null }, short ?? name),
    element("dd", { "data-measure": short ?? name, "data-value": value ?? null }, text),
    change ? element("dd", { class: "change" }, change) : null);
}

function renderSize() {
  const slider = byId("size");
  slider.max = String(data.sizes.length - 1);
  slider.value = String(state.size);
  slider.setAttribute("aria-valuetext", sizeWords());
  const chosen = state.size === data.present ? " This is the size that the model has." : "";
  const edited = data.edits && position() === ensembles.length - 1 ? " It was edited by hand." : "";
  say("size-output", `${sizeWords()}.${chosen}${edited}`);
}

function chooseSize(index) {
  state.size = index;
  render({ form: true });
}

// ---- Rules ----------------------------------------------------------------------------------------------------------------

function renderRules() {
  const ensemble = current();
  const largest = Math.max(...ensemble.rules.map(({ weight }) => Math.abs(weight)), Number.MIN_VALUE);
  const headings = [["switch", "on"], ["weight", "adds"], ["adds", ""], ["condition", "if"]];
  if (figures) headings.push(["covers", "holds for"]);
  if (groupsHere()) headings.push(["purity", visible(data.words.target)]);
  const head = element("tr", {}, ...headings.map(([kind, text]) => (text ? element("th", { class: kind, scope: "col" }, text) : element("td", { class: kind }))));
  const constant = ruleRow({ weight: ensemble.intercept, condition: null }, -1, largest);
  const lines = ensemble.rules.map((rule, index) => ruleRow(rule, index, largest));
  byId("rules").replaceChildren(element("thead", {}, head), element("tbody", {}, constant, ...lines));
  byId("all-on").hidden = !switchedOff().size;
}

function ruleRow(rule, index, largest) {
  const off = switchedOff().has(index);
  const id = index < 0 ? "constant" : `rule-${index}`;
  const cells = [
    element("td", { class: "switch" }, ...(index < 0 ? [] : [ruleSwitch(index, id, off)])),
    element("td", { class: "weight" }, pretty(signed(rule.weight))),
    element("td", { class: "adds" }, index < 0 ? "" : weightBar(rule.weight, largest)),
    element("th", { class: "condition", scope: "row", id: `${id}-if` }, ...(index < 0 ? ["to start with, always"] : conditionNodes(rule.condition))),
  ];
  if (figures) cells.push(element("td", { class: "covers" }, ...coverageNodes(rule)));
  if (groupsHere()) cells.push(purityCell(rule));
  return element("tr", { class: off ? "off" : null, id }, ...cells);
}

function ruleSwitch(index, id, off) {
  const input = element("input", { type: "checkbox", role: "switch", id: `${id}-switch`, "aria-labelledby": `${id}-if` });
  input.checked = !off;
  input.addEventListener("change", () => toggle(index));
  return input;
}

function weightBar(weight, largest) {
  const end = 50 + 48 * (weight / largest);
  return bar(["track", 0, 100], [weight < 0 ? "minus" : "plus", 50, end], ["zero", 49.8, 50.2]);
}

function coverageNodes({ condition }) {
  const share = condition === null ? 1 : figures.coverage[condition];
  return [element("div", { class: "share" }, bar(["track", 0, 100], ["share", 0, 100 * share]), element("span", {}, percent(share)))];
}

/** The mean target of the rows for which a rule holds. */
function purityCell({ condition }) {
  const covered = groupsHere().filter((group) => condition === null || group.holds.has(condition));
  const mean = covered.length ? sum(covered, (g) => g.target) / sum(covered, (g) => g.weight) : null;
  const write = data.loss === "logistic" ? percent : readable;
  return element("td", { class: "purity", "data-target": visible(data.words.target) }, mean === null ? "–" : pretty(write(mean)));
}

function toggle(index) {
  const off = new Set(switchedOff());
  if (!off.delete(index)) off.add(index);
  state.off.set(state.size, off);
  render({ focus: `rule-${index}-switch` });
}

// ---- A case ---------------------------------------------------------------------------------------------------------------

function usedColumns() {
  const columns = current().rules.flatMap(({ condition }) => data.conditions[condition].flatMap(([used]) => used));
  return [...new Set(columns)].sort((a, b) => a - b);
}

function renderForm() {
  const fields = usedColumns().map((column) => {
    const input = element("input", { type: "number", step: "any", inputmode: "decimal", id: `value-${column}`, value: state.values.get(String(column)) ?? "" });
    for (const event of ["input", "change"]) input.addEventListener(event, () => typeValue(column, input.value));
    return element("label", { for: `value-${column}` }, element("span", {}, nameElement(column)), input);
  });
  byId("case").replaceChildren(...(fields.length ? fields : ["At this size the model is a constant: no value is asked for."]));
}

function typeValue(column, text) {
  state.values.set(String(column), text);
  renderCase();
}

/** Return the value of a column as it was typed; NaN if nothing was. */
function caseValue(column) {
  const text = state.values.get(String(column)) ?? "";
  return text.trim() === "" ? NaN : Number(text);
}

function renderCase() {
  const off = switchedOff();
  const total = score(current(), off, (condition) => conditionHolds(condition, caseValue));
  const prediction = inverseLink(total);
  const answer = byId("answer");
  answer.textContent = data.loss === "logistic" ? percent(prediction) : pretty(readable(prediction));
  answer.setAttribute("data-value", String(prediction));
  answer.setAttribute("data-score", String(total));
  say("answer-caption", withCapital(visible(data.words.mean)));
  say("verdict", data.words.labels ? `Predicted: ${visible(data.words.labels[total > 0 ? 1 : 0])}` : "");
  if (data.loss === "logistic") byId("answer-bar").replaceChildren(bar(["track", 0, 100], ["plus", 0, 100 * prediction], ["zero", 49.8, 50.2]));
  renderWaterfall(total);
}

/** One line for each amount that is added, on one scale, and the total. */
function renderWaterfall(total) {
  const off = switchedOff();
  const rules = current().rules.map((rule, index) => ({ ...rule, index })).filter(({ index }) => !off.has(index));
  const fired = rules.filter(({ condition }) => conditionHolds(condition, caseValue));
  const ends = fired.reduce((levels, { weight }) => [...levels, levels.at(-1) + weight], [current().intercept]);
  const [low, high] = padded([0, ...ends], 0.04);
  const place = (value) => (100 * (value - low)) / (high - low || 1);
  const line = (amount, kind, from, to, ...why) => waterfallRow(kind, amount, bar(["zero", place(0) - 0.2, place(0) + 0.2], [kind === "total" ? "total" : amount < 0 ? "minus" : "plus", place(from), place(to)]), why);
  const lines = [
    line(ends[0], "start", 0, ends[0], "to start with"),
    ...fired.map(({ weight, condition }, index) => line(weight, "fired", ends[index], ends[index + 1], ...becauseNodes(condition))),
    line(total, "total", 0, total, `in all, the ${visible(data.words.score)}`),
    ...rules.filter((rule) => !fired.includes(rule)).map(({ weight, condition }) => waterfallRow("missed", weight, null, unmetNodes(condition))),
  ];
  const heading = element("tr", {}, ...["adds", "", "why"].map((text) => (text ? element("th", { scope: "col", class: text === "adds" ? "amount" : "why" }, text) : element("td", { class: "steps" }))));
  byId("waterfall").replaceChildren(element("thead", { class: "unseen" }, heading), element("tbody", {}, ...lines));
}

function waterfallRow(kind, amount, picture, why) {
  return element("tr", { class: kind },
    element("td", { class: "amount" }, pretty(signed(amount))),
    element("td", { class: "steps" }, ...(picture ? [picture] : ["not counted"])),
    element("th", { class: "why", scope: "row" }, ...why));
}

function becauseNodes(condition) {
  const met = data.conditions[condition];
  return met.length ? marginNodes(met, "because ") : ["always"];
}

/** Only the conditions that are not met, with how far the case is from them. */
function unmetNodes(condition) {
  return marginNodes(data.conditions[condition].filter((proposition) => !propositionHolds(proposition, caseValue)), "if ");
}

function marginNodes(propositions, first) {
  return propositions.flatMap((proposition, index) => [
    index ? element("span", { class: "and" }, "and ") : first, ...propositionNodes(proposition), element("small", {}, told(proposition)),
  ]);
}

/** Say what the left side of a condition is, and how clearly it is met or missed. */
function told(proposition) {
  const [columns, weights, threshold] = proposition;
  const projection = project(proposition, caseValue);
  if (Number.isNaN(projection)) return "a value is missing";
  const value = columns.length === 1 ? caseValue(columns[0]) : Math.sign(weights[0]) * projection;
  const margin = pretty(readable(Math.abs(projection - threshold)));
  return `it is ${pretty(readable(value))}, ${projection >= threshold ? "met" : "missed"} by ${margin}`;
}

// ---- The model as a file --------------------------------------------------------------------------------------------------

function asStored({ intercept, rules }) {
  const stored = ([columns, weights, threshold]) => ({ columns, weights, threshold });
  return { intercept, rules: rules.map(({ weight, condition }) => ({ weight, condition: data.conditions[condition].map(stored) })) };
}

function withoutOff(ensemble, off) {
  return { intercept: ensemble.intercept, rules: ensemble.rules.filter((_, index) => !off.has(index)) };
}

/** Return one step of the edit log for each rule that is off, in the words of the library. */
function editSteps(ensemble, off) {
  const dropped = new Set();
  return [...off].sort((a, b) => a - b).map((index) => {
    const after = new Set([...dropped, index]);
    const rule = index - dropped.size;
    const { weight, condition } = ensemble.rules[index];
    const step = {
      action: "drop", rule, new: null,
      description: `drop rule ${rule}: ${signed(weight)} if ${plainCondition(condition)}`,
      complexity: [complexity(ensemble, dropped), complexity(ensemble, after)],
      loss: [meanLoss(scoredGroups(ensemble, dropped)), meanLoss(scoredGroups(ensemble, after))],
    };
    dropped.add(index);
    return step;
  });
}

/** Return which ensembles the file has, which of them predicts, and the log of edits. */
function storedPath() {
  const off = switchedOff();
  const members = pathMembers();
  const wasEdited = position() >= members.length;
  if (!off.size && !wasEdited) return { chosen: position(), path: members };
  const edited = withoutOff(current(), off);
  if (off.size && !groupsHere()) return { chosen: 0, path: [edited] }; // without groups there is no loss for the log to tell
  const [start, steps] = wasEdited ? [data.edits.start, data.edits.steps] : [position(), []];
  return { chosen: members.length, path: [...members, edited], edits: { start, steps: [...steps, ...editSteps(current(), off)] } };
}

/** Return the model file as text. What was read from the file of the model is written as it was, to the last digit. */
function modelText() {
  const { chosen, path, edits } = storedPath();
  const rest = { chosen, path: path.map(asStored), ...(edits ? { edits } : {}) };
  return `${data.file.slice(0, -1)}, ${JSON.stringify(rest).slice(1)}\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([modelText()], { type: "application/json" }));
  element("a", { href: address, download: "model.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// ---- The page -------------------------------------------------------------------------------------------------------------

function renderWords() {
  say("estimator", file.estimator);
  say("lead", `The ${visible(data.words.mean)}, from rules that can be read and checked. Choose a size, switch rules off, score a case.`);
  if (figures) say("case-start", "The values to start with are medians.");
  say("curve-note", figures
    ? `One fit, every size. The line is the ${MEASURES[0].name} on ${figures.rows.toLocaleString("en-GB")} ${figures.name}; choose a size with the slider, or one of the large dots.`
    : "One fit, every size: choose one with the slider.");
  say("rules-note", `The ${visible(data.words.score)} is the sum of what these add. Switch a rule off to see what the model is without it; the other weights stay as they are.`);
  say("take-note", "The file holds this model at this size, without the rules that are off. In Python, load_model reads it.");
  say("about", aboutWords());
}

function aboutWords() {
  const exact = "Rules and scores are those of the model, to the last bit.";
  if (!figures) return `No rows were given when this page was made, so it does not say how good the model is. ${exact}`;
  const { rest, least } = figures;
  const basis = `${exact} Figures come from one table that counts ${figures.rows.toLocaleString("en-GB")} ${figures.name} by the conditions that hold. No row is in this file.`;
  const small = least > 1 ? ` A combination that fewer than ${least} rows share is not told apart.` : "";
  return `${basis}${small} ${rest ? restWords(rest) : "Figures are exact with any rules switched off."}`;
}

function restWords(rest) {
  const kept = (figures.rows - rest.rows).toLocaleString("en-GB");
  return `The ${counted(rest.rows, "row")} with rare combinations are merged into one group, to protect them. With all rules on, the figures at the top are of all rows, rounded to four digits. With rules switched off they are exact for the other ${kept} rows; so are the points of the calibration and the last column of the rules. Rare combinations are often the harder cases.`;
}

function render({ form = false, focus = null } = {}) {
  renderSize();
  renderFigures();
  drawCurve();
  drawCalibration();
  renderRules();
  if (form) renderForm();
  renderCase();
  if (focus) byId(focus).focus();
}

function start() {
  renderWords();
  render({ form: true });
  byId("size").addEventListener("input", (event) => chooseSize(Number(event.target.value)));
  byId("all-on").addEventListener("click", () => { state.off.delete(state.size); render({ focus: "rules-heading" }); });
  byId("case").addEventListener("submit", (event) => event.preventDefault());
  byId("download").addEventListener("click", download);
  byId("print").addEventListener("click", () => window.print());
  window.addEventListener("resize", () => { drawCurve(); drawCalibration(); });
}

start();
