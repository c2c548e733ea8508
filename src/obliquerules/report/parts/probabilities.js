// Probabilities: those of many classes for a case, and why the most probable one is ahead of another.

/** Show the probability of each class, the most probable first. */
function renderProbabilities(shares, scores) {
  const order = ranked(scores);
  const lines = order.map((code) =>
    element(
      "li",
      {},
      element("span", { class: "name" }, classElement(code, LONGEST_NAME)),
      bar(["track", 0, 100], ["plus", 0, 100 * shares[code]]),
      element("span", { class: "probability" }, percent(shares[code])),
    ),
  );
  byId("answer-bar").replaceChildren(element("ol", { class: "probabilities" }, ...lines));
  renderRivals(order);
}

/** Offer the classes to compare with, the runner-up first. */
function renderRivals([first, second, ...others]) {
  say("why-class", classWords(first));
  const entries = [["", second], ...others.map((code) => [code, code])];
  const select = byId("rival");
  select.replaceChildren(...entries.map(([value, code]) => element("option", { value }, classWords(code))));
  select.value = others.includes(state.rival) ? String(state.rival) : "";
}

function chooseRival(value) {
  state.rival = value === "" ? null : Number(value);
  renderCase();
}

/** Return the most probable class and the one that it is compared with: the chosen one, else the runner-up. */
function compared(scores) {
  const [first, second] = ranked(scores);
  return [first, state.rival === null || state.rival === first ? second : state.rival];
}

/** Return what gives the difference of the weights of these two. */
function leadOver(scores) {
  const [first, second] = compared(scores);
  return (weights) => weights[first] - weights[second];
}

/** Say what a difference of scores means: probabilities are to each other as the exponentials of scores. */
function leadNodes(scores) {
  const pair = compared(scores);
  const [first, second] = pair.map(classWords);
  const lead = leadOver(scores)(scores);
  const meaning = lead > 0 ? `${factor(lead)} times as probable as ${second}` : `as probable as ${second}, and comes before it`;
  const [one, other] = pair.map((code) => pretty(readable(scores[code], 3)));
  return [`in all: ${first} is ${meaning}`, element("small", {}, `the score of ${first} is ${one}, that of ${second} ${other}`)];
}
