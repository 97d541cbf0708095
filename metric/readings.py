"""The door of the metric: checks what comes in and reads every answer into dense arrays."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import count, islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .answers import AnswerArrays, read_answers
from .benchmark import DESIGN
from .design import Design
from .errors import MetricInputError
from .layout import Bools, Floats, Ints, Layout, layout_of
from .parser import ParseMode

MAX_REPEATS: Final = 1_000
NOT_GIVEN: Final = -1
"""Status code of a prompt and repeat without an output."""


class Readings(NamedTuple):
    """Every answer of a run, read: one cell for each prompt and repeat."""

    status: npt.NDArray[np.int8]
    """Shape (prompts, repeats): an index into STATUSES, or NOT_GIVEN."""
    values: Floats
    """The same shape: in the unit of the use case, NaN unless the status is ok or lenient."""
    expected: Bools
    """The same shape: which prompts and repeats the run was to answer."""
    n_twice: int = 0
    """Outputs left out because the same one was given before for the same prompt and repeat."""
    mode: ParseMode = "lenient"
    """How they were read."""
    repeats: tuple[int, ...] | None = None
    """The repeat number of each column; None: 0, 1, ..."""
    design: Design = DESIGN
    """The benchmark whose prompts were answered."""
    implausible: Floats | None = None
    """The same shape: amounts outside the plausible bounds, NaN elsewhere; None: not known."""
    paper: Floats | None = None
    """The same shape: values by the paper's definitions (no bounds); None: as `values`."""
    controls: "Readings | None" = None
    """The answers to control prompts, read for `design.control_design`; None: none was given."""

    @property
    def paper_values(self) -> Floats:
        """Values by the paper's definitions."""
        return self.values if self.paper is None else self.paper


def read_outputs(
    prompt_ids: Iterable[str],
    outputs: Iterable[str | None],
    *,
    repeats: Iterable[int] | None = None,
    finish_reasons: Sequence[str | None] | None = None,
    errors: Sequence[bool] | None = None,
    expected: Iterable[str] | None = None,
    n_repeats: int | None = None,
    mode: ParseMode = "lenient",
    design: Design = DESIGN,
) -> Readings:
    """Return the readings of (prompt_id, output) pairs.

    `repeats` numbers the outputs of one prompt (0, 1, ...). `expected` names the prompts that the run was
    to answer, `n_repeats` how often; without them a run is expected to answer every identifier that it
    covers in every slot that it touches. Raises MetricInputError for input that cannot be scored.
    """
    ids, texts = _items("prompt_ids", prompt_ids), _texts(_items("outputs", outputs))
    _check_lengths(ids, texts)
    _check_n_repeats(n_repeats)
    layout = layout_of(design)
    beside = {"repeats": repeats, "finish_reasons": finish_reasons, "errors": errors}
    if controls := _control_places(ids, layout):
        lists = {name: None if given is None else _items(name, given) for name, given in beside.items()}
        return _with_controls(ids, texts, lists, expected, controls, n_repeats, mode, design)
    rows = _rows_of(ids, layout)
    numbers, columns = _repeat_columns(repeats, len(ids))
    keep = _without_duplicates(ids, texts, rows, columns)
    shape = (design.n_prompts, max(int(columns.max()) + 1, n_repeats or 1))
    read = read_answers(
        texts,
        layout.use_case_codes[rows],
        mode=mode,
        known=layout.known_amounts[rows],
        design=design,
        finish_reasons=None if finish_reasons is None else _items("finish_reasons", finish_reasons),
        errors=None if errors is None else _flags(errors),
    )
    status, dense = _dense(read, shape, (rows, columns), keep)
    given = status != NOT_GIVEN
    n_twice = len(ids) - len(keep)
    asked = _expected(given, expected, layout) | given
    repeats_of = _with_others(numbers, shape[1])
    return Readings(status, dense[0], asked, n_twice, mode, repeats_of, design, dense[1], dense[2])


def _control_places(ids: list[str], layout: Layout) -> list[int]:
    """Return where control prompts stand among the outputs."""
    if layout.design.control_design is None or ids == layout.prompt_ids:
        return []
    known = layout_of(layout.design.control_design).prompt_rows
    return [at for at, prompt_id in enumerate(ids) if isinstance(prompt_id, str) and prompt_id in known]


def _with_controls(
    ids: list[str],
    texts: list[Any],
    lists: dict[str, list[Any] | None],
    expected: Iterable[str] | None,
    places: list[int],
    n_repeats: int | None,
    mode: ParseMode,
    design: Design,
) -> Readings:
    """Read the answers to control prompts apart from the others."""
    control = design.control_design
    if len(places) == len(ids) or control is None:
        raise MetricInputError("nothing to score: only control prompts were answered")
    for name, given in lists.items():
        if given is not None and len(given) != len(ids):
            raise MetricInputError(f"{len(ids):,} texts but {len(given):,} {name}: give one for each")
    known = layout_of(control).prompt_rows
    wanted = None if expected is None else _names("expected", expected)
    is_control = set(places)

    def read(at: list[int], part: Design, *, controls: bool) -> Readings:
        return read_outputs(
            [ids[i] for i in at],
            [texts[i] for i in at],
            **{name: None if given is None else [given[i] for i in at] for name, given in lists.items()},
            expected=None if wanted is None else [name for name in wanted if (name in known) == controls],
            n_repeats=n_repeats,
            mode=mode,
            design=part,
        )

    own = read([at for at in range(len(ids)) if at not in is_control], design, controls=False)
    return own._replace(controls=read(places, control, controls=True))


def _dense(
    read: AnswerArrays, shape: tuple[int, int], place: tuple[Ints, Ints], keep: Ints
) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return statuses, and the three kinds of values, of answers where they belong."""
    own = place[0][keep], place[1][keep]
    status = np.full(shape, NOT_GIVEN, dtype=np.int8)
    status[own] = read.status[keep]
    dense = np.full((3, *shape), np.nan)
    for of_kind, found in zip(dense, read[1:], strict=True):
        of_kind[own] = found[keep]
    return status, dense


def _items(name: str, given: Iterable[Any]) -> list[Any]:
    unordered = isinstance(given, set | frozenset | Mapping)
    if given is None or unordered or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise MetricInputError(f"{name} must be a list, not {type(given).__name__}")
    return list(given)


def _names(name: str, given: Iterable[str]) -> list[str]:
    """Return names whose order says nothing."""
    return _items(name, list(given) if isinstance(given, set | frozenset) else given)


def _kinds(items: list[Any]) -> set[type]:
    return set(map(type, items))


def _texts(items: list[Any]) -> list[Any]:
    return items if _kinds(items) <= {str, type(None)} else [_text(item) for item in items]


def _text(item: Any) -> Any:
    """Return None for what data frames write where there is no text; anything else as it is."""
    if isinstance(item, str) or item is None:
        return item
    is_nan = isinstance(item, float | np.floating) and bool(item != item)
    return None if is_nan or type(item).__name__ in ("NAType", "NaTType") else item


def _flags(errors: Iterable[Any]) -> list[bool]:
    flags = _items("errors", errors)
    if _kinds(flags) <= {bool}:
        return flags
    for flag in flags:
        if not isinstance(flag, bool | np.bool_):
            raise MetricInputError(f"errors must hold True or False, not {flag!r:.40}")
    return [bool(flag) for flag in flags]


def _check_n_repeats(n_repeats: int | None) -> None:
    if n_repeats is not None and not (_is_whole(n_repeats) and 1 <= n_repeats <= MAX_REPEATS):
        raise MetricInputError(f"n_repeats={n_repeats!r}: must be 1 to {MAX_REPEATS:,}")


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _check_lengths(ids: list[str], texts: list[str | None]) -> None:
    if len(ids) != len(texts):
        raise MetricInputError(
            f"{len(ids):,} prompt_ids (references) but {len(texts):,} outputs (predictions): "
            "give one output for each prompt_id"
        )
    if not ids:
        raise MetricInputError("nothing to score: no outputs were given")


def _rows_of(ids: list[str], layout: Layout) -> Ints:
    if ids == layout.prompt_ids:  # a whole run in order: nothing to look up
        return np.arange(len(ids))
    known = layout.prompt_rows
    try:
        return np.fromiter(map(known.__getitem__, ids), np.int64, len(ids))
    except (KeyError, TypeError):
        unknown = [x for x in ids if not isinstance(x, str) or x not in known]
        raise MetricInputError(_unknown_ids(unknown, layout)) from None


def _unknown_ids(unknown: list[str], layout: Layout) -> str:
    message = f"{len(unknown):,} unknown prompt_id{'s' * (len(unknown) > 1)}, first: {_first(unknown)}"
    near = get_close_matches(str(unknown[0])[:200], layout.prompt_rows, n=1, cutoff=0.8)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{message}{hint} (expected use_case:language:axis:identifier:profile:question)"


def _first(names: Sequence[object], n: int = 3) -> str:
    shown = ", ".join(repr(name)[:120] for name in names[:n])
    return f"{shown}, ..." if len(names) > n else shown


def _with_others(numbers: list[int], n: int) -> tuple[int, ...]:
    """Return n repeat numbers: those that outputs have, then the first of those that none has."""
    others = (number for number in count() if number not in numbers)
    return (*numbers, *islice(others, n - len(numbers)))


def _repeat_columns(repeats: Iterable[int] | None, n: int) -> tuple[list[int], Ints]:
    """Return the repeat numbers of the run, ascending, and for each output the place of its own."""
    if repeats is None:
        return [0], np.zeros(n, dtype=np.int64)
    numbers = _items("repeats", repeats)
    if len(numbers) != n:
        raise MetricInputError(f"{len(numbers):,} repeats for {n:,} outputs: give one for each")
    for number in set(numbers) if _kinds(numbers) <= {int} else numbers:
        if not (_is_whole(number) and 0 <= number < 1 << 31):
            raise MetricInputError(f"repeat {number!r:.40}: must be a whole number, 0 or more")
    distinct, columns = np.unique(np.array(numbers, dtype=np.int64), return_inverse=True)
    if len(distinct) > MAX_REPEATS:
        raise MetricInputError(
            f"{len(distinct):,} different repeat numbers; at most {MAX_REPEATS:,} are supported: "
            "repeat counts the outputs of one prompt from 0"
        )
    return distinct.tolist(), columns.astype(np.int64)


def _without_duplicates(ids: list[str], texts: list[str | None], rows: Ints, columns: Ints) -> Ints:
    """Return the positions to use: the first of each prompt and repeat; equal outputs count once."""
    keys = rows * (int(columns.max()) + 1) + columns
    if np.bincount(keys).max() == 1:
        return np.arange(len(keys))
    _, first, group, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts[group] > 1)
    clashing = [ids[at] for at in repeated if (texts[at] or "") != (texts[first[group[at]]] or "")]
    if clashing:
        names = list(Counter(clashing))
        raise MetricInputError(
            f"{len(names):,} prompt_id{'s' * (len(names) > 1)} given twice with different outputs and no "
            f"`repeat` to tell them apart, first: {_first(names)}; pass repeats=0, 1, ... or drop one run"
        )
    return np.asarray(first, dtype=np.int64)


def _expected(given: Bools, expected: Iterable[str] | None, layout: Layout) -> Bools:
    if expected is not None:
        names, control = _names("expected", expected), layout.design.control_design
        if control is not None and names != layout.prompt_ids:
            known = layout_of(control).prompt_rows
            names = [name for name in names if name not in known]
        mask = np.zeros(len(given), dtype=bool)
        mask[_rows_of(names, layout)] = True
        return np.broadcast_to(mask[:, None], given.shape)
    slots, identifiers = layout.slot_codes, layout.identifier_codes
    touched = np.zeros((int(slots.max()) + 1, given.shape[1]), dtype=bool)
    at_row, at_repeat = np.nonzero(given)
    touched[slots[at_row], at_repeat] = True
    covered = np.zeros(int(identifiers.max()) + 1, dtype=bool)
    covered[identifiers[at_row]] = True
    return touched[slots] & covered[identifiers][:, None]
