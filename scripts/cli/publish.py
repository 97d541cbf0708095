"""`rupeebias publish`: dataset and metric to the Hub."""

from functools import partial
from typing import Annotated

import typer


def publish(
    org: Annotated[str, typer.Option(help="User or organisation on the Hub that is to own both.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and show what would be sent; send nothing.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Create the repositories as private ones.")
    ] = False,
    eval_yaml: Annotated[
        bool,
        typer.Option(
            "--eval-yaml/--no-eval-yaml",
            help="Send eval.yaml, which asks the Hub for leaderboards; leave it out if the Hub refuses it.",
        ),
    ] = True,
    delete_others: Annotated[
        bool,
        typer.Option(
            "--delete-others",
            help="Also delete files that other people put into the repositories; they stay otherwise.",
        ),
    ] = False,
) -> None:
    """Publish the dataset (ORG/rupeebias) and the metric (the static Space ORG/rupeebias_metric) on the Hub.

    Example: rupeebias publish --org my-lab --dry-run, then without --dry-run. Both are built and loaded
    once before anything is sent; each gets one commit and the tag of its version, unchanged content none.
    A version that is there with other numbers, or a newer one, is never overwritten. The token comes from
    HF_TOKEN or `hf auth login`. The same command finishes what was interrupted. A dry run without a network
    lists what would be published and ends with status 1, since nothing could be compared.
    """
    from ..hub import publish as api

    prepare = partial(api.built_and_checked, eval_yaml=eval_yaml)
    api.publish(
        org,
        dry_run=dry_run,
        private=private,
        delete_others=delete_others,
        prepare=prepare,
        say=typer.echo,
    )
