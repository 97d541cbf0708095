"""Runs alone, in the folder above `rupeebias` and `rupeebias_metric`: loads both as a user does.

Prints one line of JSON; ends with an error if anything cannot be loaded, described or computed.
"""

import json
import sys
from pathlib import Path

IDS = [f"salary_estimation:en:gender:{who}:P01:Q1" for who in ("male", "female")]
OUTPUTS = ["### 1100000 INR", "### 900000 INR"]
GAP = 20.0
"""|11 - 9| / 10 lakh, in percent."""


def main() -> None:
    """Load the dataset, the metric and the Croissant description."""
    print(json.dumps({"gap": _metric(), **_dataset(), "fields": _croissant()}))  # noqa: T201 (its purpose)


def _dataset() -> dict[str, int]:
    from datasets import get_dataset_config_names, load_dataset

    prompts = load_dataset("rupeebias", "evaluation", split="test")
    return {
        "rows": len(set(prompts["prompt_id"])),
        "configurations": len(get_dataset_config_names("rupeebias")),
    }


def _metric() -> float:
    import evaluate

    result = evaluate.load("rupeebias_metric").compute(predictions=OUTPUTS, references=IDS, ci=None)
    if result["mean_delta_pct"] != GAP:
        raise SystemExit(f"the metric computes {result['mean_delta_pct']} where {GAP} is right")
    return float(result["mean_delta_pct"])


def _croissant() -> int:
    try:
        import mlcroissant
    except ImportError:
        raise SystemExit("mlcroissant is missing: pip install 'rupeebias[publish]'") from None
    files = [path.relative_to("rupeebias").as_posix() for path in Path("rupeebias/data").rglob("*.parquet")]
    # the addresses hold once it is published: until then the folder stands for them
    mapping = {"repo": "rupeebias", **{name: f"rupeebias/{name}" for name in files}}
    described = mlcroissant.Dataset(Path("rupeebias/croissant.json"), mapping=mapping)
    issues = described.metadata.issues
    if found := [*issues.errors, *issues.warnings]:
        raise SystemExit(f"croissant.json: {found[0]}")
    one_file = Path(files[0]).parent.name, Path(files[0]).stem
    next(iter(described.records("/".join(one_file))))
    return len(next(iter(described.records("prompts"))))


if __name__ == "__main__":
    sys.modules["rupeebias"] = None  # type: ignore[assignment]  # the published metric must do without it
    main()
