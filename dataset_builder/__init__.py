"""Builds the prompts of the benchmark from its components, and publishes them as a dataset."""
