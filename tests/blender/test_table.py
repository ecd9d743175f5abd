"""Whatever rig a person has built: the limb that was selected gets IK, and nothing moves but what is moved."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender import rigs, table
from tests.blender.ui.conftest import call, select

MODES = ("RIG", "LIVE")

STILL = 5e-6
"""How far bones may move, in lengths of the shortest limb, and by how much their axes differ where nothing is to
move."""

KEPT = 5e-4
"""The same where keys keep it, which are as few as hold that."""

AS_TURNED = 0.0087
"""Half a degree: how far axes may be turned where IK takes over from Blender's, which stops short of its own target."""

SHOWN = 3e-5
"""How far bones may be moved by what shows a pose by other means."""

ON_TARGET = 1e-5
"""How far a tip may be from its target, in lengths of its limb."""


class Scene:
    """A rig of the table with IK on its limbs, and how it was before."""

    def __init__(self, rig: table.Rig, mode: str) -> None:
        self.rig, self.mode = rig, mode
        self.ob = rig.make()
        self.bones = self.ob.pose.bones.keys()
        self.sizes = {limb: self.size(limb) for limb in rig.limbs}
        self.select()
        self.had = rigs.snapshot()
        self.rest = self.stands()

    def size(self, limb: table.Limb) -> float:
        """The length of a limb along its bones at rest."""
        bones = self.ob.data.bones
        tip = bones[limb.foot].head_local if limb.foot else bones[limb.bones[-1]].tail_local
        joints = [*(bones[name].head_local for name in limb.bones), tip]
        return float(sum((one - other).length for one, other in pairwise(joints)))

    def last(self, limb: table.Limb) -> Any:
        return self.ob.pose.bones[limb.bones[-1]]

    def stands(self) -> np.ndarray:
        """The matrices of all bones that a person made, in the armature."""
        return rigs.matrices(self.ob, self.bones)

    def moved(self, before: np.ndarray) -> float:
        """By how much bones have moved since, in lengths of the shortest limb, or by their axes, if that is more."""
        off = np.abs(self.stands() - before)
        return float(max(off[:, :3, 3].max() / min(self.sizes.values()), off[:, :3, :3].max()))

    def tip(self, limb: table.Limb) -> Vector:
        pose = rigs.evaluated(self.ob).pose.bones
        return pose[limb.foot].head.copy() if limb.foot else pose[limb.bones[-1]].tail.copy()

    def tips(self) -> np.ndarray:
        """Where the tips are in the world."""
        return np.array([self.ob.matrix_world @ self.tip(limb) for limb in self.rig.limbs])

    def stands_over_frames(self) -> np.ndarray:
        """What `stands` gives in each frame."""
        stands = []
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            stands.append(self.stands())
        return np.array(stands)

    def controls(self) -> list[Any]:
        """What the limbs follow, of their rig."""
        return [self.ob.pose.bones[self.last(limb).planar_ik.subtarget] for limb in self.rig.limbs]

    def missed(self) -> float:
        """How far the tip of any limb is from its control, in lengths of the limb."""
        rigs.evaluated(self.ob)
        there = [control.head.copy() for control in self.controls()]
        return max(
            (self.tip(limb) - place).length / self.sizes[limb]
            for limb, place in zip(self.rig.limbs, there, strict=True)
        )

    def add(self) -> None:
        """Select the bones of the limbs, and press Add."""
        select(*(name for limb in self.rig.limbs for name in limb.bones))
        why = call("add", mode=self.mode)
        assert not why, why
        self.select()
        for limb in self.rig.limbs:
            assert self.last(limb).planar_ik.chain_count == len(limb.bones)
            assert self.last(limb).planar_ik.mode == self.mode

    def select(self) -> None:
        """Select the limbs."""
        select(*(limb.bones[-1] for limb in self.rig.limbs))

    def call(self, name: str, **options: Any) -> None:
        """Call an operator on the limbs."""
        self.select()
        why = call(name, **options)
        assert not why, f"{name}: {why}"

    def put_controls(self, angle: float) -> None:
        """Put each control three quarters away from the root that the limb reaches, turned in the limb's plane."""
        places = []
        for limb in self.rig.limbs:
            pose = rigs.evaluated(self.ob).pose.bones
            first, knee = (pose[name].head for name in limb.bones[:2])
            way = (self.tip(limb) - first).normalized() * 0.75 * self.sizes[limb]
            normal = (knee - first).cross(way)
            places.append(first + (Quaternion(normal, angle) @ way if angle else way))
        for control, place in zip(self.controls(), places, strict=True):
            rigs.put(control, self.ob.matrix_world @ place)


IN_TURN = [(name, MODES[k % 2]) for k, name in enumerate(table.RIGS)]


@pytest.mark.parametrize(("name", "mode"), IN_TURN)
def test_in_one_frame(name: str, mode: str) -> None:
    """Add, other mode, switch, snap, convert, remove."""
    scene = Scene(table.RIGS[name], mode)
    scene.add()
    assert scene.moved(scene.rest) < (KEPT if scene.ob.animation_data else STILL)
    for angle in (0.0, 0.4):  # first in line, so that a straight limb has a plane
        scene.put_controls(angle)
        assert scene.missed() < ON_TARGET
    stays_while_the_body_moves(scene)
    for verb, options in VERBS[mode]:
        before = scene.stands()
        scene.call(verb, **options)
        assert scene.moved(before) < SHOWN, (verb, options)
    scene.call("remove")
    if not scene.ob.animation_data:
        for limb in scene.rig.limbs:
            for each in filter(None, (*limb.bones, limb.foot)):
                scene.ob.pose.bones[each].matrix_basis.identity()
        scene.select()
        left = rigs.differences(scene.had, rigs.snapshot())
        assert not [each for each in left if "/select_" not in each]  # of bones' ends, as nobody sees in Pose Mode


def stays_while_the_body_moves(scene: Scene) -> None:
    """Controls stay where what carries the limbs moves, in the plane of the first one, and tips stay on them."""
    if not scene.rig.body:
        return
    controls = [control.name for control in scene.controls()]
    before, pose = rigs.matrices(scene.ob, controls), rigs.evaluated(scene.ob).pose.bones
    limb, body = scene.rig.limbs[0], scene.ob.pose.bones[scene.rig.body]
    way, own = scene.tip(limb) - pose[limb.bones[0]].head, body.matrix_basis.copy()
    body.matrix = Matrix.Translation(0.1 * min(scene.sizes.values()) * way.normalized()) @ pose[body.name].matrix
    assert np.abs(rigs.matrices(scene.ob, controls) - before).max() < 1e-6
    assert scene.missed() < ON_TARGET
    body.matrix_basis = own


TO_OTHER = {"RIG": ("set", {"mode": "LIVE"}), "LIVE": ("set", {"mode": "RIG"})}
VERBS = {
    mode: [
        TO_OTHER[mode], TO_OTHER["LIVE" if mode == "RIG" else "RIG"],
        ("switch", {"to": "FK"}), ("switch", {"to": "IK"}), ("snap_fk", {}), ("snap_target", {}),
    ]
    for mode in MODES
}  # fmt: skip
"""What moves nothing, in the order in which it is done to limbs in IK whose targets are in reach."""


FRAMES = range(1, 6)


@pytest.mark.dear
@pytest.mark.parametrize(("name", "mode"), IN_TURN)
def test_over_frames(name: str, mode: str) -> None:
    """Hold and bake what is keyed."""
    scene = Scene(table.RIGS[name], mode)
    scene.add()
    for frame, angle in ((FRAMES[0], 0.0), (FRAMES[-1], 0.4)):
        bpy.context.scene.frame_set(frame)
        scene.put_controls(angle)
        for control in scene.controls():
            control.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(3)
    tips = scene.tips()
    scene.call("hold", range="GIVEN", frame_start=2, frame_end=4, ease=0)
    for frame in (2, 3, 4):
        bpy.context.scene.frame_set(frame)
        assert np.abs(scene.tips() - tips).max() < 1e-5
    before = scene.stands_over_frames()
    scene.call("bake", range="GIVEN", frame_start=FRAMES[0], frame_end=FRAMES[-1], remove=True)
    off = np.abs(scene.stands_over_frames() - before)
    assert max(off[..., :3, 3].max() / min(scene.sizes.values()), off[..., :3, :3].max()) < KEPT


@pytest.mark.dear
@pytest.mark.parametrize(("name", "mode"), IN_TURN)
def test_convert(name: str, mode: str) -> None:
    """Blender's own IK is solved exactly, and given back."""
    scene = Scene(table.RIGS[name], mode)
    for limb in scene.rig.limbs:
        for each in limb.bones:
            scene.ob.pose.bones[each].rotation_mode = "XYZ"
            scene.ob.pose.bones[each].rotation_euler.rotate_axis("X", 0.3)
    for limb in scene.rig.limbs:
        first = rigs.evaluated(scene.ob).pose.bones[limb.bones[0]].head
        place = scene.ob.matrix_world @ first.lerp(scene.tip(limb), 0.8)
        constraint = scene.last(limb).constraints.new("IK")
        constraint.target, constraint.chain_count = rigs.empty("target", place), len(limb.bones)
    before = scene.stands()
    scene.call("convert", mode=mode)
    off = np.abs(scene.stands() - before)
    assert off[:, :3, 3].max() < 2e-3 * min(scene.sizes.values())
    assert off[:, :3, :3].max() < AS_TURNED
    scene.call("unconvert")
    assert scene.moved(before) < SHOWN
