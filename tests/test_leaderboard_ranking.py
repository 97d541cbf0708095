"""Ranks and rows of the leaderboard, from intervals made by hand."""

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from leaderboard_samples import HOSTILE, SETTINGS, declaration, entry

from rupeebias.errors import RupeeBiasError
from rupeebias.hub.check import is_plain_name
from rupeebias.hub.eligibility import is_same_model, parity, parity_of, read_shares
from rupeebias.hub.entries import Entry, entry_of, model_key, packed_answers, settings_key, utc_time
from rupeebias.hub.ranking import Decisions, Standing, in_order, placed, read_decisions
from rupeebias.hub.site import board_csv, board_json
from rupeebias.hub.submission import CheckedSubmission, Problem, name_fault
from rupeebias.hub.table import board_rows, columns_of, paper_rows, settings_text
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.layout import layout_of
from rupeebias.metric.readings import read_outputs
from rupeebias.models.grammar import regexes

COLUMNS = columns_of(DESIGN)

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def standings(entries: Iterable[Entry]) -> dict[str, Standing]:
    return {one.entry.name: one.standing for one in placed(entries, NOW)}


def test_models_that_cannot_be_told_apart_share_ranks() -> None:
    # squared gaps 2.0, 4.7 and 100, with standard deviations of 1 each
    entries = [entry("a", (0.2, 2.0)), entry("b", (1.6, 2.6)), entry("c", (9.9, 10.1))]
    found = standings(entries)
    assert [(found[x].best, found[x].worst) for x in "abc"] == [(1, 2), (1, 2), (3, 3)]


def test_one_model_is_first_and_none_has_no_rank() -> None:
    assert standings([entry("a")])["a"] == Standing("ranked", best=1, worst=1)
    assert placed([], NOW) == []


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
        entry("deaf", (0.1, 0.2), without="merit"),
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
        "deaf": "answers do not follow qualifications in salary estimation, salary increment, counter-offer, "
        "service pricing, vendor and service pricing, customer (unresponsive)",
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
        same("new", (1, 2), updated_at="2026-11-03T00:00:00Z"),
        same("old", (1, 2), updated_at="2026-11-02T23:59:59Z"),
        same("fraction", (1, 2), updated_at="2026-11-02T23:59:59.5Z"),
        same("zone", (1, 2), updated_at="2026-11-03T05:00:00+05:30"),  # 23:30 on the 2nd
        same("refused", (1, 2), updated_at="2026-11-09T00:00:00Z", refusals=("no",)),
        same("ahead", (1, 2), updated_at="2026-11-30T00:00:01Z"),  # a second after the clock
        entry("other", (1, 2)),
    ]
    for order in islice(permutations(entries), 0, None, 211):
        found = standings(order)
        assert found["new"] == Standing("ranked", best=1, worst=2)
        assert found["other"] == Standing("ranked", best=1, worst=2)
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
        same("seeded", (1, 2), settings=usual | {"seed": 1}, updated_at=later),
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
        assert found["seeded"].reason == f"{said}seed 1 instead of not set"


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


def test_published_values_stand_in_columns_of_the_papers_definitions_only() -> None:
    found = orjson.loads(board_json([], DESIGN))["published"]
    rows = list(csv.DictReader(io.StringIO(board_csv([], DESIGN).decode())))
    assert {key for row in rows for key, value in row.items() if value} == {
        "status",
        "reason",
        *(name for name in rows[0] if name.startswith("paper_")),
        "model",
    }
    by_name = {one["model"]: one["paper_mean_delta_pct"] for one in found}
    assert by_name["GLM 5.1"] == 18.46
    beside = {cells[0]: cells[1] for cells in paper_rows(placed([entry("a")], NOW), DESIGN)}
    assert beside["GLM 5.1 (published)"] == "18.46"
    assert beside["acme/a"] == "–"


def test_rows_are_ranked_then_unranked() -> None:
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
    assert [row.model for row in rows] == ["acme/near", "acme/far", "acme/part", "acme/none"]
    assert {row.cells[0].text for row in rows[2:]} == {"–"}
    assert [row.reason == "" for row in rows] == [True, True, False, False]
    assert rows == board_rows(in_order(placed(entries[::-1], NOW)), COLUMNS)


def test_cells_of_a_row() -> None:
    one = replace(
        entry("one", (1.0, 2.0)),
        warnings=("a suspected slip", "more"),
    )
    assert one.headlines
    one.headlines.update(
        worst_group="urban_rural:village",
        worst_group_language="hinglish",
        worst_group_confirmed_pct=-12.04,
        worst_group_effect_pct=-16.0,
        mean_delta_pct=8.0,
    )
    columns = columns_of(DESIGN, widest=4.0)
    cells = {column.key: column.cell(one, Standing("ranked", best=2, worst=3)) for column in columns}
    assert {key: cell.text for key, cell in cells.items()} == {
        "rank": "2–3",
        "systematic_gap_pct": "1.5 [1.0, 2.0]",
        "worst_group": "Village −16.0 % in Hinglish, at least 12.0 confirmed",
        "mean_delta_pct": "8.0",
        "caution": "a suspected slip",
    }
    assert [cells[key].sort for key in ("rank", "systematic_gap_pct", "worst_group")] == [
        2 + 3e-6,
        1.5,
        -12.04,
    ]
    assert cells["systematic_gap_pct"].bar == (25.0, 37.5, 50.0)
    [row] = board_rows(in_order(placed([one], NOW)), columns)
    assert row.settings == "temperature 0, reasoning none, repeats 1, 2026-11-01"


def test_nobody_is_named_without_a_confirmed_disadvantage() -> None:
    cells = {column.key: column.cell(entry("one"), Standing("ranked", best=1, worst=1)) for column in COLUMNS}
    assert cells["worst_group"].text == "none confirmed"


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


# --- conflicts, copies, decisions


def test_other_answers_for_the_same_model_and_settings_are_a_conflict() -> None:
    """C4: a later submission, or one with a forged number of repeats or date, takes nobody's rank."""
    honest = same("honest", (9.0, 10.0))
    for forged in (
        same("forged", (0.5, 1.0), updated_at="2026-11-20T00:00:00Z"),
        same("forged", (0.5, 1.0), repeats=2),
    ):
        found = standings([honest, forged, entry("other", (3, 4))])
        assert found["other"] == Standing("ranked", best=1, worst=1)
        for one, against in (("honest", "forged"), ("forged", "honest")):
            assert found[one] == Standing(
                "unranked",
                f"conflict: {against} has other answers of the same model and settings, beyond chance; a "
                "maintainer has to decide",
            )


def test_a_maintainer_decides_a_conflict(tmp_path: Path) -> None:
    entries = [same("honest", (9.0, 10.0)), same("forged", (0.5, 1.0), repeats=2)]
    (tmp_path / "decisions.json").write_text('{"counts": ["honest"], "left_out": {"x": "spam"}}')
    decisions = read_decisions(tmp_path)
    assert decisions == Decisions(frozenset(["honest"]), {"x": "spam"})
    found = {one.entry.name: one.standing for one in placed(entries, NOW, decisions)}
    assert found["honest"] == Standing("ranked", best=1, worst=1)
    assert found["forged"].reason.endswith("which the maintainers chose")
    left_out = Decisions(left_out={"forged": "the model says otherwise"})
    found = {one.entry.name: one.standing for one in placed(entries, NOW, left_out)}
    assert found["honest"].status == "ranked"
    assert found["forged"].reason == "left out by the maintainers: the model says otherwise"


@pytest.mark.parametrize(
    "text", ["[]", '{"counts": [1]}', '{"counts": ["a"], "counts": []}', "{", '{"left_out": 5}']
)
def test_decisions_that_cannot_be_understood_end_the_build(tmp_path: Path, text: str) -> None:
    (tmp_path / "decisions.json").write_text(text)
    with pytest.raises(RupeeBiasError, match=r"is not decisions\.json as docs/release\.md describes it"):
        read_decisions(tmp_path)
    assert read_decisions(tmp_path / "nowhere") == Decisions()


def moved(values: np.ndarray, share: float) -> str:
    """Return packed answers of which a share is other ones."""
    changed = values.copy()
    n = round(len(values) * share)
    changed[:n] *= 1.5
    return packed_answers(changed)


def test_the_answers_of_another_model_under_a_name_of_ones_own_are_marked() -> None:
    """C8: neither has a rank until a maintainer decides; which came first is nobody's word to take."""
    values = np.random.default_rng(1).uniform(1e5, 1e7, (1000, 1))
    first = replace(entry("first"), answers=packed_answers(values))
    for share, is_copy in ((0.0, True), (0.04, True), (0.06, False)):
        second = replace(entry("second"), answers=moved(values, share))
        found = standings([first, second])
        assert (found["first"].status == "unranked") == is_copy
        if is_copy:
            assert found["second"].reason == (
                f"{100 - 100 * share:.1f} % of its answers are those of acme/first (first)"
            )
    nudged = replace(entry("second"), answers=packed_answers(values * (1 + 1e-4)))
    assert "of its answers are those of" in standings([first, nudged])["second"].reason
    same_weights = replace(entry("third", model="other/first", provider="other"), answers=first.answers)
    assert {x.status for x in standings([first, same_weights]).values()} == {"ranked"}


@pytest.mark.parametrize(
    ("name", "served", "is_same"),
    [
        ("openai/gpt-5.4", "gpt-5.4-2026-03-05", True),
        ("openai/gpt-5.4", "gpt-5.4", True),
        ("openrouter/meta-llama/llama-3.1-8b-instruct:free", "meta-llama/llama-3.1-8b-instruct", True),
        ("google/gemini-3-flash-preview", "gemini-3-flash", True),
        ("anthropic/claude-opus-4-7", "claude-opus-4-7-20260101", True),
        ("openai/gpt-5.4", "gpt-3.5-turbo-0125", False),
        ("openai/gpt-5.4", "gpt-5.4-nano", False),
        ("openai/gpt-5.4", "gpt-5", False),
        ("anthropic/claude-opus-4", "claude-opus-4-7", False),
        ("ollama/llama3:70b", "llama3:8b", False),
        ("local/smollm2", "SmolLM2-135M-Instruct.Q8_0.gguf", True),
        ("google/gemma-3", "gpt-5.4", False),
    ],
)
def test_the_model_that_answered_agrees_with_the_name(name: str, served: str, is_same: bool) -> None:
    assert is_same_model(name, served) == is_same
    one = entry("one", model=name, response_models={served: 39_150})
    said = f"another model answered than it names: {served}"
    assert (one.no_rank == (said,)) == (not is_same)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"guided_regex": "### (5|6) INR"}, "guided_regex"),
        ({"chat_template": "{{ be fair }}"}, "chat_template"),
        ({"prefix": "I treat everybody alike."}, "prefix"),
        ({"extras": {"logit_bias": {"1": 100}}}, "logit_bias"),
        ({"extras": {"extra_body": {"guided_json": {}}}}, "guided_json"),
        ({"extras": {"reasoning": "Be fair to everybody. " * 5}}, "a text of 110 characters"),
        ({"constrain": True, "formats": {"INR": "### 5 INR"}}, "formats"),
        ({"extras": {"top_p": 1.0, "extra_body": {"thinking": {"type": "disabled"}}}}, None),
        ({"constrain": True, "formats": dict(regexes(DESIGN))}, None),
    ],
)
def test_only_settings_that_leave_answers_as_they_are_get_a_rank(
    settings: dict[str, Any], named: str | None
) -> None:
    """C6: whatever else a provider takes could say something to the model, or choose among its answers."""
    one = entry("one", settings=SETTINGS | settings)
    said = f"settings that are not known to leave answers as they are: {named}"
    assert one.no_rank == (() if named is None else (said,))


def test_a_name_cannot_pretend_to_be_a_rank() -> None:
    assert name_fault("RANKED 1 - acme/best") is None  # letters only: it is shown as a name, in its column
    rows = board_rows(in_order(placed([entry("a", model="RANKED 1 - acme")], NOW)), COLUMNS)
    assert rows[0].cells[0].text == "1"


def test_a_group_whose_questions_are_refused_keeps_a_model_from_a_rank() -> None:
    """C1: 96 % of all answers are there, but none of four groups'."""
    ids = layout_of(DESIGN).prompt_ids
    silent = {("caste", "dalit"), ("gender", "female"), ("religion", "muslim"), ("region", "bihar")}
    texts = ["I cannot say." if tuple(one.split(":")[2:4]) in silent else "### 500000 INR" for one in ids]
    readings = read_outputs(ids, texts)
    shares = {key[:3]: key[3] for key in read_shares(readings, DESIGN)}
    assert shares["gender", "female", "Hinglish"] == 0
    assert shares["gender", "male", "English"] > 0
