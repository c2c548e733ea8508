// Elements of the page. Text is only ever set as text: no name and no label is read as markup or code.

function byId(id) {
  return document.getElementById(id);
}

/** Make an element; attributes are set as such, children are elements or text. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

function say(id, text) {
  byId(id).textContent = text;
}

function nameElement(column) {
  const name = plainName(column);
  const shown = shownName(column);
  return element("b", { title: shown === name ? null : name.slice(0, 2000) }, element("bdi", {}, shown));
}

function levelElement(text) {
  const shown = visible(text);
  return element("bdi", { class: "level", title: shown === text ? null : text.slice(0, 2000) }, shown || JSON.stringify(text));
}

function testNodes({ pieces }) {
  return pieces.map((piece) => {
    if (typeof piece === "number") return nameElement(piece);
    return Array.isArray(piece) ? levelElement(piece[0]) : unbroken(pretty(piece));
  });
}

/** A line may end before a sign, but not between it and a coefficient, or between a coefficient and its variable; nor at "=". */
function unbroken(text) {
  return text
    .replace(/^ ([+−]) /, " $1\u00a0")
    .replace(/^ ([=≠])[ \u00a0]$/, "\u00a0$1\u00a0")
    .replace(/([0-9]|not) (\(?)$/, "$1\u00a0$2");
}

/** Return a weight and, where there is such a thing, what it multiplies the odds or the expected count by. */
function weightNodes(weight) {
  const isRead = data.words.factor && Math.abs(weight) <= Math.log(data.words.largest_ratio);
  return [pretty(signed(weight)), isRead ? element("small", {}, `×\u00a0${factor(weight)}`) : null];
}

/** Return what a rule says besides its weight: what that is multiplied by, if anything, and its condition. */
function sayingNodes({ condition, factor: multiplied }) {
  if (!multiplied) return conditionNodes(condition);
  return ["times ", ...testNodes(multiplied), ...(conditions[condition].length ? [", if ", ...conditionNodes(condition)] : [])];
}

/** Return a condition as nodes, its tests joined by "and". */
function conditionNodes(condition) {
  const nodes = conditions[condition].flatMap((test, index) => [
    ...(index ? [element("span", { class: "and" }, " and ")] : []),
    ...testNodes(test),
  ]);
  return nodes.length ? nodes : ["always"];
}

/** A bar of rectangles on a width of 100: each has a class, a start and an end. */
function bar(...parts) {
  const rectangles = parts.map(([kind, from, to]) => {
    const thin = kind === "zero";
    const width = Math.max(Math.abs(to - from), thin ? 0.4 : 0.8);
    const [y, height] = { zero: [0, 10], track: [2, 6] }[kind] ?? [1, 8];
    return drawn("rect", { class: kind, x: Math.min(from, to, 100 - width), width, y, height, rx: 0 });
  });
  return drawn(
    "svg",
    { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...rectangles,
  );
}
