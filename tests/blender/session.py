"""A session: a file with a biped in it, to which things are done one after the other, and what is known of it."""

from __future__ import annotations

import random
from typing import Any

import bpy
import numpy as np

from tests.blender import rigs

CHAINS = {
    "leg.L": ("thigh.L", "shin.L", "foot.L"), "leg.R": ("thigh.R", "shin.R", "foot.R"),
    "arm.L": ("upper_arm.L", "forearm.L", "hand.L"), "arm.R": ("upper_arm.R", "forearm.R", "hand.R"),
}  # fmt: skip
LAST = 1
"""Which bone of a chain is the limb's last."""

CLOSE, BLENDED = 1e-4, 5e-3
"""How far joints may be from where they were, in lengths of the limb; and between FK and IK, as modes change."""

Key = tuple[str, str]
"""A chain: its object's name, and its own."""

EVERYTHING = "everything"


class Failed(AssertionError):
    """Something is so that must not be."""


class Session:
    """A file with a biped in it, and what is known of it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = rigs.biped()
        for chain, names in CHAINS.items():
            for i, name in enumerate(names):
                ob.data.bones[name]["chain"] = f"{chain} {i}"  # which Blender carries along, whatever happens
        for name in ("thigh.L", "upper_arm.R"):
            ob.pose.bones[name].rotation_mode = "XYZ"
        bpy.context.view_layer.update()
        self.note = ""  # what the last step was done to
        self.history = [self.joints()]
        self.at = 0
        bpy.ops.ed.undo_push(message="start")

    # what is there

    def rigs(self) -> list[Any]:
        """The rigs that are evaluated."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.pose]
        return [ob for ob in found if ob.evaluated_get(depsgraph).is_evaluated]

    def chains(self) -> dict[Key, list[str]]:
        """The bones of each chain that is whole, as they are called now."""
        found: dict[Key, dict[int, str]] = {}
        for ob in self.rigs():
            for bone in ob.data.bones:
                if "chain" in bone:
                    chain, number = bone["chain"].split()
                    found.setdefault((ob.name, chain), {})[int(number)] = bone.name
        return {key: [names[i] for i in range(3)] for key, names in found.items() if len(names) == 3}

    def limbs(self) -> dict[Key, Any]:
        """The last bones of the chains that are limbs."""
        found = {key: bpy.data.objects[key[0]].pose.bones[names[LAST]] for key, names in self.chains().items()}
        return {key: last for key, last in found.items() if last.planar_ik.enabled}

    def joints(self) -> dict[Key, Any]:
        """Where the bones of each chain begin in the world, in lengths of the chain at rest."""
        bpy.context.view_layer.update()
        depsgraph, found = bpy.context.evaluated_depsgraph_get(), {}
        for (name, chain), names in self.chains().items():
            ob = bpy.data.objects[name]
            now = ob.evaluated_get(depsgraph)
            size = sum(ob.data.bones[each].length for each in names[:2]) or 1.0
            places = [now.matrix_world @ now.pose.bones[each].head for each in names]
            found[name, chain] = np.array(places, float) / size
        return found

    # what is chosen by chance

    def limb(self) -> tuple[Key, Any] | None:
        """One of the limbs, selected."""
        limbs = self.limbs()
        if not limbs:
            return None
        key = self.rng.choice([*limbs])
        is_shown = self.select(key[0], [limbs[key].name])
        return (key, limbs[key]) if is_shown else None

    def chain(self) -> tuple[Key, list[str]] | None:
        """One of the chains."""
        chains = self.chains()
        key = self.rng.choice([*chains]) if chains else None
        return (key, chains[key]) if key else None

    def select(self, name: str, bones: list[str]) -> bool:
        """Select bones of a rig, in Pose Mode, if it is shown."""
        ob = bpy.data.objects[name]
        if not self.activate(ob):
            return False
        for bone in ob.pose.bones:
            rigs.select(bone, bone.name in bones)
        ob.data.bones.active = ob.data.bones[bones[0]]
        return True

    def activate(self, ob: Any, mode: str = "POSE") -> bool:
        """Make a rig active in a mode, if it is shown."""
        if ob.name not in bpy.context.view_layer.objects or not ob.visible_get():
            return False
        try:
            rigs.activate(ob, mode)
        except RuntimeError:  # of another one that is hidden and in a mode
            return False
        return True

    def call(self, name: str, **options: Any) -> bool:
        """Call one of our operators; whether it did something. Whatever it raises but a sentence is a failure."""
        operator = getattr(bpy.ops.pose, f"planar_ik_{name}")
        if not operator.poll():
            return False
        try:
            is_done: bool = operator("EXEC_DEFAULT", False, **options) == {"FINISHED"}
            return is_done
        except RuntimeError as why:
            if "Traceback" in str(why):
                raise Failed(str(why)) from why
            return False


def channels() -> dict[tuple[str, str], tuple[float, ...]]:
    """What the channels of all bones and objects say in the file."""
    found = {}
    for ob in bpy.data.objects:
        for owner in (ob, *(ob.pose.bones if ob.type == "ARMATURE" and ob.pose else ())):
            path = owner.path_from_id() if owner != ob else ""
            for name in ("location", "rotation_quaternion", "rotation_euler", "scale"):
                found[ob.name, f"{path}.{name}".strip(".")] = tuple(round(x, 6) for x in getattr(owner, name))
    return found


def curves() -> list[tuple[str, str]]:
    """What is animated or driven."""
    found = []
    for ob in bpy.data.objects:
        data = ob.animation_data
        if data:
            found += [(ob.name, curve.data_path) for curve in data.drivers]
            if data.action:
                found += [(ob.name, curve.data_path) for curve in curves_of(data)]
    return found


def curves_of(data: Any) -> list[Any]:
    bags = [strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips]
    return [curve for bag in bags if bag for curve in bag.fcurves]
