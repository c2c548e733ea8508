// The data of the page, and what the reader has chosen.

const data = JSON.parse(document.getElementById("payload").textContent);
const file = JSON.parse(data.file);
const figures = data.figures;
const quoted = new Set(data.quoted);
const ensembles = data.ensembles.map(([intercept, weights, conditions]) => ({
  intercept,
  rules: weights.map((weight, index) => ({ weight, condition: conditions[index] })),
}));
const allGroups = figures ? decodedGroups(figures) : [];
const toldGroups = allGroups.filter(({ holds }) => holds);
const restRows = sum(allGroups, ({ holds, rows }) => (holds ? 0 : rows));
const state = { size: data.present, off: new Map(), values: new Map(Object.entries(startValues())), paper: false, threshold: 0.5 };

function startValues() {
  const medians = figures ? figures.medians : {};
  // Half of the rows of a 0/1 column may be ones: a tick box has no middle.
  const value = (column, median) => (isBinary(Number(column)) ? Math.floor(median) : median);
  return Object.fromEntries(Object.entries(medians).map(([column, median]) => [column, String(value(column, median))]));
}

function isBinary(column) {
  return figures !== null && figures.binary.includes(column);
}

/** Return the groups of rows, each with the conditions that hold; null in place of them where that is not told. */
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

/** Return the groups of rows of which it is told which rules of the present size hold, null if there are none. */
function groupsHere() {
  return figures && figures.spoken[state.size] && toldGroups.length ? toldGroups : null;
}
