"""Runs the program again and again without starting Blender each time: a fork for each request, a line of JSON.

A request holds the program's ``words``, and if wanted the ``cwd``, the ``env``, files for its ``stdout`` and
``stderr``, and what the program lacks: what root may do (``unprivileged``), who reads its answers (``unread``), space
on the disk for more than so many bytes of a file (``space``). Each is answered with the number of the new process, and
the line after it, when that process has ended, with its exit status. Blender has started and has done nothing when it
is forked, so that no thread of it is lost.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NoReturn

sys.path.insert(0, os.getcwd())

from scripts.bake import program


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What Blender and the program print is no part of the answers.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder
        main = program().main
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                run(main, json.loads(line))
            print(child, file=answers, flush=True)
            sys.stdin.readline()
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
    os._exit(0)


def run(main: Callable[[list[str]], int], request: dict[str, Any]) -> NoReturn:
    """Be the process that was asked for."""
    os.environ.update(request.get("env", {}))
    os.chdir(request.get("cwd", "."))
    if request.get("unprivileged"):
        give_up_privileges()
    if "space" in request:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["space"], request["space"]))
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(request.get(name, os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    if request.get("unread"):
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    status = main(request["words"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def give_up_privileges() -> None:
    """Folders are closed for this process, also if it is root's."""
    libc, header, sets = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    sets[0] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.capset(header, sets):
        raise OSError("privileges can't be given up")


serve()
