"""What a record of the release says: an answer, an empty one, or a failed call."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from .facts import FAILED
from .faults import Unmapped, UnmappedError, shown
from .files import ReleaseFile
from .lines import parse_object, read_lines
from .mapping import prompt_id_of


class Answer(NamedTuple):
    """One response of a model."""

    prompt_id: str
    """Ours."""
    text: str | None
    """What the model wrote; None for a failed call and where there was none."""
    finish_reason: str | None
    error: str | None
    """Why the call failed; None: it did not."""
    has_reasoning: bool
    digest: bytes
    """Hash of its line: equal for copies of one record."""

    @property
    def is_given(self) -> bool:
        """Tell whether there is an answer: the call did not fail, and the model wrote something."""
        return self.error is None and bool(self.text and self.text.strip())


def read_answers(file: ReleaseFile, unmapped: Unmapped) -> Iterator[Answer]:
    """Yield the answers of a file; lines that are none are counted in `unmapped`."""
    for number, line in read_lines(file.path):
        try:
            yield _answer(line, file)
        except UnmappedError as error:
            unmapped.add(file.path, number, str(error))


def _answer(line: bytes, file: ReleaseFile) -> Answer:
    record = parse_object(line)
    prompt_id = prompt_id_of(record, file.use_case, file.language)
    text, reason = _response(record), _optional(record, "finish_reason")
    error = _error(text)
    return Answer(
        prompt_id=prompt_id,
        text=text if error is None else None,
        finish_reason=reason if error is None else None,
        error=error,
        has_reasoning=_is_written(record.get("reasoning_content")),
        digest=blake2b(line.strip(), digest_size=16).digest(),
    )


def _response(record: Mapping[str, Any]) -> str | None:
    if "response" not in record:
        raise UnmappedError("has no response")
    text = _optional(record, "response")
    # null in all of the release: a text here would be an answer that goes unread
    if text is None and record.get("model_response") is not None:
        raise UnmappedError("has no response, but a model_response")
    return text


def _error(text: str | None) -> str | None:
    """Return what a failed call tells, None for the response of another."""
    if text is None or not text.lstrip().startswith(FAILED):
        return None
    return text.lstrip().removeprefix(FAILED).strip() or "unknown error"


def _optional(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise UnmappedError(f"has the {name} {shown(value)}, expected a text or null")
    # half a surrogate pair, which a file in UTF-8 cannot hold
    return value if value is None or value.isascii() else value.encode("utf-8", "replace").decode()


def _is_written(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
