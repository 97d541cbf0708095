"""The command as a whole: help, exit statuses, one line for each error."""

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer import Option
from typer.testing import CliRunner

import rupeebias
import rupeebias.cli.app
from rupeebias.cli.app import main
from rupeebias.cli.command import Only, with_options
from rupeebias.errors import UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.options import Typed
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
    assert {*DESIGN.use_case_names, *DESIGN.language_names, *DESIGN.axis_names} <= set(words)


def test_help_of_parse_lists_the_use_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("parse", "--help") == 0
    assert set(DESIGN.use_case_names) <= set(
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


def flags(name: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The options that the help of a command names, in the order of the screen."""
    assert command(*name.split(), "--help") == 0
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", capsys.readouterr().out.partition("Options:")[2]))


def test_audit_takes_every_option_of_generate(capsys: pytest.CaptureFixture[str]) -> None:
    own = {"--dataset", "--json", "--report"}
    asked = flags("generate", capsys)
    assert {"--axis", "--shard", "--rpm", "--temperature", "--batch", "-M", "-j"} <= asked
    assert flags("audit", capsys) == asked | own


def test_batch_submit_offers_only_what_a_batch_heeds(capsys: pytest.CaptureFixture[str]) -> None:
    live = {
        "--batch",
        "--constrain",
        "--no-constrain",
        "--dry-run",
        "--quiet",
        "-q",
        "--max-connections",
        "-j",
    }
    live |= {
        "--max-connections",
        "--max-requests-per-minute",
        "--rpm",
        "--max-tokens-per-minute",
        "--tpm",
        "--max-retries",
    }
    live |= {"--timeout", "--attempt-timeout", "--workers", "--fail-on-error"}
    assert flags("batch submit", capsys) == flags("generate", capsys) - live


@dataclass(frozen=True)
class Inner:
    size: Annotated[int, Option(help="How large.")] = 3
    hidden: int = 7


@dataclass(frozen=True)
class Outer:
    inner: Inner = Inner()
    words: Annotated[tuple[str, ...], Option("-w"), Typed(list[str] | None, lambda x: tuple(x or ()))] = ()


def call(function: Callable[..., None], *words: str) -> None:
    app = typer.Typer()
    app.command()(function)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output


def test_a_command_gets_its_records_built_from_what_is_typed() -> None:
    got: list[tuple[Outer, str]] = []

    @with_options
    def command(outer: Outer, name: Annotated[str, Option()] = "n") -> None:
        got.append((outer, name))

    call(command)
    call(command, "--size", "5", "-w", "a", "-w", "b", "--name", "m")
    assert got == [(Outer(), "n"), (Outer(Inner(5, 7), ("a", "b")), "m")]


def test_a_command_offers_only_the_options_that_it_names() -> None:
    got: list[Outer] = []

    @with_options
    def command(outer: Annotated[Outer, Only("words")]) -> None:
        got.append(outer)

    call(command, "-w", "a")
    assert got == [Outer(words=("a",))]
    assert list(inspect.signature(command).parameters) == ["words"]


def test_an_option_that_does_not_exist_or_exists_twice_is_an_error_before_any_command_runs() -> None:
    def misspelt(outer: Annotated[Outer, Only("sizes")]) -> None: ...
    def twice(outer: Outer, inner: Inner) -> None: ...

    with pytest.raises(ValueError, match=r"has no options \['sizes'\]"):
        with_options(misspelt)
    with pytest.raises(ValueError, match="duplicate parameter name: 'size'"):
        with_options(twice)


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
