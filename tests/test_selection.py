"""Which prompts a selection takes."""

from collections import Counter
from dataclasses import replace

import pytest

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.errors import UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis, Design, Language, UseCase
from rupeebias.runs.selection import Selection, Slot, expected_prompt_ids, selected_slots


def test_an_empty_selection_is_the_whole_benchmark() -> None:
    ids = expected_prompt_ids(Selection())
    assert len(ids) == len(set(ids)) == 39_150


def test_ids_follow_dataset_order() -> None:
    # Use case, language, axis, identifier, profile, question: the last changes fastest.
    ids = expected_prompt_ids(Selection())
    assert ids[0] == "salary_estimation:en:religion:hindu:P01:Q1"
    assert ids[1] == "salary_estimation:en:religion:hindu:P01:Q2"
    assert ids[3] == "salary_estimation:en:religion:hindu:P02:Q1"
    assert ids[54] == "salary_estimation:en:religion:muslim:P01:Q1"
    assert ids[-1] == "service_pricing_customer:hinglish:urban_rural:village:P09:Q2"


def test_each_option_narrows() -> None:
    # gender has 5 identifiers; salary_increment has 27 profiles and 3 questions.
    selection = Selection.parse(use_cases=["salary_increment"], axes=["gender"], languages=["en"])
    assert len(expected_prompt_ids(selection)) == 5 * 27 * 3
    narrower = Selection.parse(
        use_cases=["salary_increment"], identifiers=["male"], profiles=["P27"], questions=["Q3"]
    )
    assert expected_prompt_ids(narrower) == [
        "salary_increment:en:gender:male:P27:Q3",
        "salary_increment:hinglish:gender:male:P27:Q3",
    ]


def test_labels_any_case_and_commas_mean_the_same_as_slugs() -> None:
    typed = Selection.parse(
        use_cases=["Counter Offer"],
        languages=["English"],
        axes=["Urban/Rural,GENDER"],
        identifiers=["Tier 1 city, village", "MALE"],
        profiles=["p01"],
        questions=["q2"],
    )
    assert typed == Selection(
        use_cases=("counter_offer",),
        languages=("en",),
        axes=("gender", "urban_rural"),
        identifiers=("male", "tier_1_city", "village"),
        profiles=("P01",),
        questions=("Q2",),
    )


@pytest.mark.parametrize("typed", ["1", "01", "p1", "P01"])
def test_profiles_and_questions_go_by_their_number(typed: str) -> None:
    assert Selection.parse(profiles=[typed]).profiles == ("P01",)
    assert Selection.parse(questions=[typed.replace("0", "").upper().replace("P", "Q")]).questions == ("Q1",)


def test_naming_every_value_is_no_restriction() -> None:
    assert Selection.parse(languages=["hinglish,en"]) == Selection()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"axes": ["gendr"]}, "unknown axis 'gendr'; did you mean 'gender'?"),
        ({"identifiers": ["dallit"]}, "unknown identifier 'dallit'; did you mean 'dalit'?"),
        ({"use_cases": ["salary_estimate"]}, "did you mean 'salary_estimation'?"),
        ({"languages": ["marathi"]}, "unknown language 'marathi'; known: en, hinglish"),
        ({"profiles": ["P99"]}, "unknown profile 'P99'"),
        ({"axes": [" , "]}, "empty axis"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(option: dict[str, list[str]], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Selection.parse(**option)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_selection_without_prompts_is_refused() -> None:
    with pytest.raises(UsageError, match="no prompt matches --axis gender --identifier dalit"):
        Selection.parse(axes=["gender"], identifiers=["dalit"])
    with pytest.raises(UsageError, match="no prompt matches"):
        Selection.parse(use_cases=["service_pricing_vendor"], profiles=["P10"])


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match=f"--limit {limit}"):
        Selection.parse(limit=limit)


def test_chosen_prompts_keep_dataset_order_and_agree_with_the_expected_ids() -> None:
    expected = expected_prompt_ids(Selection.parse(axes=["caste"], limit=7))
    chosen = list(iter_prompts(load_components(), set(expected)))
    assert [prompt.prompt_id for prompt in chosen] == expected
    assert len(chosen) == 7 * 24
    every = {prompt.prompt_id: prompt for prompt in iter_prompts(load_components())}
    assert chosen == [every[prompt_id] for prompt_id in expected]


@pytest.mark.parametrize("limit", [1, 10, 60, 100, 1000])
def test_a_limit_takes_whole_slots(limit: int) -> None:
    sizes = Counter(_slot_of(prompt_id) for prompt_id in expected_prompt_ids(Selection(limit=limit)))
    assert len(sizes) == limit
    assert all(n == len(DESIGN.identifiers[slot.axis]) for slot, n in sizes.items())


def test_a_limit_is_spread_evenly_over_the_strata() -> None:
    # 5 use cases x 2 languages x 6 axes = 60 strata: 130 slots are 2 each and 10 more.
    strata = Counter((s.use_case, s.language, s.axis) for s in selected_slots(Selection(limit=130)))
    assert len(strata) == 60
    assert sorted(strata.values()) == [2] * 50 + [3] * 10


def test_a_small_limit_already_touches_every_use_case_and_both_languages() -> None:
    slots = selected_slots(Selection(limit=10))
    assert {slot.use_case for slot in slots} == set(DESIGN.use_case_names)
    assert Counter(slot.language for slot in slots) == {"en": 5, "hinglish": 5}
    assert len({slot.axis for slot in slots}) == 5


def test_both_languages_of_a_stratum_get_the_same_profiles_and_questions() -> None:
    by_stratum: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
    for s in selected_slots(Selection(limit=240)):
        by_stratum.setdefault((s.use_case, s.language, s.axis), set()).add((s.profile, s.question))
    assert len(by_stratum) == 60
    for (use_case, language, axis), pairs in by_stratum.items():
        assert len(pairs) == 4
        if language == "en":
            assert pairs == by_stratum[use_case, "hinglish", axis]


def test_a_small_limit_holds_two_profiles_of_every_use_case() -> None:
    # 2 axes x 2 languages x 5 use cases: one slot each, and the axes begin at different profiles
    profiles: dict[str, set[str]] = {}
    for s in selected_slots(Selection(axes=("gender", "urban_rural"), limit=20)):
        profiles.setdefault(s.use_case, set()).add(s.profile)
    assert {use_case: len(found) for use_case, found in profiles.items()} == dict.fromkeys(
        DESIGN.use_case_names, 2
    )


def test_the_small_audit_holds_the_three_profiles_that_intervals_need() -> None:
    profiles: dict[str, set[str]] = {}
    for s in selected_slots(Selection(axes=("gender", "urban_rural"), limit=30)):
        profiles.setdefault(s.use_case, set()).add(s.profile)
    assert min(map(len, profiles.values())) >= 3


def test_every_profile_is_taken_before_one_is_taken_twice() -> None:
    slots = selected_slots(
        Selection(use_cases=("counter_offer",), languages=("en",), axes=("caste",), limit=27)
    )
    assert len({s.profile for s in slots}) == 27


def test_a_larger_limit_contains_a_smaller_one() -> None:
    assert set(selected_slots(Selection(limit=33))) < set(selected_slots(Selection(limit=34)))


def test_a_limit_beyond_the_end_takes_everything() -> None:
    assert len(expected_prompt_ids(Selection(limit=99_999))) == 39_150


def test_a_limit_goes_on_where_small_strata_are_exhausted() -> None:
    # A pricing stratum has 18 slots, an increment one 81: 12 strata x 18 leave 284 of 500.
    selection = Selection(use_cases=("salary_increment", "service_pricing_vendor"), limit=500)
    counts = Counter(slot.use_case for slot in selected_slots(selection))
    assert counts == {"salary_increment": 284, "service_pricing_vendor": 216}


def test_the_chosen_slots_never_change() -> None:
    assert selected_slots(Selection(limit=1)) == [Slot("salary_estimation", "en", "religion", "P14", "Q1")]


def test_a_selection_survives_json() -> None:
    selection = Selection.parse(axes=["caste"], identifiers=["SC/ST"], limit=3)
    assert Selection.from_json(selection.to_json()) == selection
    assert Selection.from_json({}) == Selection()


@pytest.mark.parametrize(
    "data",
    [
        {"design": "half"},
        {"controls": True},
        {"axes": "caste"},
        {"axes": [1]},
        {"limit": "3"},
        {"limit": True},
    ],
)
def test_malformed_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="selection: "):
        Selection.from_json(data)


def test_the_description_can_be_typed_again() -> None:
    assert Selection().describe() == "everything"
    selection = Selection.parse(identifiers=["male", "female"], limit=5)
    assert selection.describe() == "--identifier male,female --limit 5"


def _slot_of(prompt_id: str) -> Slot:
    use_case, language, axis, _, profile, question = prompt_id.split(":")
    return Slot(use_case, language, axis, profile, question)


def test_shards_are_whole_slots_and_together_the_whole() -> None:
    whole = Selection(limit=50)
    parts = [expected_prompt_ids(replace(whole, shard=(part, 4))) for part in (1, 2, 3, 4)]
    assert sorted(prompt_id for part in parts for prompt_id in part) == sorted(expected_prompt_ids(whole))
    for part in (1, 2, 3, 4):
        slots = selected_slots(replace(whole, shard=(part, 4)))
        assert 12 <= len(slots) <= 13
        assert len({slot.use_case for slot in slots}) == 5


def test_a_shard_survives_its_manifest_and_is_named() -> None:
    shard = Selection(limit=5, shard=(2, 3))
    assert Selection.from_json(shard.to_json()) == shard
    assert shard.describe() == "--limit 5 --shard 2/3"
    assert "shard" not in Selection().to_json()
    for bad in ([0, 3], [4, 3], [1], "1/3", [True, 3]):
        with pytest.raises(UsageError, match="shard must be"):
            Selection.from_json({"shard": bad})


# Another benchmark

TOY = Design(
    name="rent",
    label="Rent",
    version="1",
    fingerprint="f",
    languages=(Language("de", "German", "german"),),
    axes=(
        Axis("age", "Age", {"young": "Young", "old": "Old", "none": "None"}),
        Axis("pet", "Pet", {"cat": "Cat", "dog": "Dog", "none": "None"}),
    ),
    use_cases=(
        UseCase("flat", "Flat", "EUR", "amount", (100, 9_000), n_profiles=4, n_questions=1, period="month"),
        UseCase("raise", "Raise", "percent", "percent", (0, 50), n_profiles=4, n_questions=2),
    ),
)


def test_a_selection_of_another_benchmark_has_its_names_and_order() -> None:
    # 4 profiles x (1 + 2) questions x 6 identifiers
    whole = Selection(benchmark=TOY)
    ids = expected_prompt_ids(whole)
    assert whole.is_everything
    assert len(ids) == 72
    assert ids[0] == "flat:de:age:young:P01:Q1"
    typed = Selection.parse(languages=["German"], axes=["Pet"], use_cases=["raise"], benchmark=TOY)
    assert typed == Selection(use_cases=("raise",), axes=("pet",), benchmark=TOY)
    assert len(expected_prompt_ids(typed)) == 24
    assert len({(s.use_case, s.axis) for s in selected_slots(Selection(limit=4, benchmark=TOY))}) == 4
    assert Selection.from_json(typed.to_json(), TOY) == typed
    with pytest.raises(UsageError, match="unknown axis 'caste'"):
        Selection.parse(axes=["caste"], benchmark=TOY)
    with pytest.raises(UsageError, match="--controls: Rent has no control prompts"):
        Selection.parse(controls="with", benchmark=TOY)


# Cheap designs and controls


def test_profiles_once_asks_each_profile_in_one_language_with_one_question() -> None:
    # STATISTICS: 87 identifiers x 90 profiles. Profile i = 0, 1, ... in language i mod 2, with question
    # (i div 2 + i div 2q) mod q.
    ids = expected_prompt_ids(Selection(design="profiles-once"))
    assert len(ids) == 7_830
    expected = set()
    for use_case in DESIGN.use_cases:
        q = use_case.n_questions
        for i in range(use_case.n_profiles):
            question = (i // 2 + i // (2 * q)) % q + 1
            expected.add((use_case.name, ("en", "hinglish")[i % 2], f"P{i + 1:02d}", f"Q{question}"))
    slots = [_slot_of(prompt_id) for prompt_id in ids]
    assert {(s.use_case, s.language, s.profile, s.question) for s in slots} == expected
    assert set(ids) < set(expected_prompt_ids(Selection()))


def test_profiles_once_narrows_and_is_limited_as_the_full_design_is() -> None:
    one = Selection.parse(profiles=["P01"], design="profiles-once", limit=4)
    assert {slot.language for slot in selected_slots(one)} == {"en"}
    assert one.describe() == "--profile P01 --design profiles-once --limit 4"
    assert Selection.from_json(one.to_json()) == one
    assert "design" not in Selection().to_json()


def test_controls_are_asked_beside_with_the_question_of_each_profile() -> None:
    # 90 profiles x 2 languages x (7 + 8 placebos + 6 x 4 wordings)
    ids = expected_prompt_ids(Selection(controls="with"))
    only = expected_prompt_ids(Selection(controls="only"))
    assert len(ids) == 39_150 + 7_020
    assert ids[39_150:] == only
    assert only[0] == "salary_estimation:en:birth_weekday:monday:P01:Q1"
    assert len(expected_prompt_ids(Selection(design="profiles-once", controls="only"))) == 3_510
    # The third profile has Q2 (2 div 2 = 1), in both languages; no control has another question.
    third = {(s.language, s.question) for s in map(_slot_of, only) if s[0] + s[3] == "salary_estimationP03"}
    assert third == {("en", "Q2"), ("hinglish", "Q2")}


def test_controls_of_a_part_are_those_of_its_use_cases_languages_and_profiles_whole() -> None:
    part = Selection.parse(
        use_cases=["counter_offer"], languages=["en"], axes=["gender"], profiles=["P01", "P02"]
    )
    ids = expected_prompt_ids(replace(part, controls="only"))
    # 7 weekdays, 8 blood groups, and the other wordings of male and female: of no axis that is not asked
    assert len(ids) == 2 * 19
    assert len(expected_prompt_ids(replace(part, axes=(), controls="only"))) == 2 * 39
    limited = replace(part, limit=1, controls="with")
    (profile,) = {slot.profile for slot in selected_slots(replace(limited, controls="none"))}
    beside = [slot for slot in selected_slots(limited) if slot.axis != "gender"]
    assert {slot.profile for slot in beside} == {profile}
    assert len(expected_prompt_ids(limited)) == 5 + 19
    assert limited.describe().endswith("--limit 1 --controls")
    assert Selection.from_json(limited.to_json()) == limited


def test_shards_share_the_controls_too() -> None:
    whole = Selection(limit=30, controls="with")
    parts = [expected_prompt_ids(replace(whole, shard=(part, 3))) for part in (1, 2, 3)]
    assert sorted(prompt_id for part in parts for prompt_id in part) == sorted(expected_prompt_ids(whole))
