"""A limb is one value: what is described is made, what is there already is left alone, and nothing is left over."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import bpy
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

LIMBS = ("shin.L", "forearm.R")
TOGGLES = ("foot_roll", "pole_follows", "softness", "twist")


def added(mode: str, **options: Any) -> Any:
    ob = rigs.biped()
    rigs.click(ob, *LIMBS)
    bpy.ops.pose.planar_ik_add(mode=mode, plane="POLE", **options)
    return ob


def toggle(ob: Any, name: str) -> None:
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_set(**{name: True})


def in_any_order(file: dict[str, Any]) -> dict[str, Any]:
    """A file with its drivers and properties by name."""
    for name, ob in file.items():
        if name.startswith("object ") and ob["animation"]:
            *rest, curves = ob["animation"]
            ob["animation"] = (*rest, {(c["settings"]["data_path"], c["settings"]["array_index"]): c for c in curves})
        for bone in ob.values() if name.startswith("object ") else ():
            if isinstance(bone, dict) and "properties" in bone:
                bone["properties"] = (sorted(bone["properties"][0]), bone["properties"][1])
    return file


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_any_order_of_toggles_ends_in_the_same_file(addon: Any, mode: str) -> None:
    files = []
    for order in [*permutations(TOGGLES)][:: 24 if mode == "LIVE" else 11]:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = added(mode)
        for name in order:
            toggle(ob, name)
        files.append(in_any_order(snapshot()))
    for file in files[1:]:
        assert not differences(files[0], file)


def test_add_looks_seldom(addon: Any, monkeypatch: Any) -> None:
    """Four limbs at once: few evaluations of the scene, and one visit to Edit Mode."""
    ob, editing, visits, evaluated = rigs.biped(), addon("blender.editing"), [], []
    real = editing._set_mode
    monkeypatch.setattr(editing, "_set_mode", lambda *args: (visits.append(args[-1]), real(*args)))
    rigs.click(ob, "shin.L", "shin.R", "forearm.L", "forearm.R")
    bpy.context.view_layer.update()
    look = lambda *_: evaluated.append(1)  # noqa: E731
    bpy.app.handlers.depsgraph_update_post.append(look)
    try:
        bpy.ops.pose.planar_ik_add(mode="RIG", plane="POLE")
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(look)
    assert visits.count("EDIT") == 1
    assert len(evaluated) <= 10
