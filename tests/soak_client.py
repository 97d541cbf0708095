"""The process that a soak kills: one `generate`, through LiteLLM or through a bare HTTP client in its place.

    python soak_client.py URL RUN LIMIT CONNECTIONS bare|litellm|workers

LIMIT is a number of slots, 0 for all; `workers` are two processes of LiteLLM.
"""

import json
import resource
import sys
from datetime import UTC, datetime
from pathlib import Path

import aiohttp

from rupeebias.generate.api import GenerateOptions, check_error_share, generate_outputs
from rupeebias.generate.options import RunOptions
from rupeebias.generate.retry import RetryRules
from rupeebias.models.errors import lower_case, wait_s
from rupeebias.models.types import JSON, CallError, ModelOptions, Reply, Request
from rupeebias.runs.selection import Selection

ATTEMPT_TIMEOUT_S = 5.0


class BareModel:
    """An OpenAI-compatible server without LiteLLM, which would take 9 ms of CPU for each call."""

    name = "bare/x"
    max_connections = None

    def __init__(self, url: str) -> None:
        self.settings: dict[str, JSON] = {"base_url": url}
        self._url = f"{url}/chat/completions"
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def complete(self, request: Request) -> Reply:
        assert self._session is not None
        messages = [
            {"role": "system", "content": request.system_prompt},
            {"role": "user", "content": request.prompt},
        ]
        try:
            async with self._session.post(self._url, json={"model": "x", "messages": messages}) as response:
                text = await response.text()
                headers = lower_case(response.headers)
                status = response.status
        except aiohttp.ClientError as error:
            raise CallError(f"network: {error}", retryable=True) from None
        return _reply(status, headers, text)


def _reply(status: int, headers: dict[str, str], text: str) -> Reply:
    if status != 200:
        throttled = status == 429
        wait = wait_s(headers, datetime.now(UTC), throttled=throttled)
        raise CallError(f"HTTP {status}", retryable=True, retry_after_s=wait, throttled=throttled)
    try:
        body = json.loads(text)
        choice = body["choices"][0]
    except (ValueError, LookupError):
        raise CallError(f"HTTP 200 with {text[:40]!r}", retryable=True) from None
    told = body.get("usage")
    used = told and {"input_tokens": told["prompt_tokens"], "output_tokens": told["completion_tokens"]}
    return Reply(
        text=choice["message"]["content"],
        finish_reason=choice["finish_reason"],
        usage=used,
        response_model=body["model"],
        has_reasoning="reasoning_content" in choice["message"],
    )


def main(url: str, run: str, limit: str, connections: str, kind: str) -> None:
    options = GenerateOptions(
        model="hosted_vllm/x",
        model_options=ModelOptions(base_url=url, attempt_timeout_s=ATTEMPT_TIMEOUT_S),
        run_options=RunOptions(
            retries=RetryRules(first_wait_s=0.1, longest_wait_s=1.0), attempt_timeout_s=ATTEMPT_TIMEOUT_S
        ),
        max_connections=int(connections),
        workers=2 if kind == "workers" else 1,
        run=Path(run),
    )
    selection = Selection(limit=int(limit) or None)
    model = BareModel(url) if kind == "bare" else None
    summary = generate_outputs(options, selection, model=model)
    check_error_share(summary, None)
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
