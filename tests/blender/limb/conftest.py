"""For the tests of limbs. Nothing here imports bpy before its user folder is set."""

from __future__ import annotations

import pytest


@pytest.fixture
def tasks(addon):
    """A module of the tasks by name."""
    return lambda name: addon(f"limb.tasks.{name}")


@pytest.fixture
def add(tasks):
    """Puts IK on bones of a rig by their names; ``requests`` are options of all of them."""
    import bpy

    def make(ob, *names, target=None, pole=None, links=(1, 1), plane="AUTO", **options):
        adding = tasks("adding")
        requests = [adding.Request(ob.pose.bones[name], links, target, pole, plane) for name in names]
        return adding.add(bpy.context, requests, **options)

    return make


@pytest.fixture
def solved(addon):
    """Gives the bones of limbs the solution as their own pose: what each mode shows."""
    import bpy

    from tests.blender import rigs

    def solve(lasts):
        solving = addon("limb.solving")
        ob = lasts[0].id_data
        now = rigs.evaluated(ob)
        table = solving.table_of(ob, lasts)
        frames = solving.frames_now(table, now, solving.pose_matrices(now))
        places = solving.places(table, now, bpy.context.evaluated_depsgraph_get())
        target, pole = (solving.into_frames(frames, place) for place in places)
        found = solving.solve(table, target, pole, solving.sliders_of(table, now), solving.own_turns(table, ob))
        for row, limb in enumerate(table.limbs):
            for name, turn in zip(limb.bones, found.turns[row], strict=True):
                ob.pose.bones[name].rotation_mode = "QUATERNION"
                ob.pose.bones[name].rotation_quaternion = turn
        bpy.context.view_layer.update()
        return found

    return solve
