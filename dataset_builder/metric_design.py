"""The metric of a benchmark as a folder: the package's metric with the benchmark's design in it.

The metric is published on its own and cannot read components, so it carries its design as the generated
module `benchmark.py`. In a checkout, `python -m rupeebias.dataset_builder.metric_design` writes that of
RupeeBias after a change of the components; `--check` verifies it.
"""

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import Final

from rupeebias.errors import DatasetFolderError
from rupeebias.files import replaced_folder
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis, Controls, Design, Language, UseCase

from .columns import control_fingerprint, dataset_fingerprint
from .components import load_components
from .records import Axis as AxisTexts
from .records import Components

METRIC_SOURCE: Final = Path(__file__).resolve().parent.with_name("metric")
"""Beside this package, both in the repository and installed."""
BENCHMARK: Final = "benchmark.py"

_ENTRY: Final = "rupeebias_metric.py"
_COPIED: Final = (".py", ".md", ".txt")
_OWNER: Final = re.compile(rb'(?<=evaluate\.load\(")[A-Za-z0-9][A-Za-z0-9._-]{0,95}/(rupeebias_metric"\))')
_HEADER: Final = '''"""The benchmark that this metric belongs to.

Generated from its components by `python -m rupeebias.dataset_builder.metric_design`; do not edit.
"""

from typing import Final

from .design import Axis, Controls, Design, Language, UseCase

DESIGN: Final = '''

_Literal = str | int | float | None | tuple["_Literal", ...] | dict[str, str]


def design_of(components: Components, fingerprint: str | None = None) -> Design:
    """Return the design that the components give; `fingerprint` is that of their dataset, if it is known."""
    return Design(
        name=components.name,
        label=components.label,
        version=components.version,
        fingerprint=fingerprint or dataset_fingerprint(components),
        languages=tuple(Language(each.slug, each.label, each.split) for each in components.languages),
        axes=tuple(map(_axis, components.axes)),
        controls=_controls(components),
        use_cases=tuple(
            UseCase(
                name=case.slug,
                label=case.label,
                unit=case.output_unit,
                outcome=case.outcome,
                bounds=case.bounds,
                n_profiles=len(case.profiles),
                n_questions=case.n_questions,
                period=case.period,
                known=case.known,
            )
            for case in components.use_cases
        ),
    )


def _axis(axis: AxisTexts) -> Axis:
    labels = {person.slug: person.label for person in axis.identifiers}
    return Axis(axis.slug, axis.label, labels, axis.canonical_pair)


def _controls(components: Components) -> Controls | None:
    fingerprint = control_fingerprint(components)
    return Controls(fingerprint, tuple(map(_axis, components.controls))) if fingerprint else None


def design_source(design: Design) -> str:
    """Return the text of benchmark.py, laid out as `ruff format` lays it out."""
    fields: dict[str, _Literal] = {
        name: getattr(design, name) for name in ("name", "label", "version", "fingerprint")
    }
    languages = [_call("Language", each.name, each.label, each.split) for each in design.languages]
    axes = [_exploded("Axis", _axis_arguments(axis)) for axis in design.axes]
    use_cases = [_exploded("UseCase", _use_case_arguments(use_case)) for use_case in design.use_cases]
    parts = [f"{name}={_source(value)}" for name, value in fields.items()]
    for name, calls in (("languages", languages), ("axes", axes), ("use_cases", use_cases)):
        parts.append(f"{name}={_exploded('', calls)}")
    if design.controls:
        controls = [_exploded("Axis", _axis_arguments(axis)) for axis in design.controls.axes]
        arguments = [_source(design.controls.fingerprint), _exploded("", controls)]
        parts.append(f"controls={_exploded('Controls', arguments)}")
    return f"{_HEADER}{_exploded('Design', parts)}\n"


def _axis_arguments(axis: Axis) -> list[str]:
    pair = [_call("", *axis.canonical_pair)] if axis.canonical_pair else []
    return [_source(axis.name), _source(axis.label), _source(dict(axis.identifiers)), *pair]


def _use_case_arguments(use_case: UseCase) -> list[str]:
    given: dict[str, _Literal] = {
        "unit": use_case.unit,
        "outcome": use_case.outcome,
        "bounds": use_case.bounds,
        "n_profiles": use_case.n_profiles,
        "n_questions": use_case.n_questions,
        **({"period": use_case.period} if use_case.period else {}),
        **({"known": use_case.known} if use_case.known else {}),
    }
    named = [f"{name}={_source(value)}" for name, value in given.items()]
    return [_source(use_case.name), _source(use_case.label), *named]


def _source(value: _Literal) -> str:
    """Return a literal: a pair on one line, longer ones an entry a line."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, tuple):
        entries = [_source(entry) for entry in value]
        return f"({', '.join(entries)})" if len(entries) == 2 else _exploded("", entries)
    if isinstance(value, dict):
        entries = [f"{_source(key)}: {_source(entry)}" for key, entry in value.items()]
        return _exploded("", entries, "{}")
    return json.dumps(value, ensure_ascii=False)


def _call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(map(_source, arguments))})"


def _exploded(name: str, entries: list[str], brackets: str = "()") -> str:
    lines = "".join(f"{entry},\n" for entry in entries)
    indented = re.sub(r"^", "    ", lines.rstrip("\n"), flags=re.MULTILINE)
    return f"{name}{brackets[0]}\n{indented}\n{brackets[1]}"


def build_metric(out: Path, design: Design = DESIGN) -> None:
    """Write the loadable metric of a benchmark into `out`, replacing an older one.

    Raises DatasetFolderError where `out` cannot be written or holds other files.
    """
    with replaced_folder(out, _foreign_files) as folder:
        for source in _sources():
            shutil.copyfile(source, folder / source.name)
        (folder / BENCHMARK).write_text(design_source(design), encoding="utf-8", newline="\n")


def check_metric(out: Path, design: Design = DESIGN) -> None:
    """Verify that `out` is the metric of a benchmark as installed; DatasetFolderError names what differs.

    The card of a published copy names its owner in `evaluate.load`: that is no difference.
    """
    for source in _sources():
        copy, is_design = out / source.name, source.name == BENCHMARK
        expected = design_source(design).encode() if is_design else source.read_bytes()
        if not copy.is_file() or _as_local(copy) != expected:
            raise DatasetFolderError(
                f"{copy} is missing or is not the installed version; run `rupeebias build`"
            )


def _as_local(copy: Path) -> bytes:
    content = copy.read_bytes()
    return _OWNER.sub(rb"\1", content) if copy.suffix == ".md" else content


def _sources() -> list[Path]:
    return sorted(
        path for path in METRIC_SOURCE.iterdir() if path.suffix in _COPIED and path.name != "__init__.py"
    )


def _foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a copy of the metric (of any version) and its caches."""
    names = [path.name for path in out.iterdir() if path.name != "__pycache__"]
    if _ENTRY not in names:
        return names
    return [name for name in names if Path(name).suffix not in _COPIED]


def main() -> None:
    """Write metric/benchmark.py of a checkout; with `--check` exit with status 1 if it is outdated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "checkout", nargs="?", type=Path, default=Path(), help="the repository [default: here]"
    )
    parser.add_argument("--check", action="store_true", help="verify instead of writing")
    given = parser.parse_args()
    # An installed package would otherwise read and write its own copies in site-packages.
    target, components = given.checkout / "metric" / BENCHMARK, given.checkout / "dataset_builder/components"
    if not target.parent.joinpath(_ENTRY).is_file() or not components.is_dir():
        raise SystemExit(
            f"{given.checkout.resolve()} is not a checkout of the repository: name one, or go there"
        )
    source = design_source(design_of(load_components(components)))
    if not given.check:
        target.write_text(source, encoding="utf-8", newline="\n")
    elif not target.is_file() or target.read_text(encoding="utf-8") != source:
        raise SystemExit(f"{target} is not what the components give; run without --check")


if __name__ == "__main__":
    main()
