"""`rupeebias publish` in trouble: silent or strange servers, bad tokens, closed outputs, interruptions."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from hub_server import HubServer
from preloaded import Preloaded
from publish_runs import DATASET, TOKEN, Publisher

from rupeebias.errors import RupeeBiasError
from rupeebias.hub.client import (
    bound_requests,
    hub_errors,
    masked,
    require_clean,
    require_endpoint,
    require_writer,
)
from rupeebias.hub.repository import read_remote

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Requests that wait for a fifth of a second."""
    bound_requests(read=0.2, upload=0.2)
    yield
    bound_requests()


# --- time


@pytest.mark.usefixtures("_impatient")
def test_a_server_that_never_answers_is_given_up(publisher: Publisher) -> None:
    from huggingface_hub import HfApi

    api = HfApi(endpoint=publisher.hub.url, token=TOKEN)
    publisher.hub.before("GET", "whoami", lambda: time.sleep(1))
    with pytest.raises(
        RupeeBiasError, match=r"^log in to the Hub: no answer in time .*; run the command again$"
    ):
        require_writer(api)
    # the library itself asks for no limit here
    publisher.hub.before("GET", "/api/datasets/", lambda: time.sleep(1))
    with pytest.raises(
        RupeeBiasError, match=r"^read dataset .*: no answer in time .*; run the command again$"
    ):
        read_remote(api, publisher.staged.dataset)


def test_every_request_of_a_publication_has_a_limit() -> None:
    from huggingface_hub import get_session

    bound_requests(read=60, upload=300)
    limits = []
    with HubServer() as hub:
        for method, path in (("GET", "/api/whoami-v2"), ("PUT", "/lfs/x"), ("POST", "/api/x/commit/main")):
            answered = get_session().request(method, hub.url + path, timeout=None)
            limits.append(answered.request.extensions["timeout"])
    assert [each["read"] for each in limits] == [60, 300, 300]
    assert all(None not in each.values() for each in limits)


@pytest.mark.parametrize("headers", [{"Retry-After": "1"}, {"RateLimit": '"api";r=0;t=1'}])
def test_a_short_pause_is_waited_for(publisher: Publisher, headers: dict[str, str]) -> None:
    publisher.hub.fail("GET", "whoami", 429, times=1, headers=headers)
    before = time.monotonic()
    publisher.run("dry_run")
    publisher.run()
    assert time.monotonic() - before >= 1
    assert publisher.dataset.tags


@pytest.mark.parametrize("pattern", [("GET", "whoami"), ("GET", "/tree/"), ("PUT", "/lfs/")])
def test_a_long_pause_is_named_at_once(publisher: Publisher, pattern: tuple[str, str]) -> None:
    if pattern[1] == "/tree/":
        publisher.hub.create("dataset", DATASET)
    publisher.hub.fail(*pattern, 429, headers={"Retry-After": "3600"})
    before = time.monotonic()
    assert "the Hub asks to wait 3600 s; run the command again then" in publisher.fails()
    assert time.monotonic() - before < 10


def test_a_pause_may_be_a_date(publisher: Publisher) -> None:
    when = formatdate(time.time() + 1000, usegmt=True)
    publisher.hub.fail("GET", "whoami", 429, headers={"Retry-After": when})
    message = publisher.fails()
    assert "the Hub asks to wait 99" in message or "the Hub asks to wait 1000" in message


# --- no network


@pytest.mark.parametrize("which", ["datasets", "spaces"])
def test_a_dry_run_without_the_hub_lists_what_would_be_published(publisher: Publisher, which: str) -> None:
    publisher.hub.fail("GET", f"/api/{which}/", 0)
    message = publisher.fails("dry_run", token=None)
    assert re.match(r"read (dataset|space) rupee-org/rupeebias\w*: no connection \(", message)
    first, *lines, last = publisher.said[1:]
    assert first.startswith("the Hub could not be read: ")
    heads = [line for line in lines if not line.startswith(" ")]
    repos = (publisher.staged.dataset, publisher.staged.metric)
    for head, repo in zip(heads, repos, strict=True):
        size = sum(path.stat().st_size for path in repo.files.values())
        state = f"(state unknown): {len(repo.files)} files, {size:,} bytes, tag v1.0.0"
        assert head == f"{repo.kind} {repo.name} {state}"
    files = [line.split()[-1] for line in lines if line.startswith(" ")]
    assert files == [path for repo in repos for path in repo.files]
    assert last == "dry run: nothing was sent, and nothing was compared with the Hub"
    assert publisher.writes() == []


def test_without_a_dry_run_nothing_is_listed(publisher: Publisher) -> None:
    publisher.hub.fail("GET", "/api/datasets/", 0)
    publisher.fails()
    assert publisher.said == ["building and checking dataset and metric for rupee-org"]


# --- answers that are not the Hub's


HTML = b"<html><body>Please log in to the network</body></html>"


@pytest.mark.parametrize("body", [HTML, b"[]", b'{"user": 1}', b'{"name": "a", "orgs": [1]}', b"null", b""])
def test_a_login_page_instead_of_the_hub_is_told(publisher: Publisher, body: bytes) -> None:
    publisher.hub.fail("GET", "whoami", 200, body=body)
    message = publisher.fails()
    assert message.startswith("log in to the Hub: https://huggingface.co does not answer like the Hub (")


@pytest.mark.parametrize("body", [HTML, b"[]", b'{"a": 1}', b'{"id": "rupee-org/rupeebias"}'])
def test_a_strange_description_of_a_repository_is_told(publisher: Publisher, body: bytes) -> None:
    publisher.hub.create("dataset", DATASET)
    publisher.hub.fail("GET", "/api/datasets/[^/]+/[^/]+$", 200, body=body)
    assert "does not answer like the Hub (" in publisher.fails()
    assert publisher.writes() == []


@pytest.mark.parametrize("what", ["/refs", "/tree/"])
@pytest.mark.parametrize("body", [HTML, b'{"a": [1]}', b"[1]"])
def test_strange_lists_are_told(publisher: Publisher, what: str, body: bytes) -> None:
    publisher.hub.create("dataset", DATASET)
    publisher.hub.fail("GET", what, 200, body=body)
    assert "does not answer like the Hub (" in publisher.fails()


@pytest.mark.parametrize("what", ["repos/create", "/preupload/", "/commit/"])
@pytest.mark.parametrize("body", [HTML, b"[]", b'{"files": [1]}'])
def test_strange_answers_to_what_is_sent_are_told(publisher: Publisher, what: str, body: bytes) -> None:
    publisher.hub.fail("POST", what, 200, body=body)
    assert "does not answer like the Hub (" in publisher.fails()
    publisher.hub.heal()
    publisher.run()
    assert publisher.dataset.tags.keys() == publisher.metric.tags.keys() == {"v1.0.0"}


@pytest.mark.parametrize("url", ["localhost", "ftp://x", "https://", "http://[", "http://a:b", "x y"])
def test_an_endpoint_that_is_no_address_names_the_variable(url: str) -> None:
    with pytest.raises(RupeeBiasError, match=r"^HF_ENDPOINT is not an address"):
        require_endpoint(url)
    require_endpoint("")
    require_endpoint("http://127.0.0.1:8000")


# --- tokens


@pytest.mark.parametrize("token", ["hf_a\x1bb", "hf_ä", "hf_a b", "hf_\x7f", "hf_a\tb", "hf_\u200b"])
def test_a_token_that_is_none_is_refused_and_not_shown(publisher: Publisher, token: str) -> None:
    assert "the token for the Hub holds a space, a control character" in publisher.fails(token=token)
    assert publisher.fails("dry_run", token=token)
    assert publisher.hub.requests == []
    require_clean(TOKEN)
    require_clean(None)


def test_escaped_forms_of_a_token_are_masked_too() -> None:
    token = 'hf_"x\\y/ä'
    for form in (token, repr(token), ascii(token), '"hf_\\"x\\\\y/\\u00e4"', "hf_%22x%5Cy%2F%C3%A4"):
        assert "***" in masked(f"a {form} b", token)
        assert "hf_" not in masked(f"a {form} b", token)
    assert masked("nothing", None) == "nothing"
    with pytest.raises(RupeeBiasError, match=r"^try: \*\*\*$"), hub_errors("try", "hf_x"):
        raise ValueError("hf_x")


def test_faults_of_ours_are_not_blamed_on_the_hub() -> None:
    with pytest.raises(TypeError), hub_errors("try"):
        raise TypeError("a fault of ours")


# --- the process


PUBLISH = """
import warnings
from rupeebias.cli.app import main
from rupeebias.hub import publish as api
from rupeebias.hub.publication import stage
api.built_and_checked = lambda org, folder, eval_yaml=True: stage(org, folder)  # unchecked: fast
warnings.simplefilter("ignore")
main()
"""
WORDS = ("publish", "--org", "rupee-org")


def _environment(hub: HubServer, home: Path) -> dict[str, str]:
    return {**hub.environment(home, TOKEN), "TMPDIR": str(home)}


def test_a_closed_output_does_not_stop_it_half_way(publisher: Publisher, tmp_path: Path) -> None:
    words = [sys.executable, "-c", PUBLISH, *WORDS]
    environment = _environment(publisher.hub, tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        words, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False
    )
    os.close(writing)
    assert done.stderr == "the output is closed or full: publishing goes on without it\n"
    assert done.returncode == 0
    assert publisher.dataset.tags.keys() == publisher.metric.tags.keys() == {"v1.0.0"}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interruption_says_what_was_sent_and_leaves_nothing(
    publisher: Publisher, scoring_loaded: Preloaded, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    environment = _environment(publisher.hub, tmp_path)
    process = scoring_loaded.start(PUBLISH, *WORDS, folder=tmp_path, env=environment)

    def interrupt() -> None:
        os.kill(process.pid, number)
        time.sleep(0.5)

    publisher.hub.before("POST", "/api/spaces/.*/commit/", interrupt)
    found, _, errors = process.finish()
    assert found == status
    head = publisher.dataset.head.sha[:7]
    assert errors == (
        f"interrupted: dataset {DATASET} (public): commit {head}, tagged v1.0.0. "
        "Run the command again: it goes on where it stopped\n"
    )
    assert list(tmp_path.glob("rupeebias-*")) == []
    publisher.run()
    assert publisher.metric.tags == {"v1.0.0": publisher.metric.head.sha}


def test_the_hub_is_told_which_version_asks() -> None:
    from rupeebias import __version__
    from rupeebias.hub.client import hub_client

    api = hub_client()
    assert (api.library_name, api.library_version) == ("rupeebias", __version__)
