"""Model outputs: run directories and the runner that fills them."""
