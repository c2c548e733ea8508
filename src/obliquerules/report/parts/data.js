// Data of the page, and the choices of the reader.

const data = JSON.parse(document.getElementById("payload").textContent);
const file = JSON.parse(data.file);
const figures = data.figures;
const offsetNames = file.offset?.columns ?? [];
const hasExposure = file.offset?.kind === "exposure";
const hasOffset = file.offset?.kind === "offset";
const quoted = new Map(data.quoted);
const special = new Map((file.columns ?? []).map((column) => [column.position, column]));
const codes = new Map([...special].map(([position, { levels }]) => [position, new Map((levels ?? []).map((level, code) => [level, code]))]));
const conditions = data.conditions.map((tests) => tests.map(([stored, pieces]) => prepared(stored, pieces)));
const factors = (data.factors ?? []).map(([stored, pieces]) => ({ stored, pieces }));
const ensembles = data.ensembles.map(([intercept, weights, positions, multiplied = []]) => ({
  intercept,
  rules: weights.map((weight, index) => ({ weight, condition: positions[index], factor: factors[multiplied[index]] ?? null })),
}));
const hasSlopes = data.sizes.some((size) => ensembles[size].rules.some(({ factor: one }) => one));
const isGroupedByScore = hasOffset || hasSlopes;
const allGroups = figures ? decodedGroups(figures) : [];
const patternGroups = allGroups.filter(({ holds }) => holds);
const restRows = sum(allGroups, ({ holds, rows }) => (holds ? 0 : rows));
const state = {
  size: data.present,
  off: new Map(),
  values: startValues(),
  unreadable: new Set(),
  offsets: initialOffsets(),
  paper: false,
  threshold: 0.5,
  asked: null, // the class whose calibration is shown; null for the predicted one
  rival: null, // the class that the predicted one is compared with; null for the runner-up
};

/** Return the number of a figure, which stands before how far from it the figure may be; null if there is none. */
function numberOf(figure) {
  return figure === null ? null : figure[0];
}

/** Return the values of the case to start with, by column: medians and most frequent levels. */
function startValues() {
  const typical = Object.entries(figures ? figures.typical : {}).filter(([, figure]) => figure !== null);
  // Half of the rows of a 0/1 column may be ones: a tick box has no middle.
  const value = (column, number) => (isFlag(column) ? Math.floor(number) : number);
  return new Map(typical.map(([column, [number]]) => [Number(column), value(Number(column), number)]));
}

/** Return the exposure or the offsets of the case to start with: an exposure of 1; an offset must be known. */
function initialOffsets() {
  return offsetNames.map(() => (hasExposure ? 1 : NaN));
}

/** Return the levels of a column, null if it holds numbers. */
function levelsOf(column) {
  return special.get(column)?.levels ?? null;
}

/** Return what the numbers of a column mean: a number, flag, date, time or duration. */
function kindOf(column) {
  return special.get(column)?.kind ?? "number";
}

function isFlag(column) {
  return kindOf(column) === "flag" || (figures !== null && figures.binary.includes(column));
}

function isTruth(column) {
  return typeof levelsOf(column)?.[0] === "boolean";
}

/** Say whether values of a column were missing when the rules were learned. */
function wasMissing(column) {
  return special.get(column)?.missing ?? false;
}

/** Return the groups of rows, each with the conditions that hold; null in place of unknown ones. */
function decodedGroups({ conditions, groups: { patterns, rows, weight, target, spread } }) {
  const bit = (pattern, place) => (parseInt(pattern[place >> 2], 16) >> (3 - (place & 3))) & 1;
  return rows.map((count, index) => ({
    holds: index < patterns.length ? new Set(conditions.filter((_, place) => bit(patterns[index], place))) : null,
    rows: count,
    weight: weight[index],
    target: target[index],
    spread: spread ? spread[index] : 0,
  }));
}

function position() {
  return data.sizes[state.size];
}
function current() {
  return ensembles[position()];
}
function switchedOff() {
  return state.off.get(state.size) ?? new Set();
}

/** Return the groups of rows with known conditions at the present size, null if there are none. */
function groupsHere() {
  return figures && figures.exact[state.size] && patternGroups.length ? patternGroups : null;
}
