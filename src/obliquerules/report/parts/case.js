// A case: its score and prediction, and what each rule adds to them.

/** Return the columns of the rules that are on. */
function neededColumns() {
  const on = current().rules.filter((_, index) => !switchedOff().has(index));
  return columnsOf(on);
}

function columnsOf(rules) {
  const columns = rules.flatMap(({ condition, factor: multiplied }) => [
    ...conditions[condition].flatMap(({ used }) => used),
    ...(multiplied ? [multiplied.stored.column] : []),
  ]);
  return [...new Set(columns)].sort((a, b) => a - b);
}

/** Return the value of a column of the case; NaN if it is missing. */
function caseValue(column) {
  return state.values.get(column) ?? (isTicked(column) ? tickValue(column, false) : NaN);
}

function renderCase() {
  const unreadable = neededColumns().filter((column) => state.unreadable.has(column));
  const absent = missingOffsets();
  const isScored = !unreadable.length && !absent.length;
  say("answer-caption", many ? "Most probable class" : withCapital(visible(data.words.mean)));
  byId("result").classList.toggle("unscored", !isScored);
  byId("case-warning").replaceChildren(
    ...listed(`A${hasExposure ? " positive" : ""} number is needed for `, absent),
    absent.length && unreadable.length ? " " : "",
    ...listed("A number is needed for ", unreadable.map(nameElement)),
  );
  byId("case-remark").replaceChildren(...remarkNodes(neededColumns().filter((column) => !unreadable.includes(column))));
  byId("why").hidden = !many || !isScored;
  if (isScored) renderScored(caseScore());
  else renderUnscored();
}

function caseScore() {
  return score(current(), switchedOff(), (condition) => conditionHolds(condition, caseValue), caseOffset(), caseValue);
}

/** With a value that cannot be read, a case has no score. */
function renderUnscored() {
  const answer = byId("answer");
  answer.textContent = "cannot score";
  for (const name of ["data-value", "data-score"]) answer.removeAttribute(name);
  say("verdict", "");
  for (const id of ["answer-bar", "waterfall"]) byId(id).replaceChildren();
}

function renderScored(total) {
  const prediction = predictionOf(total);
  const answer = byId("answer");
  answer.textContent = answerWords(prediction, total);
  answer.setAttribute("data-value", String(prediction));
  answer.setAttribute("data-score", String(total));
  say("verdict", verdictWords(total));
  if (data.loss === "logistic") byId("answer-bar").replaceChildren(gauge(prediction));
  if (many) renderProbabilities(prediction, total);
  renderWaterfall(total);
}

function answerWords(prediction, total) {
  if (many) return className(leading(total));
  return data.loss === "logistic" ? percent(prediction) : pretty(readable(prediction));
}

function verdictWords(total) {
  if (hasExposure) return `${pretty(readable(inverseLink(total)))} for an exposure of 1, times ${readable(state.offsets[0])}`;
  if (many || !data.words.labels) return "";
  const label = data.words.labels[isPositive({ score: total }) ? 1 : 0];
  return `Predicted: ${visible(label)}, with the threshold at ${readable(100 * state.threshold)}\u00a0%`;
}

function gauge(prediction) {
  const mark = 100 * state.threshold;
  return bar(["track", 0, 100], ["plus", 0, 100 * prediction], ["zero", mark - 0.2, mark + 0.2]);
}

/** Return what is to be said about values that the rules were not learned from. */
function remarkNodes(columns) {
  const far = listed("", columns.filter(isFarOutside).map(outsideRemark));
  const unseen = listed("", columns.filter(isUnseen).map(unseenRemark));
  const missing = listed("Left empty: ", columns.filter(isOddlyMissing).map(nameElement));
  const slopes = hasSlopes ? ", and what is multiplied by it adds nothing" : "";
  const meaning = `In training, nothing was missing there; conditions that need a missing value are not met${slopes}.`;
  return [far, unseen, missing.length ? [...missing, ` ${meaning}`] : []].flatMap((nodes) => (nodes.length ? [...nodes, " "] : []));
}

/** Far outside: beyond the usual range in training by more than half its width. */
function isFarOutside(column) {
  const range = data.ranges[column];
  if (!range || isFlag(column)) return false;
  const [low, high] = range;
  return caseValue(column) < low - (high - low) / 2 || caseValue(column) > high + (high - low) / 2;
}

function outsideRemark(column) {
  const range = data.ranges[column].map((end) => written(column, kindOf(column) in MOMENTS ? Math.round(end) : end));
  const where = `nearly all from ${range.join(" to ")}`;
  return element("span", {}, nameElement(column), ` is far outside what the rules were learned from, ${where}`);
}

function isUnseen(column) {
  return levelsOf(column) !== null && caseValue(column) < 0;
}

function unseenRemark(column) {
  return element("span", {}, nameElement(column), " has a level that was not in training, so that no list of levels contains it");
}

/** A missing value is remarked on where none was in training, unless a condition says what it means. */
function isOddlyMissing(column) {
  return Number.isNaN(caseValue(column)) && !wasMissing(column) && !testsOn(column).some(saysMissing);
}

function testsOn(column) {
  const on = current().rules.filter((_, index) => !switchedOff().has(index));
  return on.flatMap(({ condition }) => conditions[condition]).filter(({ used }) => used.includes(column));
}

/** Say whether a condition holds, or a part of it, where a value is missing. */
function saysMissing({ membership, terms, missing }) {
  return membership ? membership.missing : missing || terms.some((term) => typeof term !== "number" && term.missing);
}

/** Return a sentence that lists nodes. */
function listed(start, nodes) {
  return nodes.length ? [start, ...nodes.flatMap((node, index) => (index ? [", ", node] : [node])), "."] : [];
}

/** One line for each amount that is added, on one scale, and the total; behind them the rules that add nothing. */
function renderWaterfall(total) {
  const amount = many ? leadOver(total) : (weight) => weight;
  const changesAmount = ({ weight }) => !many || amount(weight) !== 0;
  const rules = current().rules.filter((rule, index) => !switchedOff().has(index) && changesAmount(rule));
  const fired = rules.filter(({ condition }) => conditionHolds(condition, caseValue));
  const steps = [
    { kind: "start", size: amount(current().intercept), why: ["to start with"] },
    ...(hasOffset ? [{ kind: "offset", size: amount(caseOffset()), why: ["given as the offset"] }] : []),
    ...fired.map((rule) => ({ kind: "fired", size: amount(added(rule, caseValue)), why: becauseNodes(rule) })),
  ];
  const ends = steps.reduce((levels, { size }) => [...levels, levels.at(-1) + size], [0]);
  const place = scale(padded(ends, 0.04), 0, 100);
  const lines = [
    ...steps.map(({ kind, size, why }, index) =>
      waterfallRow(kind, size, stepBar(place, size < 0 ? "minus" : "plus", ends[index], ends[index + 1]), why),
    ),
    waterfallRow("total", amount(total), stepBar(place, "total", 0, amount(total)), totalNodes(total)),
    ...rules
      .filter((rule) => !fired.includes(rule))
      .map((rule) => waterfallRow("missed", amount(added(rule, caseValue)), null, unmetNodes(rule.condition))),
  ];
  byId("waterfall").replaceChildren(waterfallHeading(), element("tbody", {}, ...lines));
}

function totalNodes(total) {
  if (many) return leadNodes(total);
  return [`in all, the ${visible(data.words.score)}${hasExposure ? " for an exposure of 1" : ""}`];
}

function stepBar(place, kind, from, to) {
  return bar(["zero", place(0) - 0.2, place(0) + 0.2], [kind, place(from), place(to)]);
}

function waterfallHeading() {
  const cells = [
    element("th", { scope: "col", class: "amount" }, "adds"),
    element("td", { class: "steps" }),
    element("th", { scope: "col", class: "why" }, "why"),
  ];
  return element("thead", { class: "unseen" }, element("tr", {}, ...cells));
}

function waterfallRow(kind, amount, picture, why) {
  return element(
    "tr",
    { class: kind },
    element("td", { class: "amount" }, pretty(signed(amount))),
    element("td", { class: "steps" }, ...(picture ? [picture] : ["not counted"])),
    element("th", { class: "why", scope: "row" }, ...why),
  );
}

function becauseNodes({ weight, condition, factor: multiplied }) {
  const met = conditions[condition];
  const product = multiplied ? productNodes(many ? leadOver(caseScore())(weight) : weight, multiplied) : [];
  if (!met.length) return multiplied ? product : ["always"];
  return [...product, ...reasonNodes(met, "because ")];
}

/** Say what a weight is multiplied by, and what that is for the case. */
function productNodes(weight, multiplied) {
  const { column } = multiplied.stored;
  const isMissing = Number.isNaN(caseValue(column));
  const size = isMissing ? ", which adds nothing" : `, times ${pretty(readable(factorValue(multiplied, caseValue)))}`;
  return [`${pretty(signed(weight))} times `, ...testNodes(multiplied), element("small", {}, ...stateNodes([column]), size)];
}

/** Only the conditions that are not met, with how far the case is from them. */
function unmetNodes(condition) {
  return reasonNodes(
    conditions[condition].filter((test) => !testHolds(test, caseValue)),
    "if ",
  );
}

function reasonNodes(tests, first) {
  return tests.flatMap((test, index) => [
    index ? element("span", { class: "and" }, "and ") : first,
    ...testNodes(test),
    valueNote(test),
  ]);
}

function valueNote(test) {
  const nodes = valueNodes(test);
  return element(nodes.length ? "small" : "br", {}, ...nodes);
}

/** Say of a condition on levels what the values are, and of a sum what it is and how clearly it is met or missed. */
function valueNodes(test) {
  if (test.membership) return needsNoValue(test.membership) ? [] : stateNodes(test.used);
  const absent = missingNumbers(test, caseValue);
  if (absent.length) return [...stateNodes(absent), test.missing ? ", which counts as met" : ", so that it is not met"];
  if (test.terms.every((term) => typeof term !== "number" || isVote(term))) return isOneVote(test) ? [] : stateNodes(test.used);
  const levels = test.terms.filter((term) => typeof term !== "number").map(({ column }) => column);
  return [sumWords(test), ...(levels.length ? ["; ", ...stateNodes([...new Set(levels)])] : [])];
}

/** Say whether a condition that holds already tells the value of the case: its one level, or that it is missing. */
function needsNoValue({ column, listed, negated }) {
  const value = caseValue(column);
  return Number.isNaN(value) ? !listed.size && !negated : listed.size === 1 && listed.has(value) && !negated;
}

function isOneVote(test) {
  return test.terms.length === 1 && testHolds(test, caseValue);
}

function isVote(column) {
  return kindOf(column) === "flag";
}

/** Say what the left side of a condition is, and how clearly it is met or missed. */
function sumWords(test) {
  const { terms, weights, threshold } = test;
  const projection = project(test, caseValue);
  const single = terms.length === 1 ? terms[0] : null;
  const value = single === null ? pretty(readable(Math.sign(weights[0]) * projection)) : written(single, caseValue(single));
  const size = Math.abs(projection - threshold);
  const margin = single === null ? pretty(readable(size)) : amountWords(single, size);
  return `it is ${value}, ${projection >= threshold ? "met" : "missed"} by ${margin}`;
}

/** Say what the values of columns are: "colour is red, age is missing". */
function stateNodes(columns) {
  return columns.flatMap((column, index) => [
    index ? ", " : "",
    element("bdi", {}, shownName(column)),
    ` is ${stateWords(column)}`,
  ]);
}

function stateWords(column) {
  const value = caseValue(column);
  if (Number.isNaN(value)) return "missing";
  return levelsOf(column) ? levelWords(column, value) : written(column, value);
}
