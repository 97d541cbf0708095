"""A file is written whole or not at all."""

import stat
from pathlib import Path

import pytest

from rupeebias.files import write_file


def test_a_file_is_replaced_in_one_step_and_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_file(path, "नया ₹", durable=True)
    assert path.read_text(encoding="utf-8") == "नया ₹"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]  # nothing is left beside it


def test_a_new_file_can_be_read_by_whoever_may_read_new_files(tmp_path: Path) -> None:
    write_file(tmp_path / "made", b"1")
    (tmp_path / "usual").write_bytes(b"1")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    (place / "kept").write_text("kept")
    with pytest.raises(OSError, match="directory"):
        write_file(place, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "absent" / "file", "x")
