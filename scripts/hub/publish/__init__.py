"""Publishes the dataset repository and the metric Space: built, checked, then one commit each."""
