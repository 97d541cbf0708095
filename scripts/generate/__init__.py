"""Model outputs: run directories and the runner that fills them.

`api.generate_outputs` is the whole of it as one call; `outputs.read_outputs` reads what it wrote.
"""
