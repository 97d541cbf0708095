"""Processes that have their imports from the start: forked from one that made them, which takes seconds.

    status, out, err = preloaded.run("score", "outputs.jsonl", folder=tmp_path, env=os.environ)

Each runs its code as `python -c` does: with a folder, an environment, streams and signals of its own.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

COMMAND = "from rupeebias.cli.app import main; main()"
"""What `python -m rupeebias` runs."""
LITELLM = ("litellm", "rupeebias.cli.app")
SCORING = (
    "httpcore2",
    "httpx2",
    "pyarrow.parquet",
    "scipy.special",
    "rupeebias.cli.app",
    "rupeebias.hub.board",
    "rupeebias.hub.publish",
    "rupeebias.hub.check",
    "rupeebias.hub.submit",
)
"""What commands for the Hub import but its client, which reads the environment when it is imported."""

_SERVER = """
    import gc, importlib, json, os, signal, socket, sys

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    for name in sys.argv[2:]:
        importlib.import_module(name)
    assert "huggingface_hub" not in sys.modules
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
    sys.argv = ["-c", *task["words"]]
    hears = signal.default_int_handler if task["hears_ctrl_c"] else signal.SIG_IGN
    signal.signal(signal.SIGINT, hears)
    exec(task["code"], {"__name__": "__main__"})
"""


class Done(NamedTuple):
    """How a process ended."""

    status: int
    """Minus the signal that killed it, if one did."""
    out: str
    err: str


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

    def finish(self, timeout_s: float = 60.0) -> Done:
        """Wait until it ends; it is killed when the time is over."""
        killer = threading.Timer(timeout_s, os.kill, (self.pid, signal.SIGKILL))
        killer.start()
        with self._stdin, self._stdout, self._stderr:
            self._stdin.close()
            out, err = self._stdout.read(), self._stderr.read()
        status = self._server.ask(self.pid)
        killer.cancel()
        return Done(status, out, err)


class Preloaded:
    """The process that the others are forked from."""

    def __init__(self, *modules: str) -> None:
        self._door, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(_SERVER), str(theirs.fileno()), *modules],
                pass_fds=[theirs.fileno()],
            )

    def run(self, *words: str, folder: Path, env: Mapping[str, str]) -> Done:
        """Run the command `rupeebias` in `folder`."""
        return self.start(COMMAND, *words, folder=folder, env=env).finish()

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

    def ask(self, task: object, *streams: int) -> int:
        """Hand in a task, or the id of a process to wait for; return the answer."""
        socket.send_fds(self._door, [json.dumps(task).encode() + b"\n"], streams)
        answer = self._door.recv(64)
        assert answer.endswith(b"\n"), "the process that others are forked from ended"
        return int(answer)

    def close(self) -> None:
        """End the process; those forked from it have been finished."""
        self._door.close()
        self._process.wait(30)
