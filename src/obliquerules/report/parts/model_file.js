// Model file: the edited model as a file for load_model.

function asStored({ intercept, rules }) {
  return {
    intercept,
    rules: rules.map(({ weight, condition, factor: multiplied }) => ({
      weight,
      ...(multiplied ? { factor: multiplied.stored } : {}),
      condition: conditions[condition].map(({ stored }) => stored),
    })),
  };
}

function withoutOff(ensemble, off) {
  return { intercept: ensemble.intercept, rules: ensemble.rules.filter((_, index) => !off.has(index)) };
}

/** Write what a rule adds, of many classes to those that it speaks for. */
function plainWeight(weight) {
  if (!many) return signed(weight);
  const named = classes.filter((code) => weight[code] !== 0);
  return named.map((code) => `${data.words.outputs[code]} ${signed(weight[code])}`).join(", ") || signed(0);
}

/** Return one step of the edit log for each rule that is off, in the words of the library. */
function editSteps(ensemble, off) {
  const dropped = new Set();
  return [...off]
    .sort((a, b) => a - b)
    .map((index) => {
      const after = new Set([...dropped, index]);
      const rule = index - dropped.size;
      const { weight, condition } = ensemble.rules[index];
      const step = {
        action: "drop",
        rule,
        new: null,
        description: `drop rule ${rule}: ${plainWeight(weight)} if ${plainCondition(condition)}`,
        complexity: [complexity(ensemble, dropped), complexity(ensemble, after)],
        loss: [meanLoss(scoredGroups(ensemble, dropped)), meanLoss(scoredGroups(ensemble, after))],
      };
      dropped.add(index);
      return step;
    });
}

/** Return which ensembles the file has, which of them predicts, and the log of edits. */
function storedPath() {
  const off = switchedOff();
  const members = pathMembers();
  const wasEdited = position() >= members.length;
  if (!off.size && !wasEdited) return { chosen: position(), path: members };
  const edited = withoutOff(current(), off);
  if (off.size && !groupsHere()) return { chosen: 0, path: [edited] }; // without groups there is no loss for the log to tell
  const [start, steps] = wasEdited ? [data.edits.start, data.edits.steps] : [position(), []];
  return {
    chosen: members.length,
    path: [...members, edited],
    edits: { start, steps: [...steps, ...editSteps(current(), off)] },
  };
}

/** Return the model file as text. What was read from the file of the model is written as it was, to the last digit. */
function modelText() {
  const { chosen, path, edits } = storedPath();
  const ridges = data.ridges && path.length >= pathMembers().length ? { ridges: data.ridges } : {};
  const rest = { chosen, ...ridges, path: path.map(asStored), ...(edits ? { edits } : {}) };
  return `${data.file.slice(0, -1)}, ${JSON.stringify(rest).slice(1)}\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([modelText()], { type: "application/json" }));
  element("a", { href: address, download: "model.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
