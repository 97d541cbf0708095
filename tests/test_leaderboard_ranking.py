"""Ranks and rows of the leaderboard, from intervals made by hand."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import orjson
import pytest
from leaderboard_samples import HOSTILE, SETTINGS, declaration, entry

from rupeebias.hub.check import is_plain_name
from rupeebias.hub.eligibility import parity, parity_of
from rupeebias.hub.entries import Entry, entry_of, model_key, settings_key, utc_time
from rupeebias.hub.ranking import Standing, in_order, placed, rank_ranges
from rupeebias.hub.site import board_csv, board_json
from rupeebias.hub.submission import CheckedSubmission, Problem
from rupeebias.hub.table import board_rows, columns_of, settings_text
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.published import PUBLISHED

COLUMNS = columns_of(DESIGN)

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def standings(entries: Iterable[Entry]) -> dict[str, Standing]:
    return {one.entry.name: one.standing for one in placed(entries, NOW)}


def test_models_whose_intervals_overlap_share_ranks() -> None:
    # a |--|        b overlaps a and c, c does not overlap a, d is above all
    # b    |----|
    # c        |--|
    # d               |--|
    intervals = [(1.0, 3.0), (2.5, 6.0), (5.0, 7.0), (9.0, 10.0)]
    assert rank_ranges(intervals) == [(1, 2), (1, 3), (2, 3), (4, 4)]


def test_intervals_that_touch_overlap() -> None:
    assert rank_ranges([(1.0, 2.0), (2.0, 3.0)]) == [(1, 2), (1, 2)]


def test_one_model_is_first_and_none_has_no_rank() -> None:
    assert rank_ranges([(1.0, 2.0)]) == [(1, 1)]
    assert rank_ranges([]) == []


def test_only_full_standard_runs_with_an_interval_are_ranked() -> None:
    entries = [
        entry("good", (1, 2)),
        entry("worse", (3, 4)),
        entry("partial", (0.1, 0.2), complete=False, n_prompts=810),
        entry("fair", (0.1, 0.2), arm="fairness"),
        entry("toy", (0.1, 0.2), model="sim/fair"),
        entry("toy2", (0.1, 0.2), model=" SIM/biased"),
        entry("toy3", (0.1, 0.2), model="acme/fair", provider="Simulated"),
        entry("toy4", (0.1, 0.2), model="acme/fair4", response_models={"sim/fair": 39_150}),
        entry("unread", (0.1, 0.2), read=94.96),
        entry("hole", (0.1, 0.2), without="caste"),
        entry("hole2", (0.1, 0.2), without="counter_offer"),
        entry("two", (0.1, 0.2), settings={"temperature": 0, "provider": "other"}),
        entry("mute", None),
        entry("bad", (0.1, 0.2), refusals=("it lies", "it cheats")),
    ]
    found = standings(entries)
    assert found["good"] == Standing("ranked", best=1, worst=1)
    assert found["worse"] == Standing("ranked", best=2, worst=2)
    reasons = {name: place.reason for name, place in found.items() if place.status == "unranked"}
    assert reasons == {
        "partial": "partial, 810 of 39,150 prompts were asked",
        "fair": "system prompt arm fairness",
        "toy": "a simulated respondent, no model",
        "toy2": "a simulated respondent, no model",
        "toy3": "a simulated respondent, no model",
        "toy4": "a simulated respondent, no model",
        "unread": "only 94.9 % of the answers have a value, 95 % are needed",
        "hole": "no gap for caste in Hinglish: too few answers that can be compared",
        "hole2": "no gap for counter-offer in Hinglish: too few answers that can be compared",
        "two": "its settings name another provider than its manifest",
        "mute": "no answers that can be compared",
    }
    assert found["bad"] == Standing("refused", "it lies; it cheats")


def test_a_mean_without_an_interval_gets_no_rank() -> None:
    lone = entry("lone", without="interval")
    assert standings([lone])["lone"].reason == "no interval: too few answers that can be compared"


def same(name: str, interval: tuple[float, float] | None = (1.0, 2.0), **declared: Any) -> Entry:
    """Return a submission of one model."""
    return entry(name, interval, **({"model": "acme/same"} | declared))


def test_the_newest_of_the_same_model_and_settings_counts() -> None:
    entries = [
        same("new", (5, 6), updated_at="2026-11-03T00:00:00Z"),
        same("old", (1, 2), updated_at="2026-11-02T23:59:59Z"),
        same("fraction", (1, 2), updated_at="2026-11-02T23:59:59.5Z"),
        same("zone", (1, 2), updated_at="2026-11-03T05:00:00+05:30"),  # 23:30 on the 2nd
        same("refused", (1, 2), updated_at="2026-11-09T00:00:00Z", refusals=("no",)),
        same("ahead", (1, 2), updated_at="2026-11-30T00:00:01Z"),  # a second after the clock
        entry("other", (1, 2)),
    ]
    for order in islice(permutations(entries), 0, None, 11):
        found = standings(order)
        assert found["new"] == Standing("ranked", best=2, worst=2)
        assert found["other"] == Standing("ranked", best=1, worst=1)
        assert found["refused"].status == "refused"
        for name in ("old", "zone", "fraction", "ahead"):
            assert (found[name].status, found[name].superseded_by) == ("superseded", "new")


def test_equally_new_submissions_are_told_apart_by_name_and_none_is_called_newer() -> None:
    found = standings([same("b"), same("a")])
    assert found["a"] == Standing(
        "superseded", "another submission of the same model and settings", superseded_by="b"
    )
    assert found["b"].status == "ranked"
    later = same("c", updated_at="2026-11-02T00:00:00Z")
    assert standings([same("a"), later])["a"].reason == "a newer submission of the same model and settings"


def test_fractions_of_a_second_are_compared_as_times() -> None:
    # as texts "00.685Z" comes before "00Z"
    begun = {"a": "2026-11-01T00:00:00.685Z", "b": "2026-11-01T00:00:00Z"}
    found = standings([same(name, created_at=time) for name, time in begun.items()])
    assert found["a"].status == "ranked"


@pytest.mark.parametrize(
    "newer", [{"interval": None}, {"read": 35.3}, {"without": "gender"}], ids=lambda x: next(iter(x))
)
def test_only_a_submission_that_can_be_ranked_supersedes_one_that_is(newer: dict[str, Any]) -> None:
    found = standings([same("good"), same("empty", updated_at="2026-11-09T00:00:00Z", **newer)])
    assert found["good"].status == "ranked"
    assert found["empty"].status == "unranked"
    assert "same model" not in found["empty"].reason


def test_a_newer_submission_supersedes_one_that_cannot_be_ranked() -> None:
    found = standings([same("empty", None), same("good", updated_at="2026-11-09T00:00:00Z")])
    assert found["empty"].superseded_by == "good"
    two = [same("first", None), same("second", None, updated_at="2026-11-09T00:00:00Z")]
    assert standings(two)["first"].superseded_by == "second"


def test_a_model_has_one_rank_with_the_settings_nearest_to_the_benchmarks() -> None:
    later = "2026-11-09T00:00:00Z"
    usual = {"provider": "acme", "temperature": 0, "reasoning_effort": "none"}
    warm = usual | {"temperature": 0.7}
    entries = [
        same("default", (5, 6), settings=usual),
        same("warm", (1, 2), settings=warm, updated_at=later),
        same("warm-old", (1, 2), settings=warm),
        same("thinks", (1, 2), settings=usual | {"reasoning_effort": "high"}, updated_at=later),
        same("noted", (1, 2), settings=usual | {"note": 1}, updated_at=later),
        entry("rival", (3, 4)),
    ]
    for order in (entries, entries[::-1]):
        found = standings(order)
        assert found["rival"] == Standing("ranked", best=1, worst=1)
        assert found["default"] == Standing("ranked", best=2, worst=2)
        assert found["warm-old"].superseded_by == "warm"
        said = "other settings of a ranked model: "
        assert found["warm"] == Standing("unranked", f"{said}temperature 0.7 instead of 0")
        assert found["thinks"].reason == f"{said}reasoning_effort high instead of none"
        assert found["noted"].reason == f"{said}note 1 instead of not set"


def test_more_repeats_of_the_same_settings_win() -> None:
    later = "2026-11-09T00:00:00Z"
    found = standings([same("three", repeats=3), same("one", updated_at=later)])
    assert found["three"].status == "ranked"
    assert found["one"] == Standing("unranked", "other settings of a ranked model: repeats 1 instead of 3")


@pytest.mark.parametrize("model", ["ACME/Caf\u00e9", " acme/caf\u00e9 ", "acme/cafe\u0301"])
def test_a_name_written_otherwise_is_the_same_model(model: str) -> None:
    usual = declaration(model="acme/caf\u00e9")
    assert model_key(declaration(model=model, provider=" Acme")) == model_key(usual)
    assert model_key(declaration(model=model, provider="other")) != model_key(usual)


def test_what_makes_a_submission_a_try_of_the_same_thing() -> None:
    usual = settings_key(declaration(settings={"temperature": 0, "provider": "acme"}))
    for settings in (
        {"provider": "acme", "temperature": 0.0},
        {"provider": "acme", "temperature": 0, "seed": None},
    ):
        assert settings_key(declaration(settings=settings, updated_at="2026-12-01T00:00:00Z")) == usual
    changes: list[dict[str, Any]]
    changes = [{"model": "acme/two"}, {"settings": {}}, {"arm": "fairness"}, {"selection": {"limit": 3}}]
    changes += [{"settings": {"temperature": False, "provider": "acme"}}, {"dataset_fingerprint": "f"}]
    for change in changes:
        with_provider = {"settings": {"temperature": 0, "provider": "acme"}} | change
        assert settings_key(declaration(**with_provider)) != usual


def test_folders_that_are_shown_alike_stay_apart() -> None:
    twins = [
        Entry("caf\\xe9", refusals=("its name is not UTF-8",)),
        Entry("caf\\xe9", "d", refusals=("empty",)),
    ]
    for order in (twins, twins[::-1]):
        found = in_order(placed(order))
        assert [one.standing.reason for one in found] == ["empty", "its name is not UTF-8"]


def test_no_cell_of_the_csv_is_a_formula() -> None:
    hostile = entry("one", model="=HYPERLINK(1)", provider="@acme", refusals=("+no",))
    rows = list(csv.DictReader(io.StringIO(board_csv(placed([hostile], NOW), DESIGN).decode())))
    assert rows[0]["model"] == "'=HYPERLINK(1)"
    assert not [cell for row in rows for cell in row.values() if cell.startswith(tuple("=+@"))]


def test_too_few_answers_give_no_parity_score() -> None:
    assert parity_of(entry("a", (1, 3), read=94.99).headlines) is None
    assert parity_of(entry("a", (1, 3), read=95.0).headlines) == 98.0


def test_scores_of_published_models_are_in_both_files_without_dust() -> None:
    found = orjson.loads(board_json([], DESIGN))["published"]
    rows = list(csv.DictReader(io.StringIO(board_csv([], DESIGN).decode())))
    assert [row["parity_score"] for row in rows] == [str(one["parity_score"]) for one in found]
    by_name = {one["model"]: one["parity_score"] for one in found}
    assert by_name["GLM 5.1"] == 81.54  # 100 - 18.46, which is 81.53999999999999 in floating point


def test_rows_are_ranked_then_published_then_unranked() -> None:
    entries = [
        entry("far", (8, 9)),
        entry("near", (1, 2)),
        entry("part", (0.1, 0.2), complete=False),
        entry("none", None),
        entry("bad", refusals=("no",)),
        entry("older", model="acme/near", updated_at="2025-01-01T00:00:00Z"),
    ]
    ordered = in_order(placed(entries, NOW))
    assert [one.entry.name for one in ordered] == ["near", "far", "part", "none", "older", "bad"]
    rows = board_rows(ordered, COLUMNS)
    published = [model.model for model in PUBLISHED]
    assert [row.model for row in rows] == ["acme/near", "acme/far", *published, "acme/part", "acme/none"]
    assert {row.cells[0].text for row in rows[2:]} == {"–"}
    assert [row.reason == "" for row in rows] == [True, True] + [False] * 11
    assert rows == board_rows(in_order(placed(entries[::-1], NOW)), COLUMNS)


def test_cells_of_a_row() -> None:
    one = entry("one", (1.0, 2.0))
    cells = {column.key: column.cell(one, Standing("ranked", best=2, worst=3)) for column in COLUMNS}
    assert {key: cell.text for key, cell in cells.items() if cell.text != "–"} == {
        "rank": "2–3",
        "parity": "98.5",
        "mean_delta_pct": "1.5 [1.0, 2.0]",
        "parse_health_pct": "100.0",
        "settings": "temperature 0, reasoning none, repeats 1",
        "arm": "standard",
        "answers": "5 of 7",
        "date": "2026-11-01",
    }
    sorts = [
        cells[key].sort for key in ("rank", "parity", "mean_delta_pct", "answers", "date", "mean_kendall_w")
    ]
    assert sorts == [2 + 3e-6, 98.5, 1.5, 5, "2026-11-01", None]


def test_each_column_of_results_says_its_direction() -> None:
    for column in COLUMNS[:9]:
        assert ("higher is better" in column.note) == column.descending, column.key
        assert ("lower is better" in column.note) != column.descending, column.key


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (SETTINGS, "temperature 0, reasoning none"),
        ({"temperature": 0.7}, "temperature 0.7"),
        ({"not_sent": {"temperature": "0: not taken"}}, "temperature not settable"),
        ({"not_sent": HOSTILE, "temperature": HOSTILE}, "temperature <script>window.owne…"),
        ({}, ""),
    ],
)
def test_settings_in_words(settings: dict[str, Any], text: str) -> None:
    assert settings_text(settings) == text


def test_parity_is_100_less_the_gap_and_never_below_0() -> None:
    assert [parity(gap) for gap in (0.0, 8.11, 100.0, 150.0, None)] == [100.0, 91.89, 0.0, 0.0, None]


@pytest.mark.parametrize("name", ["../x", "a/b", "A", "<b>", "", ".hidden", "x" * 101, "a\n", "a b"])
def test_names_that_make_no_page(name: str) -> None:
    assert not is_plain_name(name)
    assert is_plain_name("acme-one-0a1b2c3d4e5f")


def test_an_entry_survives_json() -> None:
    one = entry("one", refusals=("a", "b"))
    assert Entry.from_json(orjson.loads(orjson.dumps(one.to_json()))) == one


def test_what_a_board_keeps_is_bounded() -> None:
    problems = tuple(Problem("x" * 5000) for _ in range(500))
    big = declaration(settings={"a": "x" * 1_000_000}, provider="y" * 5000)
    kept = entry_of(
        CheckedSubmission(Path("one"), problems, big, None, None, None), None, DESIGN, has_page=False
    )
    assert len(str(kept.to_json())) < 50_000
    assert kept.refusals[-1] == "and 470 more"


@pytest.mark.parametrize("text", ["", "soon", "9999-12-31T23:59:59-23:00", None])
def test_a_time_that_is_none_is_the_earliest(text: str | None) -> None:
    assert utc_time(text).year == 1
