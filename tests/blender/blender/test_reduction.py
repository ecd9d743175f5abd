"""Where what is chosen changes, a curve jumps rather than goes through what is between."""

from __future__ import annotations

import numpy as np


def test_what_jumps_as_a_choice_changes_is_cut(addon):
    """Flip changes where a limb goes through straight, and swivel by half a turn: between the two frames both stay."""
    flip = np.arange(12)[:, None] > 5
    values = {
        "flip": flip,
        "swivel": np.pi * flip + 0.01 * np.arange(12.0)[:, None],
        "at": 0.1 * np.arange(12.0)[:, None],
    }
    thinning = addon("motion.thinning")
    rows = thinning.KeyRows(np.arange(12.0), np.arange(12))
    which, slopes = thinning.thinned(values, rows, lambda now, _: [np.tile(now["at"], 3)], 0.01)
    assert {5, 6} <= {*which.tolist()}
    assert (slopes["swivel"].cuts.tolist(), slopes["at"].cuts.tolist()) == ([5], [])
