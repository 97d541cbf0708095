"""What several test files share."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from preloaded import Preloaded
    from publish_runs import Publisher

    from rupeebias.hub.publication import Staged

# Set before any test module imports huggingface_hub, which reads it once.

# The stand-in of the Hub stores large files by plain LFS, which the client uses without its Xet extension.
os.environ["HF_HUB_DISABLE_XET"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

# And this before numpy is: tests run side by side, one a core, and their threads would wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

LONGEST = (
    "test_generate_cli",
    "test_publish_command",
    "test_batch_runs",
    "test_local_model",
    "test_report_figures",
    "test_leaderboard",
    "test_report_browser",
    "test_publish_trouble",
    "test_submit",
    "test_leaderboard_space",
    "test_leaderboard_folders",
    "test_leaderboard_browser",
    "test_dataset_folder",
    "test_publish_care",
    "test_soak",
    "test_cli",
)
"""These take longest and begin first, so that none is left when the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: many tests wait for a server or a browser."""
    from rupeebias.children import n_processors

    return n_processors() + 1


@pytest.fixture
def _one_drawing_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures without further processes, which would take the cores of other tests."""
    monkeypatch.setattr("rupeebias.report.figures.catalogue.n_processors", lambda: 1)


@pytest.fixture(scope="session")
def staged(tmp_path_factory: pytest.TempPathFactory) -> "Staged":
    """The folders of dataset and metric as they are published, built once; tests only read them."""
    from rupeebias.hub.publication import stage

    return stage("rupee-org", tmp_path_factory.mktemp("staged"))


@pytest.fixture
def publisher(staged: "Staged") -> "Iterator[Publisher]":
    """Publish these to a Hub that is empty."""
    from hub_server import HubServer
    from publish_runs import Publisher

    with HubServer() as hub:
        yield Publisher(hub, staged)


@pytest.fixture
def published(publisher: "Publisher") -> "Publisher":
    """Publish these to a Hub on which both have been published once."""
    publisher.run()
    publisher.writes()
    return publisher


@pytest.fixture(scope="session")
def litellm_loaded() -> "Iterator[Preloaded]":
    """Processes that have LiteLLM from the start."""
    from preloaded import LITELLM, Preloaded

    server = Preloaded(*LITELLM)
    yield server
    server.close()


@pytest.fixture(scope="session")
def scoring_loaded() -> "Iterator[Preloaded]":
    """Processes that have what scores and packs from the start."""
    from preloaded import SCORING, Preloaded

    server = Preloaded(*SCORING)
    yield server
    server.close()
