"""Whether two samples are of one distribution."""

import numpy as np

P_MIN = 1e-4  # of a test among dozens; draws are seeded, so that a test always passes or always fails


def p_of_kolmogorov_smirnov(ours, theirs):
    """That two samples of numbers are of one distribution."""
    places = np.concatenate([ours, theirs])
    shares = [np.searchsorted(np.sort(sample), places, side="right") / len(sample) for sample in (ours, theirs)]
    distance = np.abs(shares[0] - shares[1]).max()
    effective = np.sqrt(len(ours) * len(theirs) / (len(ours) + len(theirs)))
    t = (effective + 0.12 + 0.11 / effective) * distance
    terms = np.arange(1, 101)
    return float(np.clip(2 * np.sum((-1.0) ** (terms - 1) * np.exp(-2 * terms**2 * t**2)), 0, 1)) if t > 0.2 else 1.0


def excess_of_counts(ours, theirs):
    """Chi-squared of two counters whose totals are the same, less the degrees of freedom, in standard deviations: beyond 4.5
    about once in 10,000 times."""
    both = [(ours[it], theirs[it]) for it in set(ours) | set(theirs)]
    statistic, freedom = sum((a - b) ** 2 / (a + b) for a, b in both), max(len(both) - 1, 1)
    return (statistic - freedom) / np.sqrt(2 * freedom)


EXCESS_MAX = 4.5
