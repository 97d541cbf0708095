"""Writes metric/constants.py, the design of the benchmark as the published metric knows it.

The metric is published on its own and cannot read the components, so the design stands there once
more, generated: `python -m rupeebias.dataset_builder.metric_design`, or with `--check` to verify.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .components import load_components
from .fingerprint import dataset_fingerprint
from .records import LANGUAGES, Components

DESIGN_FILE: Final = Path(__file__).resolve().parent.with_name("metric") / "constants.py"

_HEADER: Final = '''"""The design of the benchmark: names and counts, in benchmark order.

Generated from the components of the dataset by `python -m rupeebias.dataset_builder.metric_design`;
do not edit. A prompt_id is `{use_case}:{language}:{axis}:{identifier}:{profile}:{question}`.
"""

from typing import Final
'''

_Literal = str | int | tuple["_Literal", ...] | Mapping[str, "_Literal"]


def design_source(components: Components) -> str:
    """Return the text of metric/constants.py, laid out as `ruff format` lays it out."""
    constants = "".join(
        f"\n{name}: Final[{kind}] = {_source(value)}\n{_docstring(text)}"
        for name, kind, value, text in _constants(components)
    )
    return _HEADER + constants


def _constants(components: Components) -> tuple[tuple[str, str, _Literal, str], ...]:
    """Return name, type, value and docstring of each constant."""
    cases = components.use_cases
    return (
        ("BENCHMARK_VERSION", "str", components.version, "Changes with any prompt."),
        (
            "DATASET_FINGERPRINT",
            "str",
            dataset_fingerprint(components),
            "Hash of the content of the dataset.",
        ),
        ("USE_CASES", "tuple[str, ...]", tuple(case.slug for case in cases), ""),
        ("LANGUAGES", "tuple[str, ...]", LANGUAGES, ""),
        (
            "IDENTIFIERS",
            "dict[str, dict[str, str]]",
            {
                axis.slug: {person.slug: person.label for person in axis.identifiers}
                for axis in components.axes
            },
            "Axis to identifier to label.",
        ),
        (
            "PROFILES",
            "dict[str, int]",
            {case.slug: len(case.profiles) for case in cases},
            "Number of base profiles by use case; their ids are P01, P02, ...",
        ),
        (
            "QUESTIONS",
            "dict[str, int]",
            {case.slug: len(case.questions["en"]) for case in cases},
            "Number of question variants by use case; their ids are Q1, Q2, ...",
        ),
        (
            "OUTPUT_UNIT",
            "dict[str, str]",
            {case.slug: case.output_unit for case in cases},
            "Unit of the answers by use case: INR or percent.",
        ),
        (
            "OFFERED_CTC_LPA",
            "tuple[int, ...]",
            _offers(components),
            "The offer of each counter-offer profile, P01 first, in lakh rupees a year.",
        ),
        (
            "CANONICAL_PAIRS",
            "dict[str, tuple[str, str]]",
            {axis.slug: axis.canonical_pair for axis in components.axes},
            "Reference and comparison identifier of each axis.",
        ),
    )


def _offers(components: Components) -> tuple[int, ...]:
    return tuple(
        int(profile.factors["offered_ctc_lpa"])
        for case in components.use_cases
        for profile in case.profiles
        if "offered_ctc_lpa" in profile.factors
    )


def _source(value: _Literal, indent: str = "") -> str:
    """Return a literal, one entry a line."""
    inner = indent + "    "
    if isinstance(value, tuple):
        lines = [_source(entry, inner) for entry in value]
        opening, closing = "()"
    elif isinstance(value, Mapping):
        lines = [f"{json.dumps(key)}: {_source(entry, inner)}" for key, entry in value.items()]
        opening, closing = "{}"
    else:
        return json.dumps(value, ensure_ascii=False)
    return "\n".join([opening, *(f"{inner}{line}," for line in lines), indent + closing])


def _docstring(text: str) -> str:
    return f'"""{text}"""\n' if text else ""


def main() -> None:
    """Write metric/constants.py; with `--check` exit with status 1 and a line if it is outdated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="verify instead of writing")
    check = parser.parse_args().check
    source = design_source(load_components())
    if not check:
        DESIGN_FILE.write_text(source, encoding="utf-8", newline="\n")
    elif not DESIGN_FILE.is_file() or DESIGN_FILE.read_text(encoding="utf-8") != source:
        raise SystemExit(f"{DESIGN_FILE} is not what the components give; run without --check")


if __name__ == "__main__":
    main()
