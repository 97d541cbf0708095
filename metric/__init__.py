"""The metric."""
