"""Processes that have LiteLLM from their start: forked from one that imported it, which takes seconds.

    process = preloaded.start(CODE, "word", folder=tmp_path, env=os.environ)
    status, out, err = process.finish()

Each runs its code as `python -c` does: with a folder, an environment, streams and signals of its own.
"""

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMAND = "from rupeebias.cli.app import main; main()"
"""What `python -m rupeebias` runs."""

_SERVER = """
    import gc, json, os, signal, socket, sys
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    import rupeebias.cli.app

    gc.freeze()  # no child looks for garbage in all this
    door = socket.socket(fileno=int(sys.argv[1]))

    def receive():
        text, streams, _, _ = socket.recv_fds(door, 1 << 16, 3)
        while text and not text.endswith(b"\\n"):
            text += door.recv(1 << 16)
        return text and json.loads(text), streams

    def answer(number):
        door.sendall(b"%d\\n" % number)

    while True:
        task, streams = receive()
        if not task:
            sys.exit()
        if isinstance(task, int):
            answer(os.waitstatus_to_exitcode(os.waitpid(task, 0)[1]))
            continue
        child = os.fork()
        if not child:
            break
        answer(child)
        for stream in streams:
            os.close(stream)

    door.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
    os.chdir(task["folder"])
    os.environ.clear()
    os.environ.update(task["env"])
    sys.argv[1:] = task["words"]
    hears = signal.default_int_handler if task["hears_ctrl_c"] else signal.SIG_IGN
    signal.signal(signal.SIGINT, hears)
    exec(task["code"], {"__name__": "__main__"})
"""


class Process:
    """One process, to be finished at the end; what it writes and nobody reads has to fit into a pipe."""

    def __init__(self, server: "Preloaded", pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self._server = server
        self._stdin, self._stdout, self._stderr = os.fdopen(stdin, "w"), os.fdopen(stdout), os.fdopen(stderr)

    def say(self, value: Any) -> None:
        """Write a line of JSON to its input."""
        self._stdin.write(json.dumps(value) + "\n")
        self._stdin.flush()

    def hear(self) -> Any:
        """Return the value of the next line of JSON that it writes."""
        line = self._stdout.readline()
        assert line, self._stderr.read()
        return json.loads(line)

    def finish(self, timeout_s: float = 30.0) -> tuple[int, str, str]:
        """Wait until it ends; return status (minus the signal that killed it), output and errors."""
        self._stdin.close()
        status = self._server.ask(self.pid, timeout_s=timeout_s)
        with self._stdout, self._stderr:
            return status, self._stdout.read(), self._stderr.read()


class Preloaded:
    """The process that the others are forked from."""

    def __init__(self) -> None:
        self._door, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(_SERVER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
            )

    def start(
        self, code: str, *words: str, folder: Path, env: Mapping[str, str], hears_ctrl_c: bool = True
    ) -> Process:
        """Start a process in `folder`; `words` are its arguments."""
        task = {"words": words, "folder": str(folder), "env": dict(env), "hears_ctrl_c": hears_ctrl_c}
        (stdin, ours), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
        theirs = (stdin, stdout, stderr)
        pid = self.ask({**task, "code": textwrap.dedent(code)}, *theirs)
        for stream in theirs:
            os.close(stream)
        return Process(self, pid, ours, out, err)

    def ask(self, task: object, *streams: int, timeout_s: float = 120.0) -> int:
        """Hand in a task, or the id of a process to wait for; return the answer."""
        self._door.settimeout(timeout_s)
        socket.send_fds(self._door, [json.dumps(task).encode() + b"\n"], streams)
        answer = self._door.recv(64)
        assert answer.endswith(b"\n"), "the process that has LiteLLM ended"
        return int(answer)

    def close(self) -> None:
        """End the process; those forked from it have been finished."""
        self._door.close()
        self._process.wait(30)
