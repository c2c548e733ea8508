// Many classes: more than two, each with a score of its own.

const many = Boolean(data.words.names);
const classes = (data.words.names ?? []).map((_, code) => code);
const predictsShares = many || data.loss === "logistic";

/** Return the classes from the highest number to the lowest; of equal ones, the first in the order of labels is first. */
function ranked(numbers) {
  return [...classes].sort((one, other) => numbers[other] - numbers[one] || one - other);
}

/** Return the class with the highest number; of equal ones, the first. */
function leading(numbers) {
  return numbers.indexOf(Math.max(...numbers));
}

/** Return the class that a group is called: its scores decide where they are known, else its mean prediction. */
function calledClass({ score: scores, predicted }) {
  return leading(scores ?? predicted);
}

/** Return what a class is called in a table, never empty to the eye. */
function className(code) {
  return visible(data.words.names[code]) || `class ${code + 1}`;
}

/** Return what a class is called in a sentence. */
function classWords(code) {
  return visible(data.words.labels[code]) || className(code);
}

const LONGEST_HEADING = 18;
const END_OF_HEADING = 8;

/** Return the name of a class as a node, cut in the middle where it would fill the page: names often differ in their ends. */
function classElement(code, longest = LONGEST_HEADING) {
  const [name, shown] = [data.words.names[code], Array.from(className(code))];
  const ends = [shown.slice(0, longest - 1 - END_OF_HEADING), shown.slice(-END_OF_HEADING)].map((part) => part.join(""));
  const cut = shown.length > longest ? ends.join("…") : shown.join("");
  return element("bdi", { title: cut === name ? null : name.slice(0, 2000) }, cut);
}

// Tables have a column for each class as long as the window is wide and their names fit on a line.
const NARROW = window.matchMedia("screen and (max-width: 46rem)");
const MOST_LETTERS = 72;
const SHORTEST_HEADING = 6;

function classesFit() {
  const letters = (code) => Math.max(SHORTEST_HEADING, Math.min(LONGEST_HEADING, className(code).length));
  return !NARROW.matches && sum(classes, letters) <= MOST_LETTERS;
}

/** Set the weights of many classes in columns or, where these do not fit, one after the other. */
function arrangeClasses() {
  const fit = classesFit();
  for (const table of document.querySelectorAll(".classes")) {
    table.classList.toggle("in-columns", fit);
    table.classList.toggle("listed", !fit);
  }
}

function classHeadings(codes = classes) {
  return codes.map((code) => element("th", { class: "weight", scope: "col" }, classElement(code)));
}

/** Return a cell for each class, blank where the weight is zero, unless zeros are shown. */
function classCells(weights, largest, { codes = classes, zeros = false } = {}) {
  return codes.map((code) => {
    const weight = weights[code];
    if (weight === 0 && !zeros) return element("td", { class: "weight" });
    const name = element("span", { class: "of", "aria-hidden": "true" }, classElement(code));
    return element("td", { class: `weight ${tint(weight, largest)}` }, name, element("span", {}, pretty(signed(weight))));
  });
}

const DEEPEST_TINT = 4;

/** Return the look of a number, the deeper the larger it is. */
function tint(number, largest) {
  const depth = Math.ceil((DEEPEST_TINT * Math.abs(number)) / largest);
  return depth ? `${number < 0 ? "minus" : "plus"}-${Math.min(depth, DEEPEST_TINT)}` : "";
}
