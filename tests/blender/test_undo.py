"""After an undo, Blender does not renew what it does not show: nobody looks at that until it is shown, and then it is
posed."""

from __future__ import annotations

import os
import subprocess
import sys

from scripts.package import ROOT


def test_undo_beside_what_is_not_shown():
    fills_freed_memory = {"MALLOC_PERTURB_": "165"}  # so that whoever reads of it does not get what was there
    environment = {**os.environ, **fills_freed_memory, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "tests.blender.undoing"]
    done = subprocess.run(words, env=environment, cwd=ROOT, check=False, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-3000:]
