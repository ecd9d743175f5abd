"""Limbs whose bones lie beside each other along the axis that they turn about, as those of excavators and cut-out
puppets do: they bend in the plane square to it, and what lies beside it rides along."""

from __future__ import annotations

import random
from math import cos, sin
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import rigs

DEEP = 0.3
"""How far apart layers are at most, as a part of the limb."""


class Layered:
    """A rig of ``count`` bones along a random axis, each in a layer of its own, on a base in the same plane; what is
    looked at is seen from along the axis: joints as complex numbers, depths, and how bones are turned."""

    def __init__(self, rng: random.Random, count: int, locks: bool = False, is_straight: bool = False) -> None:
        self.axes = Quaternion(rng.choices([-1.0, 0.3, 0.7], k=4)).normalized().to_matrix()
        self.names = [f"bone.{k}" for k in range(count)]
        heading = rng.uniform(-1.2, 4.3)  # not against the base, where Blender is not exact
        at, bones = complex(0.2, 0.1), {"base": (-0.4j, 0.1j, 0.0, "")}
        for k, name in enumerate(self.names):
            heading += 0.0 if is_straight or not k else rng.uniform(0.3, 0.9) * (-1.0) ** k
            end = at + rng.uniform(0.5, 1.0) * complex(cos(heading), sin(heading))
            bones[name] = (at, end, rng.uniform(-DEEP, DEEP), self.names[k - 1] if k else "base")
            at = end
        bones["root"] = (0j, 0j, 0.0, "")
        places = {
            name: (self.place(head, deep), self.place(end, deep), above)
            for name, (head, end, deep, above) in bones.items()
        }
        places["root"] = ((0, 0, 0), (self.axes @ Vector((0, 0, 0.3)))[:], "")  # which decides nothing
        self.ob = rigs.rig(places, {name: rng.uniform(-3.0, 3.0) for name in bones} if not locks else None)
        if locks:
            self._turn_rolls()
        self.size = sum(self.ob.data.bones[name].length for name in self.names)

    def place(self, at: complex, deep: float) -> tuple[float, ...]:
        """A place in the armature."""
        return (self.axes @ Vector((at.real, at.imag, deep)))[:]

    def _turn_rolls(self) -> None:
        """Have X of bones be the axis, and lock the others."""
        rigs.activate(self.ob, "EDIT")
        for name in self.names:
            bone = self.ob.data.edit_bones[name]
            bone.align_roll(Vector(bone.y_axis).cross(self.axes.col[2]))
        rigs.activate(self.ob)
        for name in self.names:
            bone = self.ob.pose.bones[name]
            bone.lock_ik_y = bone.lock_ik_z = True
            assert abs(bone.bone.matrix_local.to_3x3().col[0].dot(self.axes.col[2])) > 1.0 - 1e-6

    def seen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where bones begin, and the last one ends, as complex numbers; how deep that is; and how far bones are tilted
        out of the plane as sines of three axes."""
        matrices = rigs.matrices(self.ob, self.names)
        tail = matrices[-1] @ [0.0, self.ob.data.bones[self.names[-1]].length, 0.0, 1.0]
        ends = np.array([*matrices[:, :3, 3], tail[:3]]) @ np.array(self.axes)
        return ends[:, 0] + 1j * ends[:, 1], ends[:, 2], np.array(self.axes.col[2]) @ matrices[:, :3, :3]

    def check(self, target: Any, rest: Any, why: Any) -> None:
        """All joints at the depths and bones tilted as at rest, and of its length; the tip on its target."""
        joints, deep, tilted = self.seen()
        along = np.abs(np.diff(joints))
        goal = np.array(self.axes).T @ rigs.place(self.ob, target)
        assert abs(joints[-1] - complex(*goal[:2])) < 1e-5 * self.size, why
        assert np.abs(deep - rest[1]).max() < 1e-6 * max(self.size, 1.0) + 1e-6, why
        assert np.abs(tilted - rest[2]).max() < 3e-6, why
        assert np.abs(along - np.abs(np.diff(rest[0]))).max() < 5e-6, why


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_in_layers_of_any_depth(count: int, mode: str) -> None:
    """Added, posed with the control anywhere along the axis, with softness, and baked."""
    for seed in range(6):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rng = random.Random(f"{seed} {count}")
        made = Layered(rng, count, is_straight=seed == 5)
        rest, ob = made.seen(), made.ob
        rigs.click(ob, *made.names)
        assert bpy.ops.pose.planar_ik_add(mode=mode) == {"FINISHED"}
        limb = ob.pose.bones[made.names[-1]].planar_ik
        assert (limb.plane, limb.pole_target, limb.message) == ("HINGE", None, "On target")
        assert np.abs(made.seen()[0] - rest[0]).max() < 2e-5
        control, bpy.context.scene.frame_end = limb.subtarget, 4
        for frame in range(1, 5):
            part = rng.uniform(0.35 if count == 2 else 0.6, 0.95) * abs(rest[0][-1] - rest[0][0])
            way = rest[0][0] + part * complex(cos(frame), sin(frame))
            rigs.put(ob.pose.bones[control], ob.matrix_world @ Vector(made.place(way, rng.uniform(-1.0, 1.0))))
            ob.pose.bones[control].keyframe_insert("location", frame=frame)
            bpy.context.view_layer.update()
            assert limb.message == "On target", (seed, frame)
            made.check(control, rest, (seed, frame))
        assert bpy.ops.pose.planar_ik_bake() == {"FINISHED"}
        for frame in range(1, 5):
            bpy.context.scene.frame_set(frame)
            made.check(control, rest, (seed, frame, "baked"))


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_solve_exactly_of_locked_axes(mode: str) -> None:
    """Blender's IK with two axes locked stays in the same plane: joints are where it had them, to what it is exact by;
    the tip is on its target."""
    for seed in range(4):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rng = random.Random(seed)
        made = Layered(rng, 2, locks=True)
        rest, ob = made.seen(), made.ob
        way = rest[0][0] + 0.8 * (rest[0][-1] - rest[0][0]) * complex(cos(0.4), sin(0.4))
        goal = rigs.empty("goal", made.place(way, rest[1][-1]))
        constraint = ob.pose.bones[made.names[-1]].constraints.new("IK")
        constraint.target, constraint.chain_count, constraint.iterations = goal, 2, 500
        before = made.seen()
        rigs.click(ob, made.names[-1])
        assert bpy.ops.pose.planar_ik_convert(mode=mode) == {"FINISHED"}
        joints, deep, tilted = made.seen()
        assert ob.pose.bones[made.names[-1]].planar_ik.plane == "HINGE"
        assert np.abs(joints - before[0]).max() < 1e-4
        assert abs(joints[-1] - way) < 1e-5 * made.size, seed
        assert np.abs(deep - rest[1]).max() < 3e-6
        assert np.abs(tilted - rest[2]).max() < 3e-6


def test_depth_that_is_keyed_rides_along() -> None:
    """The location of a first bone along the axis moves all of the limb there, and nothing in the plane."""
    for mode in ("RIG", "LIVE"):
        made = Layered(random.Random(3), 3)
        rest, ob = made.seen(), made.ob
        first = ob.pose.bones[made.names[0]]
        own = first.bone.matrix_local.to_3x3().inverted() @ made.axes.col[2]
        for frame, deep in ((1, 0.0), (2, 0.4)):
            first.location = own * deep
            first.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_set(1)
        rigs.click(ob, *made.names)
        assert bpy.ops.pose.planar_ik_add(mode=mode) == {"FINISHED"}
        bpy.context.scene.frame_set(2)
        joints, deep, _ = made.seen()
        assert np.abs(joints - rest[0]).max() < 2e-5
        assert np.abs(deep - rest[1] - 0.4).max() < 1e-5


@pytest.mark.parametrize("influence", [1.0, 0.4])
def test_rig_and_live_show_the_same_of_bones_that_are_scaled_or_moved(influence: float) -> None:
    shown = []
    for mode in ("RIG", "LIVE"):
        made = Layered(random.Random(1), 3)
        rigs.click(made.ob, *made.names)
        assert bpy.ops.pose.planar_ik_add(mode=mode) == {"FINISHED"}
        pose = made.ob.pose.bones
        pose[made.names[-1]]["IK Influence"] = influence
        pose[made.names[0]].scale = 1.0, 1.4, 0.9
        pose[made.names[1]].scale, pose[made.names[1]].location = (1.2, 0.7, 1.0), (0.1, 0.2, -0.1)
        pose[made.names[2]].location = -0.1, 0.0, 0.3
        pose[made.names[0]].rotation_quaternion = rigs.turn(random.Random(2), 0.5)
        made.ob.update_tag()
        shown.append(rigs.matrices(made.ob, made.names))
    assert np.abs(shown[0] - shown[1]).max() < (2e-6 if influence == 1.0 else 2e-2)


def drawn_from_the_front(rng: random.Random, names: bool) -> Any:
    """A puppet whose arms and legs are straight, in layers; right is drawn as the mirror image of left. A root along
    the depth decides nothing."""
    bones: dict[str, Any] = {"root": ((0, 0, 0), (0, 0.4, 0), ""), "body": ((0, 0, 1), (0, 0, 1.6), "root")}
    for side, x in ((".L", 1.0), (".R", -1.0)):
        deep = 0.06 * x
        for first, last, at, way in (
            ("upper_arm", "forearm", (0.2, 1.5), (0.4, 0.0)),
            ("thigh", "shin", (0.12, 1.0), (0.0, -0.45)),
        ):
            a, b = (first, last) if names else (f"a{at[0]}", f"b{at[0]}")
            heads = [(x * (at[0] + k * way[0]), deep + 0.03 * k, at[1] + k * way[1]) for k in range(2)]
            tails = [(head[0] + x * way[0], head[1], head[2] + way[1]) for head in heads]
            bones[a + side], bones[b + side] = (heads[0], tails[0], "body"), (heads[1], tails[1], a + side)
    return rigs.rig(bones, {name: rng.uniform(-3.0, 3.0) for name in bones})


@pytest.mark.parametrize("names", [True, False])
def test_straight_limbs_bend_in_the_picture_as_mirror_images(names: bool) -> None:
    for seed in range(3):
        ob = drawn_from_the_front(random.Random(seed), names)
        rigs.click(ob, *(bone.name for bone in ob.pose.bones))
        assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
        limbs = [bone for bone in ob.pose.bones if bone.planar_ik.enabled]
        assert [limb.planar_ik.plane for limb in limbs] == ["HINGE"] * 4
        chains = [name for limb in limbs for name in (limb.parent.name, limb.name)]
        before = {name: rigs.matrices(ob, [name])[0][:3, 3] for name in chains}
        for limb in limbs:
            inwards = limb.parent.bone.head_local - limb.bone.tail_local
            control = ob.pose.bones[limb.planar_ik.subtarget]
            rigs.put(control, rigs.place(ob, control.name) + 0.3 * inwards)
        for name in chains:
            now, other = (rigs.matrices(ob, [each])[0] for each in (name, name[:-1] + "LR"[name.endswith("L")]))
            assert abs(now[1, 3] - before[name][1]) < 1e-6
            assert np.abs(now[:3, 3] * (-1, 0, 1) - other[:3, 3] * (1, 0, 1)).max() < 1e-5
        knee = rigs.matrices(ob, [("forearm" if names else "b0.2") + ".L"])[0][:3, 3]
        assert np.abs(knee - before[("forearm" if names else "b0.2") + ".L"]).max() > 0.02
