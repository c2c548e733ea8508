"""L1 logistic regression at one given alpha by another road: proximal Newton steps, each solved by coordinate descent."""

import numpy as np
from scipy.special import expit


def objective(X, y, c, alpha, w, b):
    """Return sum_i c_i log(1 + exp(-z_i (x_i . w + b))) + alpha ||w||_1, with z = 2 y - 1."""
    return c @ np.logaddexp(0.0, (1.0 - 2.0 * y) * (X @ w + b)) + alpha * np.abs(w).sum()


def solve(X, y, c, alpha, steps=500):
    """Return weights and intercept that minimise the objective; X should be centred, or the intercept loses digits."""
    w, b = np.zeros(X.shape[1]), np.log(c @ y / (c @ (1.0 - y)))
    value = objective(X, y, c, alpha, w, b)
    for _ in range(steps):
        step, shift = newton_step(X, y, c, alpha, w, b)
        reach, limit = np.abs(X @ step + shift).max(), 2.0 + np.abs(X @ w + b).max()
        share = min(1.0, limit / max(reach, 1e-300))  # further away the second derivative means nothing
        reached = objective(X, y, c, alpha, w + share * step, b + share * shift)
        while not reached <= value and share > 1e-9:
            share *= 0.5
            reached = objective(X, y, c, alpha, w + share * step, b + share * shift)
        if share <= 1e-9:
            break
        w, b, value = w + share * step, b + share * shift, reached
        if reach < 1e-6:  # the error after the step is the square of that
            break
    return w, b


def newton_step(X, y, c, alpha, w, b):
    """Return the step in weights and intercept to the minimum of the quadratic model with the penalty."""
    p = expit(X @ w + b)
    residual, curvature = c * (p - y), c * p * (1.0 - p)
    total = curvature.sum()
    mean = curvature @ X / total
    centred = X - mean
    target = coordinate_descent((centred * curvature[:, None]).T @ centred, centred.T @ residual, w, alpha)
    return target - w, -residual.sum() / total - mean @ (target - w)


def coordinate_descent(gram, gradient, w, alpha):
    """Minimise gradient . (u - w) + (u - w)' gram (u - w) / 2 + alpha ||u||_1 over u."""
    u, slope = w.copy(), gradient.copy()
    moving = np.diag(gram) > 1e-14 * max(np.diag(gram).max(), 1e-300)
    for _ in range(50):
        working = np.flatnonzero(moving & ((u != 0.0) | (np.abs(slope) > alpha)))
        for sweep in range(200):
            largest = 0.0
            for j in working:
                free = u[j] - slope[j] / gram[j, j]
                new = np.sign(free) * max(abs(free) - alpha / gram[j, j], 0.0)
                if new != u[j]:
                    largest = max(largest, abs(new - u[j]) * np.sqrt(gram[j, j]))
                    slope += gram[:, j] * (new - u[j])
                    u[j] = new
            if largest == 0.0:
                break
            if sweep % 10 == 9:
                u = solved_exactly(gram, gradient, w, u, alpha)
                slope = gradient + gram @ (u - w)
        if (np.abs(slope[moving & (u == 0.0)]) <= alpha * (1.0 + 1e-12)).all():
            return u
    return u


def solved_exactly(gram, gradient, w, u, alpha):
    """Return the stationary point with the signs of u if it has these signs, and u otherwise."""
    active = np.flatnonzero(u)
    right = gram[active] @ w - gradient[active] - alpha * np.sign(u[active])
    try:
        exact = np.linalg.solve(gram[np.ix_(active, active)], right)
    except np.linalg.LinAlgError:
        return u
    if not (np.sign(exact) == np.sign(u[active])).all():
        return u
    polished = np.zeros_like(u)
    polished[active] = exact
    return polished
