// The fields of a case: numbers, dates, menus of levels, tick boxes. Where a field is empty, the value is missing.

function renderForm() {
  state.unreadable.clear();
  const columns = columnsOf(current().rules);
  const asked = columns.map((column) => {
    const input = fieldOf(column);
    const wide = kindOf(column) === "time" ? "wide" : null;
    return element("label", { for: input.id, class: wide }, element("span", {}, nameElement(column), unitOf(column)), input);
  });
  const fields = [...offsetNames.map((_, index) => offsetField(index)), ...asked];
  byId("case").replaceChildren(...(fields.length ? fields : ["At this size the model is a constant: no value is asked for."]));
}

function fieldOf(column) {
  if (isTicked(column)) return tickBox(column);
  if (levelsOf(column) || isFlag(column)) return menu(column);
  return typedField(column, { date: "date", time: "datetime-local" }[kindOf(column)] ?? "number");
}

function unitOf(column) {
  const unit = { duration: "days", time: "universal time" }[kindOf(column)];
  return unit ? element("small", {}, ` in ${unit}`) : null;
}

/** What is true or not, or 1 or 0, is ticked or not; it is chosen from a menu if values may be missing. */
function isTicked(column) {
  return (isTruth(column) || isFlag(column)) && !wasMissing(column);
}

function tickValue(column, ticked) {
  return isTruth(column) ? (codes.get(column).get(ticked) ?? -1) : Number(ticked);
}

function tickBox(column) {
  const input = element("input", { type: "checkbox", class: "tick", id: `value-${column}` });
  input.checked = caseValue(column) === tickValue(column, true);
  input.addEventListener("change", () => takeValue(column, tickValue(column, input.checked)));
  return input;
}

/** Return a field to type in, of a number, or of a moment in days or seconds since the beginning of 1970. */
function typedField(column, type) {
  const number = type === "number" ? { inputmode: "decimal", placeholder: "missing" } : {};
  const input = element("input", { type, step: "any", id: `value-${column}`, ...number });
  const unit = MOMENTS[kindOf(column)];
  const value = caseValue(column);
  if (!Number.isNaN(value)) {
    if (unit) input.valueAsNumber = value * unit;
    else input.value = String(value);
  }
  const read = () => {
    if (input.value === "") return NaN;
    return unit ? input.valueAsNumber / unit : Number(input.value);
  };
  for (const event of ["input", "change"]) {
    input.addEventListener(event, () => takeValue(column, read(), input.validity.badInput));
  }
  return input;
}

/** Return a menu of levels; the first entry is for a missing value, the last for a level that the rules do not know. */
function menu(column) {
  const entries = isTruth(column) || isFlag(column) ? twoEntries(column) : levelEntries(column);
  const here = caseValue(column);
  const options = [["", "missing"], ...entries].map(([value, text]) => element("option", { value }, text));
  const select = element("select", { id: `value-${column}` }, ...options);
  select.value = Number.isNaN(here) ? "" : String(here);
  select.addEventListener("change", () => takeValue(column, select.value === "" ? NaN : Number(select.value)));
  return select;
}

function twoEntries(column) {
  return [true, false].map((truth) => [tickValue(column, truth), isTruth(column) ? truthWords(truth) : Number(truth)]);
}

function levelEntries(column) {
  return [...levelsOf(column).map((_, code) => [code, levelWords(column, code)]), [-1, "another level"]];
}

function takeValue(column, value, unreadable = false) {
  state.values.set(column, value);
  if (unreadable) state.unreadable.add(column);
  else state.unreadable.delete(column);
  renderCase();
}
