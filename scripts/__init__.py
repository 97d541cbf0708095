"""RupeeBias: does a language model's economic advice in India depend on who asks?

`rupeebias.score(prompt_ids, outputs)` computes every statistic of the benchmark; the command `rupeebias`
builds the dataset, generates model outputs and scores them. Importing this package loads nothing heavy.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rupeebias.metric import score

__version__ = "0.1.0"
__all__ = ["__version__", "score"]


def __getattr__(name: str) -> Any:
    """Load `score` on first use, so that `rupeebias --help` does not pay for numpy."""
    if name == "score":
        from rupeebias.metric import score

        return score
    raise AttributeError(f"module 'rupeebias' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
