#!/usr/bin/env python3
"""The polynomials of codegen/intrin/math.c: least maximum error by Lawson's iteration.  Needs numpy and scipy."""
import numpy as np
from scipy.special import erf, erfcx


def fit(f, lo, hi, degree, weight, n=4000, rounds=200):
    """Coefficients (constant first) of the polynomial of that degree with the least max |weight (p - f)| on [lo, hi]."""
    x = (lo + hi) / 2 + (hi - lo) / 2 * np.cos(np.pi * (np.arange(n) + .5) / n)
    y, w, share = f(x), weight(x) * np.ones(n), np.ones(n)
    best = None
    for _ in range(rounds):
        v = np.vander(x, degree + 1, increasing=True)
        s = np.sqrt(share) * w
        c = np.linalg.lstsq(v * s[:, None], y * s, rcond=None)[0]
        e = np.abs((v @ c - y) * w)
        if best is None or e.max() < best[0]:
            best = e.max(), c
        share *= e / e.max() + 1e-12
        share *= n / share.sum()
    return best


def small(x, limit, series, f):
    """f(x), and its series where |x| is below the limit and f would cancel."""
    safe = np.where(np.abs(x) < limit, limit, x)
    return np.where(np.abs(x) < limit, series(x), f(safe))


half = np.log(2) / 2 * 1.001
rows = [
    ("exp: (e^r - 1 - r) / r^2", -half, half, 4, lambda r: r * r / np.exp(r) + 1e-9,
     lambda r: small(r, 1e-3, lambda r: .5 + r / 6 + r * r / 24, lambda r: (np.expm1(r) - r) / r ** 2)),
    ("log: (log(1 + f) - f + f^2 / 2) / f^3", np.sqrt(.5) - 1, np.sqrt(2) - 1, 7, lambda f: f * f + 1e-6,
     lambda f: small(f, 1e-3, lambda f: 1 / 3 - f / 4 + f * f / 5, lambda f: (np.log1p(f) - f + f * f / 2) / f ** 3)),
    ("tanh: (tanh x - x) / x^3 over x^2", 0, .625 ** 2, 4,
     lambda s: s * np.sqrt(s + 1e-12) / np.tanh(np.sqrt(s + 1e-12)) + 1e-7,
     lambda s: small(s, 1e-4, lambda s: -1 / 3 + 2 * s / 15, lambda s: (np.tanh(np.sqrt(s)) - np.sqrt(s)) / s ** 1.5)),
    ("erf: erf(x) / x over x^2", 0, 1, 6, lambda s: 1,
     lambda s: small(s, 1e-8, lambda s: 2 / np.sqrt(np.pi) * (1 - s / 3), lambda s: erf(np.sqrt(s)) / np.sqrt(s))),
    ("erfc(x) e^(x^2) over t = 1 / (1 + x / 2), x from 1 to 4", 1 / 3, 1 / 1.5, 5,
     lambda t: np.exp(-(2 * (1 / t - 1)) ** 2), lambda t: erfcx(2 * (1 / t - 1))),
]
for name, lo, hi, degree, weight, f in rows:
    error, c = fit(f, lo, hi, degree, weight)
    print(f"{name}: weighted error {error:.1e}\n  " + ", ".join(f"{np.float32(x):.9g}f" for x in c))
