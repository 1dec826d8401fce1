"""Parameters with the least robust error of measured times, without a random start."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Protocol

PULL = 0.2  # kernels by which a parameter is drawn to its start
SMALL = 0.1  # the logarithm of an error that counts like its square
DIFFERENCE = 1e-4  # of a parameter's logarithm, for a slope
LEAST_GAIN = 1e-4  # part of the error by which a round makes it less
MOST = {"efficiency": 1.0}  # of a parameter
FAR = 1.5  # the logarithm of an error above which it counts no more
TRIES = 8  # of a step, each shorter than the one before


class Measurement(Protocol):
    """A measured time with its weight."""

    @property
    def weight(self) -> float:
        """Measurements for which it counts."""

    def error(self, parameters: Mapping[str, float]) -> float:
        """Return the logarithm of measured over predicted."""


def fitted(
    rows: Sequence[Measurement], start: Mapping[str, float], fixed: Mapping[str, float], rounds: int
) -> dict[str, float]:
    """Return parameters with the least robust error, by damped Gauss-Newton steps of logarithms.

    An error counts like its square if it is small, and like its size otherwise. Each parameter is drawn to its start
    with the weight of `PULL` kernels, so that one which no kernel shows keeps its meaning.
    """
    names = list(start)
    center = [math.log(start[name]) for name in names]
    limit = [math.log(MOST.get(name, math.inf)) if name in MOST else math.inf for name in names]

    def values(at: Sequence[float]) -> dict[str, float]:
        return {**fixed, **{name: math.exp(value) for name, value in zip(names, at, strict=True)}}

    def errors(at: Sequence[float]) -> list[float]:
        parameters = values(at)
        return [row.error(parameters) for row in rows]

    def cost(misses: Sequence[float], at: Sequence[float]) -> float:
        pull = PULL * math.fsum((value - middle) ** 2 for value, middle in zip(at, center, strict=True))
        sizes = (math.sqrt(min(FAR, abs(error)) ** 2 + SMALL**2) for error in misses)
        return math.fsum(map(operator.mul, (row.weight for row in rows), sizes)) + pull

    at = list(center)
    found = errors(at)
    best, damping = cost(found, at), 1e-2
    for _ in range(rounds):
        slopes = []
        for index in range(len(at)):
            moved = [*at]
            moved[index] += DIFFERENCE
            slopes.append([(new - old) / DIFFERENCE for new, old in zip(errors(moved), found, strict=True)])
        weights = [
            0.0 if abs(error) > FAR else row.weight / math.sqrt(error**2 + SMALL**2)
            for row, error in zip(rows, found, strict=True)
        ]
        weighted = [[slope * weight for slope, weight in zip(line, weights, strict=True)] for line in slopes]
        matrix = [[_product_sum(left, right) for right in slopes] for left in weighted]
        right = [
            -_product_sum(line, found) - 2 * PULL * (value - middle)
            for line, value, middle in zip(weighted, at, center, strict=True)
        ]
        before = best
        for _ in range(8):
            step = _solved(
                [
                    [value + (2 * PULL + damping * (value + 1e-3)) * (i == j) for j, value in enumerate(line)]
                    for i, line in enumerate(matrix)
                ],
                right,
            )
            new = [min(value + max(-1.0, min(1.0, by)), most) for value, by, most in zip(at, step, limit, strict=True)]
            made = errors(new)
            if (now := cost(made, new)) < best:
                at, found, best, damping = new, made, now, damping / 5
                break
            damping *= 5
        if before - best < LEAST_GAIN * best:
            break
    return {name: math.exp(value) for name, value in zip(names, at, strict=True)}


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of a small system of equations, by elimination."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for index in range(size):
        pivot = max(range(index, size), key=lambda row: abs(rows[row][index]))
        rows[index], rows[pivot] = rows[pivot], rows[index]
        for row in range(index + 1, size):
            factor = rows[row][index] / rows[index][index]
            rows[row] = [value - factor * other for value, other in zip(rows[row], rows[index], strict=True)]
    made = [0.0] * size
    for index in reversed(range(size)):
        rest = math.fsum(rows[index][column] * made[column] for column in range(index + 1, size))
        made[index] = (rows[index][size] - rest) / rows[index][index]
    return made


def _product_sum(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, left, right))
