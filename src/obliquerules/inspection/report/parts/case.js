// A case: its score, and how it comes about.

function usedColumns() {
  const columns = current().rules.flatMap(({ condition }) => data.conditions[condition].flatMap(([used]) => used));
  return [...new Set(columns)].sort((a, b) => a - b);
}

function renderForm() {
  const fields = usedColumns().map((column) => {
    const input = element("input", {
      type: "number",
      step: "any",
      inputmode: "decimal",
      id: `value-${column}`,
      value: state.values.get(String(column)) ?? "",
    });
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
  if (data.loss === "logistic")
    byId("answer-bar").replaceChildren(bar(["track", 0, 100], ["plus", 0, 100 * prediction], ["zero", 49.8, 50.2]));
  renderWaterfall(total);
  say("case-warning", warningWords());
}

function warningWords() {
  const wrong = document.querySelectorAll("#case input:invalid").length;
  return wrong ? `${counted(wrong, "field")} cannot be read as a number, and counts as missing.` : "";
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
  if (Number.isNaN(projection)) return "a value is missing";
  const value = columns.length === 1 ? caseValue(columns[0]) : Math.sign(weights[0]) * projection;
  const margin = pretty(readable(Math.abs(projection - threshold)));
  return `it is ${pretty(readable(value))}, ${projection >= threshold ? "met" : "missed"} by ${margin}`;
}
