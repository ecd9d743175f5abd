"""A limb some bones of which were deleted says which, and nothing that is done to it raises anything but a sentence."""

from __future__ import annotations

import random
from argparse import Namespace
from contextlib import suppress

import bpy
import pytest

from tests.blender import legs, rigs

from .conftest import call, select

CALLS = {
    "switch": {}, "snap_target": {}, "snap_fk": {"use_range": True, "frame_start": 1, "frame_end": 3}, "mirror": {},
    "rebuild": {}, "set": {"plane": "HINGE"}, "bake": {},
    "unconvert": {}, "add": {}, "repair": {"repair": "REBUILD"},
}  # fmt: skip

SETTINGS = {"plane": "HINGE", "max_angle": 2.0, "stretch": 0.5, "softness": 0.1, "pole_target": None, "swivel": 1.0}


def broken(addon, mode, count):
    """A limb of so many bones whose upper ones are gone, with another limb beside it."""
    ob = rigs.random_limb(random.Random(count), count=count)
    other = legs.live_leg("other")
    rigs.activate(ob)
    select("lower")
    assert not call("add", mode=mode, bones=str(count))
    rigs.activate(ob, "EDIT")
    for name in ("root", "body", "upper", "middle.1")[: count + 1]:
        if name in ob.data.edit_bones:
            ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob)
    bpy.context.view_layer.update()
    select("lower")
    return ob.pose.bones["lower"], other


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_it_says_so(addon, mode, count, capfd):
    last, other = broken(addon, mode, count)
    bpy.context.scene.frame_set(3)
    limb = last.planar_ik
    top = last.parent or last
    assert limb.reach == "INVALID"
    assert top.name in limb.message
    assert "missing" in limb.message
    panel, figure = addon("ui.panel"), addon("tasks.status")
    assert panel.VIEW3D_PT_planar_ik.poll(bpy.context)
    assert panel.repairs_for(last, limb.status) == ["LEFT"]
    assert figure.figure(last, bpy.context.evaluated_depsgraph_get()) == []
    assert legs.off(other) < 1e-5
    for name, options in CALLS.items():
        before = rigs.snapshot()
        said = call(name, **options)
        assert said, name
        assert "Traceback" not in said, said
        assert rigs.snapshot() == before, name
    for name, value in SETTINGS.items():
        with suppress(addon("blender.types").Refused):
            setattr(limb, name, value)
    bpy.context.scene.frame_set(4)
    assert not call("repair", repair="LEFT")
    assert not bpy.context.object.pose.bones["lower"].planar_ik.enabled
    assert not [bone for bone in bpy.context.object.data.bones if bone.name.startswith("MCH-")]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.names_nothing  # what is deleted here
def test_report_says_so(addon):
    last, _ = broken(addon, "LIVE", 2)
    arguments = Namespace(frames=(1, 2), step=1.0, max_miss=None, object="*", bone=last.name)
    lines = addon("cli.verbs").RUN["report"](arguments).lines
    assert "missing" in lines[0]["problem"]
    assert lines[0]["reach"] == [{"from": 1.0, "to": 2.0, "is": "INVALID"}]
