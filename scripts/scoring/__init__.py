"""Scores: from run directories and files of outputs to results, tables and files of them."""
