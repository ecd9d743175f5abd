"""Which plans hold from event to event: the one owner of them, as Blender calls handlers with nothing in hand."""

from __future__ import annotations

from typing import cast

import bpy
from bpy.types import Depsgraph, Scene, ViewLayer

from ..blender.types import is_armature
from .plan import Plan, make_plan


class Plans:
    """The plans of Blender's graphs; with them go all references into the file."""

    def __init__(self) -> None:
        self._plans: dict[tuple[int, int, str], Plan] = {}

    def of_graph(self, depsgraph: Depsgraph) -> Plan | None:
        """The plan of a graph, or None if there is none that holds."""
        return self._plans.get(_key(depsgraph))

    def make(self, depsgraph: Depsgraph) -> Plan:
        """A new plan of a graph, which holds from now on."""
        plan = self._plans[_key(depsgraph)] = make_plan(depsgraph)
        return plan

    def drop(self) -> None:
        """Let none hold any more."""
        self._plans.clear()


PLANS = Plans()


def tag_rigs() -> None:
    """Have all rigs evaluated anew, though nobody edited anything, and looked at anew."""
    PLANS.drop()
    for ob in getattr(bpy.data, "objects", ()):  # no data while Blender starts
        if is_armature(ob):
            ob.update_tag(refresh={"DATA"})


def _key(depsgraph: Depsgraph) -> tuple[int, int, str]:
    scene, layer = cast("Scene", depsgraph.scene), cast("ViewLayer", depsgraph.view_layer)
    return scene.as_pointer(), layer.as_pointer(), depsgraph.mode
