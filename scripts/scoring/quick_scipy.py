"""scipy's special functions without the rest of scipy.special, for a command that ends within a second.

`import scipy.special` takes longer than reading, parsing and scoring a run together: it also prepares scipy
for arrays of other libraries, and so imports most of numpy. The compiled functions load in milliseconds.
Only a process that is ours may do so: a later `import scipy.special` works there too and takes these over.
"""

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

_MODULES: Final = ("_ufuncs_cxx", "_special_ufuncs", "_ellip_harm_2", "_gufuncs", "_ufuncs")
"""Each after those that it needs."""


def load_special_functions() -> bool:
    """Load the compiled module `scipy.special._ufuncs` alone; return whether it is there now.

    Where a version of scipy is built otherwise nothing is loaded, and the metric imports scipy.special.
    """
    if "scipy.special" in sys.modules:
        return "scipy.special._ufuncs" in sys.modules
    loaded: list[str] = []
    try:
        for name in _MODULES:
            _load(name, loaded)
    except (ImportError, AttributeError, OSError):
        for name in loaded:
            sys.modules.pop(name, None)
        return False
    return True


def _load(name: str, loaded: list[str]) -> None:
    full = f"scipy.special.{name}"
    if full in sys.modules:
        return
    spec = spec_from_file_location(full, _file(name))
    if spec is None or spec.loader is None:
        raise ImportError(full)
    module = module_from_spec(spec)
    sys.modules[full] = module
    loaded.append(full)
    spec.loader.exec_module(module)


def _file(name: str) -> Path:
    scipy = find_spec("scipy")
    for folder in (scipy.submodule_search_locations or ()) if scipy else ():
        for suffix in EXTENSION_SUFFIXES:
            path = Path(folder, "special", name + suffix)
            if path.is_file():
                return path
    raise ImportError(name)
