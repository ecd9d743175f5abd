"""When the chains are posed: whenever a scene's frame changes or something is edited."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene, Window

from ..rig.chain_settings import ChainSettings, on_change, on_live
from ..rig.data.access import key_of, scene_settings, view_layer_of
from ..rig.data.listening import Handlers, listen, listen_no_more
from .own_pose import give_back
from .plan import chains_of_file, plan
from .solving import run, settle


@persistent
def _on_frame_change(scene: Scene, depsgraph: Depsgraph) -> None:
    run(scene, depsgraph, True)


@persistent
def _on_edit(scene: Scene, depsgraph: Depsgraph) -> None:
    run(scene, depsgraph, False)


@persistent
def _on_replace(*_args: Any) -> None:
    """A file was or is about to be opened: every reference is void."""
    plan.forget()
    plan.pointers.undo()
    plan.renaming.undo()


@persistent
def _on_step(*_args: Any) -> None:
    """A step was or is about to be undone or redone: every reference is void."""
    plan.suspend()
    plan.renaming.undo()
    if plan.is_stale:
        plan.pointers.undo()


@persistent
def _on_save(*_args: Any) -> None:
    """Let the bones that overridden ones stem from have groups as well: one without is nothing that Blender 5.2 can
    override, and loses the target when the file is opened."""
    for ob in bpy.data.objects:
        linked: Any = ob.override_library.reference if ob.type == "ARMATURE" and ob.override_library else None
        for bone in ob.pose.bones if linked and linked.pose and ob.pose else ():
            if bone.is_property_set("planar_ik") and bone.name in linked.pose.bones:
                _ = linked.pose.bones[bone.name].planar_ik  # to ask for it makes it


@persistent
def _on_load(*_args: Any) -> None:
    plan.clear()
    _watch_windows()
    _run_everywhere()


def _watch_windows() -> None:
    """Pose limbs in what a window comes to show: Blender calls no handler as it evaluates a view layer to draw it."""
    bpy.msgbus.clear_by_owner(HANDLERS)
    for name in () if bpy.app.background else ("scene", "view_layer"):
        bpy.msgbus.subscribe_rna(key=(Window, name), owner=HANDLERS, args=(), notify=_on_shown)


def _on_shown() -> None:
    """A window shows something else: pose its limbs once Blender has evaluated it."""
    if not bpy.app.timers.is_registered(_pose_shown):
        bpy.app.timers.register(_pose_shown)


def _pose_shown() -> None:
    if chains_of_file():
        _run_everywhere()


def _run_everywhere() -> None:
    _tag_rigs()
    window_manager = bpy.context.window_manager
    windows = window_manager.windows if window_manager else ()
    shown = dict.fromkeys((window.scene, window.view_layer) for window in windows)
    if not shown and bpy.context.scene:
        shown = {(bpy.context.scene, view_layer_of(bpy.context)): None}
    for scene, layer in shown:
        layer.update()
        if layer.depsgraph:  # Blender calls no handlers for that update while it loads a file
            run(scene, layer.depsgraph, False)


def _tag_rigs() -> None:
    """Have all armatures evaluated anew, though nobody edited anything."""
    for ob in getattr(bpy.data, "objects", ()):  # no data while Blender starts
        if ob.type == "ARMATURE":
            ob.update_tag(refresh={"DATA"})


def _on_change(changed: ChainSettings, is_aim: bool) -> None:
    """A setting was set: look at the chain anew, and if it was switched off, give the bones back at once."""
    bone = changed.bone
    plan.changed.add(key_of(bone))
    plan.pointers.note_shape(key_of(bone), changed)
    if is_aim:
        plan.pointers.note_anew(key_of(bone), changed)
        plan.renaming.forget(changed)
    if not changed.enabled:
        give_back(bone.id_data, [bone])


def _on_live(scene: Scene) -> None:
    """Chains became live, or no longer are."""
    if not scene_settings(scene).live:
        settle(scene)


HANDLERS: Handlers = (
    ("frame_change_post", _on_frame_change),
    ("depsgraph_update_post", _on_edit),
    ("undo_pre", _on_step),
    ("undo_post", _on_step),
    ("redo_pre", _on_step),
    ("redo_post", _on_step),
    ("load_pre", _on_replace),
    ("load_post", _on_load),
    ("save_pre", _on_save),
)


def register() -> None:
    """Start to listen."""
    listen(HANDLERS)
    on_change.append(_on_change)
    on_live.append(_on_live)
    _tag_rigs()
    bpy.app.timers.register(_on_start)


def _on_start() -> None:
    """Pose the limbs of a file that was open before: in a window, Blender evaluates them with the next click only."""
    _watch_windows()
    _pose_shown()


def unregister() -> None:
    """Stop listening and forget."""
    bpy.msgbus.clear_by_owner(HANDLERS)
    for each in (_on_start, _pose_shown):
        if bpy.app.timers.is_registered(each):
            bpy.app.timers.unregister(each)
    on_change.remove(_on_change)
    on_live.remove(_on_live)
    listen_no_more(HANDLERS)
    plan.clear()
    _tag_rigs()  # for the bones' own pose to be seen at once
