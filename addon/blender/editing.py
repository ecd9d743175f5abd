"""Edit Mode for a moment, since bones can be made and removed nowhere else; what was posed without a key stays.
Selecting bones and objects, and having them be seen where they are hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from math import floor
from typing import Any

import bpy
from bpy.types import Bone, Context, Object, PoseBone, Scene
from mathutils import Matrix, Vector

from . import animation, dependencies
from .types import ArmatureObject, Refused, announce, bones_of, has_bone, is_armature, scene_of, view_layer_of


@contextmanager
def edit_mode(context: Context, ob: ArmatureObject) -> Iterator[None]:
    """Within, an armature is in Edit Mode, as `editing_bones` has it; what was posed without keys stays."""
    with keeping_unkeyed(context, [ob]), editing_bones(context, ob):
        yield


SHIFTED = 2e-4
"""How far a bone may rest from where Edit Mode has it, in its lengths. Axes of bones that point along -Y of their
parent are off by a third of that in any Blender."""


def check_rests(ob: ArmatureObject) -> None:
    """Refuse an armature that Edit Mode alone would move, as it does those of files of 2.7x, also saved since."""
    shifted = next((bone.name for bone in ob.data.bones if _shift_of(bone) > SHIFTED), "")
    if shifted:
        template = "Edit Mode moves '{bone}', as it does in files of Blender 2.7: enter and leave it once, look, go on"
        raise Refused(template, bone=shifted)


def _shift_of(bone: Bone) -> float:
    """How far Edit Mode moves a bone at rest, in its lengths: it goes by where the bone begins and ends, and gives it
    axes of length 1, square to each other."""
    rest, length = bone.matrix_local, max(bone.length, 1e-12)
    ends = rest.translation - bone.head_local, rest @ Vector((0.0, bone.length, 0.0)) - bone.tail_local
    axes = rest.to_3x3()
    skew: Any = axes.transposed() @ axes - Matrix.Identity(3)
    return max(*(end.length / length for end in ends), *(abs(float(number)) / 2.0 for row in skew for number in row))


@contextmanager
def editing_bones(context: Context, ob: ArmatureObject) -> Iterator[None]:
    """Edit Mode of an armature, also of a hidden one, and then back to the modes that were before."""
    announce(ob)
    is_posed_alone = _is_posed_alone(context, ob)
    with nullcontext() if is_posed_alone else object_mode(context, ob):
        is_mirroring = ob.data.use_mirror_x  # which would move the bones of the other side along, by their names
        try:
            ob.data.use_mirror_x = False
            if not is_posed_alone:
                _select(context, [ob])
            _set_mode(context, ob, "EDIT")
            yield
        finally:
            _set_mode(context, ob, "POSE" if is_posed_alone else "OBJECT")
            if not is_posed_alone:
                _select(context, ())
            ob.data.use_mirror_x = is_mirroring


def _is_posed_alone(context: Context, ob: ArmatureObject) -> bool:
    """Whether a visible rig is active and in Pose Mode, nothing else is in a mode, and no other rig is selected: from
    there, Edit Mode is a step away, as a person would go."""
    objects = _objects_of(context)
    if objects.active != ob or ob.mode != "POSE" or not ob.visible_get(view_layer=view_layer_of(context)):
        return False
    others = (other for other in objects if other != ob)
    return all(other.mode == "OBJECT" and not (other.type == "ARMATURE" and other.select_get()) for other in others)


def remove_empty_collections(ob: ArmatureObject, names: Iterable[str]) -> None:
    """Remove those bone collections of these names that are empty."""
    there: Any = ob.data.collections_all
    for collection in [there[name] for name in names if name in there]:
        if not any(collection.bones_recursive) and not any(collection.children):
            ob.data.collections.remove(collection)


def collect(ob: ArmatureObject, bone: Bone, collection: str, above: str, place: int) -> Any:
    """Move a bone into one bone collection, out of all others; the collection is made if it is not there. A new one
    goes below the collection ``above``, at this place among its children, or at the end."""
    for other in [*bone.collections]:
        other.unassign(bone)
    only: Any = ob.data.collections_all.get(collection)
    if only is None:
        parent: Any = ob.data.collections_all.get(above)
        if parent is None:
            parent = ob.data.collections.new(above)
            ob.data.collections.move(len(ob.data.collections) - 1, 0)
        only = ob.data.collections.new(collection, parent=parent)
        only.child_number = min(place, len(parent.children) - 1)
    only.assign(bone)
    return only


@contextmanager
def object_mode(context: Context, needed: Object) -> Iterator[None]:
    """Within, Object Mode with nothing selected and an object shown. Then modes, selection and visibility are as
    before."""
    objects, layer = _objects_of(context), view_layer_of(context)
    active, selected = objects.active, {ob for ob in objects if ob.select_get()}
    in_mode: dict[str, list[Any]] = {}
    for ob in objects:
        if ob.mode != "OBJECT" and ob.visible_get(view_layer=layer):
            in_mode.setdefault(ob.mode, []).append(ob)
    first = {mode: active if active in obs else obs[0] for mode, obs in in_mode.items()}
    modes = sorted(in_mode, key=lambda mode: first[mode] == active)  # the active object's last
    with _shown(context, needed):
        for mode in modes:
            _set_mode(context, first[mode], "OBJECT")
        _select(context, ())
        try:
            yield
        finally:
            for mode in modes:
                _select(context, in_mode[mode])
                _set_mode(context, first[mode], mode)
            _select(context, selected)
            _objects_of(context).active = active


@contextmanager
def keeping_unkeyed(context: Context, objects: Iterable[Object]) -> Iterator[None]:
    """Within, keep unkeyed changes of objects whose bones, drivers or F-curves are edited. Else Blender sets all
    that is animated to its animation, as if the frame changed."""
    paths = {ob: dict.fromkeys(curve.data_path for curve in animation.curves_everywhere(ob)) for ob in objects}
    before = {ob: {path: animation.value_at(ob, path) for path in of_ob} for ob, of_ob in paths.items()}
    try:
        yield
    finally:
        if any(before.values()):
            context.evaluated_depsgraph_get()
        for ob, values in before.items():
            changed = {
                path: value
                for path, value in values.items()
                if None not in (value, now := animation.value_at(ob, path)) and now != value
            }
            for path, value in changed.items():
                animation.set_at(ob, path, value)
            if changed:  # Blender is not told of custom properties, and what they drive would stay as it was
                ob.update_tag(refresh={"DATA"} if is_armature(ob) else {"OBJECT"})


def set_frame(scene: Scene, frame: float) -> None:
    """Show a frame, which may be between two."""
    whole = floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


@contextmanager
def keeping_frame(scene: Scene) -> Iterator[None]:
    """Within, frames may be shown; then the scene goes back to the frame that it showed."""
    shown = scene.frame_current + scene.frame_subframe
    try:
        yield
    finally:
        set_frame(scene, shown)


@contextmanager
def without_window_updates() -> Iterator[None]:
    """Within, windows don't follow what Python sets of drivers. For each such change Blender has every window of the
    context's scene go to its frame anew (``NC_SCENE | ND_FRAME``), where everything in the scene that is not keyed
    is lost. Meanwhile that scene is one that no window shows."""
    unseen = bpy.data.scenes.new("Unseen")
    try:
        with bpy.context.temp_override(scene=unseen):
            yield
    finally:
        bpy.data.scenes.remove(unseen)


def mute_drivers(context: Context, drivers: Sequence[Any], is_mute: bool = True) -> None:
    """Mute drivers of objects, or let them act again; what was posed without keys stays."""
    if not drivers:
        return
    owners = dict.fromkeys(curve.id_data for curve in drivers)
    announce(*owners)
    with keeping_unkeyed(context, owners), without_window_updates():
        for curve in drivers:
            curve.mute = is_mute


def _set_mode(context: Context, active: Any, mode: Any) -> None:
    """Set the mode of one object, and with it of all that are selected, or in the same mode."""
    _objects_of(context).active = active
    bpy.ops.object.mode_set(mode=mode)


def _select(context: Context, selected: Collection[Any]) -> None:
    for ob in _objects_of(context):
        if ob.select_get() != (ob in selected):
            ob.select_set(ob in selected)


def _objects_of(context: Context) -> Any:
    """The objects of the view layer as they are now: Blender looks when it is asked which is active, and may crash if
    it has to while it goes through them."""
    objects = view_layer_of(context).objects
    _ = objects.active
    return objects


@contextmanager
def _shown(context: Context, ob: Object) -> Iterator[None]:
    """An object shown in the view layer, wherever it is: Blender edits the bones of no other."""
    layer, scene, objects = view_layer_of(context), scene_of(context).collection, _objects_of(context)
    disabled = ob.hide_viewport, ob.hide_select
    ob.hide_viewport = ob.hide_select = False
    is_hidden = ob in [*objects] and ob.hide_get(view_layer=layer)
    if is_hidden:
        ob.hide_set(False, view_layer=layer)
    is_guest = ob not in [*scene.objects] and not ob.visible_get(view_layer=layer)
    if is_guest:
        scene.objects.link(ob)
    try:
        yield
    finally:
        if is_guest:
            scene.objects.unlink(ob)
            _objects_of(context)
        if is_hidden:
            ob.hide_set(True, view_layer=layer)
        ob.hide_viewport, ob.hide_select = disabled


class ViewState:
    """What a person sees of the view layer: the frame, and the modes, selection, visibility and active object."""

    def __init__(self, context: Context) -> None:
        objects, layer, self.scene = _objects_of(context), view_layer_of(context), scene_of(context)
        self.layer, self.active, self.frame = layer, objects.active, _frame_of(self.scene)
        self.states = {
            ob: (ob.mode, ob.select_get(), ob.hide_get(view_layer=layer), ob.hide_viewport, ob.hide_select)
            for ob in objects
        }
        self.linked = {*self.scene.collection.objects}

    def leave_modes(self, context: Context) -> None:
        """Go to Object Mode with what is in another mode than before."""
        for ob in [*_objects_of(context)]:
            if ob.mode != "OBJECT" and (ob not in self.states or ob.mode != self.states[ob][0]):
                _select(context, [ob])
                _set_mode(context, ob, "OBJECT")

    def restore_frame(self) -> None:
        """Return to the frame."""
        if _frame_of(self.scene) != self.frame:
            set_frame(self.scene, self.frame)

    def restore(self, context: Context) -> None:
        """Restore all of it."""
        for ob in [ob for ob in self.scene.collection.objects if ob not in self.linked]:
            self.scene.collection.objects.unlink(ob)
        for ob, (_, _, _, *disabled) in self.states.items():
            if [ob.hide_viewport, ob.hide_select] != disabled:
                ob.hide_viewport, ob.hide_select = disabled
        in_mode: dict[str, list[Any]] = {}
        for ob, (mode, *_) in self.states.items():
            if ob.mode != mode:
                in_mode.setdefault(mode, []).append(ob)
        for mode, obs in in_mode.items():
            _select(context, obs)
            _set_mode(context, self.active if self.active in obs else obs[0], mode)
        _select(context, {ob for ob, (_, is_selected, *_) in self.states.items() if is_selected})
        for ob, (_, _, is_hidden, *_) in self.states.items():
            if ob.hide_get(view_layer=self.layer) != is_hidden:
                ob.hide_set(is_hidden, view_layer=self.layer)
        if _objects_of(context).active != self.active:
            _objects_of(context).active = self.active


def _frame_of(scene: Scene) -> float:
    return scene.frame_current + scene.frame_subframe


def select(context: Context, refs: Sequence[dependencies.BoneRef]) -> list[str]:
    """Select bones or objects in the mode that moves them, the last one active; what is hidden is shown. Returns the
    names of objects, bones and collections of bones that are shown again. Raises `Refused`."""
    if any(not bone for _, bone in refs):
        refs = [(ob, bone) for ob, bone in refs if not bone]
    announce(*(ob for ob, _ in refs), *(bone.id_data for bone in context.selected_pose_bones or ()))
    layer: Any = view_layer_of(context)
    objects, is_bones = [*dict.fromkeys(ob for ob, _ in refs)], bool(refs[0][1])
    shown = [*dict.fromkeys(name for ob, bone in refs if bone for name in _show(ob, bone)), *_show_objects(objects)]
    if not (is_bones and context.mode == "POSE" and all(ob.mode == "POSE" for ob in objects)):
        _select_objects(context, layer, objects)
        if is_bones:
            bpy.ops.object.mode_set(mode="POSE")
    if is_bones:
        layer.objects.active = objects[-1]
        _select_bones(context, refs)
    return shown


def _show_objects(objects: Sequence[Object]) -> list[str]:
    """Have objects be seen that are hidden by their eyes in the Outliner, and give their names. Raises `Refused`, with
    all as it was, where one is hidden otherwise."""
    hidden = [ob for ob in objects if ob.hide_get()]
    for ob in hidden:
        ob.hide_set(False)
    still = next((ob for ob in objects if not ob.visible_get()), None)
    if still is None:
        return [ob.name for ob in hidden]
    for ob in hidden:
        ob.hide_set(True)
    raise Refused("'{name}' is hidden: show it first", name=still.name)


def _show(ob: Object, name: str) -> list[str]:
    """Have a bone be seen, and give the names of what was hidden: the bone, or a collection that it is in."""
    bone: Any = bones_of(ob)[name]
    owner = bone if hasattr(bone, "hide") else bone.bone  # the former from 5.0 on
    shown = [name] if owner.hide else []
    owner.hide = False
    collections = [*bone.bone.collections]
    if not collections or any(collection.is_visible_effectively for collection in collections):
        return shown
    first = collections[0]
    if not ob.data.library:  # type: ignore[union-attr]
        above = first
        while above is not None:
            above.is_visible, above = True, above.parent
        first.is_solo = ob.data.collections.is_solo_active  # type: ignore[union-attr]
    if not first.is_visible_effectively:
        template = "'{bone}' is in the hidden collection '{collection}' of '{rig}': show that"
        raise Refused(template, bone=name, collection=first.name, rig=ob.name)
    return [*shown, first.name]


def _select_objects(context: Context, layer: Any, objects: list[Object]) -> None:
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    for ob in objects:
        ob.select_set(True)
    layer.objects.active = objects[-1]


def _select_bones(context: Context, refs: Sequence[dependencies.BoneRef]) -> None:
    for posed in context.selected_pose_bones or ():
        select_bone(posed, False)
    for ob, name in refs:
        bone: Any = bones_of(ob)[name]
        select_bone(bone, True)
        ob.data.bones.active = bone.bone  # type: ignore[union-attr]  # an armature's


def select_if_shown(context: Context, refs: Sequence[dependencies.BoneRef]) -> None:
    """Select those bones that can be seen, as what a person goes on with; without any, leave everything as it is."""
    shown = [(ob, bone) for ob, bone in refs if has_bone(ob, bone) and ob.mode == "POSE" and ob.visible_get()]
    if shown and context.mode == "POSE":
        select(context, shown)


def select_bone(bone: PoseBone, state: bool) -> None:
    """Select a pose bone or not, in any Blender."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone  # the former from 5.0 on
    owner.select = state
