"""What lies on disk for a run: selection, manifest, journal, lock."""
