"""Anthropic's message batches over plain HTTP: LiteLLM can only look at those, not make them."""

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import ModuleType
from typing import Any, Final

import httpx
import orjson

from ..errors import UsageError
from ..models.errors import lower_case
from ..models.types import JSON, Request
from ..runs.batches import hash_in
from .lines import Bodies, read_anthropic_line
from .types import Limits, LineResult, Remote, State, Tag, api_error

_LIMITS: Final = Limits(requests=100_000, content_bytes=256_000_000)
_KEY: Final = "ANTHROPIC_API_KEY"
_SERVERS: Final = ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")
_USUAL_SERVER: Final = "https://api.anthropic.com"
_PATH: Final = "/v1/messages/batches"
_VERSION: Final = "2023-06-01"
_PAGE: Final = 100
_CLOCKS_DIFFER_S: Final = 300.0


class AnthropicClient:
    """The interface as its documentation has it. The key comes from ANTHROPIC_API_KEY.

    Raises UsageError without a key.
    """

    limits = _LIMITS

    def __init__(self, litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> None:
        key = os.environ.get(_KEY)
        if not key:
            raise UsageError(f"no key for {model}: set {_KEY} in the environment")
        self._bodies = Bodies(litellm, model, settings)
        self._http = httpx.AsyncClient(
            base_url=_server(settings.get("base_url")),
            headers={"x-api-key": key, "anthropic-version": _VERSION},
            timeout=httpx.Timeout(60.0, read=300.0, write=300.0),
        )

    def encode(self, custom_id: str, request: Request) -> bytes:
        """Return one member of the list of requests."""
        return orjson.dumps({"custom_id": custom_id, "params": self._bodies.body(request)})

    async def submit(self, lines: Sequence[bytes], tag: Tag) -> Remote:
        """Make a batch. The interface has no place for `tag`: only the custom ids tell whose it is."""
        content = b'{"requests":[' + b",".join(lines) + b"]}"
        return _remote(await self._json("POST", _PATH, content=content))

    async def find(self, tag: Tag) -> Remote | None:
        """Return the batch that can be the one of `tag`: as many requests, no older, none of the others.

        An ended one is checked by the custom ids of its results. One that is still worked on shows none; if
        it proves to be a stranger's when it has ended, its results are not taken.
        """
        possible = []
        async for batch in self._newest_first(tag):
            remote = _remote(batch)
            if batch["id"] in tag.others or sum(batch["request_counts"].values()) != tag.requests:
                continue
            if remote.state is State.WORKING:
                possible.append(replace(remote, is_certain=False))
            elif await self._is_ours(remote, tag):
                return remote
        return possible[-1] if possible else None

    async def retrieve(self, batch_id: str) -> Remote:
        """Return the present state of a batch."""
        return _remote(await self._json("GET", f"{_PATH}/{batch_id}"))

    async def cancel(self, batch_id: str) -> Remote:
        """Have the provider stop a batch."""
        return _remote(await self._json("POST", f"{_PATH}/{batch_id}/cancel"))

    async def lines(self, remote: Remote) -> AsyncIterator[bytes]:
        """Yield the results as they come in."""
        for path in remote.results:
            try:
                async with self._http.stream("GET", path) as response:
                    await self._check(response)
                    rest = b""
                    async for part in response.aiter_bytes():
                        *whole, rest = (rest + part).split(b"\n")
                        for line in whole:
                            yield line
                    if rest:
                        yield rest
            except httpx.HTTPError as error:
                raise api_error(None, _words(error), {}) from None

    def read(self, line: bytes) -> LineResult | None:
        """Return what a line of the results says."""
        return read_anthropic_line(line)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _newest_first(self, tag: Tag) -> AsyncIterator[dict[str, Any]]:
        """Yield the provider's batches back to the time when that of `tag` was planned."""
        after: dict[str, str] = {}
        while True:
            page = await self._json("GET", _PATH, params={"limit": str(_PAGE), **after})
            for batch in page["data"]:
                if _created_at(batch) < tag.planned_at - _CLOCKS_DIFFER_S:
                    return
                yield batch
            if not page.get("has_more") or not page["data"]:
                return
            after = {"after_id": page["data"][-1]["id"]}

    async def _is_ours(self, remote: Remote, tag: Tag) -> bool:
        async for line in self.lines(remote):
            result = self.read(line)
            if result is not None:
                return hash_in(tag.chunk, result.custom_id) is not None
        return False

    async def _json(self, method: str, path: str, **arguments: Any) -> Any:
        if "content" in arguments:
            arguments["headers"] = {"content-type": "application/json"}
        try:
            response = await self._http.request(method, path, **arguments)
            await self._check(response)
            return response.json()
        except httpx.HTTPError as error:
            raise api_error(None, _words(error), {}) from None
        except ValueError:
            raise api_error(None, "the answer is not JSON", {}) from None

    async def _check(self, response: httpx.Response) -> None:
        if response.status_code == 200:
            return
        text = (await response.aread()).decode("utf-8", "replace")
        code, message = _told(text)
        raise api_error(response.status_code, message, lower_case(response.headers), code)


def _server(base_url: JSON) -> str:
    told = base_url or next((os.environ[name] for name in _SERVERS if os.environ.get(name)), _USUAL_SERVER)
    # LiteLLM's live calls take the address with and without these endings.
    return re.sub(r"(/v1)?(/messages)?/*$", "", str(told))


def _created_at(batch: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(str(batch["created_at"])).timestamp()


def _remote(batch: Mapping[str, Any]) -> Remote:
    counts = batch.get("request_counts") or {}
    has_ended = batch["processing_status"] == "ended"
    return Remote(
        id=batch["id"],
        word=_word(batch["processing_status"], counts),
        state=State.ENDED if has_ended else State.WORKING,
        answered=sum(count for name, count in counts.items() if name != "processing"),
        # Not the address that the answer names: the key goes to the server that the user chose.
        results=(f"{_PATH}/{batch['id']}/results",) if has_ended else (),
    )


def _word(status: str, counts: Mapping[str, int]) -> str:
    """Return the status in OpenAI's words: an ended batch with nothing but one fate is called after it."""
    if status != "ended":
        return "cancelling" if status == "canceling" else status
    if counts.get("canceled"):
        return "cancelled"
    return "expired" if counts.get("expired") else "completed"


def _told(text: str) -> tuple[str, str]:
    try:
        error = orjson.loads(text)["error"]
        return str(error["type"]), str(error["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "", text


def _words(error: httpx.HTTPError) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
