"""From the options of a command, as they were given, to what the package takes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..generate.options import GenerateOptions
    from ..models.types import JSON, ModelOptions
    from ..runs.selection import Selection


def selection_of(told: "Mapping[str, Any]") -> "Selection":
    """Return what the selection options of a command say; `told` holds its parameters by name."""
    from ..runs.selection import Selection

    names = ("use_case", "language", "axis", "identifier", "profile", "question")
    plural = ("use_cases", "languages", "axes", "identifiers", "profiles", "questions")
    chosen = {many: told[one] for one, many in zip(names, plural, strict=True)}
    return Selection.parse(**chosen, limit=told["limit"], shard=parse_shard(told.get("shard")))


def options_of(told: "Mapping[str, Any]") -> "GenerateOptions":
    """Return what the other options of a command say; `told` holds its parameters by name.

    An option that the command does not have keeps its default.
    """
    from ..generate.limits import Bounds
    from ..generate.options import GenerateOptions
    from ..generate.retry import RetryRules
    from ..generate.runner import RunOptions

    names = (
        "max_connections", "workers", "arm", "repeats", "run", "fresh", "retry_errors", "fail_on_error",
        "price_in", "price_out", "max_cost", "dry_run", "quiet",
    )  # fmt: skip
    bounds = Bounds(requests_per_minute=told.get("rpm"), tokens_per_minute=told.get("tpm"))
    retries = RetryRules(told["max_retries"]) if "max_retries" in told else RetryRules()
    deadlines = _given(told, timeout="timeout_s", attempt_timeout="attempt_timeout_s")
    return GenerateOptions(
        model=told["model"] or "",
        model_options=_model_options_of(told),
        run_options=RunOptions(bounds=bounds, retries=retries, **deadlines),
        **_given(told, *names),
    )


def _model_options_of(told: "Mapping[str, Any]") -> "ModelOptions":
    from ..models.types import ModelOptions

    names = ("base_url", "temperature", "max_tokens", "seed", "reasoning_effort", "constrain")
    given = _given(told, *names, attempt_timeout="attempt_timeout_s")
    if given.get("reasoning_effort") == "default":
        given["reasoning_effort"] = None
    return ModelOptions(extras=parse_extras(told["extra"]), **given)


def _given(told: "Mapping[str, Any]", *same: str, **renamed: str) -> dict[str, Any]:
    """Return the parameters that the command has, by the names that the options give them."""
    return {to: told[name] for name, to in {**{n: n for n in same}, **renamed}.items() if name in told}


def parse_extras(items: list[str] | None) -> "dict[str, JSON]":
    """Return the `-M key=value` options; a value that is not JSON is taken as text."""
    import json

    from ..errors import UsageError

    extras: dict[str, JSON] = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-M {item}: expected KEY=VALUE")
        try:
            extras[key.strip()] = json.loads(value)
        except ValueError:  # no JSON, or a number of thousands of digits
            extras[key.strip()] = value
    return extras


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """Return (i, n) for "i/n"; raises UsageError unless 1 <= i <= n."""
    import re

    from ..errors import UsageError

    if text is None:
        return None
    first, slash, last = text.partition("/")
    is_good = slash and re.fullmatch(r"[0-9]{1,9}", first) and re.fullmatch(r"[0-9]{1,9}", last)
    if not is_good or not 1 <= int(first) <= int(last):
        raise UsageError(f"--shard {text}: expected I/N with I from 1 to N, such as 1/4")
    return int(first), int(last)
