"""The smallest rigs, for what is no limb."""

from __future__ import annotations

from typing import Any

import bpy


def rig(*names: str, name: str = "Rig") -> Any:
    """An armature of bones one on the other, each a unit long, up along Z; a name after a dash hangs on nothing."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for height, each in enumerate(names):
        bone = ob.data.edit_bones.new(each.lstrip("-"))
        bone.head, bone.tail = (0.0, 0.0, height), (0.0, 0.0, height + 1.0)
        bone.parent = None if each.startswith("-") else parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.select_set(False)
    return ob


def empty(name: str, parent: Any = None, bone: str = "") -> Any:
    """An empty, which may hang on an object or a bone."""
    ob = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(ob)
    ob.parent = parent
    if bone:
        ob.parent_type, ob.parent_bone = "BONE", bone
    return ob


def drive(owner: Any, path: str, target: Any, read: str, index: int = -1) -> Any:
    """A driver that gives what it reads."""
    curve = owner.driver_add(path, index)
    curve.driver.expression = "value"
    variable = curve.driver.variables.new()
    variable.name = "value"
    variable.targets[0].id, variable.targets[0].data_path = target, read
    return curve
