"""`rupeebias publish`: dataset and metric to the Hub."""

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
) -> None:
    """Publish the dataset (ORG/rupeebias) and the metric (the static Space ORG/rupeebias_metric) on the Hub.

    Example: rupeebias publish --org my-lab --dry-run, then without --dry-run. Both are built and loaded
    once before anything is sent; each gets one commit and the tag of its version, unchanged content none.
    The token comes from HF_TOKEN or `hf auth login`. The same command finishes what was interrupted.
    """
    from ..hub.publish.api import publish as publish_both

    publish_both(org, dry_run=dry_run, private=private, say=typer.echo)
