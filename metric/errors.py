"""Errors of the metric."""


class MetricInputError(ValueError):
    """Input that cannot be scored; the message names the first culprits and the remedy."""
