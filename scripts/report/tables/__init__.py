"""The paper's tables from runs: one description a table, three formats."""
