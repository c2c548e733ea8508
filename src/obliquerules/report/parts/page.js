// Page: draws all parts, and connects them with the controls.

function renderWords() {
  say("estimator", file.estimator);
  byId("about-model").replaceChildren(
    ...aboutLines().map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, text))),
  );
  say(
    "lead",
    `The ${visible(data.words.mean)}, from rules that can be read and checked. Choose a size, switch rules off, score a case.`,
  );
  if (figures) say("case-start", startWords());
  say(
    "curve-note",
    figures
      ? `One fit, every size. The line is the ${MEASURES[0].name} on ${allRowsWords()}; ` +
          `choose a size with the slider, or one of the large dots.${distances().length ? " Bars: how far it may be off." : ""}`
      : "One fit, every size: choose one with the slider.",
  );
  say(
    "rules-note",
    `${scoreWords()} Switch a rule off to see what the model is without it; the other weights stay as they are.`,
  );
  if (data.words.labels && !many) say("decision-note", decisionNote());
  say("take-note", "The file holds this model at this size, without the rules that are off. In Python, load_model reads it.");
  say("about", aboutWords());
}

function aboutLines() {
  return many ? [["Classes", classes.map(classWords).join(", ")], ...data.about] : data.about;
}

/** Say what the numbers of the rules add up to. */
function scoreWords() {
  const offset = hasOffset ? ", and the offset" : "";
  if (many) {
    return (
      `The score of each class is the sum of its numbers over the rules that hold${offset}. The class with the highest score ` +
      "is the most probable. Where there is no number, a rule says nothing of the class."
    );
  }
  const unit = hasExposure ? " for an exposure of 1" : "";
  const multiplied = hasSlopes ? " Where a rule says “times”, its number is multiplied by that value." : "";
  const verb = data.words.plural ? "are" : "is";
  return `The ${visible(data.words.score)}${unit} ${verb} the sum of what these add${offset}.${multiplied}`;
}

function startWords() {
  const levels = Object.keys(figures.typical).some((column) => levelsOf(Number(column)));
  return `The values to start with are medians${levels ? " and the most frequent levels" : ""}.`;
}

function decisionNote() {
  const event = visible(data.words.labels[1]);
  return (
    `A case is called ${event} where the probability of that is above the threshold. The net benefit is the share of ` +
    "rows rightly called so, less the share wrongly called so times the odds of the threshold."
  );
}

function aboutWords() {
  const exact = "Rules and scores are those of the model, to the last bit.";
  if (!figures) return `No rows were given when this page was made, so it does not say how good the model is. ${exact}`;
  const basis =
    `${exact} Figures come from one table that counts ${allRowsWords()} by ` +
    `${isGroupedByScore ? "their predictions" : "the conditions that hold"}. ` +
    "No row is in this file.";
  const small = figures.least > 1 ? ` No group in the table has fewer than ${figures.least} rows.` : "";
  const exposed = hasExposure ? " A row counts by its exposure, so that figures are of rates, for an exposure of 1." : "";
  return `${basis}${small}${exposed} ${restRows ? restWords() : "Figures are exact with any rules switched off."}`;
}

function restWords() {
  if (isGroupedByScore) {
    return (
      `Because ${hasOffset ? "the offset" : "what some rules add"} differs from row to row, rows are in groups with like ` +
      "predictions. The figures at the top are of all rows, rounded so that no single row shows; there are none with rules " +
      "switched off."
    );
  }
  const kept = (figures.rows - restRows).toLocaleString("en-GB");
  return (
    `To protect ${counted(restRows, "row")} with rare combinations of conditions, they are merged into groups with ` +
    "like predictions. With all rules on, the figures at the top and the calibration are of all rows, rounded so that no " +
    "single row shows. " +
    `With rules switched off they are exact for the other ${kept} rows; rare combinations are often the harder cases.`
  );
}

function render({ form = false, focus = null } = {}) {
  renderSize();
  renderFigures();
  redraw();
  renderDecision();
  renderConfusion();
  renderRules();
  renderBands();
  arrangeClasses();
  if (form) renderForm();
  renderCase();
  if (focus) byId(focus).focus();
}

function redraw() {
  drawCurve();
  drawCalibration();
}

function start() {
  renderWords();
  render({ form: true });
  byId("size").addEventListener("input", (event) => chooseSize(Number(event.target.value)));
  for (const id of ["threshold", "threshold-number"]) {
    byId(id).addEventListener("input", (event) => chooseThreshold(event.target.value, id));
  }
  byId("all-on").addEventListener("click", () => {
    state.off.delete(state.size);
    render({ focus: "rules-heading" });
  });
  byId("case").addEventListener("submit", (event) => event.preventDefault());
  byId("rival").addEventListener("change", (event) => chooseRival(event.target.value));
  byId("download").addEventListener("click", download);
  byId("print").addEventListener("click", () => window.print());
  window.addEventListener("resize", redraw);
  NARROW.addEventListener("change", arrangeClasses);
  for (const [event, paper] of [
    ["beforeprint", true],
    ["afterprint", false],
  ]) {
    window.addEventListener(event, () => {
      state.paper = paper;
      redraw();
    });
  }
}

start();
