"""What a person can press where a limb can't be posed, or IK can't be added: each repair that helps, as a button.
Limbs whose bones a person edited go on by themselves as soon as Edit Mode is left, or as soon as Apply or Join is done
in Object Mode: they are rebuilt, in an undo step of their own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import EnumProperty
from bpy.types import Context, Depsgraph, PoseBone

from ...blender.types import (
    Handlers,
    Refused,
    add_handlers,
    is_armature,
    remove_handlers,
    translated_text,
    view_layer_of,
)
from ...tasks.modes import REPAIRS, conflicts_of, rebuild_edited, refusal_of, repairs_for
from ...tasks.selection import limbs_offered, orphaned_limbs
from ..finding import selected_limbs
from .base import PoseOperator

REPAIR_ITEMS: Any = [
    ("TARGET", "Make a Target", "Make a control for the limb to follow, where its tip is"),
    ("POLE", "Make a Pole", "Make a pole for the limb, where its knee points"),
    ("MUTE", "Mute Conflicting Constraints", "Mute the constraints that move the limb besides its IK"),
    ("REBUILD", "Rebuild", "Make the limb's helper bones, constraints and drivers anew, for the bones as they are now"),
    ("LEFT", "Remove What Is Left", "Remove helper bones and constraints of a limb whose IK constraint is gone"),
]
LABELS = {"PICK": "Pick a Target"} | {name: label for name, label, _ in REPAIR_ITEMS}
"""The repairs by name, and what their buttons say."""


def repairs_for_adding(limb: PoseBone, segments: tuple[int, ...]) -> tuple[str, list[str]]:
    """Why IK can't be added to a limb, as a sentence, and the repairs that help; nothing if it can."""
    why = refusal_of(limb, segments)
    return (why.message.translated, [repair for repair in LABELS if repair.lower() == why.repair]) if why else ("", [])


def labels_of(repairs: Sequence[str], limb: PoseBone) -> dict[str, str]:
    """What the buttons of some repairs of a limb say, by their names: that of what is muted names it."""
    labels = {repair: translated_text(LABELS[repair]) for repair in repairs}
    names = [constraint.name for constraint in conflicts_of(limb)] if "MUTE" in repairs else []
    return labels | ({"MUTE": translated_text("Mute {name}", name=names[0])} if len(names) == 1 else {})


def _left(context: Context) -> list[PoseBone]:
    bones: Any = context.selected_pose_bones or [context.active_pose_bone]
    return orphaned_limbs([bone for bone in bones if bone]) if context.mode == "POSE" else []


class POSE_OT_planar_ik_repair(PoseOperator):
    """Repair what is wrong with the selected limbs"""

    bl_idname = "pose.planar_ik_repair"
    bl_label = "Repair Limb"

    repair: EnumProperty(name="Repair", description="What to do", items=REPAIR_ITEMS)

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        return translated_text(next(text for name, _, text in REPAIR_ITEMS if name == properties.repair))

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On limbs, and on what could be one."""
        if selected_limbs(context) or _left(context) or (context.mode == "POSE" and limbs_offered(context)[0]):
            return True
        return cls.cannot("Select a limb, its target or its pole")

    def checked(self, context: Context) -> list[PoseBone]:
        """The selected limbs that this helps."""
        limbs = selected_limbs(context)
        leftovers = _left(context) if self.repair == "LEFT" else []
        helped = leftovers + [limb for limb in limbs if self.repair in repairs_for(limb)]
        if self.repair in ("MUTE", "LEFT") and not limbs and not leftovers:
            helped = [limb for limb, _ in limbs_offered(context)[0]]
        if not helped:
            raise Refused("{what}: nothing of the kind is in the way", what=translated_text(LABELS[self.repair]))
        return helped

    def act(self, context: Context, helped: list[PoseBone]) -> None:
        """Mend each of them, and say what was done."""
        only = labels_of([self.repair], helped[0]) if len(helped) == 1 else {}
        text = only.get(self.repair) or translated_text(LABELS[self.repair])
        for ob, name in [(limb.id_data, limb.name) for limb in helped]:
            REPAIRS[self.repair](context, ob.pose.bones[name])
        self.inform("Repaired: {what}", what=text)


CLASSES = (POSE_OT_planar_ik_repair,)


_edited: set[str] = set()
"""The names of the armature objects that were last seen in Edit Mode, or whose armature has changed in Object Mode."""

_OWNER = object()


def _on_mode() -> None:
    """Blender's message that a mode was changed by a person, which comes after the undo step for that."""
    context = bpy.context
    rigs = [ob for ob in view_layer_of(context).objects if is_armature(ob)]
    done = [ob for ob in rigs if ob.name in _edited and ob.mode != "EDIT"]
    _edited.clear()
    _edited.update(ob.name for ob in rigs if ob.mode == "EDIT")
    if not done:
        return
    view_layer_of(context).update()
    rebuilt = False
    for ob in done:
        with suppress(Refused):  # the panel says why it has to be rebuilt
            rebuilt |= rebuild_edited(context, ob)
    _edited.difference_update(ob.name for ob in done)  # what this has changed
    if rebuilt:
        bpy.ops.ed.undo_push(message="Rebuild Planar IK")


@persistent
def _on_update(_scene: Any, depsgraph: Depsgraph) -> None:
    """An armature has changed: in Object Mode, by Apply or Join."""
    if bpy.app.background or not depsgraph.id_type_updated("ARMATURE"):
        return
    changed = {update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Armature)}
    for ob in view_layer_of(bpy.context).objects:
        if ob.data in changed and ob.mode == "OBJECT":
            _edited.add(ob.name)
            if not bpy.app.timers.is_registered(_on_mode):
                bpy.app.timers.register(_on_mode)


@persistent
def _watch(*_args: Any) -> None:
    """Blender forgets who wants its messages with each file."""
    _edited.clear()
    bpy.msgbus.clear_by_owner(_OWNER)
    bpy.msgbus.subscribe_rna(key=(bpy.types.Object, "mode"), owner=_OWNER, args=(), notify=_on_mode)


HANDLERS: Handlers = (("load_post", _watch), ("depsgraph_update_post", _on_update))


def register() -> None:
    """Start to listen."""
    add_handlers(HANDLERS)
    _watch()


def unregister() -> None:
    """Stop listening."""
    remove_handlers(HANDLERS)
    bpy.msgbus.clear_by_owner(_OWNER)
    if bpy.app.timers.is_registered(_on_mode):
        bpy.app.timers.unregister(_on_mode)
