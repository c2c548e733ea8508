// What a prediction is given besides the values of a case: an exposure, which multiplies it, or an offset of the score.

/** Return the field of an exposure or offset, which must be filled in. */
function givenField(index) {
  const number = { type: "number", step: "any", inputmode: "decimal", placeholder: "needed", required: "" };
  const input = element("input", { ...number, id: `given-${index}` });
  if (!Number.isNaN(state.given[index])) input.value = String(state.given[index]);
  for (const event of ["input", "change"]) {
    input.addEventListener(event, () => {
      state.given[index] = input.value === "" ? NaN : Number(input.value);
      input.setCustomValidity(isGiven(index) ? "" : "A positive number is needed.");
      renderCase();
    });
  }
  return element("label", { for: input.id }, element("span", {}, givenName(index), givenKind(index)), input);
}

function givenName(index) {
  return element("b", {}, element("bdi", {}, visible(givenNames[index]) || file.offset.kind));
}

/** Say what the number is, unless its name does. */
function givenKind(index) {
  const { kind } = file.offset;
  return givenNames[index].toLowerCase().includes(kind) ? null : element("small", {}, ` ${kind}`);
}

/** Say whether there is a number that can be an exposure or an offset. */
function isGiven(index) {
  return Number.isFinite(state.given[index]) && (!hasExposure || state.given[index] > 0);
}

/** Return the names of what is needed and not there. */
function lackingGiven() {
  return [...givenNames.keys()].filter((index) => !isGiven(index)).map(givenName);
}

/** Return what is added to the score before the rules, null if there is nothing. */
function caseOffset() {
  if (!hasOffset) return null;
  return many ? state.given : state.given[0];
}

/** Return the prediction of a score: what the link makes of it, times the exposure. */
function predictionOf(total) {
  const mean = inverseLink(total);
  return hasExposure ? state.given[0] * mean : mean;
}
