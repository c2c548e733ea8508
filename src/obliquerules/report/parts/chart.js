// Charts: axes, scales and the curve of sizes.

/** Return round numbers from low to high. */
function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

const PAPER_WIDTH = 380;
// What is larger is not drawn to scale, so that differences of numbers are numbers.
const LARGEST_DRAWN = 1e300;

/** Return the scales of a chart of the given ranges, and its svg with axes drawn. */
function chart(host, height, [x0, x1], [y0, y1], xName, yName, write = readable) {
  const width = state.paper ? PAPER_WIDTH : Math.max(280, host.clientWidth);
  const labels = ticks(y0, y1, 5).map((value) => [value, pretty(write(value))]);
  const left = 18 + 7 * Math.max(...labels.map(([, text]) => text.length));
  const [right, top, bottom] = [22, 26, 44];
  const x = scale([x0, x1], left, width - right);
  const y = scale([y0, y1], height - bottom, top);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const [value, text] of labels) {
    svg.append(drawn("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  for (const value of ticks(x0, x1, Math.max(3, Math.floor(width / 90)))) {
    svg.append(
      drawn(
        "text",
        { x: x(value), y: height - bottom + 18, "text-anchor": "middle" },
        pretty(write === percentAxis ? write(value) : readable(value)),
      ),
    );
  }
  svg.append(drawn("text", { x: left + (width - left - right) / 2, y: height - 6, "text-anchor": "middle" }, xName));
  svg.append(drawn("text", { x: 0, y: 12 }, yName));
  return { svg, x, y, width, left, right, top, bottom: height - bottom };
}

function percentAxis(share) {
  return `${Math.round(100 * share)} %`;
}

/** Return what gives the place of a value between two ends; what is far outside is drawn just outside. */
function scale([low, high], start, end) {
  return (value) => {
    const share = Math.max(-1, Math.min(2, (value - low) / (high - low || 1)));
    return start + (Number.isNaN(share) ? 0 : share) * (end - start);
  };
}

/** Return a range with some room around values. */
function padded(values, share = 0.06) {
  const bounded = values.filter((value) => Math.abs(value) <= LARGEST_DRAWN);
  if (!bounded.length) return [0, 1];
  const [low, high] = [Math.min(...bounded), Math.max(...bounded)];
  const room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

function pathOf(points) {
  return points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** Return what the curve of sizes shows: lines of [complexity, height] along the path. */
function curveLines() {
  const path = pathMembers().map((ensemble) => complexity(ensemble));
  const along = (heights) => path.map((size, index) => [size, heights[index]]).filter(([, height]) => height !== null);
  const lines = {};
  if (figures) lines.rows = along(figures.measures.map(([risk]) => numberOf(risk)));
  if (data.crossValidated) {
    lines.crossValidated = along(data.crossValidated.mean);
    lines.band = [...along(data.crossValidated.low), ...along(data.crossValidated.high).reverse()];
  }
  if (!figures && !data.crossValidated) lines.rules = along(pathMembers().map((ensemble) => ensemble.rules.length));
  return lines;
}

function pathMembers() {
  return data.edits ? ensembles.slice(0, -1) : ensembles;
}

/** Return between which ends the figure of each size lies, where rounding protects rows. */
function distances() {
  if (!figures) return [];
  return pathMembers().flatMap((ensemble, index) => {
    const [value, within] = figures.measures[index][0] ?? [0, 0];
    return within ? [{ size: complexity(ensemble), low: value - within, high: value + within }] : [];
  });
}

/** Return where an ensemble stands on the curve. */
function heightOf(index) {
  if (figures) return numberOf(figures.measures[index][0]);
  if (data.crossValidated) return data.crossValidated.mean[index] ?? null;
  return ensembles[index].rules.length;
}

function drawCurve() {
  const lines = curveLines();
  const points = Object.values(lines).flat();
  const stops = data.sizes.map((index) => [complexity(ensembles[index]), heightOf(index)]);
  const bars = distances();
  const ends = bars.flatMap(({ low, high }) => [low, high]);
  const heights = [...[...points, ...stops].map(([, height]) => height).filter((height) => height !== null), ...ends];
  const sizes = [...points, ...stops].map(([size]) => size);
  const yName = lines.rules ? "rules" : MEASURES[0].name;
  const picture = chart(
    byId("curve"),
    300,
    padded(sizes, 0.03),
    lines.rules ? [0, Math.max(...heights, 1)] : padded(heights),
    "complexity: rules, conditions and variables",
    yName,
  );
  for (const [kind, look] of [
    ["band", "band"],
    ["crossValidated", "second"],
    ["rows", "curve"],
    ["rules", "curve"],
  ]) {
    if (lines[kind])
      picture.svg.append(
        drawn("path", { class: look, d: pathOf(lines[kind].map(([size, height]) => [picture.x(size), picture.y(height)])) }),
      );
  }
  for (const { size, low, high } of bars) {
    const at = picture.x(size);
    picture.svg.append(drawn("line", { class: "interval", x1: at, x2: at, y1: picture.y(low), y2: picture.y(high) }));
  }
  drawMembers(picture, lines, stops);
  drawKey(picture, lines);
  picture.svg.setAttribute(
    "aria-label",
    `${withCapital(yName)} against complexity for ${counted(pathMembers().length, "size")} of the model. ${sizeWords()}.`,
  );
  byId("curve").replaceChildren(picture.svg);
}

function drawMembers({ svg, x, y, bottom }, lines, stops) {
  const dots = lines.rows ?? lines.crossValidated ?? lines.rules;
  for (const [size, height] of dots) svg.append(drawn("circle", { class: "dot", cx: x(size), cy: y(height), r: 2.2 }));
  stops.forEach(([size, height], index) => {
    const here = index === state.size;
    if (here)
      svg.append(drawn("line", { class: "drop", x1: x(size), x2: x(size), y1: height === null ? 26 : y(height), y2: bottom }));
    if (height === null) return;
    const circle = drawn("circle", { class: here ? "here" : "stop", cx: x(size), cy: y(height), r: here ? 7 : 5.5 });
    circle.addEventListener("click", () => chooseSize(index));
    svg.append(circle);
  });
  if (switchedOff().size && groupsHere() && !restRows) drawEdited({ svg, x, y, bottom });
}

/** Show where the model is without the rules that are off. */
function drawEdited({ svg, x, y, bottom }) {
  const off = switchedOff();
  const [cx, cy] = [x(complexity(current(), off)), y(MEASURES[0].of(scoredGroups(current(), off)))];
  if (cy < 20 || cy > bottom) return;
  svg.append(drawn("circle", { class: "edited", cx, cy, r: 6 }));
  svg.append(drawn("text", { class: "second-key", x: cx, y: cy - 12, "text-anchor": "middle" }, "rules off"));
}

/** Name the lines, if there are two. */
function drawKey({ svg, width }, lines) {
  if (!lines.rows || !lines.crossValidated) return;
  svg.append(drawn("text", { class: "key", x: width - 14, y: 12, "text-anchor": "end" }, `— ${figures.name}`));
  svg.append(
    drawn(
      "text",
      { class: "second-key", x: width - 14, y: 28, "text-anchor": "end" },
      "- - cross-validated, ± one standard error",
    ),
  );
}
