"""A limb whose influence a driver says, from a slider of the rig, is baked as well: each frame looks as before."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import FRAMES, bake, curves, seen, walker
from tests.blender.test_libraries import overridden, saved

IN = range(4, 9)
"""Frames that are baked."""


SLIDER = 'pose.bones["root"]["IK_FK"]'


def drive(last: Any, path: str = SLIDER, expression: str = "slider") -> Any:
    """Let something say a limb's influence."""
    curve = last.driver_add('["IK Influence"]')
    variable = curve.driver.variables.new()
    variable.name = "slider"
    variable.targets[0].id, variable.targets[0].data_path = last.id_data, path
    curve.driver.expression = expression
    return curve


def keyed(last: Any) -> None:
    """A slider with keys, of which some are far outside of the baked frames, and outside of the scene's."""
    root = last.id_data.pose.bones["root"]
    for frame, value in ((-1, 1.0), (2, 0.0), (6, 1.0), (9, 1.0), (20, 0.3)):
        root["IK_FK"] = value
        root.keyframe_insert('["IK_FK"]', frame=frame)
    for key in next(curve for curve in rigs.curves(last.id_data) if curve.data_path == SLIDER).keyframe_points:
        key.interpolation = "LINEAR"
    drive(last)


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("how", ["remove", "for_game"])
def test_a_limb_that_goes_takes_its_driver_along(addon, mode, how):
    last = walker(addon, mode)
    ob = last.id_data
    keyed(last)
    before = seen(ob, frames=IN)
    bake(addon, last, frames=IN, **{how: True})
    np.testing.assert_allclose(seen(ob, frames=IN), before, atol=2e-5)
    assert not [curve for curve in ob.animation_data.drivers if "IK Influence" in curve.data_path]


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_a_part_is_refused(addon, mode):
    """Outside of it, nothing would say the influence any more."""
    last = walker(addon, mode)
    keyed(last)
    keys = curves(addon, last.id_data)
    with pytest.raises(addon("blender.types").Refused, match="bake all frames, -1 to"):
        bake(addon, last, frames=IN)
    assert curves(addon, last.id_data) == keys
    assert not any(curve.mute for curve in last.id_data.animation_data.drivers)
    before = seen(last.id_data, frames=FRAMES)
    bake(addon, last, frames=range(-1, max(20, bpy.context.scene.frame_end) + 1))
    np.testing.assert_allclose(seen(last.id_data, frames=FRAMES), before, atol=2e-5)


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_of_a_library(addon, tmp_path, mode):
    """The driver is muted on the override, which keeps that in its file."""
    ob = rigs.biped()
    adding = addon("tasks.adding")
    lasts = adding.add(bpy.context, [adding.LimbRequest(ob.pose.bones["shin.L"])]).limbs
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, lasts)
    drive(ob.pose.bones["shin.L"], 'pose.bones["hand.R"].location[0]', "1 - slider")
    (ob,) = overridden(saved(ob, tmp_path))
    for frame, x in ((1, 0.0), (6, 1.0), (14, 0.2)):
        for name in ("hand.R", "foot_ik.L"):
            ob.pose.bones[name].location = (x, 0.2 * x, 0.0)
            ob.pose.bones[name].keyframe_insert("location", frame=frame)
    before = seen(ob, frames=FRAMES)
    bake(addon, ob.pose.bones["shin.L"], frames=range(1, bpy.context.scene.frame_end + 1))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    (ob,) = [each for each in bpy.data.objects if each.override_library and each.type == "ARMATURE"]
    np.testing.assert_allclose(seen(ob, frames=FRAMES), before, atol=5e-5)
