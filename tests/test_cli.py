"""The command as a whole: help, exit statuses, one line for each error."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rupeebias
import rupeebias.cli.app
from rupeebias.cli.app import main
from rupeebias.errors import UsageError
from rupeebias.metric import constants
from rupeebias.scoring import read


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


COMMANDS = (
    "audit", "build", "generate", "score", "parse", "runs", "import-release", "local fetch", "simulate list",
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*name.split(), "--help") == 0
    assert f"Example: rupeebias {name}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["generate", "audit", "batch submit"])
def test_help_lists_what_a_selection_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*name.split(), "--help") == 0
    words = capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
    assert {*constants.USE_CASES, *constants.LANGUAGES, *constants.IDENTIFIERS} <= set(words)


def test_help_of_parse_lists_the_use_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("parse", "--help") == 0
    assert set(constants.USE_CASES) <= set(
        capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
    )


def test_help_of_score_lists_the_columns_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("score", "--help") == 0
    words = capsys.readouterr().out.replace(",", " ").replace(".", " ").replace(";", " ").split()
    assert {*read.COLUMNS, *read.OPTIONAL_COLUMNS} <= set(words)


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom rupeebias.cli.app import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'pyarrow', 'pandas', 'datasets', 'litellm', 'yaml', 'jinja2', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_reading_a_selection_needs_no_command_line() -> None:
    script = "import sys, rupeebias.runs.selection\nprint('typer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr


def flags(module: str) -> set[str]:
    """The options that a module of the commands declares."""
    path = Path(rupeebias.cli.app.__file__).with_name(f"{module}.py")
    calls = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    ]
    words = [word.value for call in calls for word in call.args if isinstance(word, ast.Constant)]
    return {word for word in words if isinstance(word, str) and word.startswith("-")}


def test_what_commands_share_is_declared_once() -> None:
    shared = flags("options")
    assert {"--axis", "--arm", "--max-cost", "--shard"} <= shared
    assert shared & (flags("generate") | flags("audit")) == set()
    assert shared & flags("batch") == {"--model"}  # which may be left out there


USAGE_ERRORS = {
    "audit --model sim/biazed": "did you mean 'sim/biased'",
    "audit --model sim/fair --axis cast": "did you mean 'caste'",
    "audit --model sim/fair --identifier brahmn": "did you mean 'brahmin'",
    "audit --model sim/fair --limit 0": "--limit 0",
    "score nowhere.jsonl": "does not exist",
}


@pytest.mark.parametrize("words", USAGE_ERRORS)
def test_wrong_usage_is_one_line_and_status_2(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(*words.split()) == 2
    error = capsys.readouterr().err
    assert USAGE_ERRORS[words] in error
    assert error.startswith("error: ")
    assert len(error.splitlines()) <= 2


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        main(["score", str(tmp_path / "none.jsonl"), "--debug"])


def test_a_console_without_a_rupee_sign_does_not_stop_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rupeebias", "parse", "₹12,00,000", "--use-case", "salary_estimation"],
        capture_output=True,
        timeout=60,
        env={"PYTHONIOENCODING": "cp1252", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert b"1200000" in done.stdout.replace(b",", b"")


@pytest.mark.usefixtures("_one_drawing_process")
def test_an_audit_builds_generates_scores_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("audit", "--model", "sim/biased", "--axis", "gender,urban_rural", "--limit", "30")
    assert command(*words) == 0
    shown = capsys.readouterr().out
    assert "150 requests: 0 done, 150 to do" in shown
    assert "sim/biased" in shown
    assert "Gemini 3 Flash (published)" in shown
    assert (tmp_path / "rupeebias" / "README.md").exists()
    (scores,) = (tmp_path / "runs").glob("*/scores.json")
    result = json.loads(scores.read_text(encoding="utf-8"))
    assert (result["n_expected"], result["n_scored"]) == (150, 150)
    assert command(*words) == 0
    assert "150 done, 0 to do" in capsys.readouterr().out


def test_the_package_shows_what_it_declares() -> None:
    assert sorted(rupeebias.__all__) == [name for name in dir(rupeebias) if name in rupeebias.__all__]
    assert callable(rupeebias.score)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = rupeebias.scores


def test_the_version_names_package_dataset_and_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--version") == 0
    assert capsys.readouterr().out.startswith(
        f"rupeebias {rupeebias.__version__}, dataset 1.0.0, metric 1.0.0"
    )
