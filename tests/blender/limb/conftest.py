"""For the tests of limbs. Nothing here imports bpy before its user folder is set."""

from __future__ import annotations

import pytest


@pytest.fixture
def add(addon):
    """Puts IK on bones of a rig by their names; ``requests`` are options of all of them."""
    import bpy

    def make(ob, *names, target=None, pole=None, segments=(1, 1), plane="AUTO", **options):
        adding = addon("tasks.adding")
        requests = [adding.LimbRequest(ob.pose.bones[name], segments, target, pole, plane) for name in names]
        return adding.add(bpy.context, requests, **options).limbs

    return make


@pytest.fixture
def solved(addon):
    """Gives the bones of limbs the solution as their own pose: what each mode shows."""
    import bpy

    def solve(lasts):
        solving = addon("limb.solving")
        ob = lasts[0].id_data
        now = solving.limbs_now(ob, lasts, bpy.context.evaluated_depsgraph_get())
        found = solving.solve(now.table, now.target, now.pole, now.sliders, now.own)
        for row, limb in enumerate(now.table.limbs):
            for name, turn in zip(limb.bones, found.turns[row], strict=True):
                ob.pose.bones[name].rotation_mode = "QUATERNION"
                ob.pose.bones[name].rotation_quaternion = turn
        bpy.context.view_layer.update()
        return found

    return solve
