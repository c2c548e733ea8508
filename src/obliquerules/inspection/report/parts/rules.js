// The rules, each with a switch.

function renderRules() {
  const ensemble = current();
  const largest = Math.max(...ensemble.rules.map(({ weight }) => Math.abs(weight)), Number.MIN_VALUE);
  const headings = [
    ["switch", "on"],
    ["weight", "adds"],
    ["adds", ""],
    ["condition", "if"],
  ];
  if (figures) headings.push(["covers", "holds for"]);
  if (purityIsKnown()) headings.push(["purity", visible(data.words.target)]);
  const head = element(
    "tr",
    {},
    ...headings.map(([kind, text]) =>
      text ? element("th", { class: kind, scope: "col" }, text, kind === "weight" ? ratioHeading() : null) : element("td", { class: kind }),
    ),
  );
  const constant = ruleRow({ weight: ensemble.intercept, condition: null }, -1, largest);
  const lines = ensemble.rules.map((rule, index) => ruleRow(rule, index, largest));
  byId("rules").replaceChildren(element("thead", {}, head), element("tbody", {}, constant, ...lines));
  byId("all-on").hidden = !switchedOff().size;
}

/** Name what stands below a weight. */
function ratioHeading() {
  return data.words.factor ? element("small", {}, `×\u00a0${data.words.factor}`) : null;
}

function ruleRow(rule, index, largest) {
  const off = switchedOff().has(index);
  const id = index < 0 ? "constant" : `rule-${index}`;
  const cells = [
    element("td", { class: "switch" }, ...(index < 0 ? [] : [ruleSwitch(index, id, off)])),
    element("td", { class: "weight" }, ...(index < 0 ? [pretty(signed(rule.weight))] : weightNodes(rule.weight))),
    element("td", { class: "adds" }, index < 0 ? "" : weightBar(rule.weight, largest)),
    element(
      "th",
      { class: "condition", scope: "row", id: `${id}-if` },
      ...(index < 0 ? ["to start with, always"] : conditionNodes(rule.condition)),
    ),
  ];
  if (figures) cells.push(element("td", { class: "covers" }, ...coverageNodes(rule)));
  if (purityIsKnown()) cells.push(purityCell(rule));
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
  if (share === null) {
    const why = `It would tell about fewer than ${figures.least} rows.`;
    return [element("span", { class: "withheld", title: why }, "not shown")];
  }
  return [
    element("div", { class: "share" }, bar(["track", 0, 100], ["share", 0, 100 * share]), element("span", {}, percent(share))),
  ];
}

/** Without the rows with rare combinations, the mean target of those for which a rule holds would mislead. */
function purityIsKnown() {
  return groupsHere() && !restRows;
}

/** The mean target of the rows for which a rule holds. */
function purityCell({ condition }) {
  const covered = groupsHere().filter((group) => condition === null || group.holds.has(condition));
  const mean = covered.length ? sum(covered, (g) => g.target) / sum(covered, (g) => g.weight) : null;
  const write = data.loss === "logistic" ? percent : readable;
  return element(
    "td",
    { class: "purity", "data-target": visible(data.words.target) },
    mean === null ? "–" : pretty(write(mean)),
  );
}

function toggle(index) {
  const off = new Set(switchedOff());
  if (!off.delete(index)) off.add(index);
  state.off.set(state.size, off);
  render({ focus: `rule-${index}-switch` });
}
