"""Publishes to the Hub's stand-in with the real client."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hub_server import HubServer, Request
from hub_store import Repo

from rupeebias.errors import RupeeBiasError
from rupeebias.hub.publication import Staged
from rupeebias.hub.publish import publish

ORG = "rupee-org"
DATASET = f"{ORG}/rupeebias"
METRIC = f"{ORG}/rupeebias_metric"
TOKEN = "hf_good"


class Publisher:
    """Publishes one staged pair of folders again and again."""

    def __init__(self, hub: HubServer, staged: Staged) -> None:
        self.hub, self.staged = hub, staged
        self.said: list[str] = []
        """What the last publication said, also if it failed."""

    @property
    def dataset(self) -> Repo:
        return self.hub.repo("dataset", DATASET)

    @property
    def metric(self) -> Repo:
        return self.hub.repo("space", METRIC)

    def run(self, *flags: str, token: str | None = TOKEN, staged: Staged | None = None) -> list[str]:
        """Publish with the real client; what it says never holds the token."""
        from huggingface_hub import HfApi

        said = self.said = []
        api = HfApi(endpoint=self.hub.url, token=token or False)
        try:
            publish(
                ORG,
                dry_run="dry_run" in flags,
                private="private" in flags,
                delete_others="delete_others" in flags,
                api=api,
                prepare=lambda org, folder: staged or self.staged,
                say=said.append,
            )
        finally:
            assert token is None or token not in "".join(said)
        return said

    def fails(self, *flags: str, token: str | None = TOKEN, staged: Staged | None = None) -> str:
        """Publish, which must fail with one line that does not hold the token; return it."""
        with pytest.raises(RupeeBiasError) as caught:
            self.run(*flags, token=token, staged=staged)
        message = str(caught.value)
        assert "\n" not in message
        assert not token or token not in message
        return message

    def writes(self) -> list[Request]:
        """Return the requests since the last call that would change something, and forget all."""
        found = self.hub.writes
        self.hub.requests.clear()
        return found


def with_files(
    staged: Staged, which: str, folder: Path, files: Mapping[str, bytes], version: str | None = None
) -> Staged:
    """Return a copy whose `dataset` or `metric` holds other files in `folder`, perhaps as another version."""
    repo = getattr(staged, which)
    for name, path in repo.files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files.get(name, path.read_bytes()))
    for name in files.keys() - repo.files.keys():
        (folder / name).write_bytes(files[name])
    return replace(staged, **{which: replace(repo, folder=folder, version=version or repo.version)})
