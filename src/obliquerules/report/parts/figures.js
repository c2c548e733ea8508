// Figures: the size of the model and its measures.

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
    const isCounted = off.size || (now && !restRows);
    const [shown, within] = isCounted ? [value, 0] : (figures.measures[position()][index] ?? [null, 0]);
    const text = shown === null ? "–" : pretty(measure.write(shown));
    return { ...measure, value, before: whole && measure.of(whole), text, within, constant: constantMeasure(measure, index) };
  });
}

/** Return a measure of the best constant on the same rows, with an offset that of the model; null where that says nothing. */
function constantMeasure({ of: measure, compared }, index) {
  if (!compared) return null;
  if (hasOffset) return switchedOff().size || ensembles[0].rules.length ? null : numberOf(figures.measures[0][index]);
  const value = measure(scoredByConstant(switchedOff().size ? patternGroups : allGroups));
  return Number.isFinite(value) ? value : null;
}

function allRowsWords() {
  return `${figures.rows.toLocaleString("en-GB")} ${visible(figures.name)}`;
}

function rowsWords() {
  const all = allRowsWords();
  return switchedOff().size && restRows ? `${(figures.rows - restRows).toLocaleString("en-GB")} of ${all}` : all;
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
  return groupsHere() ? `on ${rowsWords()}${restRows ? ", without rare combinations" : ""}` : inexactWords();
}

function figureTile({ name, short, text, value, before, constant, write, within = 0 }) {
  const remarks = [
    within ? `to within ${write(within)}` : "",
    switchedOff().size && Number.isFinite(before) ? `${pretty(write(before))} with all rules` : "",
    Number.isFinite(constant) ? `${pretty(write(constant))} without rules` : "",
  ];
  return element(
    "div",
    {},
    element("dt", { title: short ? name : null }, short ?? name),
    element("dd", { "data-measure": short ?? name, "data-value": value ?? null }, text),
    ...remarks.filter(Boolean).map((remark) => element("dd", { class: "change" }, remark)),
  );
}

function renderSize() {
  const slider = byId("size");
  slider.max = String(data.sizes.length - 1);
  slider.value = String(state.size);
  slider.setAttribute("aria-valuetext", sizeWords());
  const chosen = state.size === data.present && !switchedOff().size ? " This is the size that the model has." : "";
  const edited = data.edits && position() === ensembles.length - 1 ? " It was edited by hand." : "";
  say("size-output", `${sizeWords()}.${chosen}${edited}`);
}

function chooseSize(index) {
  state.size = index;
  render({ form: true });
}
