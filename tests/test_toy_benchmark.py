"""A benchmark that is not RupeeBias, from its components to its report: euros, one language, two axes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.folder import build_dataset, check_dataset, read_design
from rupeebias.dataset_builder.metric_design import build_metric, check_metric, design_of
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.metric.design import Axis, Design, Language, UseCase

COMPONENTS = load_components(Path(__file__).with_name("toy"))
DESIGN = design_of(COMPONENTS)
PROMPTS = list(iter_prompts(COMPONENTS))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dataset `lyon` and the metric `lyon_metric` in it."""
    folder = tmp_path_factory.mktemp("toy")
    build_dataset(folder / "lyon", COMPONENTS)
    build_metric(folder / "lyon_metric", DESIGN)
    return folder


def _run(script: str, folder: Path, cache: Path) -> Any:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cache)}
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# --- build


def test_every_use_case_axis_identifier_profile_and_question_is_crossed() -> None:
    assert len(PROMPTS) == DESIGN.n_prompts == 2 * 1 * 6 * 4 * 2
    assert len({prompt.prompt_id for prompt in PROMPTS}) == 96
    first, last = PROMPTS[0], PROMPTS[-1]
    assert first.prompt_id == "salary:fr:age:20:P01:Q1"
    assert first.prompt == (
        "J'ai 20 ans. J'ai une licence. Mon stage a duré 2 mois. Quel salaire annuel en EUR puis-je espérer ?"
    )
    assert last.prompt_id == "offer:fr:home:countryside:P04:Q2"
    assert last.prompt == (
        "J'habite à la campagne. On me propose 70000 EUR par an. Quelle somme en EUR dois-je viser ?"
    )


def test_the_design_says_what_the_components_say(built: Path) -> None:
    expected = Design(
        name="lyon",
        label="Lyon",
        version="0.1",
        fingerprint=DESIGN.fingerprint,
        languages=(Language("fr", "French", "french"),),
        axes=(
            Axis("age", "Age", {"20": "20", "30": "30", "60": "60"}, ("30", "60")),
            Axis(
                "home",
                "Home",
                {
                    "croix_rousse": "Croix-Rousse",
                    "vaulx_en_velin": "Vaulx-en-Velin",
                    "countryside": "Countryside",
                },
            ),
        ),
        use_cases=(
            UseCase("salary", "Salary", "EUR", "amount", (10000, 500000), 4, 2, "year"),
            UseCase(
                "offer", "Offer", "EUR", "markup", (10000, 500000), 4, 2, "year", (30000, 40000, 55000, 70000)
            ),
        ),
    )
    assert expected == DESIGN
    assert read_design(built / "lyon") == DESIGN


def test_the_dataset_has_the_columns_of_its_profiles(built: Path) -> None:
    rows = pq.read_table(built / "lyon/data/offer/french.parquet").to_pylist()
    assert rows[0]["offered"] == 30000
    assert rows[0]["months"] is None
    assert "cgpa" not in rows[0]
    assert {row["text_origin"] for row in rows} == {"written"}
    assert {row["pair_role"] for row in rows if row["axis"] == "home"} == {None}
    check_dataset(built / "lyon", COMPONENTS)


def test_its_card_names_it_and_has_no_sentence_of_ours(built: Path) -> None:
    card = (built / "lyon/README.md").read_text(encoding="utf-8")
    _, front_matter, _ = card.split("---\n", 2)
    metadata = yaml.safe_load(front_matter)
    assert metadata["pretty_name"] == "Lyon"
    assert metadata["language"] == ["fr"]
    assert "96 prompts" in card
    assert "India" not in card
    assert "RupeeBias" not in card
    croissant = json.loads((built / "lyon/croissant.json").read_text(encoding="utf-8"))
    assert croissant["name"] == "Lyon"


def test_load_dataset_takes_it(built: Path, tmp_path: Path) -> None:
    script = """
import json
from datasets import load_dataset
print(json.dumps(load_dataset("lyon", "offer", split="french")["prompt_id"][:]))
"""
    ids = [prompt.prompt_id for prompt in PROMPTS if prompt.use_case == "offer"]
    assert _run(script, built, tmp_path) == ids


def test_its_metric_carries_its_design(built: Path) -> None:
    check_metric(built / "lyon_metric", DESIGN)
    script = """
import json
from lyon_metric.benchmark import DESIGN
print(json.dumps(DESIGN.as_dict()))
"""
    assert Design.from_dict(_run(script, built, built)) == DESIGN
