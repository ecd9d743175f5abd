"""What is left of a rig where making a mechanism breaks off midway: all that it was before."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.natives import FOOT, make_portable, matrices, parts
from tests.blender.rigs import LEG, frame_of, make_chain, make_empty, make_rig, put, select, update

TURNED = (0.1, 0.5, -0.3)
"""How the hip is turned, which is keyed at rest."""

STEPS = ("no bone", "one bone", "all bones", "some drivers")
"""How far a mechanism comes before it breaks off."""


def leg() -> Any:
    """A live limb with a foot, with keys and a driver on its settings, and a hip turned without a key."""
    ob = make_rig((*LEG, FOOT))
    hip = ob.pose.bones["hip"]
    hip.rotation_mode = "XYZ"
    hip.keyframe_insert("rotation_euler", frame=1)
    make_chain(ob, make_empty("target", frame_of(ob).target(0.8, 0.4)), plane="SWING", stretch=0.5)
    ob.pose.bones["shin"].driver_add("planar_ik_softness").driver.expression = "0.05"
    for frame, influence in ((1, 0.9), (11, 0.4)):
        ob.pose.bones["shin"].planar_ik_influence = influence
        ob.keyframe_insert('pose.bones["shin"].planar_ik_influence', frame=frame)
    bpy.context.scene.frame_set(3)
    put(hip, rotation_euler=TURNED)
    return ob


def break_off(monkeypatch: Any, step: str) -> None:
    """Have the making of mechanisms fail from now on."""
    build = installed.addon("addon.native.mechanism.build")
    if step == "some drivers":
        monkeypatch.setattr(build, "LONGEST", 60)
        return
    made: list[Any] = []
    name = "_finish_bone" if step == "all bones" else "_make_bone"
    make = getattr(build, name)

    def made_until(*args: Any) -> None:
        if len(made) == (0 if step == "no bone" else 1):
            raise RuntimeError("no more")
        made.append(make(*args))

    monkeypatch.setattr(build, name, made_until)


def state(ob: Any) -> Any:
    """What a rig consists of, and what of it is animated by which curves."""
    drivers = [(each.data_path, each.driver.expression) for each in ob.animation_data.drivers]
    return parts(ob), sorted(drivers), ob.pose.bones["shin"].planar_ik.runs_on, [*bpy.data.objects]


@pytest.mark.parametrize("step", STEPS)
def test_a_limb_stays_live(monkeypatch: Any, step: str) -> None:
    ob = leg()
    before, pose = state(ob), matrices(ob)
    with monkeypatch.context() as patch:
        break_off(patch, step)
        select(ob, "shin")
        with pytest.raises(RuntimeError):
            bpy.ops.pose.planar_ik_make_portable()
    update()
    assert state(ob) == before
    assert ob.mode == "POSE"
    assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)
    assert matrices(ob) == pytest.approx(pose, abs=1e-6)
    make_portable(ob)
    assert matrices(ob) == pytest.approx(pose, abs=1e-5)


@pytest.mark.parametrize("step", STEPS)
def test_a_limb_whose_rebuilding_breaks_off_is_live_again(monkeypatch: Any, step: str) -> None:
    ob = leg()
    before, pose = state(ob), matrices(ob)
    make_portable(ob)
    with monkeypatch.context() as patch:
        break_off(patch, step)
        with pytest.raises(RuntimeError):
            bpy.ops.pose.planar_ik_rebuild()
    update()
    assert state(ob) == before
    assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)
    assert matrices(ob) == pytest.approx(pose, abs=1e-6)
    bpy.context.scene.frame_set(11)
    assert ob.pose.bones["shin"].planar_ik.influence == pytest.approx(0.4)
