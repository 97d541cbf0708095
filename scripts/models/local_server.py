"""The process that serves a GGUF file: an OpenAI-compatible server on loopback.

Started by `local.py` as `python -m rupeebias.models.local_server MODEL --slots N ...`. It prints one line,
its address, once it answers; everything else goes to the log that the starter made its error stream. It
ends when its standard input ends, so it cannot outlive the process that started it, however that one died.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends."""
    options = _options(arguments)
    # Ctrl-C reaches the whole process group; the starter decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    address_line = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the library logs to both streams
    server = _serve(options)
    os.write(address_line, f"{server.listening_address}\n".encode())
    while os.read(sys.stdin.fileno(), 4096):
        pass
    # Its threads may be in the middle of an answer that nobody waits for any more.
    os._exit(0)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="GGUF file")
    parser.add_argument("--slots", type=int, required=True, help="answers in the making at once")
    parser.add_argument("--context", type=int, required=True, help="tokens of one slot")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--reuse", type=int, choices=(0, 1), required=True, help="reuse common beginnings")
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.n_parallel = options.slots
    params.n_ctx = options.context * options.slots
    params.cont_batching = options.slots > 1
    params.cache_prompt = bool(options.reuse)
    params.cache_ram_mib = 0  # prompts are asked once: keeping finished ones only costs memory
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.sampling.seed = options.seed
    params.sampling.temp = 0.0
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any free one
    params.ui = False
    params.fit_params = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
