"""Version of the metric: it changes whenever a number changes."""

METRIC_VERSION = "1.0.0"
