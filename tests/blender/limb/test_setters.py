"""What is set by scripts is checked as Add checks it, before anything is written."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

REFUSED = RuntimeError

WRONG: tuple[tuple[str, str, Any, type[Exception], str], ...] = (
    ("shin.L", "target", "held", REFUSED, "'held' moves with this limb: it can't be its target"),
    ("shin.L", "pole_target", "held", REFUSED, "'held' moves with this limb"),
    ("shin.L", "target", "copying", REFUSED, "'copying' moves with this limb"),
    ("shin.R", "target", "held", REFUSED, "'held' moves with this limb"),
    ("shin.L", "subtarget", "thigh.L", REFUSED, "'thigh.L' moves with this limb"),
    ("shin.L", "subtarget", "toe.L", REFUSED, "'toe.L' moves with this limb"),
    ("shin.L", "subtarget", "foot_ikk.L", REFUSED, "'rig' has no bone 'foot_ikk.L'"),
    ("shin.L", "subtarget", "", REFUSED, "'rig' carries the limb: pick one of its bones"),
    ("shin.L", "pole_subtarget", "foot_ik.L", REFUSED, "'shin.L' has no pole_target"),
    ("toe.R", "subtarget", "foot_ik.L", REFUSED, "'to toes' has no bone 'foot_ik.L'"),
    ("shin.L", "target", 3, TypeError, "not int"),
    ("shin.L", "target", b"rig", TypeError, "not bytes"),
    ("shin.L", "pole_target", 0.5, TypeError, "not float"),
    ("shin.L", "subtarget", None, TypeError, "not NoneType"),
    ("shin.L", "influence", 1.5, ValueError, "from 0 to 1, not 1.5"),
    ("shin.L", "influence", "1", TypeError, "not str"),
    ("shin.L", "influence", math.nan, ValueError, "from 0 to 1, not nan"),
    ("shin.L", "swivel", math.inf, ValueError, "from -40 to 40, not inf"),
    ("shin.L", "swivel", -41, ValueError, "from -40 to 40, not -41"),
    ("shin.L", "flip", 2, ValueError, "True or False, not 2"),
    ("shin.L", "flip", "yes", TypeError, "not str"),
    ("shin.L", "softness", -0.1, ValueError, "from 0 to 1"),
    ("shin.L", "softness", None, TypeError, "not NoneType"),
    ("shin.L", "stretch", 1.1, ValueError, "from 0 to 1"),
    ("shin.L", "stretch_max", 0.9, ValueError, "from 1 to 100"),
    ("shin.L", "min_angle", -0.1, ValueError, "from 0 to 3.14159"),
    ("shin.L", "max_angle", 4.0, ValueError, "from 0 to 3.14159"),
    ("shin.L", "max_angle", [1.0], TypeError, "not list"),
    ("shin.L", "plane", "HINGES", TypeError, "one of HINGE, FREE, POLE, SLIDE, not 'HINGES'"),
    ("shin.L", "plane", 1, TypeError, "int"),
    ("shin.L", "tip", "TOE", TypeError, "one of FOOT, TAIL, not 'TOE'"),
    ("shin.L", "stretch_volume", None, TypeError, "NoneType"),
    ("shin.L", "twist", 0.2, TypeError, "2 numbers, not float"),
    ("shin.L", "twist", (0.2,), ValueError, "2 numbers, a bone each, not 1"),
    ("shin.L", "twist", (0.2, math.nan), ValueError, "from -40 to 40, not nan"),
    ("shin.L", "ankle", 0.2, REFUSED, "'shin.L' has two bones"),
    ("shin.L", "chain_count", 1, ValueError, "from 2 to 4, not 1"),
    ("shin.L", "chain_count", 2.5, TypeError, "not float"),
    ("shin.L", "chain_count", 4, REFUSED, "'foot_ik.L' moves with this limb"),
    ("toe.R", "chain_count", 3, REFUSED, "'shin.R' is part of the limb of 'shin.R'"),
    ("toe.L", "chain_count", 3, REFUSED, "'shin.L' is part of the limb of 'shin.L'"),
    ("shin.L", "enabled", "no", TypeError, "not str"),
    ("root", "enabled", True, REFUSED, "has no parent to bend against"),
    ("forearm.R", "enabled", True, REFUSED, "'Copy Rotation' on 'upper_arm.R' conflicts with IK"),
    ("forearm.R", "target", "goal", REFUSED, "'Copy Rotation' on 'upper_arm.R' conflicts with IK"),
    ("forearm.L", "target", "on hand", REFUSED, "'on hand' moves with this limb"),
    ("forearm.L", "softness", 0.0, REFUSED, "'forearm.L' has no IK, so it has no softness: set enabled, target or"),
    ("forearm.L", "influence", 1.0, REFUSED, "'forearm.L' has no IK"),
    ("forearm.L", "plane", "FREE", REFUSED, "'forearm.L' has no IK"),
    ("forearm.L", "max_angle", 3.0, REFUSED, "'forearm.L' has no IK"),
    ("forearm.L", "pole_target", "goal", REFUSED, "'forearm.L' has no IK"),
    ("forearm.L", "subtarget", "foot_ik.L", REFUSED, "'forearm.L' has no IK"),
    ("shin.L", "softnes", 0.1, AttributeError, "softnes"),
    ("shin.L", "mode", "BOTH", TypeError, "one of RIG, LIVE, not 'BOTH'"),
    ("forearm.L", "mode", "RIG", REFUSED, "'forearm.L' has no IK"),
)
"""The bone, the setting, its value (the name of an object for one), and what is raised."""


def with_control(ob: Any, name: str, place: Any) -> None:
    """A bone below the root, to be followed."""
    bpy.ops.object.mode_set(mode="EDIT")
    made = ob.data.edit_bones.new(name)
    made.head, made.tail = place, Vector(place) + Vector((0.0, -0.1, 0.0))
    made.parent = ob.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="POSE")


def scene(addon: Any, mode: str) -> Any:
    """A biped with limbs made by a script, and what must not be followed."""
    ob = rigs.biped()
    with_control(ob, "foot_ik.L", ob.data.bones["foot.L"].head_local)
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.target, limb.subtarget = ob, "foot_ik.L"
    ob.pose.bones["toe.R"].planar_ik.target = rigs.empty("to toes")
    ob.pose.bones["shin.R"].planar_ik.enabled = True
    held = rigs.empty("held", parent=ob, bone="shin.L")
    rigs.empty("copying").constraints.new("COPY_LOCATION").target = held
    held.constraints.new("COPY_LOCATION").target = ob
    held.constraints[0].subtarget, held.constraints[0].mute = "foot.R", True
    rigs.empty("on hand", parent=ob, bone="hand.L")
    rigs.empty("goal")
    ob.pose.bones["upper_arm.R"].constraints.new("COPY_ROTATION").target = bpy.data.objects["goal"]
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["shin.L"]])
    rigs.activate(ob)
    return ob


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_what_is_wrong_is_raised_and_changes_nothing(addon, mode):
    ob = scene(addon, mode)
    before = snapshot()
    for bone, name, value, kind, sentence in WRONG:
        given = bpy.data.objects[value] if name in ("target", "pole_target") and isinstance(value, str) else value
        with pytest.raises(kind) as raised:
            setattr(ob.pose.bones[bone].planar_ik, name, given)
        assert sentence in str(raised.value), (bone, name, value)
        assert not differences(before, snapshot()), (bone, name, value)


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_what_is_right_is_taken(addon, mode):
    ob = scene(addon, mode)
    goal = bpy.data.objects["goal"]
    for name, value, after in (
        ("max_angle", float(np.float32(math.pi)), math.pi),
        ("influence", np.float32(0.5), 0.5),
        ("flip", 1, True),
        ("swivel", -40, -40.0),
        ("softness", np.float64(0.25), 0.25),
        ("pole_target", goal, goal),
        ("plane", "FREE", "FREE"),
        ("mode", "RIG", "RIG"),
        ("mode", "LIVE", "LIVE"),
        ("mode", mode, mode),
        ("pole_target", None, None),
        ("target", goal, goal),
        ("subtarget", "", ""),
        ("target", ob, ob),
        ("subtarget", "foot_ik.L", "foot_ik.L"),
        ("target", ob, ob),
    ):
        setattr(ob.pose.bones["shin.L"].planar_ik, name, value)
        assert getattr(ob.pose.bones["shin.L"].planar_ik, name) == after, name
    limb = ob.pose.bones["shin.L"].planar_ik
    assert (limb.subtarget, limb.mode) == ("foot_ik.L", mode)


def test_the_name_of_a_bone_stays_where_the_object_has_one(addon):
    ob = scene(addon, "LIVE")
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.target = bpy.data.objects["goal"]
    assert (limb.subtarget, limb.message) == ("", limb.status.message)
    limb.target = ob
    assert limb.message == "The control 'foot_ik.L' is gone: make it anew"
    limb.subtarget = "foot_ik.L"
    limb.pole_target = ob
    assert limb.message == "The control 'knee_pole.L' is gone: make it anew"
    limb.pole_target = None
    ob.pose.bones["shin.L"].constraints["Planar IK"].subtarget = "foot_ikk.L"
    bpy.context.view_layer.update()
    assert limb.message == "'rig' has no bone 'foot_ikk.L': pick another target"


def test_nothing_is_no_target_of_a_bone_that_is_no_limb():
    ob = rigs.biped()
    for bone in ob.pose.bones:
        bone.planar_ik.target, bone.planar_ik.enabled = None, False
        assert not bone.planar_ik.enabled


def test_as_many_bones_as_it_has_are_no_change(addon, add):
    ob = rigs.random_limb(random.Random(1), straight=True, twist=True)
    last = add(ob, "lower", segments=(2, 1), knee="FREE")[0]
    before = snapshot()
    last.planar_ik.chain_count = last.planar_ik.chain_count
    assert not differences(before, snapshot())


HIP, FOLDED = Vector((0.1, 0.0, 1.0)), Vector((0.13, 0.05, 0.42))


def straight(rng: random.Random, count: int, toes: Vector) -> Any:
    """A leg of so many bones in line below hips, of any rolls, whose toes point anywhere; and a control at its tip."""
    places = [HIP - Vector((0.0, 0.0, 0.9 * k / count)) for k in range(count + 1)]
    names = [f"leg.{k}" for k in range(count - 1)] + ["last"]
    bones = {"root": ((0, 0, 0), (0, 0.3, 0), ""), "hips": ((0, 0, 1), (0, 0, 1.1), "root")}
    for k, name in enumerate(names):
        bones[name] = (places[k][:], places[k + 1][:], names[k - 1] if k else "hips")
    bones["foot"] = (places[-1][:], (places[-1] + 0.15 * toes)[:], "last")
    ob = rigs.rig(bones, {name: rng.uniform(-3, 3) for name in names})
    with_control(ob, "foot_ik", places[-1])
    return ob


def joints_at(ob: Any, place: Vector) -> np.ndarray:
    rigs.put(ob.pose.bones["foot_ik"], place)
    bones = [bone.name for bone in ob.pose.bones if bone.name.startswith("leg")]
    return rigs.matrices(ob, [*bones, "last", "foot"])[:, :3, 3]


def by_target(ob: Any, limb: Any, count: int) -> None:
    limb.target, limb.subtarget = ob, "foot_ik"
    limb.chain_count = count


def by_count(ob: Any, limb: Any, count: int) -> None:
    limb.chain_count = count
    limb.target, limb.subtarget = ob, "foot_ik"


def by_enabled(ob: Any, limb: Any, count: int) -> None:
    limb.enabled = True
    by_target(ob, limb, count)


@pytest.mark.parametrize("made", [by_target, by_count, by_enabled])
@pytest.mark.parametrize("count", [2, 3])
def test_a_straight_leg_bends_as_add_bends_it(add, made, count):
    for seed in range(4):
        rng = random.Random(seed)
        toes = Vector((rng.uniform(-1, 1), rng.uniform(-1, 1), 0.0)).normalized()
        state = rng.getstate()
        ob = straight(rng, count, toes)
        made(ob, ob.pose.bones["last"].planar_ik, count)
        ob.pose.bones["last"].planar_ik.plane = "FREE"
        by_script = joints_at(ob, FOLDED)
        rng.setstate(state)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = straight(rng, count, toes)
        add(ob, "last", target=(ob, "foot_ik"), segments=(1,) * count, plane="FREE", foot=False)
        assert np.abs(by_script - joints_at(ob, FOLDED)).max() < 1e-5
        assert np.abs(by_script[-1] - np.array(FOLDED)).max() < 1e-5
        if count == 2:
            assert np.abs(by_script[1] - np.array(knee_to(toes))).max() < 1e-5
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def knee_to(toes: Vector) -> Vector:
    """Where the knee is of two bones of 0.45 whose tip is at `FOLDED`: on the side of the toes, in the plane of leg and
    toes swung the shortest way."""
    line, down = FOLDED - HIP, Vector((0.0, 0.0, -1.0))
    aside = down.rotation_difference(line) @ toes
    return HIP + 0.5 * line + math.sqrt(0.45**2 - 0.25 * line.length_squared) * aside.normalized()


def test_a_flat_rig_bends_as_add_bends_it(add):
    def knees(make: Any) -> np.ndarray:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = rigs.puppet()
        target = rigs.empty("to foot")
        make(ob, target)
        target.location = (0.05, 0.0, 0.4)
        return rigs.matrices(ob, ["thigh", "shin", "foot"])[:, :3, 3]

    by_script = knees(lambda ob, target: setattr(ob.pose.bones["shin"].planar_ik, "target", target))
    by_add = knees(lambda ob, target: add(ob, "shin", target=(target, ""), foot=False))
    assert np.abs(by_script - by_add).max() < 1e-5
    assert by_script[1, 0] > 0.1  # to the toes
