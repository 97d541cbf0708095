"""The paper's tables from runs: one description a table, three formats."""

from .formats import write_tables

__all__ = ["write_tables"]
