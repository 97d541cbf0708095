"""The answers of a run, small enough to go by mail: its distinct answers, and one index for each prompt."""

import base64
import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from rupeebias.metric.design import Design
from rupeebias.metric.layout import Ints, layout_of
from rupeebias.metric.statuses import STATUSES

from ...words import visible
from ..runs import Answers

MAX_CELLS: Final = 800_000
"""Answers that all runs of a page may show together; further repeats stay in the runs' own files."""
CUTS: Final = (2000, 600, 300, 150, 80, 0)
"""Characters of an answer that are shown: the first of these with which a page stays small."""
BEST_COMPRESSION: Final = 40
"""No text gets smaller than by this factor: above it, compressing is not tried."""
NO_ANSWER: Final = 0
"""Index of a prompt without an answer."""

_Entry = tuple[str | None, int, float | None, int]


@dataclass(frozen=True, slots=True)
class PackedAnswers:
    """The answers of one run."""

    entries: list[_Entry]
    """Distinct answers: the text shown (None: left out), its status as an index into STATUSES, its value, and
    the length in characters of a text that is cut or left out, else 0.
    """
    indexes: Ints
    """Index into `entries`, shape (repeats shown, prompts); prompts in slot order, see `slot_order`."""
    cut: int
    """Longest text shown, in characters."""
    n_repeats: int
    """Repeats that the run has; `indexes` may show fewer."""

    @property
    def planes(self) -> bytes:
        """The indexes as three planes of bytes, lowest first: they compress best apart."""
        flat = self.indexes.astype("<u4").ravel()
        return flat.view(np.uint8).reshape(-1, 4).T[:3].tobytes()


def slot_order(design: Design) -> Ints:
    """Return the rows of all prompts ordered so that those of one slot follow each other.

    By block (use case, language, axis), then profile, question and identifier, the last varying fastest.
    """
    return np.concatenate([_block_slots(block.rows.start, block.shape) for block in layout_of(design).blocks])


def _block_slots(start: int, shape: tuple[int, int, int]) -> Ints:
    rows = np.arange(start, start + int(np.prod(shape)), dtype=np.int64)
    return np.asarray(rows.reshape(shape).transpose(1, 2, 0).ravel(), dtype=np.int64)


def pack_answers(answers: Answers, design: Design, budget: int, n_runs: int = 1) -> PackedAnswers:
    """Return the answers of one of `n_runs` runs, texts cut until they take `budget` bytes or less.

    With nothing left to cut, texts are left out; statuses and values always stay.
    """
    for cut in CUTS:
        if cut and _shown_size(answers.texts, cut) > BEST_COMPRESSION * budget:
            continue
        found = _packed_answers(answers, design, cut, n_runs)
        if cut == 0 or len(zlib.compress(orjson.dumps(found.entries) + found.planes, 6)) <= budget:
            return found
    raise AssertionError("the last cut always fits")


def repeats_shown(n_repeats: int, n_runs: int, n_prompts: int) -> int:
    """Return how many of a run's repeats a page with `n_runs` runs holds."""
    return int(max(1, min(n_repeats, MAX_CELLS // n_runs // n_prompts)))


def _shown_size(texts: list[str | None], cut: int) -> int:
    """Return the size of the distinct texts, cut, in characters."""
    return sum(len(text) for text in {text[:cut] for text in texts if text})


def _packed_answers(answers: Answers, design: Design, cut: int, n_runs: int) -> PackedAnswers:
    numbers, columns = np.unique(np.array(answers.repeats, dtype=np.int64), return_inverse=True)
    shown = repeats_shown(len(numbers), n_runs, design.n_prompts)
    known = layout_of(design).prompt_rows
    rows = np.array([known[prompt_id] for prompt_id in answers.prompt_ids], dtype=np.int64)
    entries, codes = _distinct(answers, cut)
    dense = np.full((len(numbers), design.n_prompts), NO_ANSWER, dtype=np.int64)
    dense[columns, rows] = codes
    return PackedAnswers(entries, dense[:shown, slot_order(design)], cut, len(numbers))


def _distinct(answers: Answers, cut: int) -> tuple[list[_Entry], Ints]:
    """Return the distinct answers by falling frequency from place 1, and each answer's place."""
    status_codes = {status: code for code, status in enumerate(STATUSES)}
    given = zip(answers.texts, answers.status, answers.values, strict=True)
    keys = ((*_cut(text, cut), status_codes[status], value) for text, status, value in given)
    places: dict[tuple[str | None, int, int, float | None], int] = {}
    codes = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    by_frequency = np.argsort(-np.bincount(codes, minlength=len(places)), kind="stable")
    place = np.empty(len(places), dtype=np.int64)
    place[by_frequency] = np.arange(1, len(places) + 1)
    distinct = list(places)
    entries: list[_Entry] = [(None, -1, None, 0)]
    for text, length, status, value in (distinct[at] for at in by_frequency):
        entries.append((None if text is None else visible(text), status, value, length))
    return entries, place[codes]


def _cut(text: str | None, cut: int) -> tuple[str | None, int]:
    """Return the part of a text that is shown, and the text's length if that is not all."""
    if not text or len(text) <= cut:
        return text, 0
    return (text[:cut], len(text)) if cut else (None, 1)


def packed(content: bytes) -> str:
    """Return bytes as the page embeds them: zlib, then base64, which holds nothing that HTML could read."""
    return base64.b64encode(zlib.compress(content, 7)).decode("ascii")


def packed_json(content: Any) -> str:
    """Return a value as the page embeds it."""
    return packed(orjson.dumps(content))
