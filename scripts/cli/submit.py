"""`rupeebias submit`: a run to the results dataset and to the page of its model."""

from pathlib import Path
from typing import Annotated

import typer


def submit(
    run: Annotated[Path, typer.Argument(help="Directory of a finished run.")],
    org: Annotated[str | None, typer.Option(help="Owner of the benchmark's repositories on the Hub.")] = None,
    repo: Annotated[
        str | None, typer.Option(help="The model's repository, owner/name, for results on its page.")
    ] = None,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Send, as pull requests; without it nothing is sent.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Keep the submission in this folder.")] = None,
    source_url: Annotated[
        str | None, typer.Option(help="Source that the results name, instead of the submission itself.")
    ] = None,
) -> None:
    """Show what a run would send to the Hub, or send it: its submission and the results for its model's page.

    Example: rupeebias submit runs/my-model --org my-lab --repo someone/my-model

    The submission (answers, settings, scores) goes to the dataset ORG/rupeebias-results, where anybody can
    recompute it. With --repo, complete runs of the standard arm add .eval_results/rupeebias.yaml to the
    model. Both are pull requests, and what is there already is not sent again. A run of a simulated
    respondent can be kept with --out, not sent. The token comes from HF_TOKEN or `hf auth login`.
    """
    from ..hub.submission.options import SubmitOptions
    from ..hub.submission.sending import submit as submit_run

    submit_run(run, SubmitOptions(org, repo, out, source_url, create_pr), typer.echo)
