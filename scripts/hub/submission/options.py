"""What `rupeebias submit` is told beside the run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ...errors import UsageError
from ..client import RESULTS, repository
from .texts import fault_in_repo

_LONGEST_URL: Final = 500


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """The options of the command."""

    org: str | None = None
    """Owner of the benchmark's repositories on the Hub."""
    repo: str | None = None
    """Repository of the model, `owner/name`."""
    out: Path | None = None
    """Where the submission is kept; None: nowhere."""
    source_url: str | None = None
    """Address of the source of the results; None: that of the submission in the results dataset."""
    create_pr: bool = False
    """Send; otherwise only show."""


def check_options(options: SubmitOptions) -> None:
    """Raise UsageError for a bad name or address, or a missing --org."""
    if options.org is not None:
        repository(options.org, RESULTS)
    elif options.create_pr:
        raise UsageError("--create-pr needs --org: the owner of the results dataset on the Hub")
    if options.repo is not None and (fault := fault_in_repo(options.repo)):
        raise UsageError(f"--repo {options.repo[:100]!r} {fault}")
    url = options.source_url
    if url is not None and not _is_address(url):
        raise UsageError(f"--source-url {url[:100]!r} is not an address that begins with https:// or http://")


def _is_address(url: str) -> bool:
    try:
        split = urlsplit(url)
    except ValueError:
        return False
    is_plain = url.isprintable() and not set(url) & set(" <>\"'") and len(url) <= _LONGEST_URL
    return is_plain and split.scheme in ("http", "https") and bool(split.hostname) and "@" not in split.netloc
