"""Hold: where tips are in the world, evaluated, while they are held, and everywhere else."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts import capture
from tests.blender import rigs

FRAMES = range(1, capture.FRAMES + 1)


def paths(ob, side):
    """The leg's joints in the world and the axes of its foot in every frame, (frames, 6, 3)."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(ob)
        places = [now.matrix_world @ now.pose.bones[f"{name}{side}"].head for name in ("thigh", "shin", "foot")]
        rows.append([*places, *(now.matrix_world @ now.pose.bones[f"foot{side}"].matrix).to_3x3().transposed()])
    return np.array(rows)


def size(path):
    return np.linalg.norm(np.diff(path[0, :3], axis=0), axis=1).sum()


@pytest.fixture
def walker():
    """The capture that drifts, with IK on its legs again."""
    rig = capture.build()
    capture.spoil(rig)
    capture.add_legs(rig)
    return rig


def test_contacts_of_a_walk_are_found(tasks, walker):
    lasts = [walker.pose.bones[f"shin{side}"] for side in capture.BEGINS]
    listed = tasks("contact_markers").find_contacts(bpy.context, lasts, FRAMES)
    for side, contacts in zip(capture.BEGINS, listed, strict=True):
        print(contacts.spans, contacts.slides, capture.contacts(side))


def test_hold(tasks, walker):
    import time

    lasts = [walker.pose.bones[f"shin{side}"] for side in capture.BEGINS]
    before = [paths(walker, side) for side in capture.BEGINS]
    spans = [[tasks("contacts").Span(*each) for each in capture.contacts(side)] for side in capture.BEGINS]
    t = time.time()
    report = tasks("holding").hold(bpy.context, lasts, spans, 3, True)
    print(time.time() - t, report.slide, [*map(str, report.warnings)])
    for side, was, ranges in zip(capture.BEGINS, before, spans, strict=True):
        now = paths(walker, side)
        moved = np.linalg.norm(now - was, axis=-1).max(axis=1)
        print(np.flatnonzero(moved > 1e-5) + 1)
        for span in ranges:
            part = now[span.first - 1 : span.last]
            print(span, np.abs(part[:, 2:] - part[0, 2:]).max() / size(now))
    for curve in rigs.curves(walker):
        if "target" in curve.data_path:
            print(curve.data_path, curve.array_index, len(curve.keyframe_points))
