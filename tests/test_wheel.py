"""The wheel: one package, with everything it needs at run time."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_site_packages_gets_a_single_package(names: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in names} == {"rupeebias"}
    assert not any("__pycache__" in name for name in names)


def test_every_file_of_the_three_folders_is_in_the_package(names: set[str]) -> None:
    homes = {
        "scripts": "rupeebias",
        "dataset_builder": "rupeebias/dataset_builder",
        "metric": "rupeebias/metric",
    }
    for folder, home in homes.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{home}/{path.relative_to(ROOT / folder).as_posix()}" in names
    assert "rupeebias/dataset_builder/dataset_card.md" in names
    assert "rupeebias/py.typed" in names
