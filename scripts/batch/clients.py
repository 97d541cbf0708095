"""From a run's model to the batch interface of its provider."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Final

from ..errors import UsageError
from ..models.types import JSON
from .wire import BatchClient

PROVIDERS: Final = ("openai", "anthropic")


def check_provider(model: str, settings: Mapping[str, JSON]) -> str:
    """Return the provider of a model. Raises UsageError if it has no batch interface that is known here."""
    provider = settings.get("provider")
    if provider in PROVIDERS:
        return str(provider)
    raise UsageError(
        f"--batch does not work with {model}: it knows openai/... (with --base-url any server of that "
        "interface) and anthropic/...; run without --batch"
    )


def open_client(litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> BatchClient:
    """Return the batch interface for a model. Raises UsageError if there is none, or no key for it."""
    from .anthropic_client import AnthropicClient
    from .openai_client import OpenAIClient

    makers: dict[str, Callable[[ModuleType, str, Mapping[str, JSON]], BatchClient]] = {
        "openai": OpenAIClient,
        "anthropic": AnthropicClient,
    }
    return makers[check_provider(model, settings)](litellm, model, settings)
