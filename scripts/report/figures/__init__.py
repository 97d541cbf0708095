"""The paper's figures from runs, in one house style."""

from .write import write_figures

__all__ = ["write_figures"]
