"""Assets under the hand: the sample file's figures, dragged from the Asset Browser into an empty scene, and posed."""

from __future__ import annotations

import bpy
from hand import Hand
from mathutils import Vector

from scripts.package import BUILD
from scripts.sample.figures import FIGURES

LIBRARY = BUILD / "asset-library"
"""Where the test has put the sample file."""


def drags_the_sample(hand: Hand):
    """Drag each figure of the sample file in, as it is appended, and move what a lower bone follows."""
    found = {}
    for number, figure in enumerate(sorted(FIGURES, key=lambda each: each.name)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        hand.window = bpy.context.window_manager.windows[0]
        yield
        browser = yield from open_browser(hand)
        region = next(each for each in browser.regions if each.type == "WINDOW")
        x, y, width, height = hand.place_of_view()
        start = (region.x + 55 + 112 * number, region.y + region.height - 80)
        yield from hand.drag_to(start, (x + width // 2, y + height // 2))
        hand.picture(figure.name)
        rig = next((ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"), None)
        found[figure.name] = {"is_there": rig is not None} | (posed(rig, next(iter(figure.limbs))) if rig else {})
    return found


def open_browser(hand: Hand):
    """Open the Asset Browser on the library below the 3D view; what is dragged from it is appended."""
    bpy.context.preferences.filepaths.asset_libraries.new(name="Sample", directory=str(LIBRARY))
    area, region = hand.view()
    with bpy.context.temp_override(window=hand.window, area=area, region=region):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.4)
    yield
    browser = min((each for each in hand.window.screen.areas if each.type == "VIEW_3D"), key=lambda each: each.y)
    browser.ui_type = "ASSETS"
    yield
    yield
    browser.spaces.active.params.asset_library_reference = "Sample"
    browser.spaces.active.params.import_method = "APPEND"
    for _ in range(40):  # Blender reads the library meanwhile
        yield
    return browser


def posed(rig, lower: str) -> dict[str, object]:
    """Move what a lower bone follows up and aside: how far its tip is off, and what the limb says."""
    chain = rig.pose.bones[lower].planar_ik
    goal = rig.pose.bones[chain.subtarget]
    before = rig.pose.bones[lower].tail.copy()
    goal.location += goal.bone.matrix_local.to_3x3().inverted() @ Vector((0.05, 0.0, 0.15))
    bpy.context.view_layer.update()
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = evaluated.pose.bones[lower].tail
    return {
        "moved": (tip - before).length,
        "off": (tip - evaluated.pose.bones[chain.subtarget].head).length,
        "said": [chain.runs_on, chain.reach, chain.message],
    }
