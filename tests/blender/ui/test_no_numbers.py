"""Bones scaled to nothing, or that are not numbers: whatever is done to them is done, or refused with a sentence."""

from __future__ import annotations

from math import inf, nan

import bpy
import numpy as np
import pytest

from tests.blender import rigs

from .conftest import call, select

pytestmark = pytest.mark.dear

BAD = {
    "last bone scaled to nothing": ("shin.L", "scale", (0, 0, 0)),
    "first bone scaled to nothing": ("thigh.L", "scale", (0, 0, 0)),
    "first bone flat": ("thigh.L", "scale", (1, 0, 1)),
    "parent scaled to nothing": ("hips", "scale", (0, 0, 0)),
    "parent flat": ("hips", "scale", (0, 1, 1)),
    "foot scaled to nothing": ("foot.L", "scale", (0, 0, 0)),
    "place of the parent is none": ("hips", "location", (nan, 0, 0)),
    "place of the parent is infinite": ("hips", "location", (inf, 0, 0)),
    "turn of the first bone is none": ("thigh.L", "rotation_quaternion", (nan, 0, 0, 0)),
    "turn of the last bone is none": ("shin.L", "rotation_quaternion", (nan, nan, 0, 0)),
    "scale of the parent is none": ("hips", "scale", (nan, 1, 1)),
    "scale is infinite": ("thigh.L", "scale", (inf, 1, 1)),
    "rig scaled to nothing": ("", "scale", (0, 0, 0)),
    "rig flat": ("", "scale", (1, 0, 1)),
    "rig is nowhere": ("", "location", (nan, 0, 0)),
}  # fmt: skip
"""What is set to what: of a bone, or of the rig."""

CALLS = {
    "convert": {}, "add": {}, "switch": {}, "snap_target": {}, "snap_fk": {}, "mirror": {},
    "set": {"flip": True, "plane": "POLE", "mode": "LIVE"}, "pick": {"role": "TARGET", "followed": "\n"},
    "rebuild": {}, "bake": {"range": "GIVEN", "frame_start": 1, "frame_end": 3}, "unconvert": {}, "remove": {},
}  # fmt: skip


def spoil(ob, how):
    bone, channel, value = BAD[how]
    setattr(ob.pose.bones[bone] if bone else ob, channel, value)
    bpy.context.view_layer.update()


def constrained(ob):
    made = ob.pose.bones["shin.L"].constraints.new("IK")
    made.target, made.chain_count = rigs.empty("ik", (0.15, -0.1, 0.2)), 2
    bpy.context.view_layer.update()


MODES = ("IK", "LIVE", "RIG")


@pytest.mark.parametrize(("how", "mode"), [(how, MODES[k % 3]) for k, how in enumerate(BAD)])
def test_nothing_but_sentences(how, mode, capfd):
    ob = rigs.biped()
    select("shin.L")
    if mode == "IK":
        constrained(ob)
    else:
        assert not call("add", mode=mode)
        select("shin.L")
    spoil(ob, how)
    limb = ob.pose.bones["shin.L"].planar_ik
    assert isinstance(limb.message, str)
    for name, options in CALLS.items():
        said = call(name, **options)
        assert "Traceback" not in said, (name, said)
        assert isinstance(ob.pose.bones["shin.L"].planar_ik.message, str)
        bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("how", [how for how in BAD if "foot" not in how])
def test_convert_and_add_refuse(how):
    ob = rigs.biped()
    select("shin.L")
    spoil(ob, how)
    for said in (call("add"), (constrained(ob), call("convert"))[1]):
        assert "Traceback" not in said, said
        assert any(word in said for word in ("number", "is scaled", "stretched")), said
    assert len(ob.pose.bones["shin.L"].constraints) == 1
    assert not np.any([c.mute for c in ob.pose.bones["shin.L"].constraints])
