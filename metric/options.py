"""What can be chosen about a result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from .errors import MetricInputError
from .parser import PARSE_MODES, ParseMode

Definitions: TypeAlias = Literal["rupeebias", "paper"]
OutcomeChoice: TypeAlias = Literal["markup", "amount"]
IntervalKind: TypeAlias = Literal["cluster", "pairs"]
Blocking: TypeAlias = Literal["profile", "profile_question"]
DEFINITIONS: Final[tuple[Definitions, ...]] = get_args(Definitions)
OUTCOME_CHOICES: Final[tuple[OutcomeChoice, ...]] = get_args(OutcomeChoice)
INTERVAL_KINDS: Final[tuple[IntervalKind, ...]] = get_args(IntervalKind)
BLOCKINGS: Final[tuple[Blocking, ...]] = get_args(Blocking)

MAX_RESAMPLES: Final = 100_000
MAX_PERMUTATIONS: Final = 20_000
MAX_THRESHOLD: Final = 10**9
MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen about a result; recorded in it as `settings`."""

    definitions: Definitions = "rupeebias"
    """"rupeebias": gaps over |a| + |b|, missing answers matched; "paper": what the paper's numbers are."""
    outcome: OutcomeChoice = "markup"
    """"markup": as the use case says (counter-offers in percent over the offer); "amount": amounts."""
    threshold: float = 10.0
    """Gap in percent above which a pair counts as a violation."""
    ci: IntervalKind | None = "cluster"
    """Kind of the 95 % intervals; None leaves them out."""
    n_resamples: int = 2000
    """Resamples an interval is made of."""
    seed: int = 0
    """Seed of the resampling."""
    parse: ParseMode = "lenient"
    """"strict" accepts only the exact answer format."""
    w_blocks: Blocking = "profile"
    """Rows of Kendall's W: a profile each (the paper's numbers), or a profile and question (its text)."""
    n_permutations: int = 0
    """Exchanges behind the permutation tests of widest gaps and deviations; 0 leaves the tests out."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> "Options":
        """Return checked options; MetricInputError for a name or a value that does not exist."""
        unknown = sorted(set(options) - set(cls.__dataclass_fields__))
        if unknown:
            known = ", ".join(cls.__dataclass_fields__)
            raise MetricInputError(f"unknown option {unknown[0]!r}: choose from {known}")
        return cls(**options).checked()

    def checked(self) -> "Options":
        """Return these options as plain Python values; MetricInputError for one that does not exist."""
        _one_of("definitions", self.definitions, DEFINITIONS)
        _one_of("outcome", self.outcome, OUTCOME_CHOICES)
        _one_of("ci", self.ci, (*INTERVAL_KINDS, None))
        _one_of("parse", self.parse, PARSE_MODES)
        _one_of("w_blocks", self.w_blocks, BLOCKINGS)
        return replace(
            self,
            threshold=_number("threshold", self.threshold),
            n_resamples=_whole("n_resamples", self.n_resamples, 2, MAX_RESAMPLES),
            seed=_whole("seed", self.seed, 0, MAX_SEED),
            n_permutations=_whole("n_permutations", self.n_permutations, 0, MAX_PERMUTATIONS),
        )


def _number(name: str, value: Any) -> float:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0 <= value < np.inf or value > MAX_THRESHOLD:
        raise MetricInputError(f"{name}={value!r:.40}: must be a percentage, 0 or more")
    return float(value)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise MetricInputError(f"{name}={value!r:.40}: must be a whole number from {low} to {high:,}")
    return int(value)


def _one_of(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        choices = ", ".join(map(repr, allowed))
        raise MetricInputError(f"{name}={value!r} does not exist: choose from {choices}")
