// Confusion table: the true and the predicted class of rows.

/** Return for each class the weight of its rows by what they are called. */
function confusion(groups) {
  const table = classes.map(() => classes.map(() => 0));
  for (const group of groups) {
    const called = calledClass(group);
    for (const code of classes) table[code][called] += group.target[code];
  }
  return table;
}

const CLASS_FIGURES = ["base rate", "sensitivity", "specificity", "predictive value"];

/** Return the figures of one class against all others; null for a share of nothing. */
function classFigures(table, code) {
  const right = table[code][code];
  const wrong = sum(table, (row) => row[code]) - right;
  const missed = sum(table[code], (weight) => weight) - right;
  const others = sum(table.flat(), (weight) => weight) - right - wrong - missed;
  return [shareOf(right + missed, wrong + others), shareOf(right, missed), shareOf(others, wrong), shareOf(right, wrong)];
}

function renderConfusion() {
  byId("confusion-card").hidden = !(many && figures);
  if (byId("confusion-card").hidden) return;
  const groups = predictedGroups();
  const table = confusion(groups);
  for (const id of ["class-part", "confusion-part"]) byId(id).hidden = !groups.length;
  tabulateClasses(table);
  tabulateConfusion(table);
  say("confusion-rows", groups.length ? decisionBasis(groups) : inexactWords());
}

function tabulateClasses(table) {
  const headings = CLASS_FIGURES.map((text) => element("th", { scope: "col" }, text));
  const lines = classes.map((code) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, classElement(code)),
      ...classFigures(table, code).map((value) => element("td", { "data-value": value }, value === null ? "–" : percent(value))),
    ),
  );
  byId("class-table").replaceChildren(
    element("thead", {}, element("tr", {}, element("td", {}), ...headings)),
    element("tbody", {}, ...lines),
  );
}

/** A line is what rows are, a column what they are called; zeros are blank. */
function tabulateConfusion(table) {
  const headings = classes.map((code) => element("th", { scope: "col" }, "called ", classElement(code)));
  const lines = table.map((row, code) => {
    const all = Math.max(...row, Number.MIN_VALUE);
    const look = (weight, called) => tint(called === code ? weight : -weight, all);
    const cells = row.map((weight, called) =>
      element("td", { class: look(weight, called) }, weight ? pretty(readable(weight)) : ""),
    );
    return element("tr", {}, element("th", { scope: "row" }, "are ", classElement(code)), ...cells);
  });
  byId("confusion-table").replaceChildren(
    element("thead", {}, element("tr", {}, element("td", {}), ...headings)),
    element("tbody", {}, ...lines),
  );
}
