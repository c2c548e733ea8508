// Band tables: the sum of the rules on one variable alone, by its value.

const START = [-Infinity, false];
const END = [Infinity, true];
// A sum that is smaller than the largest by this factor is what rounding has left of zero.
const ROUNDING = 1e-12;

function compareCuts([value, above], [otherValue, otherAbove]) {
  return value === otherValue ? above - otherAbove : value < otherValue ? -1 : 1;
}

/** Return the rules that are on and hold on one variable alone, by its column. */
function staircases() {
  const found = new Map();
  current().rules.forEach(({ weight, condition, factor: multiplied }, index) => {
    if (switchedOff().has(index) || multiplied || !data.intervals[condition]) return;
    const [column, low, high] = data.intervals[condition];
    found.set(column, [...(found.get(column) ?? []), { weight, low: low ?? START, high: high ?? END }]);
  });
  return [...found].filter(([, stairs]) => stairs.length > 1);
}

/** Return the bands of a staircase, each with the sum of its rules from left to right; equal neighbours are one. */
function bandsOf(stairs) {
  const inner = stairs.flatMap(({ low, high }) => [low, high]).filter(([value]) => Number.isFinite(value));
  const edges = [START, ...inner.sort(compareCuts), END].filter((cut, index, all) => !index || compareCuts(all[index - 1], cut));
  const bands = [];
  edges.slice(1).forEach((high, index) => {
    const low = edges[index];
    const holding = stairs.filter((stair) => compareCuts(stair.low, low) <= 0 && compareCuts(high, stair.high) <= 0);
    const weight = holding.reduce((total, stair) => plus(total, stair.weight), many ? classes.map(() => 0) : 0);
    // Numbers, and lists of them, are the same if their texts are.
    if (bands.length && String(bands.at(-1).weight) === String(weight)) bands.at(-1).high = high;
    else bands.push({ low, high, weight });
  });
  return bands;
}

/** Say which values are in a band, in the words of the library. */
function bandWords(column, { low: [from, afterFrom], high: [to, withTo] }) {
  if (from === to) return `exactly ${written(column, from)}`;
  const first = `${afterFrom ? "above" : "from"} ${written(column, from)}`;
  if (to === Infinity) return from === -Infinity ? "any value" : first;
  if (from === -Infinity) return `${withTo ? "up to" : "below"} ${written(column, to)}`;
  return `${first} ${withTo ? "to" : "to below"} ${written(column, to)}`;
}

function renderBands() {
  const tables = staircases().map(([column, stairs]) => bandTable(column, bandsOf(stairs)));
  byId("bands-part").hidden = !tables.length;
  byId("bands").replaceChildren(...tables);
}

function bandTable(column, bands) {
  const largest = Math.max(...bands.flatMap(({ weight }) => weight).map(Math.abs), Number.MIN_VALUE);
  const codes = classes.filter((code) => bands.some(({ weight }) => weight[code] !== 0));
  const adds = many
    ? classHeadings(codes)
    : [element("th", { scope: "col", class: "weight" }, "in all", ratioHeading()), element("td", { class: "adds" })];
  const name = element("th", { scope: "col", class: "value" }, nameElement(column), " alone");
  return element(
    "table",
    { class: many ? "bands classes" : "bands" },
    element("thead", {}, element("tr", {}, name, ...adds)),
    element("tbody", {}, ...bands.map((band) => bandRow(column, band, largest, codes))),
  );
}

function bandRow(column, band, largest, codes) {
  const legible = (weight) => (Math.abs(weight) < ROUNDING * largest ? 0 : weight);
  const cells = many
    ? classCells(band.weight.map(legible), largest, { codes })
    : [
        element("td", { class: "weight" }, ...weightNodes(legible(band.weight))),
        element("td", { class: "adds" }, weightBar(legible(band.weight), largest)),
      ];
  return element("tr", {}, element("th", { scope: "row", class: "value" }, bandWords(column, band)), ...cells);
}
