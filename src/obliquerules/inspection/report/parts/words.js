// Words and numbers, as the library writes them.

function significantDigits(number) {
  return (
    String(Math.abs(number))
      .split("e")[0]
      .replace(".", "")
      .replace(/^0+|0+$/g, "").length || 1
  );
}

/** Write a number as the library prints it: a short decimal in full, any other with few significant digits. */
function readable(number, short = 4) {
  if (number === 0) return "0";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  const meant = significantDigits(number);
  const digits = meant <= 7 ? meant : short;
  const magnitude = Number(number.toExponential().split("e")[1]);
  if (magnitude < -5 || magnitude > 9) return withExponent(number, digits);
  const decimals = Math.max(0, digits - 1 - magnitude);
  const text = number.toFixed(decimals);
  return decimals ? text.replace(/\.?0+$/, "") : text;
}

function withExponent(number, digits) {
  const [mantissa, exponent] = number.toExponential(digits - 1).split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Write the exponential of a weight in three digits. */
function factor(weight) {
  return readable(Number(Math.exp(Math.max(-700, Math.min(weight, 700))).toPrecision(3)));
}

/** Write a weight or a sum of weights, with its sign, in three digits. */
function signed(weight) {
  const text = readable(weight, 3);
  return text.startsWith("-") ? text : `+${text}`;
}

function percent(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`;
}
function counted(number, what) {
  return `${number.toLocaleString("en-GB")} ${number === 1 ? what : `${what}s`}`;
}
function pretty(text) {
  return text.replaceAll(">= ", "≥\u00a0").replaceAll("<= ", "≤\u00a0").replaceAll("-", "−");
}
function withCapital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plainName(column) {
  const name = file.feature_names ? file.feature_names[column] : `x${column}`;
  return quoted.has(column) ? JSON.stringify(name) : name;
}

const LONGEST_NAME = 90;

/** Return a name as it is shown: cut in the middle if it would fill the page, never empty to the eye. */
function shownName(column) {
  return visible(plainName(column)) || `column ${column}`;
}

function visible(text) {
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)) return "";
  const letters = Array.from(text.slice(0, 4 * LONGEST_NAME));
  return text.length <= LONGEST_NAME
    ? text
    : `${letters.slice(0, LONGEST_NAME - 15).join("")}…${Array.from(text.slice(-24)).slice(-12).join("")}`;
}

function plainCondition(condition) {
  const texts = data.conditions[condition].map(([, , , pieces]) =>
    pieces.map((piece) => (typeof piece === "number" ? plainName(piece) : piece)).join(""),
  );
  return texts.join(" & ") || "True";
}
