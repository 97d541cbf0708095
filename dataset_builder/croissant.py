"""croissant.json describes the dataset to machines: Croissant 1.0 with the responsible AI vocabulary.

Its prose is that of the dataset card, section by section, so that the two cannot disagree. In a folder its
files are named beside it. A published copy has addresses that hold wherever it was read from: each Parquet
file, at the tag of its version, and the repository for the record set of all of them, since Croissant's
library joins many files into one record set only from a folder or a repository.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rupeebias.errors import DatasetFolderError

from .card import CONTROLS, LOCAL, Addresses, DataFile
from .columns import columns_of
from .records import ColumnSpec, Components, Kind

CROISSANT: Final = "croissant.json"

SECTIONS: Final = {
    "rai:dataCollection": "Where the words come from",
    "rai:dataUseCases": "Uses",
    "rai:dataLimitations": "Known limits",
    "rai:dataBiases": "Known biases",
    "rai:dataSocialImpact": "Social impact",
    "rai:personalSensitiveInformation": "Personal and sensitive information",
}
"""Field of the responsible AI vocabulary to heading of the card."""

_DATA_TYPE: Final[dict[Kind, str]] = {
    "text": "sc:Text",
    "category": "sc:Text",
    "int32": "cr:Int32",
    "float64": "cr:Float64",
}
_LICENCE: Final = "https://creativecommons.org/licenses/by/4.0/"
_PARQUET: Final = "application/x-parquet"
RECORDS: Final = "prompts"
"""The record set of every prompt."""
_SETS: Final = {
    RECORDS: ("parquet-files", "data", "the benchmark"),
    CONTROLS: ("control-files", CONTROLS, "the controls"),
}
"""Record set to its file set, that one's folder, and what it holds."""
REPOSITORY: Final = "repo"
"""The published repository: map it to a folder to read `RECORDS` from a copy."""

# The context that the standard prescribes; these terms stand in it as they are.
_TERMS: Final = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet"),
    *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
    "transform",
)
_CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _TERMS},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def render_croissant(
    components: Components, files: Sequence[DataFile], card: str, addresses: Addresses = LOCAL
) -> str:
    """Return croissant.json of the dataset whose card is `card`.

    Addresses of files are relative to the folder or, if `addresses` has a page, under it at the version's
    tag. DatasetFolderError if the card lacks a section.
    """
    specs = columns_of(components)
    repository = _repository(addresses, components.version)
    sets = (RECORDS, CONTROLS) if any(file.is_control for file in files) else (RECORDS,)
    content = {
        "@context": dict(sorted(_CONTEXT.items())),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": components.label,
        "description": _plain(_found(r"^# .+?\n\n(.+?)\n\n", card, "description")),
        **({"url": addresses.url} if addresses.url else {}),
        "version": components.version,
        "datePublished": components.released,
        "inLanguage": [language.tag for language in components.languages],
        "isAccessibleForFree": True,
        "keywords": _found(r"^tags:\n((?:- [^\n]+\n)+)", card, "tags")[2:-1].split("\n- "),
        **_said_at_length(card),
        "distribution": [
            *repository,
            *(_file_object(file, addresses, components.version) for file in files),
            *(_file_set(name, addresses) for name in sets),
        ],
        "recordSet": [
            *(_record_set(name, specs) for name in sets),
            *(_file_records(file, specs) for file in files if repository),
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _said_at_length(card: str) -> dict[str, Any]:
    """Return licence, authors and the responsible AI fields; nothing for a plain card without sections."""
    if not any(f"\n## {heading}\n" in card for heading in SECTIONS.values()):
        return {}
    citation = _found(r"```bibtex\n(.+?)\n```", card, "BibTeX entry")
    return {
        "license": _LICENCE,
        "creator": [{"@type": "Person", "name": name} for name in _authors(citation)],
        "citeAs": citation,
        **{field: _plain(_section(card, heading)) for field, heading in SECTIONS.items()},
    }


def _section(card: str, heading: str) -> str:
    return _found(rf"^## {re.escape(heading)}\n\n(.+?)(?=\n## |\Z)", card, f"section {heading!r}")


def _found(pattern: str, card: str, what: str) -> str:
    found = re.search(pattern, card, flags=re.DOTALL | re.MULTILINE)
    if not found:
        raise DatasetFolderError(f"dataset_card.md has no {what}, which {CROISSANT} takes from it")
    return found[1]


def _plain(markdown: str) -> str:
    """Return Markdown as running text: no tables or code marks, a line for each paragraph or point."""
    text = re.sub(r"^\|.*\n?", "", markdown, flags=re.MULTILINE)
    blocks = re.split(r"\n\n+|\n(?=- )", text.strip())
    return "\n".join(" ".join(block.split()) for block in blocks).replace("`", "").replace("*", "")


def _authors(citation: str) -> list[str]:
    """Return the authors of a BibTeX entry, given names first."""
    names = re.sub(r"\s+", " ", _found(r"author\s*=\s*\{(.+?)\}", citation, "author")).split(" and ")
    return [" ".join(reversed(name.split(", "))) for name in names]


def _repository(addresses: Addresses, version: str) -> list[dict[str, Any]]:
    """Return the repository as a file object, in the form of the Hub's own descriptions; [] locally."""
    if not addresses.url:
        return []
    described = {
        "@type": "cr:FileObject",
        "@id": REPOSITORY,
        "name": REPOSITORY,
        "description": "The repository of this version, read with git and git-lfs.",
        "contentUrl": f"{addresses.url}/tree/refs%2Ftags%2Fv{version}",
        "encodingFormat": "git+https",
        "sha256": "https://github.com/mlcommons/croissant/issues/80",  # a repository has none: see there
    }
    return [described]


def _file_object(file: DataFile, addresses: Addresses, version: str) -> dict[str, Any]:
    above = f"{addresses.url}/resolve/v{version}/" if addresses.url else ""
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": f"The {file.rows:,} {_kind(file)} of {file.use_case}, {file.split}.",
        "contentUrl": f"{above}{file.path}",
        "contentSize": f"{file.file_bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": file.sha256,
    }


def _file_set(name: str, addresses: Addresses) -> dict[str, Any]:
    files, folder, what = _SETS[name]
    return {
        "@type": "cr:FileSet",
        "@id": files,
        "name": files,
        "description": f"Every Parquet file of {what}; all have the same columns.",
        "encodingFormat": _PARQUET,
        "includes": f"{folder}/*/*.parquet",
        **({"containedIn": {"@id": REPOSITORY}} if addresses.url else {}),
    }


def _record_set(name: str, specs: Sequence[ColumnSpec]) -> dict[str, Any]:
    files, _, what = _SETS[name]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"One record for each prompt of {what}.",
        "key": {"@id": f"{name}/prompt_id"},
        "field": [_field(spec, name, {"fileSet": {"@id": files}}) for spec in specs],
    }


def _kind(file: DataFile) -> str:
    return "control prompts" if file.is_control else "prompts"


def _file_records(file: DataFile, specs: Sequence[ColumnSpec]) -> dict[str, Any]:
    """Return the record set of one file, which is read by its address alone."""
    name = f"{CONTROLS}/{file.use_case}/{file.split}" if file.is_control else f"{file.use_case}/{file.split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The {_kind(file)} of {file.use_case}, {file.split}.",
        "key": {"@id": f"{name}/prompt_id"},
        "field": [_field(spec, name, {"fileObject": {"@id": file.path}}) for spec in specs],
    }


def _field(spec: ColumnSpec, records: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{spec.name}",
        "name": spec.name,
        **({"description": spec.description.replace("`", "")} if records in _SETS else {}),
        "dataType": _DATA_TYPE[spec.kind],
        "source": {**source, "extract": {"column": spec.name}},
    }
