"""When limbs are posed: whenever a scene's frame changes, or an edit has their rig evaluated anew."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, Depsgraph, Object, PropertyGroup, Scene, Window

from ..blender.types import ArmatureObject, Handlers, add_handlers, remove_handlers, scene_of, view_layer_of
from ..limb.storage import is_live
from .plan import PLANS, LivePlan, key_of, make_plan, rig_fingerprint, tag_rigs
from .posing import is_posing, pose

SCENE: Any = Scene


def _on_live(_settings: Any, _context: Context) -> None:
    tag_rigs()


class PlanarIKScene(PropertyGroup):
    """Planar IK: settings of a scene"""

    live: BoolProperty(
        name="Live",
        description="Pose live limbs by IK; switched off, they show their FK pose",
        default=True,
        update=_on_live,
        override={"LIBRARY_OVERRIDABLE"},
    )


@persistent
def _on_frame(scene: Scene, depsgraph: Depsgraph) -> None:
    if not is_posing() and is_live(scene):
        _pose_updated(depsgraph, is_frame=True)


@persistent
def _on_edit(scene: Scene, depsgraph: Depsgraph) -> None:
    if is_posing():
        return
    if is_live(scene):
        _pose_updated(depsgraph, is_frame=False)
    else:
        PLANS.clear()  # nobody looks at what was edited


@persistent
def _on_replace(*_args: Any) -> None:
    """A file or a step of undo is about to be or was taken up: every reference is void."""
    PLANS.clear()


@persistent
def _on_load(*_args: Any) -> None:
    _watch_windows()
    _pose_shown()


def _pose_updated(depsgraph: Depsgraph, is_frame: bool) -> None:
    """Pose the limbs of the rigs that Blender has evaluated anew."""
    plan, rigs = _plan_now(depsgraph, is_frame)
    if rigs:
        pose(plan, depsgraph, rigs)


def _plan_now(depsgraph: Depsgraph, is_frame: bool) -> tuple[LivePlan, Collection[ArmatureObject]]:
    """The plan of a graph, and the rigs of it that were evaluated anew: all, if the plan is new, as there was none or
    the graph, or one of its rigs, is not what it was made of."""
    is_anew = depsgraph.id_type_updated("COLLECTION")  # a graph that was built anew lists everything
    plan = None if is_anew else PLANS.get(key_of(depsgraph))
    if plan:
        rigs = _updated(plan, depsgraph, is_frame) if plan.levels else ()
        known = plan.fingerprints
        if is_frame or all(known[rig] == rig_fingerprint(rig, known[rig][0]) for rig in rigs):
            return plan, rigs
    if plan or is_anew:
        PLANS.clear()  # those of other graphs were made of the same
    plan = PLANS[key_of(depsgraph)] = make_plan(depsgraph)
    return plan, plan.fingerprints


def _updated(plan: LivePlan, depsgraph: Depsgraph, is_frame: bool) -> Collection[ArmatureObject]:
    """On an edit, what was not evaluated may be listed too; on a frame, what only has other settings is not marked."""
    if depsgraph.mode == "RENDER":
        return plan.fingerprints
    updates: Any = depsgraph.updates
    rigs: set[ArmatureObject] = set()
    for update in updates:
        if update.is_updated_geometry or (is_frame and not update.is_updated_transform):
            original = update.id.original
            if isinstance(original, Object) and original in plan.fingerprints:
                rigs.add(original)
                if len(rigs) == len(plan.fingerprints):
                    break
    return rigs


def refresh(context: Context) -> None:
    """Call this after limbs were added, changed or removed: poses them now if Live is on."""
    PLANS.clear()
    depsgraph = context.evaluated_depsgraph_get()  # which poses them if there was something to evaluate
    if PLANS.get(key_of(depsgraph)) is None and is_live(scene_of(context)) and not is_posing():
        _pose_updated(depsgraph, is_frame=False)


def _watch_windows() -> None:
    """Pose limbs in what a window comes to show: Blender calls no handler as it evaluates a view layer to draw it."""
    bpy.msgbus.clear_by_owner(HANDLERS)
    for name in () if bpy.app.background else ("scene", "view_layer"):
        bpy.msgbus.subscribe_rna(key=(Window, name), owner=HANDLERS, args=(), notify=_on_shown)


def _on_shown() -> None:
    """A window shows something else: pose its limbs once Blender has built its graph."""
    if not bpy.app.timers.is_registered(_pose_shown):
        bpy.app.timers.register(_pose_shown)


def _pose_shown() -> None:
    """Pose the limbs of a file that was just opened, or was open before: Blender calls no handler for that."""
    tag_rigs()
    manager = bpy.context.window_manager
    shown = dict.fromkeys((window.scene, window.view_layer) for window in (manager.windows if manager else ()))
    if not shown and bpy.context.scene:
        shown = {(bpy.context.scene, view_layer_of(bpy.context)): None}
    for scene, layer in shown:
        layer.update()
        if layer.depsgraph and is_live(scene):
            plan = PLANS[key_of(layer.depsgraph)] = make_plan(layer.depsgraph)
            pose(plan, layer.depsgraph, [*plan.fingerprints])


HANDLERS: Handlers = (
    ("frame_change_post", _on_frame),
    ("depsgraph_update_post", _on_edit),
    ("undo_pre", _on_replace),
    ("undo_post", _on_replace),
    ("redo_pre", _on_replace),
    ("redo_post", _on_replace),
    ("load_pre", _on_replace),
    ("load_post", _on_load),
)


def register() -> None:
    """Give scenes their settings, and start to listen."""
    bpy.utils.register_class(PlanarIKScene)
    SCENE.planar_ik = PointerProperty(type=PlanarIKScene)
    add_handlers(HANDLERS)
    tag_rigs()
    bpy.app.timers.register(_on_start)


def _on_start() -> None:
    _watch_windows()
    _pose_shown()


def unregister() -> None:
    """Stop listening, let limbs show their FK pose, and take the settings away."""
    bpy.msgbus.clear_by_owner(HANDLERS)
    for timer in (_on_start, _pose_shown):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    remove_handlers(HANDLERS)
    tag_rigs()
    del SCENE.planar_ik
    bpy.utils.unregister_class(PlanarIKScene)
