"""What can't be done is refused with a sentence, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.blender import rigs

from .conftest import call, select


def with_limb(**options: Any) -> None:
    assert not call("add", **options)


def with_tail_as_tip() -> None:
    """A limb below which no foot hangs."""
    ob = bpy.context.object
    rigs.activate(ob, "EDIT")
    for name in ("toe.L", "foot.L"):
        ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob)
    select("shin.L")
    with_limb()
    select("shin.L")


def constrained(kind: str, bone: str = "shin.L") -> None:
    made = bpy.context.object.pose.bones[bone].constraints.new(kind)
    if kind == "IK":
        made.target, made.subtarget, made.chain_count = bpy.context.object, "hips", 2


def empties(count: int) -> None:
    for i in range(count):
        rigs.empty(f"empty {i}").select_set(True)


def moved(bone: str) -> None:
    ob = bpy.context.object
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones[bone].use_connect = False
    rigs.activate(ob)
    ob.pose.bones[bone].location.x = 0.2
    select("shin.L")


CASES: dict[str, tuple[Callable[[], Any], str, dict[str, Any], str]] = {
    "no parent": (lambda: select("root"), "add", {}, "root"),
    "limb again": (lambda: (with_limb(), select("shin.L")), "add", {}, ""),
    "limb of thigh again": (lambda: (with_limb(), select("thigh.L")), "add", {}, "shin.L"),
    "constraint": (lambda: constrained("LIMIT_ROTATION"), "add", {}, "Limit Rotation"),
    "IK constraint": (lambda: constrained("IK"), "add", {}, "Solve Exactly"),
    "moved knee": (lambda: moved("shin.L"), "add", {}, "shin.L"),
    "rest position": (lambda: setattr(bpy.context.object.data, "pose_position", "REST"), "add", {}, "rig"),
    "three targets": (lambda: empties(3), "add", {}, ""),
    "nothing to rebuild": (lambda: with_limb(mode="LIVE"), "rebuild", {}, ""),
    "never converted": (with_limb, "unconvert", {}, ""),
    "nothing to convert": (lambda: None, "convert", {}, ""),
    "no pole": (lambda: with_limb(plane="FREE"), "select", {"role": "POLE"}, ""),
    "nothing to repair": (with_limb, "repair", {"repair": "REBUILD"}, ""),
    "nothing to mute": (with_limb, "repair", {"repair": "MUTE"}, ""),
    "range turned round": (with_limb, "snap_fk", {"use_range": True, "frame_start": 9, "frame_end": 2}, "9"),
    "bake turned round": (with_limb, "bake", {"range": "GIVEN", "frame_start": 9, "frame_end": 2}, "9"),
    "no foot": (with_tail_as_tip, "set", {"foot_follows": True}, "shin.L"),
    "angles": (with_limb, "set", {"flip": True, "min_angle": 2.0, "max_angle": 1.0}, "Knee Min"),
}
"""What is there, what is called, and what the sentence names."""


@pytest.mark.parametrize("case", CASES)
def test_refused(biped: Any, case: str) -> None:
    prepare, name, options, named = CASES[case]
    prepare()
    bpy.context.view_layer.update()
    before = rigs.snapshot()
    said = call(name, **options)
    assert "Traceback" not in said
    assert said
    assert named in said
    assert rigs.snapshot() == before


@pytest.mark.parametrize("name", ["set", "pick", "switch", "snap_fk", "snap_target", "remove", "rebuild", "bake"])
def test_polled_where_there_is_no_limb(biped: Any, name: str) -> None:
    assert not getattr(bpy.ops.pose, f"planar_ik_{name}").poll()
    select("shin.R")
    assert bpy.ops.pose.planar_ik_add.poll()


def test_mends_what_add_refuses(biped: Any) -> None:
    constrained("LIMIT_ROTATION")
    assert call("add")
    assert not call("repair", repair="MUTE")
    assert not call("add")
    assert bpy.context.object.pose.bones["shin.L"].planar_ik.reach == "REACHED"


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_mends_what_moves_a_limb(biped: Any, mode: str) -> None:
    with_limb(mode=mode)
    ob = bpy.context.object
    limit = ob.pose.bones["shin.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    bpy.context.view_layer.update()
    assert ob.pose.bones["shin.L"].planar_ik.reach == "INVALID"
    assert not call("repair", repair="MUTE")
    assert ob.pose.bones["shin.L"].planar_ik.reach == "REACHED"
    assert limit.mute
