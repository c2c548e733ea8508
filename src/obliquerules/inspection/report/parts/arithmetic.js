// One arithmetic.
//
// As everywhere in obliquerules: products added from left to right and compared with >=; the constant, then the weights of the
// rules that fire, added from left to right. A missing value is NaN, which compares as false.

function project([columns, weights], value) {
  let total = weights[0] * value(columns[0]);
  for (let index = 1; index < columns.length; index += 1) total += weights[index] * value(columns[index]);
  return total;
}

function propositionHolds(proposition, value) {
  return project(proposition, value) >= proposition[2];
}

function conditionHolds(condition, value) {
  return data.conditions[condition].every((proposition) => propositionHolds(proposition, value));
}

/** Add up the weights of the rules that are on and fire. */
function score(ensemble, off, fires) {
  let total = ensemble.intercept;
  ensemble.rules.forEach((rule, index) => {
    if (!off.has(index) && fires(rule.condition)) total += rule.weight;
  });
  return total;
}

const LARGEST_EXPONENT = 600;
const INVERSE_LINKS = {
  logistic: (f) => 1 / (1 + Math.exp(-f)),
  squared: (f) => f,
  poisson: (f) => Math.exp(Math.min(f, LARGEST_EXPONENT)),
};
const LINKS = { logistic: (mean) => Math.log(mean / (1 - mean)), squared: (mean) => mean, poisson: (mean) => Math.log(mean) };
const inverseLink = INVERSE_LINKS[data.loss];

function conditionComplexity(condition) {
  const propositions = data.conditions[condition];
  return propositions.length ? 1 + propositions.reduce((sum, [columns]) => sum + 1 + columns.length, 0) : 0;
}

function complexity(ensemble, off = new Set()) {
  return ensemble.rules.reduce((sum, rule, index) => sum + (off.has(index) ? 0 : conditionComplexity(rule.condition)), 0);
}
