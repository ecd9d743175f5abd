"""Runs the program again and again without starting Blender each time: a fork for each line of arguments (JSON).

Answers each such line with the number of the new process, and the line after it, when that process has ended, with its
exit status. Blender has started and has done nothing when it is forked, so that no thread of it is lost.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

sys.path.insert(0, os.getcwd())

from scripts.bake import program


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What Blender and the program print is no part of the answers.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder
        run = program().main
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                os._exit(run(json.loads(line)))
            print(child, file=answers, flush=True)
            sys.stdin.readline()
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
    os._exit(0)


main()
