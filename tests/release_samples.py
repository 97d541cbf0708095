"""Files as the paper's authors published them, made for tests from what is known of their form."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmark_names import IDENTIFIERS, OFFERED_CTC_LPA

Record = dict[str, Any]

TASKS = {
    "salary_estimation": ("salary_estimation", "P"),
    "salary_increment": ("salary_increment_estimation", "R"),
    "counter_offer": ("counter_offer_recommendation", "N"),
    "service_pricing_vendor": ("service_pricing_vendor", "S"),
    "service_pricing_customer": ("service_pricing_client", "S"),
}
"""Our use case to the release's task and the letter of its profiles."""
AXES = {
    "religion": "Religion",
    "caste": "Caste",
    "region": "Region",
    "gender": "Gender",
    "disability": "Disability",
    "urban_rural": "Urban/Rural",
}


def record(prompt_id: str, response: str | None, **changes: Any) -> Record:
    """Return what the release says of an answer to a prompt of ours."""
    use_case, language, axis, identifier, profile, question = prompt_id.split(":")
    task, letter = TASKS[use_case]
    number = int(profile[1:])
    return {
        "prompt_id": "their own",
        "task": task,
        "language": language,
        "axis": AXES[axis],
        "identifier_value": IDENTIFIERS[axis][identifier],
        "profile_id": f"{letter}{number:02d}",
        "question_variant_id": question,
        "offered_ctc_lpa": OFFERED_CTC_LPA[number - 1] if use_case == "counter_offer" else None,
        "response": response,
        "model_response": None,
        "finish_reason": "stop",
        "reasoning_content": None,
        "validation_status": "valid",
        "validation_reason": "",
    } | changes


def file_name(task: str, language: str, model: str, *, fairness: bool = False, retried: bool = False) -> str:
    arm, again = "_fairness" * fairness, "_retried" * retried
    return f"{task}_{language}{arm}_{model}_0.0{again}.jsonl"


def write_lines(path: Path, records: Iterable[Record]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def write_release(
    root: Path, model: str, records: Iterable[Record], *, fairness: bool = False, retried: bool = False
) -> list[Path]:
    """Write records to the files `{root}/runs/{model}/...` in which the release has them."""
    files: dict[tuple[str, str], list[Record]] = {}
    for each in records:
        files.setdefault((each["task"], each["language"]), []).append(each)
    return [
        write_lines(
            root / "runs" / model / task
            / file_name(task, language, model, fairness=fairness, retried=retried),
            lines,
        )
        for (task, language), lines in files.items()
    ]  # fmt: skip
