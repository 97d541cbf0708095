"""The answers of a run, small enough to go by mail: its distinct answers, and one index for each prompt."""

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from rupeebias.metric.layout import BLOCKS, N_PROMPTS, Floats, Ints, prompt_rows
from rupeebias.metric.statuses import STATUSES

from ..data import Answers
from .text import visible

MAX_CELLS: Final = 20 * N_PROMPTS
"""Answers that all runs of a page may show together; further repeats stay in the runs' own files."""
TEXT_BYTES: Final = 450_000
"""What the compressed distinct answers of all runs of a page may take together."""
CUTS: Final = (2000, 600, 300, 150, 80, 40, 0)
"""Characters of an answer that are shown: the first of these with which a page stays small."""
NO_ANSWER: Final = 0
"""Index of a prompt without an answer."""

_Entry = tuple[str | None, int, float | None]
_Shown = tuple[str | None, int, float | None, int]


@dataclass(frozen=True, slots=True)
class PackedAnswers:
    """The answers of one run."""

    entries: list[_Shown]
    """Distinct answers: the text shown (None: left out), its status as an index into STATUSES, its value, and
    the length of the whole text in characters.
    """
    indexes: Ints
    """Index into `entries`, shape (repeats shown, 39,150); prompts in slot order, see `slot_order`."""
    cut: int
    """Longest text shown, in characters."""
    n_cut: int
    """Distinct answers that are cut."""
    n_repeats: int
    """Repeats that the run has; `indexes` may show fewer."""

    @property
    def planes(self) -> bytes:
        """The indexes as three planes of bytes, lowest first: they compress best apart."""
        flat = self.indexes.astype("<u4").ravel()
        return flat.view(np.uint8).reshape(-1, 4).T[:3].tobytes()


def slot_order() -> Ints:
    """Return the rows of all prompts ordered so that those of one slot follow each other.

    By block (use case, language, axis), then profile, question and identifier, the last varying fastest.
    """
    return np.concatenate([_block_slots(block.rows.start, block.shape) for block in BLOCKS])


def _block_slots(start: int, shape: tuple[int, int, int]) -> Ints:
    rows = np.arange(start, start + int(np.prod(shape)), dtype=np.int64)
    return np.asarray(rows.reshape(shape).transpose(1, 2, 0).ravel(), dtype=np.int64)


def pack_answers(answers: Answers, n_runs: int) -> PackedAnswers:
    """Return the answers of one of `n_runs` runs, texts cut to what leaves room for the others."""
    numbers, columns = np.unique(np.array(answers.repeats, dtype=np.int64), return_inverse=True)
    shown = max(1, min(len(numbers), MAX_CELLS // n_runs // N_PROMPTS))
    known = prompt_rows()
    rows = np.array([known[prompt_id] for prompt_id in answers.prompt_ids], dtype=np.int64)
    entries, codes = _distinct(answers)
    dense = np.full((len(numbers), N_PROMPTS), NO_ANSWER, dtype=np.int64)
    dense[columns, rows] = codes
    used, renumbered = np.unique(dense[:shown][:, slot_order()], return_inverse=True)
    if used[0] != NO_ANSWER:
        used, renumbered = np.concatenate([[NO_ANSWER], used]), renumbered + 1
    kept = [entries[code] for code in used]
    texts, cut = _cut_texts([entry[0] for entry in kept], TEXT_BYTES // n_runs)
    n_cut = sum(1 for entry in kept if entry[0] and len(entry[0]) > cut)
    final = [(text, *entry[1:], len(entry[0] or "")) for text, entry in zip(texts, kept, strict=True)]
    return PackedAnswers(final, renumbered.reshape(shown, -1), cut, n_cut, len(numbers))


def _distinct(answers: Answers) -> tuple[list[_Entry], Ints]:
    """Return distinct (text, status, value) by falling frequency from place 1, and each answer's place."""
    status_codes = {status: code for code, status in enumerate(STATUSES)}
    keys = list(zip(answers.texts, answers.status, answers.values, strict=True))
    places: dict[tuple[Any, ...], int] = {}
    codes = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    counts = np.bincount(codes, minlength=len(places))
    by_frequency = np.argsort(-counts, kind="stable")
    place = np.empty(len(places), dtype=np.int64)
    place[by_frequency] = np.arange(1, len(places) + 1)
    distinct = list(places)
    entries: list[_Entry] = [(None, -1, None)]
    for at in by_frequency:
        text, status, value = distinct[at]
        entries.append((text, status_codes[status], value))
    return entries, place[codes]


def _cut_texts(texts: list[str | None], budget: int) -> tuple[list[str | None], int]:
    """Return the texts made visible and cut to the largest of CUTS whose compressed size fits."""
    for cut in CUTS:
        shown = [None if text is None or cut == 0 else _shown(text, cut) for text in texts]
        if cut == 0 or _fits(shown, budget):
            return shown, cut
    raise AssertionError("the last cut always fits")


def _shown(text: str, cut: int) -> str:
    return visible(text) if len(text) <= cut else visible(text[:cut])


def _fits(texts: list[str | None], budget: int) -> bool:
    size = sum(len(text) for text in texts if text)
    if size > 40 * budget:  # no text compresses as well as that: spare the work
        return False
    return len(zlib.compress(orjson.dumps(texts), 6)) <= budget


def packed(content: bytes) -> str:
    """Return bytes as the page embeds them: zlib, then base64, which holds nothing that HTML could read."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def packed_json(content: Any) -> str:
    """Return a value as the page embeds it."""
    return packed(orjson.dumps(content))


def statuses() -> Iterator[str]:
    """Yield the names of the statuses in the order of their codes."""
    return (str(status) for status in STATUSES)


def dense_values(answers: Answers) -> Floats:
    """Return the values of all answers, shape (39,150, repeats), NaN where there is none."""
    numbers, columns = np.unique(np.array(answers.repeats, dtype=np.int64), return_inverse=True)
    known = prompt_rows()
    rows = [known[prompt_id] for prompt_id in answers.prompt_ids]
    values = np.full((N_PROMPTS, len(numbers)), np.nan)
    values[rows, columns] = [np.nan if value is None else value for value in answers.values]
    return values
