// Words and numbers as the library writes them.

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

const MOMENTS = { date: 86400000, time: 1000 };
const LARGEST_MOMENT = 8.64e15; // in milliseconds; a date beyond has no calendar

/** Write a number in the unit of a column: a date, a time, a duration or a plain number. */
function written(column, number) {
  const kind = kindOf(column);
  const moment = number * (MOMENTS[kind] ?? NaN);
  if (!Number.isInteger(number) || !(Math.abs(moment) < LARGEST_MOMENT)) {
    return kind === "duration" ? `${pretty(readable(number))} days` : pretty(readable(number));
  }
  const [day, time] = new Date(moment).toISOString().split("T");
  return kind === "date" ? day : `${day} ${time.slice(0, 8)}`;
}

// The units in which an amount of time is given, the largest first, with their seconds.
const UNITS_OF_TIME = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** Write a difference between two values of a column. */
function amountWords(column, size) {
  const kind = kindOf(column);
  if (kind === "date" || kind === "duration") return inUnits(size, "day");
  if (kind !== "time") return pretty(readable(size));
  const [unit, seconds] = UNITS_OF_TIME.find((one) => size >= one[1]) ?? UNITS_OF_TIME.at(-1);
  return inUnits(size / seconds, unit);
}

function inUnits(size, unit) {
  return `${pretty(readable(size))} ${size === 1 ? unit : `${unit}s`}`;
}

/** Return a level as it is shown, never empty to the eye. */
function levelWords(column, code) {
  if (code < 0) return "another level";
  const level = levelsOf(column)[code];
  return typeof level === "boolean" ? truthWords(level) : visible(String(level)) || `level ${code + 1}`;
}

function truthWords(truth) {
  return truth ? "yes" : "no";
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
/** Write signs as they are printed; the hyphens of a date, which stand behind a digit, stay. */
function pretty(text) {
  return text
    .replaceAll(">= ", "≥\u00a0")
    .replaceAll("<= ", "≤\u00a0")
    .replaceAll("!= ", "≠\u00a0")
    .replace(/(^|[^0-9])-/g, "$1−");
}
function withCapital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plainName(column) {
  return quoted.get(column) ?? (file.feature_names ? file.feature_names[column] : `x${column}`);
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
  const plain = (piece) => (typeof piece === "number" ? plainName(piece) : String(piece));
  const texts = conditions[condition].map(({ pieces }) => pieces.map(plain).join(""));
  return texts.join(" & ") || "True";
}
