"""A scene of its own for what is to be evaluated, with copies of rigs that have lost what is not needed for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context, Object, Scene

from ....rig.data.access import bones_of, is_armature, scene_of, scene_settings, split_path
from ....rig.data.animation import drivers_of
from ....rig.data.dependencies import Carrier
from ....rig.settings import PREFIX

SPARE = 5_000
"""How many constraints and drivers nobody needs, frame by frame, take as long as to make a copy of a rig without them:
each of them is a microsecond or more of every frame, and more than ten to take away."""


@contextmanager
def isolated(context: Context, objects: Iterable[Object]) -> Iterator[Scene]:
    """A scene that holds nothing but these objects, without live chains, in which time runs as in the context's."""
    scene = bpy.data.scenes.new("Planar IK Bake")
    try:
        scene_settings(scene).live = False
        render, given = scene.render, scene_of(context).render
        render.frame_map_old, render.frame_map_new = given.frame_map_old, given.frame_map_new
        for ob in objects:
            scene.collection.objects.link(ob)
        yield scene
    finally:
        bpy.data.scenes.remove(scene)


@contextmanager
def stood_in(carriers: set[Carrier], frames: int) -> Iterator[dict[Object, Object]]:
    """Copies of all objects of ``carriers``, which hang on nothing else: they move the same, but bones that are not
    among the carriers have lost their constraints and drivers. No copies if so few frames are not worth it."""
    needed: dict[Object, set[str]] = {}
    for ob, bone in carriers:
        needed.setdefault(ob, {""}).add(bone)
    if frames * sum(_spare(*each) for each in needed.items()) < SPARE:
        yield {}
        return
    made: list[Any] = []
    try:
        doubles: dict[Any, Any] = {}
        for ob in needed:
            made.append(ob.copy())
            doubles[ob] = made[-1]
        for ob, bones in needed.items():
            if is_armature(ob):
                made += _strip(doubles[ob], bones)
        for double in [*made]:
            _redirect(double, doubles)
        yield doubles
    finally:
        bpy.data.batch_remove(made)


def _spare(ob: Object, needed: set[str]) -> int:
    """How many constraints and drivers an armature's bones have that are not needed."""
    if not is_armature(ob):
        return 0
    drivers = [curve for owner in (ob, ob.data) for curve in drivers_of(owner)]
    constraints = sum(len(bone.constraints) for bone in ob.pose.bones if bone.name not in needed)
    return constraints + sum(split_path(curve.data_path)[0] not in needed for curve in drivers)


def _strip(double: Any, needed: set[str]) -> list[Any]:
    """Take from an armature object what its other bones have, its chains, and what bones look like; give the copy of
    its data, if it needs one."""
    for bone in bones_of(double):
        bone.custom_shape = None
        if bone.name not in needed:
            for constraint in [*bone.constraints]:
                bone.constraints.remove(constraint)
        for name in ("planar_ik", PREFIX + "enabled"):
            bone.property_unset(name)
    copied = [double.data.copy()] if drivers_of(double.data) else []
    for data in copied:
        double.data = data
    for owner in (double, *copied):
        for curve in drivers_of(owner):
            if split_path(curve.data_path)[0] not in needed:
                owner.animation_data.drivers.remove(curve)
    return copied


def _redirect(double: Any, doubles: dict[Any, Any]) -> None:
    """Let what is copied hang on copies."""
    if isinstance(double, Object):
        if double.parent in doubles:
            inverse = double.matrix_parent_inverse.copy()
            double.parent = doubles[double.parent]
            double.matrix_parent_inverse = inverse
        bones = bones_of(double) if is_armature(double) else ()
        for constraint in [each for owner in (double, *bones) for each in owner.constraints]:
            for of in (constraint, *getattr(constraint, "targets", ())):
                for name in ("target", "pole_target", "space_object"):
                    _point(of, name, doubles)
    for curve in drivers_of(double):
        for variable in curve.driver.variables:
            for target in variable.targets:
                _point(target, "id", doubles)


def _point(owner: Any, name: str, doubles: dict[Any, Any]) -> None:
    if getattr(owner, name, None) in doubles:
        setattr(owner, name, doubles[getattr(owner, name)])
