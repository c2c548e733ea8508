// Offsets: the exposure, which multiplies a prediction, or the offset of a score, with fields to fill in.

/** Return the field of an exposure or offset, which must be filled in. */
function offsetField(index) {
  const number = { type: "number", step: "any", inputmode: "decimal", placeholder: "needed", required: "" };
  const input = element("input", { ...number, id: `offset-${index}` });
  if (!Number.isNaN(state.offsets[index])) input.value = String(state.offsets[index]);
  for (const event of ["input", "change"]) {
    input.addEventListener(event, () => {
      state.offsets[index] = input.value === "" ? NaN : Number(input.value);
      input.setCustomValidity(isUsableOffset(index) ? "" : "A positive number is needed.");
      renderCase();
    });
  }
  return element("label", { for: input.id }, element("span", {}, offsetName(index), offsetKind(index)), input);
}

function offsetName(index) {
  return element("b", {}, element("bdi", {}, visible(offsetNames[index]) || file.offset.kind));
}

/** Say what the number is, unless its name does. */
function offsetKind(index) {
  const { kind } = file.offset;
  return offsetNames[index].toLowerCase().includes(kind) ? null : element("small", {}, ` ${kind}`);
}

/** Say whether there is a number that can be an exposure or an offset. */
function isUsableOffset(index) {
  return Number.isFinite(state.offsets[index]) && (!hasExposure || state.offsets[index] > 0);
}

/** Return the names of what is needed and not there. */
function missingOffsets() {
  return [...offsetNames.keys()].filter((index) => !isUsableOffset(index)).map(offsetName);
}

/** Return what is added to the score before the rules, null if there is nothing. */
function caseOffset() {
  if (!hasOffset) return null;
  return many ? state.offsets : state.offsets[0];
}

/** Return the prediction of a score: what the link makes of it, times the exposure. */
function predictionOf(total) {
  const mean = inverseLink(total);
  return hasExposure ? state.offsets[0] * mean : mean;
}
