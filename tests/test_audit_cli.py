"""`rupeebias audit`: the options that it shares with `generate`."""

import ast
from pathlib import Path

import orjson
import pytest

import rupeebias.cli.app
from rupeebias.cli.app import main

SMALL = ("audit", "--model", "sim/biased", "--axis", "gender,urban_rural", "--limit", "12")


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return int(stop.value.code or 0)


def test_a_dry_run_builds_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(*SMALL, "--dry-run", "--max-tokens", "64", "--max-cost", "1", "--seed", "3") == 0
    assert "60 requests: 0 done, 60 to do" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_one_drawing_process")
def test_a_quiet_audit_prints_nothing_and_writes_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(*SMALL, "--run", "r", "--quiet") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")
    assert (tmp_path / "r" / "scores.json").exists()
    assert (tmp_path / "r" / "report").is_dir()
    manifest = orjson.loads((tmp_path / "r" / "manifest.json").read_bytes())
    assert manifest["arm"] == "standard"
    assert manifest["prompts"]["count"] == 60


@pytest.mark.parametrize("command_name", ["audit", "generate"])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_simulated_respondent_has_no_fairness_arm(
    command_name: str,
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(command_name, "--model", "sim/biased", "--arm", "fairness", *more) == 2
    shown = capsys.readouterr()
    assert shown.err == (
        "error: --arm fairness: sim/biased answers from a formula and reads no instruction, so it would "
        "answer as in the standard arm; ask a model that reads one (local/smollm2 needs no key)\n"
    )
    assert not list(tmp_path.iterdir())


def test_an_unknown_model_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("audit", "--model", "sim/baised") == 2
    assert "did you mean 'sim/biased'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_no_function_of_the_commands_is_longer_than_60_lines() -> None:
    folder = Path(rupeebias.cli.app.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                lines = node.end_lineno - node.lineno + 1
                first = node.body[0]
                if ast.get_docstring(node) is not None and first.end_lineno is not None:
                    lines -= first.end_lineno - first.lineno + 1
                assert lines <= 60, f"{path.name}: {node.name}"
