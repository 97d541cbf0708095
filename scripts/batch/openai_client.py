"""OpenAI's batch interface (files and batches), and that of any server that copies it, through LiteLLM."""

import io
import os
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import orjson

from ..errors import UsageError
from ..models.errors import lower_case
from ..models.types import JSON, Request
from .lines import Bodies, read_openai_line
from .types import ApiError, Limits, LineResult, Remote, State, Tag, api_error, described

_LIMITS: Final = Limits(requests=50_000, content_bytes=200_000_000)
_ENDPOINT: Final = "/v1/chat/completions"
_ENDED: Final = {"completed", "expired", "cancelled"}
_PAGE: Final = 100
_NO_LISTING: Final = {404, 405, 501}
_CLOCKS_DIFFER_S: Final = 300.0
_TIMEOUT_S: Final = 600.0


class OpenAIClient:
    """The interface as LiteLLM's functions for files and batches reach it, their retries off.

    Raises UsageError without a key, unless the server is the user's own.
    """

    limits = _LIMITS

    def __init__(self, litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> None:
        self._litellm = litellm
        self._bodies = Bodies(litellm, model, settings)
        self._common: dict[str, Any] = {
            "custom_llm_provider": "openai",
            "max_retries": 0,
            "timeout": _TIMEOUT_S,
        }
        base_url = settings.get("base_url")
        if base_url is not None:
            self._common["api_base"] = base_url
        if not os.environ.get("OPENAI_API_KEY"):
            if base_url is None:
                raise UsageError(f"no key for {model}: set OPENAI_API_KEY in the environment")
            self._common["api_key"] = "none"

    def encode(self, custom_id: str, request: Request) -> bytes:
        """Return the line of one request."""
        body = self._bodies.body(request)
        return orjson.dumps({"custom_id": custom_id, "method": "POST", "url": _ENDPOINT, "body": body})

    async def submit(self, lines: Sequence[bytes], tag: Tag) -> Remote:
        """Upload the file of lines and make a batch of it, which carries `tag` as metadata."""
        content = b"".join(line + b"\n" for line in lines)
        uploaded = await self._call(
            self._litellm.acreate_file(
                file=(f"rupeebias-{tag.run}-{tag.chunk}.jsonl", content), purpose="batch", **self._common
            )
        )
        batch = await self._call(
            self._litellm.acreate_batch(
                completion_window="24h",
                endpoint=_ENDPOINT,
                input_file_id=uploaded.id,
                metadata=_metadata(tag),
                **self._common,
            )
        )
        return _remote(batch)

    async def find(self, tag: Tag) -> Remote | None:
        """Return the batch whose metadata is `tag`, looking back to the time when it was planned."""
        after: str | None = None
        while True:
            page = await self._listing(after)
            for batch in page.data if page is not None else ():
                if _is_tagged(batch, tag):
                    return _remote(batch)
            is_last = page is None or not page.data or not getattr(page, "has_more", False)
            if is_last or page.data[-1].created_at < tag.planned_at - _CLOCKS_DIFFER_S:
                return None
            after = page.data[-1].id

    async def retrieve(self, batch_id: str) -> Remote:
        """Return the present state of a batch."""
        # Otherwise LiteLLM downloads the results of an ended batch to work out its cost.
        aside = {"batch_ignore_default_logging": True}
        return _remote(
            await self._call(
                self._litellm.aretrieve_batch(batch_id=batch_id, litellm_metadata=aside, **self._common)
            )
        )

    async def cancel(self, batch_id: str) -> Remote:
        """Have the provider stop a batch."""
        return _remote(await self._call(self._litellm.acancel_batch(batch_id=batch_id, **self._common)))

    async def lines(self, remote: Remote) -> AsyncIterator[bytes]:
        """Yield the lines of the output file, then those of the error file."""
        for file_id in remote.results:
            content = await self._call(self._litellm.afile_content(file_id=file_id, **self._common))
            for line in io.BytesIO(content.content):
                yield line

    def read(self, line: bytes) -> LineResult | None:
        """Return what a line of the results says."""
        return read_openai_line(line)

    async def close(self) -> None:
        """Close LiteLLM's connections."""
        await self._litellm.close_litellm_async_clients()

    async def _listing(self, after: str | None) -> Any:
        """Return a page of batches, newest first, None from a server that cannot list them."""
        try:
            return await self._call(self._litellm.alist_batches(limit=_PAGE, after=after, **self._common))
        except ApiError as error:
            if error.status in _NO_LISTING:
                return None
            raise

    async def _call(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except Exception as error:  # LiteLLM raises many kinds, not all of them its own
            raise _as_api_error(error) from None


def _metadata(tag: Tag) -> dict[str, str]:
    return {"rupeebias_run": tag.run, "rupeebias_chunk": tag.chunk}


def _is_tagged(batch: Any, tag: Tag) -> bool:
    metadata = batch.metadata or {}
    return all(metadata.get(name) == value for name, value in _metadata(tag).items())


def _as_api_error(error: Exception) -> ApiError:
    status = getattr(error, "status_code", None)
    found = lower_case(getattr(getattr(error, "response", None), "headers", None))
    body = getattr(error, "body", None)
    told = body.get("error", body) if isinstance(body, dict) else {}
    told = told if isinstance(told, dict) else {}
    code = str(told.get("code") or told.get("type") or "")
    text = str(told.get("message") or error)
    return api_error(status if isinstance(status, int) else None, text, found, code)


def _remote(batch: Any) -> Remote:
    counts = batch.request_counts
    faults = (batch.errors.data if batch.errors is not None else None) or []
    files = (batch.output_file_id, batch.error_file_id)
    return Remote(
        id=batch.id,
        word=batch.status,
        state=_state(batch.status),
        answered=counts.completed + counts.failed if counts is not None else 0,
        results=tuple(file_id for file_id in files if file_id),
        code=str(faults[0].code or "") if faults else "",
        message=described(None, str(faults[0].message or "")) if faults else "",
    )


def _state(word: str) -> State:
    if word == "failed":
        return State.REFUSED
    return State.ENDED if word in _ENDED else State.WORKING
