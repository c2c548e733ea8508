// A case: its score, and how it comes about.

function usedColumns() {
  const columns = current().rules.flatMap(({ condition }) => data.conditions[condition].flatMap(([used]) => used));
  return [...new Set(columns)].sort((a, b) => a - b);
}

function renderForm() {
  const fields = usedColumns().map((column) => {
    const input = isBinary(column) ? tickBox(column) : numberField(column);
    return element("label", { for: input.id }, element("span", {}, nameElement(column)), input);
  });
  byId("case").replaceChildren(...(fields.length ? fields : ["At this size the model is a constant: no value is asked for."]));
}

function numberField(column) {
  const input = element("input", {
    type: "number",
    step: "any",
    inputmode: "decimal",
    required: "",
    id: `value-${column}`,
    value: state.values.get(String(column)) ?? "",
  });
  for (const event of ["input", "change"]) input.addEventListener(event, () => typeValue(column, input.value));
  return input;
}

/** A variable of zeros and ones is ticked or not. */
function tickBox(column) {
  const input = element("input", { type: "checkbox", class: "tick", id: `value-${column}` });
  input.checked = state.values.get(String(column)) === "1";
  input.addEventListener("change", () => typeValue(column, input.checked ? "1" : "0"));
  return input;
}

function typeValue(column, text) {
  state.values.set(String(column), text);
  renderCase();
}

/** Return the value of a column as it was typed; NaN if there is none, or it cannot be read. */
function caseValue(column) {
  const text = state.values.get(String(column)) ?? "";
  return text.trim() === "" ? NaN : Number(text);
}

function renderCase() {
  const lacking = neededColumns().filter((column) => !Number.isFinite(caseValue(column)));
  say("answer-caption", withCapital(visible(data.words.mean)));
  byId("result").classList.toggle("unscored", lacking.length > 0);
  byId("case-warning").replaceChildren(...(lacking.length ? listed("A number is needed for ", lacking.map(nameElement)) : []));
  byId("case-remark").replaceChildren(...listed("", neededColumns().filter(isFarOutside).map(outsideRemark)));
  if (lacking.length) renderUnscored();
  else renderScored(score(current(), switchedOff(), (condition) => conditionHolds(condition, caseValue)));
}

/** Without every value that its rules need, a case has no score. */
function renderUnscored() {
  const answer = byId("answer");
  answer.textContent = "cannot score";
  for (const name of ["data-value", "data-score"]) answer.removeAttribute(name);
  say("verdict", "");
  for (const id of ["answer-bar", "waterfall"]) byId(id).replaceChildren();
}

function renderScored(total) {
  const prediction = inverseLink(total);
  const answer = byId("answer");
  answer.textContent = data.loss === "logistic" ? percent(prediction) : pretty(readable(prediction));
  answer.setAttribute("data-value", String(prediction));
  answer.setAttribute("data-score", String(total));
  say("verdict", data.words.labels ? verdictWords(total) : "");
  if (data.loss === "logistic") byId("answer-bar").replaceChildren(gauge(prediction));
  renderWaterfall(total);
}

function verdictWords(total) {
  const label = data.words.labels[isPositive({ score: total }) ? 1 : 0];
  return `Predicted: ${visible(label)}, with the threshold at ${readable(100 * state.threshold)}\u00a0%`;
}

function gauge(prediction) {
  const mark = 100 * state.threshold;
  return bar(["track", 0, 100], ["plus", 0, 100 * prediction], ["zero", mark - 0.2, mark + 0.2]);
}

/** Return the columns of the rules that are on. */
function neededColumns() {
  const on = current().rules.filter((_, index) => !switchedOff().has(index));
  const needed = new Set(on.flatMap(({ condition }) => data.conditions[condition].flatMap(([used]) => used)));
  return usedColumns().filter((column) => needed.has(column));
}

/** Far outside: beyond the usual range in training by more than half its width. */
function isFarOutside(column) {
  const range = data.ranges[column];
  if (!range || isBinary(column)) return false;
  const [low, high] = range;
  return caseValue(column) < low - (high - low) / 2 || caseValue(column) > high + (high - low) / 2;
}

function outsideRemark(column) {
  const range = data.ranges[column].map((end) => pretty(readable(end))).join(" to ");
  return element("span", {}, nameElement(column), ` is far outside what the rules were learned from, nearly all from ${range}`);
}

/** Return a sentence that lists nodes. */
function listed(start, nodes) {
  return nodes.length ? [start, ...nodes.flatMap((node, index) => (index ? [", ", node] : [node])), "."] : [];
}

/** One line for each amount that is added, on one scale, and the total; behind them the rules that add nothing. */
function renderWaterfall(total) {
  const rules = current().rules.filter((_, index) => !switchedOff().has(index));
  const fired = rules.filter(({ condition }) => conditionHolds(condition, caseValue));
  const ends = fired.reduce((levels, { weight }) => [...levels, levels.at(-1) + weight], [current().intercept]);
  const place = scale(padded([0, ...ends], 0.04), 0, 100);
  const lines = [
    waterfallRow("start", ends[0], stepBar(place, ends[0] < 0 ? "minus" : "plus", 0, ends[0]), ["to start with"]),
    ...fired.map(({ weight, condition }, index) =>
      waterfallRow(
        "fired",
        weight,
        stepBar(place, weight < 0 ? "minus" : "plus", ends[index], ends[index + 1]),
        becauseNodes(condition),
      ),
    ),
    waterfallRow("total", total, stepBar(place, "total", 0, total), [`in all, the ${visible(data.words.score)}`]),
    ...rules
      .filter((rule) => !fired.includes(rule))
      .map(({ weight, condition }) => waterfallRow("missed", weight, null, unmetNodes(condition))),
  ];
  byId("waterfall").replaceChildren(waterfallHeading(), element("tbody", {}, ...lines));
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

function becauseNodes(condition) {
  const met = data.conditions[condition];
  return met.length ? marginNodes(met, "because ") : ["always"];
}

/** Only the conditions that are not met, with how far the case is from them. */
function unmetNodes(condition) {
  return marginNodes(
    data.conditions[condition].filter((proposition) => !propositionHolds(proposition, caseValue)),
    "if ",
  );
}

function marginNodes(propositions, first) {
  return propositions.flatMap((proposition, index) => [
    index ? element("span", { class: "and" }, "and ") : first,
    ...propositionNodes(proposition),
    element("small", {}, told(proposition)),
  ]);
}

/** Say what the left side of a condition is, and how clearly it is met or missed. */
function told(proposition) {
  const [columns, weights, threshold] = proposition;
  const projection = project(proposition, caseValue);
  const value = columns.length === 1 ? caseValue(columns[0]) : Math.sign(weights[0]) * projection;
  const margin = pretty(readable(Math.abs(projection - threshold)));
  return `it is ${pretty(readable(value))}, ${projection >= threshold ? "met" : "missed"} by ${margin}`;
}
