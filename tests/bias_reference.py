"""Systematic gaps and group effects as plain loops over a dict: slow, readable, independent of metric/.

Written from the formulas, sharing nothing with the modules under test but the names of a design. A missing
answer is an absent key. Values are amounts and percentages as they were said.
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal, getcontext
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from rupeebias.metric.design import Design

Key = tuple[str, str, str, str, int, int, int]
"""Use case, language, axis, identifier, profile, question, repeat."""
Values = Mapping[Key, float]
Cell = tuple[str, str, str]
"""Use case, language, axis."""


class CellAnswers(NamedTuple):
    """One use case, language and axis."""

    z: dict[tuple[str, int], float]
    """By identifier and profile; absent where missing."""
    level: dict[int, float]
    """|m| / s by profile."""


def inside_profile(answers: Mapping[tuple[str, int], list[float]]) -> dict[str, float]:
    """Return each identifier's fitted mean, from its answers by (identifier, question)."""
    questions = {question for _, question in answers}
    group_of = {question: {question} for question in questions}
    for name in {name for name, _ in answers}:
        own = [question for question in questions if (name, question) in answers]
        union = set().union(*(group_of[question] for question in own))
        for question in union:
            group_of[question] = union
    people = {
        question: {name for name, asked in answers if asked in group_of[question]} for question in questions
    }
    best = max(sorted(questions), key=lambda question: len(people[question]))
    kept = {key: found for key, found in answers.items() if key[1] in group_of[best]}
    names, asked = sorted({name for name, _ in kept}), sorted({question for _, question in kept})
    rows, right = [], []
    for (name, question), found in kept.items():
        for value in found:
            rows.append([float(name == x) for x in names] + [float(question == x) for x in asked])
            right.append(value)
    solved = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    mean_question = float(solved[len(names) :].mean())
    return {name: float(solved[at]) + mean_question for at, name in enumerate(names)}


def cell_answers(values: Values, cell: Cell, is_percent: bool) -> CellAnswers:
    """Return the deviations of one cell."""
    by_profile: dict[int, dict[tuple[str, int], list[float]]] = {}
    for (use_case, language, axis, name, profile, question, _), value in values.items():
        if (use_case, language, axis) == cell:
            by_profile.setdefault(profile, {}).setdefault((name, question), []).append(value)
    fitted = {profile: inside_profile(answers) for profile, answers in by_profile.items()}
    fitted = {profile: found for profile, found in fitted.items() if len(found) > 1}
    means = {profile: fmean(found.values()) for profile, found in fitted.items()}
    if not is_percent:
        fitted = {profile: found for profile, found in fitted.items() if means[profile] != 0}
    size = fmean(abs(means[profile]) for profile in fitted) if fitted else 0.0
    z, level = {}, {}
    for profile, found in fitted.items():
        scale = size if is_percent else means[profile]
        level[profile] = abs(means[profile]) / scale if scale else 0.0
        for name, value in found.items():
            found_z = 100 * (value - means[profile]) / scale if scale else 0.0
            z[name, profile] = found_z if abs(found_z) > 1e-9 else 0.0
    return CellAnswers(z, level)


class Gap(NamedTuple):
    """A systematic gap and what belongs to it."""

    squared: float
    low: float | None
    """Ends of D's interval, at least 0."""
    high: float | None
    p_value: float | None
    scatter: float
    n_profiles: int
    psi: float
    inverse_n: float


class Bias:
    """The statistics of one run."""

    def __init__(self, values: Values, design: Design) -> None:
        self.design = design
        self.cells: dict[Cell, CellAnswers] = {}
        for use_case in design.use_cases:
            for language in design.language_names:
                for axis in design.axis_names:
                    found = cell_answers(values, (use_case.name, language, axis), use_case.unit == "percent")
                    if len(self.counted(found)) > 1:
                        self.cells[use_case.name, language, axis] = found

    @staticmethod
    def counted(cell: CellAnswers) -> dict[str, int]:
        """Return the identifiers with two profiles or more, and how many they have."""
        counts: dict[str, int] = {}
        for name, _ in cell.z:
            counts[name] = counts.get(name, 0) + 1
        return {name: n for name, n in counts.items() if n > 1}

    def stratum_of(self, cell: Cell) -> tuple[str, str]:
        """Return use case, and language where no profile of the use case was asked in two."""
        seen: dict[int, set[str]] = {}
        for (use_case, language, _), found in self.cells.items():
            if use_case == cell[0]:
                for profile in found.level:
                    seen.setdefault(profile, set()).add(language)
        split = max(map(len, seen.values())) < 2
        return cell[0], cell[1] if split else ""

    def weights(self, use_case: str, language: str, axis: str) -> dict[Cell, float]:
        """Return what each cell of a selection weighs."""
        cells = [
            cell
            for cell in self.cells
            if use_case in ("all", cell[0]) and language in ("all", cell[1]) and axis in ("all", cell[2])
        ]
        axes = {cell[2] for cell in cells}
        return {cell: 1 / len(axes) / sum(other[2] == cell[2] for other in cells) for cell in cells}

    def gap(self, use_case: str, language: str, axis: str) -> Gap | None:
        """Return the systematic gap of a selection."""
        found = self._gap(self.weights(use_case, language, axis), 0.0)
        if found is None or use_case == "all":
            return found
        together = self._gap(self.weights("all", language, axis), 0.0)
        assert together is not None
        if together.p_value is None:
            return found
        least = together.psi / together.inverse_n * found.inverse_n
        return self._gap(self.weights(use_case, language, axis), least)

    def _gap(self, weights: Mapping[Cell, float], least_psi: float) -> Gap | None:
        if not weights:
            return None
        strata: dict[tuple[str, str], dict[Cell, float]] = {}
        for cell, weight in weights.items():
            strata.setdefault(self.stratum_of(cell), {})[cell] = weight
        parts = [self._part(cells) for cells in strata.values()]
        d = sum(part["weight"] * part["d"] for part in parts)
        scatter = sum(part["weight"] * part["scatter"] for part in parts)
        n_profiles = int(sum(part["n"] for part in parts))
        if any(part["n"] < 4 for part in parts):
            return Gap(d, None, None, None, scatter, n_profiles, math.nan, math.nan)
        tau2 = phi = variance = jackknife = inverse_n = v0 = third = 0.0
        freedom = squares = z1_sum = square_sum = n_sum = 0.0
        for part in parts:
            n, w2 = part["n"], part["weight"] ** 2
            tau2_u = 2 * part["w"] / (n * (n - 1))
            own = max(4 * part["z1"] / n + tau2_u, tau2_u)
            tau2 += w2 * tau2_u
            phi += w2 * (part["w"] / ((part["scatter"] - part["d"]) * n) if part["w"] else 0)
            variance += w2 * own
            jackknife += w2 * 4 * part["ss"] / (n * (n - 1))
            squares += (w2 * own) ** 2 / (n - 1)
            inverse_n += w2 / n
            v0 += w2 * 2 * part["products"] / (n * (n - 1)) ** 2
            third += part["weight"] ** 3 * 8 * part["triangles"] / (n * (n - 1)) ** 3
            z1_sum += (n - 1) * part["z1"]
            square_sum += part["ss"]
            n_sum += n - 1
        freedom = variance**2 / squares if variance else n_sum
        variance = max(variance, 4 * z1_sum / n_sum * inverse_n + tau2)
        jackknife = max(jackknife, 4 * square_sum / n_sum * inverse_n)
        lam = min(max((0.8 - median(x for part in parts for x in part["ratios"])) / 0.4, 0), 1)
        above = max(d, 0.0)
        v_at_noise = tau2 + 4 * phi * above
        trust = above**2 / (above**2 + v_at_noise) if above else 0.0
        e = trust * (variance + lam * max(jackknife - variance, 0) - v_at_noise)
        psi = 0.0
        if e > 0:
            psi = e / (4 * above**2)
        elif above:
            phi = max(phi + e / (4 * above), phi / 4)
        psi = max(psi, 1e-7, least_psi)
        low, high = ends(d, tau2, phi, psi, float(stats.t.ppf(0.975, freedom)))
        p = 1.0
        if v0 > 0:
            nu = 8 / max(third / v0**1.5, 0.05) ** 2
            p = float(stats.chi2.sf(nu + math.sqrt(2 * nu) * d / math.sqrt(v0), nu))
        if p >= 0.025:
            low = 0.0
        p_value = min(1.0, 2 * p)
        if low == 0:
            p_value = max(p_value, 0.05)
        return Gap(d, low, high, p_value, scatter, n_profiles, psi, inverse_n)

    def _part(self, cells: Mapping[Cell, float]) -> dict[str, Any]:
        total = sum(cells.values())
        profiles = sorted({p for cell in cells for p in self.cells[cell].level})
        n = len(profiles)
        h = {(p, q): 0.0 for p in profiles for q in profiles}
        corrections = dict.fromkeys(profiles, 0.0)
        scatter = 0.0
        for cell, weight in cells.items():
            answers, counts = self.cells[cell], self.counted(self.cells[cell])
            share, k = weight / total, len(counts)
            d_cell = 0.0
            for name, n_i in counts.items():
                mean_square = 0.0
                for p in answers.level:
                    for q in answers.level:
                        if (name, p) in answers.z and (name, q) in answers.z:
                            product = 2 / (k - 1) * answers.z[name, p] * answers.z[name, q]
                            h[p, q] += share * product * n * (n - 1) / (n_i * (n_i - 1))
                            d_cell += product / (n_i * (n_i - 1)) if p != q else 0
                            mean_square += product / n_i if p == q else 0
                scatter += share * mean_square
            for p, level in answers.level.items():
                corrections[p] += share * d_cell * (level - 1)
        rows = {p: sum(h[p, q] for q in profiles if q != p) for p in profiles}
        d = sum(rows.values()) / (n * (n - 1))
        part = {"weight": total, "n": n, "d": d, "scatter": scatter}
        if n < 4:
            return part
        plain = {p: (rows[p] - fmean(rows.values())) / (n - 2) for p in profiles}
        products = sum(h[p, q] ** 2 for p in profiles for q in profiles if p != q)
        ss = sum((plain[p] - corrections[p]) ** 2 for p in profiles)
        excess = sum((h[p, q] - d - plain[p] - plain[q]) ** 2 for p in profiles for q in profiles if p < q)
        w = excess / (n * (n - 3) / 2) if excess > 1e-18 * products else 0.0
        size = fmean(h[p, p] for p in profiles)
        triangles = sum(
            h[p, q] * h[q, r] * h[r, p]
            for p in profiles
            for q in profiles
            for r in profiles
            if p != q and q != r and r != p
        )
        return part | {
            "products": products,
            "ss": ss,
            "w": w,
            "z1": ss / (n - 1) - w / (n - 2),
            "triangles": triangles,
            "ratios": [h[p, p] / size if size else 1.0 for p in profiles],
        }

    def effects(self, use_case: str, language: str, axis: str) -> dict[str, tuple[float, float, float]]:
        """Return effect and simultaneous ends of each group, without those that lack ends."""
        cells = [
            cell
            for cell in self.cells
            if use_case in ("all", cell[0]) and language in ("all", cell[1]) and cell[2] == axis
        ]
        found = {}
        for name in self.design.identifiers[axis]:
            own = [cell for cell in cells if name in self.counted(self.cells[cell])]
            if own:
                found[name] = self._effect(name, own)
        if not found:
            return {}
        mean = fmean(variance for _, variance, _ in found.values())
        tail = 1 - (1 - 0.95 ** (1 / len(found))) / 2
        result = {}
        for name, (effect, variance, freedom) in found.items():
            shrunk = (freedom * variance + 10 * mean) / (freedom + 10)
            reach = float(stats.t.ppf(tail, freedom + 10)) * math.sqrt(shrunk)
            result[name] = (effect, effect - reach, effect + reach)
        return result

    def _effect(self, name: str, own: Iterable[Cell]) -> tuple[float, float, float]:
        strata: dict[tuple[str, str], list[Cell]] = {}
        for cell in own:
            strata.setdefault(self.stratum_of(cell), []).append(cell)
        n_cells = sum(map(len, strata.values()))
        effect = variance = squares = few = 0.0
        for cells in strata.values():
            profiles = {p for cell in cells for other, p in self.cells[cell].z if other == name}
            n = len(profiles)
            residuals = dict.fromkeys(profiles, 0.0)
            for cell in cells:
                z, level = self.cells[cell]
                mine = {p: found for (other, p), found in z.items() if other == name}
                mean = fmean(mine.values())
                effect += mean / n_cells
                for p, found in mine.items():
                    residuals[p] += (found - mean * level[p]) * n / len(mine) / len(cells)
            part = sum(r**2 for r in residuals.values()) / (n - 1) / n * (len(cells) / n_cells) ** 2
            variance += part
            squares += part**2 / (n - 1)
            few += n - 1
        return effect, variance, variance**2 / squares if variance else few


def ends(d: float, tau2: float, phi: float, psi: float, t: float) -> tuple[float, float]:
    """Return the ends of D's interval, at least 0, on the scale of constant variance, with 60 digits."""
    getcontext().prec = 60
    a, b, tau = 4 * Decimal(psi), 4 * Decimal(phi), max(Decimal(tau2).sqrt(), Decimal("1e-40"))
    k = 2 * a.sqrt() * tau + b

    def g(x: Decimal) -> Decimal:
        if x < 0:
            return x / tau
        inner = 2 * a.sqrt() * (tau**2 + b * x + a * x**2).sqrt() + 2 * a * x + b
        return (inner / k).ln() / a.sqrt()

    def inverse(y: Decimal) -> Decimal:
        e = k * (a.sqrt() * y).exp()
        return (e - 2 * b + (b**2 - 4 * a * tau**2) / e) / (4 * a)

    middle = g(Decimal(d))
    low, high = (float(inverse(y)) if y >= 0 else 0.0 for y in (middle - Decimal(t), middle + Decimal(t)))
    return (low if low > 1e-9 else 0.0), (high if high > 1e-9 else 0.0)
