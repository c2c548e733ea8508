// Rules: the table of rules, each with a switch.

function renderRules() {
  const ensemble = current();
  const plain = ensemble.rules.filter(({ factor: multiplied }) => !multiplied);
  const largest = Math.max(...plain.flatMap(({ weight }) => weight).map(Math.abs), Number.MIN_VALUE);
  const heading = (kind, ...nodes) => element("th", { class: kind, scope: "col" }, ...nodes);
  const adds = many ? classHeadings() : [heading("weight", "adds", ratioHeading()), element("td", { class: "adds" })];
  const head = [heading("switch", "on"), ...adds, heading("condition", "if")];
  if (figures) head.push(heading("covers", "holds for"));
  if (purityIsKnown()) head.push(heading("purity", purityWords()));
  const constant = ruleRow({ weight: ensemble.intercept, condition: null, factor: null }, -1, largest);
  const lines = ensemble.rules.map((rule, index) => ruleRow(rule, index, largest));
  const table = byId("rules");
  table.classList.toggle("classes", many);
  table.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, constant, ...lines));
  byId("all-on").hidden = !switchedOff().size;
}

/** Return the cells with what a rule adds; of the constants, zeros are shown, too. What is multiplied is on no common scale. */
function weightCells({ weight, factor: multiplied }, isConstant, largest) {
  if (many) return classCells(weight, multiplied ? Infinity : largest, { zeros: isConstant });
  return [
    element("td", { class: "weight" }, ...(isConstant ? [pretty(signed(weight))] : weightNodes(weight))),
    element("td", { class: "adds" }, isConstant || multiplied ? "" : weightBar(weight, largest)),
  ];
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
    ...weightCells(rule, index < 0, largest),
    element(
      "th",
      { class: "condition", scope: "row", id: `${id}-if` },
      ...(index < 0 ? ["to start with, always"] : sayingNodes(rule)),
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
  const isAlways = condition === null || !conditions[condition].length;
  const [share, within] = isAlways ? [1, 0] : figures.coverage[condition];
  const rounded = `≈\u00a0${(100 * share).toFixed(within < 0.01 ? 1 : 0)}\u00a0%`;
  const text = within ? element("span", { title: `to within ${percent(within)}` }, rounded) : element("span", {}, percent(share));
  return [element("div", { class: "share" }, bar(["track", 0, 100], ["share", 0, 100 * share]), text)];
}

/** Without the rows with rare combinations, the mean target of those for which a rule holds would mislead. */
function purityIsKnown() {
  return groupsHere() && !restRows;
}

function purityWords() {
  if (many) return "most of them are";
  return hasExposure ? `${visible(data.words.target)} for an exposure of 1` : visible(data.words.target);
}

/** The mean target of the rows for which a rule holds or, of many classes, the most frequent one. */
function purityCell({ condition }) {
  const covered = groupsHere().filter((group) => condition === null || group.holds.has(condition));
  const mean = covered.length ? targetMean(covered) : null;
  return element("td", { class: "purity", "data-target": purityWords() }, ...(mean === null ? ["–"] : purityNodes(mean)));
}

function purityNodes(mean) {
  if (many) return [classElement(leading(mean)), element("small", {}, percent(Math.max(...mean)))];
  return [pretty((predictsShares ? percent : readable)(mean))];
}

function toggle(index) {
  const off = new Set(switchedOff());
  if (!off.delete(index)) off.add(index);
  state.off.set(state.size, off);
  render({ focus: `rule-${index}-switch` });
}
