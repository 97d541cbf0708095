"""Publishes dataset and metric: builds and checks both folders, plans a commit each, sends and tags it."""
