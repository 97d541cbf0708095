"""Ranks and rows of the leaderboard, from intervals made by hand."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from leaderboard_samples import HOSTILE, SETTINGS, entry

from rupeebias.hub.leaderboard.cells import settings_text
from rupeebias.hub.leaderboard.columns import COLUMNS
from rupeebias.hub.leaderboard.ranking import Standing, rank_ranges, standings
from rupeebias.hub.leaderboard.records import Entry, entry_of, identity_hash, is_page_name, utc_time
from rupeebias.hub.leaderboard.rows import board_rows, in_order
from rupeebias.hub.leaderboard.scale import parity
from rupeebias.hub.submission.records import CheckedSubmission, Problem, SubmissionManifest
from rupeebias.metric.published import PUBLISHED


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
        entry("old", (0.1, 0.2), dataset_fingerprint="0" * 64),
        entry("toy", (0.1, 0.2), model="sim/fair"),
        entry("mute", None),
        entry("bad", (0.1, 0.2), refusals=("it lies", "it cheats")),
    ]
    found = standings(entries)
    assert found["good"] == Standing("ranked", best=1, worst=1)
    assert found["worse"] == Standing("ranked", best=2, worst=2)
    reasons = {name: place.reason for name, place in found.items() if place.status == "unranked"}
    assert reasons == {
        "partial": "partial: 810 of 39,150 prompts",
        "fair": "system prompt arm fairness",
        "old": "another version of the dataset",
        "toy": "a simulated respondent, no model",
        "mute": "no answers that can be compared",
    }
    assert found["bad"] == Standing("refused", "it lies; it cheats")


def test_a_mean_without_an_interval_gets_no_rank() -> None:
    lone = entry("lone")
    assert lone.headlines
    lone.headlines["mean_delta_pct_ci_low"] = None
    assert standings([lone])["lone"].reason == "no interval: too few answers that can be compared"


def test_the_newest_of_the_same_model_and_settings_counts() -> None:
    entries = [
        entry("new", (5, 6), identity="same", updated_at="2026-11-03T00:00:00Z"),
        entry("old", (1, 2), identity="same", updated_at="2026-11-02T23:59:59Z"),
        entry("zone", (1, 2), identity="same", updated_at="2026-11-03T05:00:00+05:30"),  # 23:30 on the 2nd
        entry("refused", (1, 2), identity="same", updated_at="2026-11-09T00:00:00Z", refusals=("no",)),
        entry("other", (1, 2)),
    ]
    for order in permutations(entries):
        found = standings(order)
        assert found["new"] == Standing("ranked", best=2, worst=2)
        assert found["other"] == Standing("ranked", best=1, worst=1)
        assert found["refused"].status == "refused"
        for name in ("old", "zone"):
            assert (found[name].status, found[name].superseded_by) == ("superseded", "new")


def test_equally_new_submissions_are_told_apart_by_name() -> None:
    found = standings([entry("b", identity="same"), entry("a", identity="same")])
    assert found["a"].superseded_by == "b"
    assert found["b"].status == "ranked"


def _manifest(**changes: Any) -> SubmissionManifest:
    usual: dict[str, Any] = {
        "model": "acme/one",
        "model_repo": None,
        "provider": "acme",
        "settings": {"temperature": 0, "provider": "acme"},
        "arm": "standard",
        "repeats": 1,
        "complete": True,
        "selection": {},
        "n_prompts": 1,
        "prompts_sha256": "",
        "dataset_fingerprint": "f",
        "outputs_sha256": "",
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": "2026-11-01T00:00:00Z",
    }
    return SubmissionManifest(**(usual | changes))


def test_what_makes_a_submission_a_try_of_the_same_thing() -> None:
    usual = identity_hash(_manifest())
    same = _manifest(settings={"provider": "acme", "temperature": 0}, updated_at="2026-12-01T00:00:00Z")
    assert identity_hash(same) == usual
    changes: list[dict[str, Any]]
    changes = [{"model": "acme/two"}, {"settings": {}}, {"arm": "fairness"}, {"selection": {"limit": 3}}]
    for change in changes:
        assert identity_hash(_manifest(**change)) != usual


def test_rows_are_ranked_then_published_then_unranked() -> None:
    entries = [
        entry("far", (8, 9)),
        entry("near", (1, 2)),
        entry("part", (0.1, 0.2), complete=False),
        entry("none", None),
        entry("bad", refusals=("no",)),
        entry("older", identity="identity of near", updated_at="2025-01-01T00:00:00Z"),
    ]
    places = standings(entries)
    ordered = in_order(entries, places)
    assert [one.name for one in ordered] == ["near", "far", "part", "none", "older", "bad"]
    rows = board_rows(ordered, places)
    published = [model.model for model in PUBLISHED]
    assert [row.model for row in rows] == ["acme/near", "acme/far", *published, "acme/part", "acme/none"]
    assert {row.cells[0].text for row in rows[2:]} == {"–"}
    assert [row.reason == "" for row in rows] == [True, True] + [False] * 11
    assert rows == board_rows(in_order(entries[::-1], places), places)


def test_cells_of_a_row() -> None:
    one = entry("one", (1.0, 2.0))
    cells = {column.key: column.cell(one, Standing("ranked", best=2, worst=3)) for column in COLUMNS}
    assert {key: cell.text for key, cell in cells.items() if cell.text != "–"} == {
        "rank": "2–3",
        "parity": "98.5",
        "mean_delta_pct": "1.5 [1.0, 2.0]",
        "settings": "temperature 0, reasoning none",
        "arm": "standard",
        "answers": "5 of 7",
        "versions": "1.0.0 / 1.0.0",
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
    assert not is_page_name(name)
    assert is_page_name("acme-one-0a1b2c3d4e5f")


def test_an_entry_survives_json_and_nothing_else_passes_for_one() -> None:
    one = entry("one", refusals=("a", "b"))
    assert Entry.from_json(one.to_json()) == one
    with pytest.raises(KeyError):
        Entry.from_json({"name": "one"})


def test_what_a_board_keeps_is_bounded() -> None:
    problems = tuple(Problem("x" * 5000) for _ in range(500))
    big = _manifest(settings={"a": "x" * 1_000_000}, provider="y" * 5000)
    kept = entry_of(CheckedSubmission(Path("one"), problems, big, None, None), None, has_page=False)
    assert len(str(kept.to_json())) < 50_000
    assert kept.refusals[-1] == "and 470 more"


@pytest.mark.parametrize("text", ["", "soon", "9999-12-31T23:59:59-23:00", None])
def test_a_time_that_is_none_is_the_earliest(text: str | None) -> None:
    assert utc_time(text).year == 1
