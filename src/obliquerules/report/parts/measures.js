// Measures, exact from the groups of rows.

/** Return exp(s) (exp(c u) - exp(c v)) / c, or exp(s) (u - v) where c is 0, without cancelling. */
function exponentialGap(s, c, u, v) {
  if (c === 0) return Math.exp(s) * (u - v);
  const size = (Math.exp(s + Math.max(c * u, c * v)) * -Math.expm1(-Math.abs(c * (u - v)))) / Math.abs(c);
  return u >= v ? size : -size;
}

/** The gamma and Tweedie losses of one row of the mean target, as in kernels/losses.h. */
function tweedieLoss(power, f, mean) {
  const [above, below, best] = [Math.min(f, LARGEST_EXPONENT), Math.max(f, -LARGEST_EXPONENT), Math.log(mean)];
  const rising = exponentialGap(0, 2 - power, above, best) + Math.exp((2 - power) * above) * (f - above);
  if (mean <= 0) return rising;
  return rising - exponentialGap(best, 1 - power, below, best) - mean * Math.exp((1 - power) * below) * (f - below);
}

const groupTweedieLoss = (f, g) => g.spread + g.weight * tweedieLoss(POWERS[data.loss], f, g.target / g.weight);

/** The loss of a group whose rows all have the score f. */
const GROUP_LOSSES = {
  logistic: (f, g) => g.weight * (Math.max(f, 0) + Math.log1p(Math.exp(-Math.abs(f)))) - g.target * f,
  squared: (f, g) => 0.5 * (g.spread + g.weight * (g.target / g.weight - f) ** 2),
  poisson: (f, g) => {
    const bounded = Math.min(f, LARGEST_EXPONENT);
    const excess = g.weight * Math.exp(bounded) - g.target;
    const entropy = g.target > 0 ? g.target * Math.log(g.target / g.weight) : 0;
    return g.spread + excess + (entropy - g.target * bounded) + excess * (f - bounded);
  },
  multinomial: (f, g) => {
    const highest = Math.max(...f);
    const present = classes.filter((code) => g.target[code] > 0);
    const total = Math.log(sum(f, (number) => Math.exp(number - highest)));
    return g.weight * total - sum(present, (code) => g.target[code] * (f[code] - highest));
  },
  gamma: groupTweedieLoss,
  tweedie: groupTweedieLoss,
};

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

function scoredGroups(ensemble, off) {
  return groupsHere().map((group) => ({ ...group, score: score(ensemble, off, (condition) => group.holds.has(condition)) }));
}

function meanLoss(scored) {
  const total = sum(scored, (g) => GROUP_LOSSES[data.loss](g.score, g));
  return Math.min(total, Number.MAX_VALUE) / sum(scored, (g) => g.weight);
}

/** Return the mean of targets: a number, or the share of each of many classes. */
function targetMean(groups) {
  const weight = sum(groups, (g) => g.weight);
  if (many) return classes.map((code) => sum(groups, (g) => g.target[code]) / weight);
  return sum(groups, (g) => g.target) / weight;
}

/** Return the share of rows that are not of the class that they are called. */
function classErrorRate(scored) {
  return sum(scored, (g) => g.weight - g.target[calledClass(g)]) / sum(scored, (g) => g.weight);
}

function errorRate(scored) {
  return sum(scored, (g) => (g.score > 0 ? g.weight - g.target : g.target)) / sum(scored, (g) => g.weight);
}

/** Return the share of pairs of rows, one of each class, that the score puts in order; equal scores count half. */
function areaUnderCurve(scored) {
  let below = 0;
  let ordered = 0;
  for (const { target, weight } of mergedByScore(scored)) {
    ordered += target * (below + 0.5 * (weight - target));
    below += weight - target;
  }
  const pairs = below * sum(scored, (g) => g.target);
  return pairs > 0 ? ordered / pairs : null;
}

/** Return groups of rows as the best constant scores them. */
function scoredByConstant(groups) {
  const mean = targetMean(groups);
  return groups.map((g) => ({ ...g, score: LINKS[data.loss](mean) }));
}

/** Return what share of the loss of the best constant the rules take away. */
function explained(scored) {
  const least = meanLoss(scoredByConstant(scored));
  const share = 1 - meanLoss(scored) / least;
  return least > 0 && Number.isFinite(share) ? share : null;
}

function mergedByScore(scored) {
  const merged = [];
  for (const { score: value, weight, target } of [...scored].sort((a, b) => a.score - b.score)) {
    const last = merged.at(-1);
    if (last && last.score === value) Object.assign(last, { weight: last.weight + weight, target: last.target + target });
    else merged.push({ score: value, weight, target });
  }
  return merged;
}

function devianceMeasures(name) {
  return [
    { name, short: "mean deviance", of: (scored) => 2 * meanLoss(scored), write: readable, compared: true },
    { name: "deviance explained", of: explained, write: percent },
  ];
}

const MEASURES = {
  logistic: [
    { name: "log loss", of: meanLoss, write: readable, compared: true },
    { name: "errors", of: errorRate, write: percent, compared: true },
    { name: "area under the ROC curve", short: "AUC", of: areaUnderCurve, write: readable },
  ],
  squared: [
    { name: "root mean squared error", short: "RMSE", of: (scored) => Math.sqrt(2 * meanLoss(scored)), write: readable, compared: true },
    { name: "variance explained", short: "R²", of: explained, write: percent },
  ],
  poisson: devianceMeasures("mean Poisson deviance"),
  gamma: devianceMeasures("mean gamma deviance"),
  tweedie: devianceMeasures("mean Tweedie deviance"),
  multinomial: [
    { name: "log loss", of: meanLoss, write: readable, compared: true },
    { name: "errors", of: classErrorRate, write: percent, compared: true },
  ],
}[data.loss];
