"""Picking what a chain follows from a list of all that it can, with a search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bpy.props import EnumProperty
from bpy.types import Context, Event, Object

from ... import live
from ...rig.data.access import bones_of, chain_settings, is_part, library_of, view_layer_of
from ...rig.kinds import Refused
from ...rig.tasks.setup import check_target, named_target
from ..finding import chains_meant, selected_chains
from .chains import ChainOperator
from .mending import PARTS

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

NAMED = "{object}\n{bone}\n{library}"
"""An object, or a bone of it, and the file that it is linked from: no name of Blender's has a line break."""

_shown: list[tuple[str, str, str]] = []
"""Blender keeps no words of a list that is made while it is shown."""


def _items(_operator: Any, context: Context | None) -> list[tuple[str, str, str]]:
    """What may be picked, under names that tell all apart."""
    if context is None:
        return []
    _shown[:] = [
        (
            NAMED.format(object=ob.name, bone=bone, library=library_of(ob)).removesuffix("\n"),
            f"{bone} ({ob.name_full})" if bone else ob.name_full,
            "",
        )
        for ob, bone in _goals(context)
    ]
    return _shown


def _goals(context: Context) -> Iterator[tuple[Object, str]]:
    """The other bones of the selected limbs' armatures, then the other objects of the view layer."""
    lowers = chains_meant(context, or_off=True)
    rigs = dict.fromkeys(lower.id_data for lower in lowers)
    limbs = {(lower.id_data, bone.name) for lower in lowers for bone in (lower, lower.parent) if bone}
    for ob in rigs:
        names = [bone.name for bone in bones_of(ob)]
        yield from ((ob, name) for name in names if (ob, name) not in limbs and not is_part(ob, name))
    layer: Any = view_layer_of(context)
    yield from ((ob, "") for ob in layer.objects if ob not in rigs)


class POSE_OT_planar_ik_pick(ChainOperator):
    """Choose what the selected chains follow, from a list of the bones and objects that there are"""

    bl_idname = "pose.planar_ik_pick"
    bl_label = "Pick a Target"
    bl_property = "goal"

    part: EnumProperty(
        name="Part",
        description="What to pick",
        items=[("TARGET", "Target", "What the tip goes to"), ("POLE", "Pole", "What the knee points to")],
    )
    goal: EnumProperty(name="Goal", description="The object or bone to follow", items=_items)

    def invoke(self, context: Context, _event: Event) -> set[OperatorReturnItems]:
        """Ask, with a search."""
        manager: Any = context.window_manager
        manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def act(self, context: Context) -> None:
        """Check that every selected chain can follow it, then let them."""
        goal = named_target(*self.goal.split("\n"))
        if goal is None:
            raise Refused("Pick an object or a bone to follow")
        lowers = selected_chains(context, or_off=True)
        for lower in lowers:
            check_target(lower, goal)
        target, subtarget = PARTS[self.part]
        for lower in lowers:
            settings = chain_settings(lower)
            setattr(settings, subtarget, goal.bone)
            setattr(settings, target, goal.object)
        live.refresh(context)


CLASSES = (POSE_OT_planar_ik_pick,)
