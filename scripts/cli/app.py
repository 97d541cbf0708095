"""The command `rupeebias`: registers every command and turns errors into one line and an exit status."""

import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Final

import typer

from .. import __version__
from ..errors import RupeeBiasError
from . import audit, batch, build, generate, hub, import_release, models, parse, power, report, runs, score

app = typer.Typer(
    name="rupeebias",
    help="Audit whether a language model's economic advice in India depends on who asks.",
    epilog="First steps: rupeebias audit --model sim/biased",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

COMMANDS: tuple[Callable[..., Any], ...] = (
    audit.audit,
    build.build,
    generate.generate,
    score.score,
    score.compare,
    report.report,
    power.power,
    parse.parse,
    runs.runs,
    runs.join,
    import_release.import_release,
    hub.leaderboard,
    hub.publish,
    hub.submit,
    hub.validate_submission,
)
for _command in COMMANDS:
    # an answer such as "-5 lakh" is no option
    _settings = {"ignore_unknown_options": True} if _command is parse.parse else None
    app.command(context_settings=_settings)(_command)
app.add_typer(batch.app, name="batch")
app.add_typer(hub.results_app, name="results")
app.add_typer(models.local, name="local")
app.add_typer(models.simulate, name="simulate")


OPTIONAL_VALUES: Final = {
    "--controls": ("with", ("with", "only")),
    "--retry-errors": ("failed", ("failed", "empty")),
}
"""Options that may be given without a value: what that means, and the values that they take."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from rupeebias.metric.benchmark import DESIGN
        from rupeebias.metric.version import METRIC_VERSION

        typer.echo(f"rupeebias {__version__}, dataset {DESIGN.version}, metric {METRIC_VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the versions and exit."),
    ] = False,
) -> None:
    """Audit whether a language model's economic advice in India depends on who asks."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors print as one line (`--debug` anywhere shows the traceback)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    # The matrices of scores are small: threads would wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_run(list(_with_values([word for word in words if word != "--debug"])), debug=debug))


def _with_values(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, options that may be given without a value with the one that this means."""
    for word, after in itertools.zip_longest(words, words[1:], fillvalue=""):
        usual, others = OPTIONAL_VALUES.get(word, ("", ()))
        yield f"{word}={usual}" if usual and after not in others else word


def _run(words: list[str], *, debug: bool) -> int:
    _never_fail_on_output()
    try:
        app(words, prog_name="rupeebias", standalone_mode=True)
    except KeyboardInterrupt:
        return 130
    except (RupeeBiasError, ValueError, OSError) as error:
        if debug:
            raise
        return _report(error)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def _report(error: Exception) -> int:
    typer.echo(f"error: {_one_line(error)}", err=True)
    return error.exit_code if isinstance(error, RupeeBiasError) else 1


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    text = str(error) or type(error).__name__
    # names and messages come from files and servers that are not ours: no control character gets through
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def _never_fail_on_output() -> None:
    """Print what a console cannot show (a rupee sign in cp1252) as a replacement, never as a crash."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
