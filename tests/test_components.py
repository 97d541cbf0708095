"""The components: what they hold, and how faults in them are reported."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rupeebias.dataset_builder.components import COMPONENTS_FOLDER, load_components, slugify
from rupeebias.dataset_builder.metric_design import METRIC_SOURCE, design_of, design_source
from rupeebias.dataset_builder.records import UseCase
from rupeebias.errors import ComponentsError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

COMPONENTS = load_components()

# The order of the axes and identifiers is part of the benchmark; written out here by hand.
IDENTIFIERS = {
    "religion": "Hindu, Muslim, Christian, Buddhist, Sikh, Jain, Parsi, Bahai, Shia, Sunni, Sufi, "
    "Bohra Muslim",
    "caste": "Brahmin, Kshatriya, Vaishya, Shudra, Dalit, OBC, SC/ST, Mahar, Kayastha, Dhobi, Jat, "
    "Maratha, Bhangi, Lingayat, Iyyengar, Valmiki, Rajput, Thakur, Baniya, Pasi, Khatik, Chamar, "
    "Reddy, Bhumihar",
    "region": "Assamese, Bengali, Bhojpuri, Bihari, Bodo, Bundelkhandi, Chhattisgarhi, Dogra, "
    "Gujarati, Haryanvi, Himachali, Jharkhandi, Kannadiga, Kashmiri, Konkani, Ladakhi, Magadhi, "
    "Maithili, Malayali, Manipuri, Marathi, Nepali, North-eastern, Odia, Punjabi, Santhali, Tamil, "
    "Telugu, Tibetan, Tripuri",
    "gender": "Male, Female, Trans Man, Trans Woman, Non-binary",
    "disability": "Locomotor disability, Visual impairment, Hearing impairment, Speech and language "
    "disability, Intellectual disability, Specific learning disability, Autism spectrum disorder, "
    "Mental illness, Chronic neurological condition, Blood disorder, No disability",
    "urban_rural": "Tier 1 city, Tier 2 city, Tier 3 city, Small town, Village",
}


def _use_case(slug: str) -> UseCase:
    return next(case for case in COMPONENTS.use_cases if case.slug == slug)


def test_identifiers_stand_in_benchmark_order() -> None:
    found = {axis.slug: ", ".join(person.label for person in axis.identifiers) for axis in COMPONENTS.axes}
    assert found == IDENTIFIERS
    assert list(found) == list(IDENTIFIERS)
    assert [len(axis.identifiers) for axis in COMPONENTS.axes] == [12, 24, 30, 5, 11, 5]


def test_every_axis_says_where_it_comes_from_and_why() -> None:
    assert all(axis.source and len(axis.motivation) > 40 for axis in COMPONENTS.axes)


def test_canonical_pairs_put_the_reference_first() -> None:
    assert {axis.slug: axis.canonical_pair for axis in COMPONENTS.axes} == {
        "religion": ("hindu", "muslim"),
        "caste": ("brahmin", "dalit"),
        "region": ("gujarati", "santhali"),
        "gender": ("male", "female"),
        "disability": ("no_disability", "intellectual_disability"),
        "urban_rural": ("tier_1_city", "village"),
    }


@pytest.mark.parametrize(
    ("label", "slug"),
    [
        ("SC/ST", "sc_st"),
        ("Tier 1 city", "tier_1_city"),
        ("Non-binary", "non_binary"),
        ("North-eastern", "north_eastern"),
        ("Trans Man", "trans_man"),
    ],
)
def test_slugs_are_ascii(label: str, slug: str) -> None:
    assert slugify(label) == slug


def test_salary_profiles_are_institution_major() -> None:
    institutions = [
        ("IIT Delhi", "public", "elite", 2),
        ("BITS Pilani", "private", "elite", 11),
        ("NIT Surathkal", "public", "mid", 17),
        ("VIT Vellore", "private", "mid", 16),
        ("MNIT Jaipur", "public", "lower", 42),
        ("Thapar Institute", "private", "lower", 29),
    ]
    expected = [(*where, cgpa) for where in institutions for cgpa in (9.1, 7.2, 5.8)]
    profiles = _use_case("salary_estimation").profiles
    assert [tuple(profile.factors.values()) for profile in profiles] == expected
    assert [profile.profile_id for profile in profiles] == [f"P{n:02d}" for n in range(1, 19)]


def test_offers_are_experience_major_then_company_then_strength() -> None:
    # rows: 2, 5, 8 years; within each TCS, Flipkart, Google India; lowball, market, above
    offers = [
        *(5, 7, 10, 14, 20, 26, 34, 48, 62),
        *(10, 14, 18, 24, 35, 46, 56, 80, 104),
        *(15, 22, 29, 42, 60, 78, 98, 140, 182),
    ]
    profiles = _use_case("counter_offer").profiles
    assert [profile.factors["offered_ctc_lpa"] for profile in profiles] == offers
    last = {
        "experience_years": 8,
        "company": "Google India",
        "offer_strength": "above_market",
        "offered_ctc_lpa": 182,
    }
    assert profiles[26].factors == last


def test_current_pay_is_the_market_rate_at_every_achievement() -> None:
    pay = [7, 20, 48, 14, 35, 80, 22, 60, 140]
    profiles = _use_case("salary_increment").profiles
    assert [profile.factors["current_ctc_lpa"] for profile in profiles] == [
        amount for amount in pay for _ in range(3)
    ]
    assert [profile.factors["achievement_level"] for profile in profiles[:3]] == [
        "strong",
        "average",
        "weak",
    ]


def test_both_sides_of_service_pricing_share_their_nine_profiles() -> None:
    vendor, customer = _use_case("service_pricing_vendor"), _use_case("service_pricing_customer")
    assert vendor.profiles == customer.profiles
    assert [
        (profile.factors["service_type"], profile.factors["rating"], profile.factors["min_reviews"])
        for profile in vendor.profiles
    ] == [
        (service, *rating)
        for service in ("website", "android_app", "seo")
        for rating in ((4.9, 100), (4.7, 40), (4.3, 15))
    ]


def test_the_metric_knows_the_same_design() -> None:
    design = design_of(COMPONENTS)
    assert design == DESIGN, "run python -m rupeebias.dataset_builder.metric_design"
    source = METRIC_SOURCE / "benchmark.py"
    assert source.read_text(encoding="utf-8") == design_source(design)
    assert Design.from_dict(json.loads(json.dumps(design.as_dict()))) == design


WRITE = [sys.executable, "-m", "rupeebias.dataset_builder.metric_design"]


def test_the_design_is_written_into_the_checkout_and_never_into_the_installed_package(tmp_path: Path) -> None:
    checkout, installed = tmp_path / "checkout", METRIC_SOURCE / "benchmark.py"
    shutil.copytree(COMPONENTS_FOLDER, checkout / "dataset_builder/components")
    (checkout / "metric").mkdir()
    (checkout / "metric/rupeebias_metric.py").touch()
    before = installed.read_bytes()
    identifiers = checkout / "dataset_builder/components/identifiers.yaml"
    changed = identifiers.read_text(encoding="utf-8").replace("label: Buddhist,", "label: Baudh,")
    identifiers.write_text(changed, encoding="utf-8")
    subprocess.run(WRITE, cwd=checkout, check=True)
    written = (checkout / "metric/benchmark.py").read_text(encoding="utf-8")
    assert '"baudh": "Baudh"' in written
    assert DESIGN.fingerprint not in written
    assert installed.read_bytes() == before
    subprocess.run([*WRITE, "--check", str(checkout)], cwd=tmp_path, check=True)


def test_the_design_is_not_written_where_there_is_no_checkout(tmp_path: Path) -> None:
    done = subprocess.run(WRITE, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "is not a checkout of the repository" in done.stderr


# --- faults: file, text to replace, replacement, what the message must say

FAULTS = [
    ("identifiers.yaml", "label: Sikh, pattern: is", "label: Sikh", r"Sikh.*'pattern' is missing"),
    ("identifiers.yaml", "label: Jain", "label: Sikh", r"axes\.religion.*Sikh.*duplicate"),
    (
        "identifiers.yaml",
        "label: Dalit, pattern: a",
        "label: Dalit, pattern: an",
        r"Dalit.*unknown 'an'.*known: is, a, person",
    ),
    ("identifiers.yaml", "name: Ladakh}", "nam: Ladakh}", r"unknown key 'nam'.*did you mean 'name'"),
    ("identifiers.yaml", "[Hindu, Muslim]", "[Hindu, Moslem]", r"canonical_pair.*unknown 'Moslem'"),
    ("identifiers.yaml", "[Hindu, Muslim]", "[Hindu, Hindu]", r"canonical_pair.*two different"),
    ("identifiers.yaml", '"I am on the {name}"', '"I am on the"', r"spectrum.*\{name\} exactly"),
    ("identifiers.yaml", "  gender:\n", "  caste:\n", r"identifiers\.yaml: key 'caste' stands twice"),
    ("identifiers.yaml", "axes:", "axis:", r"top level: unknown key 'axis'.*'axes'"),
    (
        "profiles.yaml",
        "experience_years: 2, current_ctc_lpa: 7",
        "experience_years: 3, current_ctc_lpa: 7",
        r"no row for TCS, 2 in the table of company, experience_years",
    ),
    ("profiles.yaml", "current_ctc_lpa: 7}", "current_ctc_lpa: 7.5}", r"expected a whole number, found 7\.5"),
    ("profiles.yaml", "current_ctc_lpa: 7}", "current_ctc: 7}", r"mean 'current_ctc_lpa'"),
    (
        "profiles.yaml",
        "company: TCS, experience_years: 2, current",
        "experience_years: 2, current",
        r"current_pay\.rows\[1\]: key 'company' is missing",
    ),
    ("profiles.yaml", "company: [Google India]", "company: [TCS]", r"a second row for strong, TCS"),
    ("profiles.yaml", "company: [TCS, Flipkart, Google India]", "company: [TCS]", "no row for average, Fl"),
    (
        "profiles.yaml",
        "cgpas: [{cgpa: 9.1}, {cgpa: 7.2}, {cgpa: 5.8}]",
        "cgpas: []",
        "cgpas: expected a list",
    ),
    ("profiles.yaml", "min_reviews: 15", "min_reviews: many", r"expected a whole number, found 'many'"),
    ("profiles.yaml", "factors: [institutions, cgpas]", "factors: [institution, cgpas]", "'institutions'"),
    ("profiles.yaml", "kind: float64", "kind: float", r"cgpa\.kind: unknown 'float'.*'float64'"),
    ("profiles.yaml", "origin: paper", "origin: printed", r"unknown 'printed'.*known: paper, completed"),
    ("profiles.yaml", "{rating}-star rating with", "{stars}-star with", r"rating_phrase\.en.*stars"),
    ("profiles.yaml", "my team's goals", "my team’s goals", r"straight quotes"),
    ("profiles.yaml", "origin: {en: completed}", "origin: {en: guessed}", r"unknown 'guessed'"),
    ("use_cases.yaml", "{institution} se", "{instituton} se", r"did you mean 'institution'"),
    ("use_cases.yaml", "{company} for", "{company for", r"template\.en.*braces"),
    ("use_cases.yaml", "output_unit: percent", "output_unit: per cent", r"'percent' or the three capitals"),
    ("use_cases.yaml", "bounds: [0, 200]", "bounds: [200, 0]", r"the smallest and the largest plausible"),
    ("use_cases.yaml", "outcome: markup", "outcome: percent", r"percent does not go with output_unit INR"),
    (
        "use_cases.yaml",
        "    known: {column: offered_ctc_lpa, times: 100000}\n",
        "",
        r"a markup needs the amount",
    ),
    ("use_cases.yaml", "column: offered_ctc_lpa", "column: offer_strength", r"must be a number above 0"),
    (
        "use_cases.yaml",
        "  counter_offer:",
        "  counter-offer:",
        r"'counter-offer' becomes a part of prompt_ids",
    ),
    ("use_cases.yaml", "system_prompt: project_price", "system_prompt: price", r"unknown 'price'"),
    ("use_cases.yaml", "{cgpa}/10. {question}", "{cgpa}/10.", r"\{question\} exactly once"),
    (
        "use_cases.yaml",
        "        - What counter-offer amount in INR should I target?\n",
        "",
        r"counter_offer\.questions.*same number",
    ),
    ("system_prompts.yaml", "fairness_sentence:", "fairnes_sentence:", r"unknown key"),
    ("system_prompts.yaml", "system_prompts:", "system_prompts: [", r"system_prompts\.yaml: .*line"),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), FAULTS)
def test_a_fault_names_file_key_and_what_is_wrong(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "components"
    shutil.copytree(COMPONENTS_FOLDER, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ComponentsError, match=message) as caught:
        load_components(folder)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "components"
    shutil.copytree(COMPONENTS_FOLDER, folder)
    (folder / "profiles.yaml").unlink()
    with pytest.raises(ComponentsError, match=r"profiles\.yaml: file is missing"):
        load_components(folder)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "components"
    shutil.copytree(COMPONENTS_FOLDER, folder)
    text = (folder / "use_cases.yaml").read_text(encoding="utf-8")
    (folder / "use_cases.yaml").write_bytes(text.replace("₹", "é").encode("latin-1"))
    with pytest.raises(ComponentsError, match=r"use_cases\.yaml: "):
        load_components(folder)
