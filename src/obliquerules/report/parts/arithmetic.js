// Arithmetic: conditions, scores and links, computed to the last bit as the library does.
//
// As everywhere in obliquerules: products added from left to right and compared with >=; the constant, an offset if there is one,
// then the weights of the rules that fire, each multiplied by its factor if it has one, added from left to right. A missing value
// is NaN; a level is its position among the levels of its column, or -1 if it is none of them. With many classes, a weight, a
// score, a prediction and a target are lists of numbers, one for each class.

/** Return a condition of a rule, as the file has it, ready to be asked; pieces are its text. */
function prepared(stored, pieces) {
  if ("column" in stored) return { stored, pieces, membership: preparedMembership(stored), used: [stored.column] };
  const terms = stored.columns.map((term) => (typeof term === "number" ? term : preparedMembership(term)));
  const used = [...new Set(terms.map((term) => (typeof term === "number" ? term : term.column)))];
  return { stored, pieces, terms, weights: stored.weights, threshold: stored.threshold, missing: stored.missing ?? false, used };
}

/** Levels are told apart by their types, too: the text "1" is not the number 1. */
function preparedMembership({ column, levels, negated = false, missing = false }) {
  const known = codes.get(column) ?? new Map();
  return { column, listed: new Set(levels.filter((level) => known.has(level)).map((level) => known.get(level))), negated, missing };
}

function isMember({ column, listed, negated, missing }, value) {
  const code = value(column);
  return Number.isNaN(code) ? missing : listed.has(code) !== negated;
}

/** Return the value of a column, or 1 where a membership holds and 0 elsewhere. */
function termValue(term, value) {
  return typeof term === "number" ? value(term) : Number(isMember(term, value));
}

function project({ terms, weights }, value) {
  let total = weights[0] * termValue(terms[0], value);
  for (let index = 1; index < terms.length; index += 1) total += weights[index] * termValue(terms[index], value);
  return total;
}

/** Return the columns of numbers that a sum needs and that are missing. */
function missingNumbers({ terms }, value) {
  return terms.filter((term) => typeof term === "number" && Number.isNaN(value(term)));
}

function testHolds(test, value) {
  if (test.membership) return isMember(test.membership, value);
  return missingNumbers(test, value).length ? test.missing : project(test, value) >= test.threshold;
}

function conditionHolds(condition, value) {
  return conditions[condition].every((test) => testHolds(test, value));
}

/** Add two numbers, or two lists of them. */
function plus(one, other) {
  return typeof one === "number" ? one + other : one.map((number, index) => number + other[index]);
}

/** Return what a factor multiplies by: a value between its limits, counted from its origin; zero where it is missing. */
function factorValue({ stored: { column, origin = 0, lower = -Infinity, upper = Infinity } }, value) {
  const number = value(column);
  return Number.isNaN(number) ? 0 : Math.min(Math.max(number, lower), upper) - origin;
}

/** Return what a rule that fires adds. */
function added({ weight, factor: multiplied }, value) {
  if (!multiplied) return weight;
  const size = factorValue(multiplied, value);
  return typeof weight === "number" ? weight * size : weight.map((one) => one * size);
}

/** Add up what the rules add that are on and fire; the values are asked for if rules have factors. */
function score(ensemble, off, fires, offset = null, value = null) {
  let total = offset === null ? ensemble.intercept : plus(ensemble.intercept, offset);
  ensemble.rules.forEach((rule, index) => {
    if (!off.has(index) && fires(rule.condition)) total = plus(total, added(rule, value));
  });
  return total;
}

const LARGEST_EXPONENT = 600;
const exponential = (f) => Math.exp(Math.max(-LARGEST_EXPONENT, Math.min(f, LARGEST_EXPONENT)));
const INVERSE_LINKS = {
  logistic: (f) => 1 / (1 + exponential(-f)),
  squared: (f) => f,
  poisson: exponential,
  gamma: exponential,
  tweedie: exponential,
  multinomial: (f) => {
    const highest = Math.max(...f);
    const odds = f.map((number) => Math.exp(number - highest));
    const total = sum(odds, (number) => number);
    return odds.map((number) => number / total);
  },
};
const LINKS = {
  logistic: (mean) => Math.log(mean / (1 - mean)),
  squared: (mean) => mean,
  poisson: Math.log,
  gamma: Math.log,
  tweedie: Math.log,
  multinomial: (shares) => shares.map((share) => Math.log(share)),
};
/** The power of the mean to which the variance of a target is proportional. */
const POWERS = { poisson: 1, gamma: 2, tweedie: data.power };
const inverseLink = INVERSE_LINKS[data.loss];

/** One for the column, one for each limit, and one for an origin that does not only move the constant. */
function factorComplexity({ stored: { column, origin = 0, lower = -Infinity, upper = Infinity } }, conditional) {
  const counted = origin !== 0 && origin !== lower && origin !== upper && (conditional || wasMissing(column));
  return 1 + Number.isFinite(lower) + Number.isFinite(upper) + counted;
}

function complexity(ensemble, off = new Set()) {
  return sum(
    ensemble.rules.filter((_, index) => !off.has(index)),
    ruleComplexity,
  );
}

/** One for each weight that is not zero, and what is read in factor and condition; a constant is free. */
function ruleComplexity({ weight, condition, factor: multiplied }) {
  const withOneWeight = data.complexities[condition];
  const further = many ? weight.filter((one) => one !== 0).length - 1 : 0;
  if (multiplied) return Math.max(withOneWeight, 1) + further + factorComplexity(multiplied, withOneWeight > 0);
  return withOneWeight ? withOneWeight + further : 0;
}
