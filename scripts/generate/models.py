"""From the name given to `--model` to the model."""

from ..errors import UsageError
from .types import Model, ModelOptions


def open_model(name: str, options: ModelOptions) -> Model:
    """Return the model called `name`, not opened yet.

    `sim/...` is a simulated respondent, `local/...` a model on this machine, anything else a name
    of LiteLLM. Raises UsageError for a name that none of them knows, and for options that do not
    suit the model.
    """
    kind, _, rest = name.partition("/")
    if not name.strip() or (kind in ("sim", "local") and not rest):
        raise UsageError(f"--model {name!r}: expected sim/NAME, local/NAME or provider/model")
    if kind == "sim":
        from ..models.simulated import create_model as create_simulated

        return create_simulated(name, options)
    if kind == "local":
        from ..models.local import create_model as create_local

        return create_local(name, options)
    from .litellm_model import LiteLLMModel

    return LiteLLMModel(name, options)
