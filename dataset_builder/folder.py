"""The dataset folder: builds it, and checks one that is there."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rupeebias.errors import DatasetFolderError
from rupeebias.files import replaced_folder
from rupeebias.metric.design import Design

from .card import (
    CONTROLS,
    EVAL_YAML,
    LOCAL,
    Addresses,
    DataFile,
    configurations,
    render_card,
    render_eval_yaml,
    stated_addresses,
)
from .columns import (
    BlockTable,
    Fingerprint,
    control_fingerprint,
    dataset_fingerprint,
    iter_control_tables,
    iter_tables,
)
from .components import load_components
from .croissant import CROISSANT, render_croissant
from .metric_design import design_of
from .records import Components

DESIGN: Final = "design.json"
"""Says what is crossed with what, and what an answer may look like."""
MANIFEST: Final = "fingerprint.json"
"""Names the dataset's fingerprint and files; its presence marks a folder as one of ours."""
_OF_DOWNLOADS: Final = (".gitattributes", ".git/", ".cache/huggingface/")
"""What the Hub and its clients put into a copy."""


@dataclass(frozen=True, slots=True)
class BuildSummary:
    """What a dataset folder holds."""

    rows: int
    """Prompts."""
    control_rows: int
    """Control prompts beside them."""
    configurations: int
    """What `load_dataset` can be asked for."""
    file_bytes: int
    """Size on disk of all files."""
    fingerprint: str
    """Hash of the content."""


def build_dataset(
    out: Path,
    components: Components | None = None,
    addresses: Addresses = LOCAL,
    *,
    eval_yaml: bool = True,
) -> BuildSummary:
    """Write the dataset into `out`, replacing an older one; its card names `addresses`.

    Without `eval_yaml` the folder has no such file and does not list it.

    Everything is written beside `out` first and swapped in at the end. Raises ComponentsError for
    faulty components, and DatasetFolderError where `out` cannot be written or holds other files.
    """
    components = components or load_components()
    with replaced_folder(out, _foreign_files) as folder:
        files, digest = _write_tables(folder, components)
        texts = _texts(components, files, digest, addresses, eval_yaml=eval_yaml)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        return _summary(folder, files, digest)


def check_dataset(
    out: Path, components: Components | None = None, addresses: Addresses | None = None
) -> BuildSummary:
    """Verify that `out` holds exactly the dataset that the components give.

    Every Parquet file is read back and compared value by value, the card, eval.yaml and croissant.json as
    text. `addresses` are by default those that the folder's own card names, so that a downloaded publication
    is checked as it is; without eval.yaml if its fingerprint.json lists none. Raises DatasetFolderError that
    names the first file, row and column in which they differ.
    """
    components = components or load_components()
    manifest = _read_manifest(out)
    files, digest = _check_tables(out, components)
    if manifest["fingerprint"] != digest:
        raise DatasetFolderError(
            f"{out / MANIFEST}: fingerprint is {manifest['fingerprint']}, expected {digest}; "
            "build the dataset again"
        )
    addresses = addresses or _stated_addresses(out)
    texts = _texts(components, files, digest, addresses, eval_yaml=EVAL_YAML in manifest["files"])
    for name, text in texts.items():
        _check_text(out / name, text)
    others = _other_files(out, [*texts, *(file.path for file in files)])
    if extra := [name for name in others if not name.startswith(_OF_DOWNLOADS)]:
        raise DatasetFolderError(f"{out} holds files that are not of the dataset: {extra[0]}")
    return _summary(out, files, digest)


def read_design(folder: Path) -> Design:
    """Return the design of a dataset folder. Raises DatasetFolderError if it has none."""
    path = folder / DESIGN
    try:
        return Design.from_dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise DatasetFolderError(f"{folder} is not a dataset folder: it has no {DESIGN}") from None
    except (OSError, ValueError) as error:  # no JSON, or not the design of a benchmark
        raise DatasetFolderError(f"{path} cannot be read: {error}") from None


def is_current(out: Path, components: Components | None = None) -> bool:
    """Return whether `out` was built from these components and still has all its files.

    Only the stored fingerprint is compared; `check_dataset` looks at the content.
    """
    try:
        manifest = _read_manifest(out)
    except DatasetFolderError:
        return False
    expected = [dataset_fingerprint(components), control_fingerprint(components)]
    return [manifest["fingerprint"], manifest.get("controls_fingerprint")] == expected and all(
        (out / name).is_file() for name in manifest["files"]
    )


def _write_tables(folder: Path, components: Components) -> tuple[list[DataFile], str]:
    """Write the Parquet files in a second thread while this one renders and hashes the next table."""
    fingerprint = Fingerprint()
    files: list[Future[DataFile]] = []
    with ThreadPoolExecutor(1) as pool:
        for path, table, is_control in _planned(components):
            files.append(pool.submit(_write_table, folder, path, table, is_control))
            if not is_control:
                fingerprint.add(table)
            files[max(0, len(files) - 2)].result()  # so that at most two tables are in memory
    return [file.result() for file in files], fingerprint.hexdigest()


def _planned(components: Components) -> Iterator[tuple[str, BlockTable, bool]]:
    """Yield the path of each file, its table and whether it holds controls."""
    for table in iter_tables(components):
        yield f"data/{table.use_case}/{components.splits[table.language]}.parquet", table, False
    for table in iter_control_tables(components):
        yield f"{CONTROLS}/{table.use_case}/{components.splits[table.language]}.parquet", table, True


def _write_table(folder: Path, path: str, table: BlockTable, is_control: bool) -> DataFile:
    from .parquet import write_table

    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    write_table(table, folder / path)
    return _data_file(folder, path, table, is_control)


def _check_tables(out: Path, components: Components) -> tuple[list[DataFile], str]:
    """Compare every Parquet file with its table."""
    from .parquet import check_file

    fingerprint = Fingerprint()
    files: list[DataFile] = []
    for path, table, is_control in _planned(components):
        check_file(out / path, table)
        files.append(_data_file(out, path, table, is_control))
        if not is_control:
            fingerprint.add(table)
    return files, fingerprint.hexdigest()


def _data_file(folder: Path, path: str, table: BlockTable, is_control: bool) -> DataFile:
    from .parquet import loaded_bytes

    content = (folder / path).read_bytes()
    return DataFile(
        use_case=table.use_case,
        language=table.language,
        split=PurePosixPath(path).stem,
        path=path,
        rows=table.rows,
        file_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        loaded_bytes=loaded_bytes(table),
        origins=table.columns["text_origin"].counts(),
        is_control=is_control,
    )


def _texts(
    components: Components,
    files: Sequence[DataFile],
    digest: str,
    addresses: Addresses,
    *,
    eval_yaml: bool,
) -> dict[str, str]:
    """Return the folder's text files, by name."""
    design = design_of(components, digest)
    card = render_card(components, files, digest, addresses)
    texts = {
        "README.md": card,
        **({EVAL_YAML: render_eval_yaml(components)} if eval_yaml else {}),
        CROISSANT: render_croissant(components, files, card, addresses),
        DESIGN: json.dumps(design.as_dict(), indent=1, ensure_ascii=False) + "\n",
    }
    names = [*texts, *(file.path for file in files)]
    content = {
        "benchmark_version": design.version,
        "fingerprint": digest,
        **({"controls_fingerprint": design.controls.fingerprint} if design.controls else {}),
        "files": sorted(names),
    }
    return {**texts, MANIFEST: json.dumps(content, indent=2) + "\n"}


def _read_manifest(out: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((out / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise DatasetFolderError(
            f"{out} is not a dataset folder: it has no {MANIFEST}; run `rupeebias build`"
        ) from None
    except (OSError, ValueError) as error:
        raise DatasetFolderError(f"{out / MANIFEST} cannot be read: {error}") from None
    if not isinstance(manifest, dict) or not {"fingerprint", "files"} <= manifest.keys():
        raise DatasetFolderError(f"{out / MANIFEST} lacks the keys `fingerprint` and `files`")
    if not isinstance(manifest["files"], list):
        raise DatasetFolderError(f"{out / MANIFEST}: `files` is not a list")
    return manifest


def _stated_addresses(out: Path) -> Addresses:
    try:
        return stated_addresses((out / "README.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetFolderError(f"{out / 'README.md'} cannot be read: {error}") from None


def _check_text(path: Path, expected: str) -> None:
    try:
        found = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetFolderError(f"{path} cannot be read: {error}") from None
    if found == expected:
        return
    lines = itertools.zip_longest(found.splitlines(), expected.splitlines())
    number = next((n for n, (one, other) in enumerate(lines, start=1) if one != other), 1)
    raise DatasetFolderError(
        f"{path} differs from what the components give at line {number}; build the dataset again"
    )


def _foreign_files(out: Path) -> list[str]:
    """Return what a folder holds beside a dataset of ours."""
    try:
        return _other_files(out, _read_manifest(out)["files"])
    except DatasetFolderError:
        return [path.name for path in out.iterdir()]


def _other_files(out: Path, known: Iterable[str]) -> list[str]:
    known = {MANIFEST, *known}
    files = (path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir())
    return sorted(name for name in files if name not in known)


def _summary(out: Path, files: Sequence[DataFile], digest: str) -> BuildSummary:
    return BuildSummary(
        rows=sum(file.rows for file in files if not file.is_control),
        control_rows=sum(file.rows for file in files if file.is_control),
        configurations=len(configurations(files)),
        file_bytes=sum(path.stat().st_size for path in out.rglob("*") if path.is_file()),
        fingerprint=digest,
    )
