"""Making rigs as limbs are described: what is kept on the limbs' bones, then all that is made of it.

    apply(context, {limb: describe(limb)._replace(mode="RIG"), other: None})

What is there is compared with what is to be, and the difference is done: all limbs at once, in one visit to Edit Mode
for each rig. Constraints and drivers go before the bones that they name, and come after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bpy.types import Context
from mathutils import Matrix

from ..blender.animation import remove_animation, remove_if_empty
from ..blender.announcing import announce
from ..blender.dependencies import BoneRef
from ..blender.editing import (
    check_rests,
    editing_bones,
    keeping_unkeyed,
    remove_empty_collections,
    without_window_updates,
)
from ..blender.transaction import at_end
from ..blender.types import (
    ArmatureObject,
    all_objects,
    bones_of,
    is_armature,
    path_to_bone,
    path_to_custom,
    view_layer_of,
)
from ..limb.follow import Follow, follow_of, follow_of_constraint, set_follow
from ..limb.foot_roll import ROLLED_TARGET
from ..limb.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.settings import COLLECTION as ALL_OURS
from ..limb.settings import MADE_BY_US
from ..limb.storage import MAKING, group_of, is_orphaned, limb_constraint_of, remove_limb, segments_of
from . import making
from .controls import COLLECTION as CONTROLS
from .controls import (
    Control,
    Unused,
    add_control_bone,
    finish_control,
    made_for,
    remove_keys,
    unused_of,
)
from .description import Description, LimbRef, describe
from .feature_parts import PIVOTS_COLLECTION
from .inventory import HELPER_NAME, SPEC, inventory_of
from .keeping import ended_sliders, keep_settings, restore_settings
from .needed import NOTHING, followed_refs
from .parts import COLLECTION as HELPERS
from .sliding import check_slide
from .spec import to_json
from .there import ExistingPartsOfRig
from .widgets import remove_unused_shapes
from .work import LimbChanges, changes_for

Descriptions = Mapping[LimbRef, Description | None]


def apply(context: Context, descriptions: Descriptions, anew: Collection[LimbRef] = ()) -> list[str]:
    """Make limbs as described, or remove them (None) with the controls that nothing else uses; returns the names of
    controls that stay. What already is as described is left alone; for limbs in ``anew``, everything is rebuilt."""
    rigs = {ob: ExistingPartsOfRig(ob) for ob, _ in descriptions}
    there = {limb: rigs[limb[0]].of_limb(limb[1]) for limb in descriptions}
    before = {limb: describe(limb) if group_of(_bone_of(limb)) is not None else None for limb in descriptions}
    followed = [ref for limb, description in descriptions.items() for ref in _let_go(limb, before[limb], description)]
    controls = [
        ref
        for description in descriptions.values()
        if description
        for ref in (description.target, description.pole)
        if isinstance(ref, Control)
    ]
    announce(*rigs, *(control.ob for control in controls))
    carried = _parents_now(context, controls)
    for limb, description in descriptions.items():
        if description:
            check_slide(limb, description)
            keep_settings(limb, before[limb], description)
    works = [
        changes_for(limb, description, rigs[limb[0]], there[limb], limb in anew)
        for limb, description in descriptions.items()
    ]
    ended = {limb: ended_sliders(before[limb], description) for limb, description in descriptions.items()}
    if not any(work.is_needed for work in works) and before == descriptions:
        return []
    strays = {ob: {*on_rig.inventory.strays} for ob, on_rig in rigs.items()} if _has_removals(works) else {}
    with keeping_unkeyed(context, rigs):
        unused = _remove_parts(works, ended, followed, strays)
        edited = [*rigs, *unused.bones, *(control.ob for work in works for control in work.controls.values())]
        for ob in dict.fromkeys(edited):
            _edit(context, ob, works, unused.bones.get(ob, set()) | strays.get(ob, set()))
        _add_parts(works, carried)
    for ob in rigs:
        ob.update_tag(refresh={"DATA"})
    view_layer_of(context).update()
    at_end(remove_unused_shapes)
    return unused.kept


def _bone_of(ref: LimbRef) -> Any:
    return ref[0].pose.bones[ref[1]]


# before


def _let_go(ref: LimbRef, before: Description | None, description: Description | None) -> list[BoneRef]:
    """What a limb no more follows that may go: all, of one that is taken away; what a new control is made for."""
    if description is None:
        limb = _bone_of(ref)
        pairs = [(ob, bone) for ob, bone in follow_of(limb).pairs if ob is not None]
        return [*pairs, *(made_for(limb) if is_orphaned(limb) else ())]
    pairs = [(before.target, description.target), (before.pole, description.pole)] if before else []  # type: ignore[list-item]
    return [was for was, now in pairs if isinstance(now, Control) and was is not None]  # type: ignore[misc]


def _parents_now(context: Context, controls: Iterable[Control]) -> dict[tuple[Any, str], Matrix]:
    """The evaluated matrices, in their armatures, of the bones that new controls hang on."""
    parents = {(control.ob, control.parent) for control in controls if control.parent in bones_of(control.ob)}
    depsgraph: Any = context.evaluated_depsgraph_get() if parents else None
    return {(ob, bone): ob.evaluated_get(depsgraph).pose.bones[bone].matrix.copy() for ob, bone in parents}


def _has_removals(works: Sequence[LimbChanges]) -> bool:
    return any(work.bones_off or work.description is None for work in works)


# taking off


def _remove_parts(
    works: Sequence[LimbChanges],
    ended: Mapping[LimbRef, list[str]],
    followed: Sequence[BoneRef],
    strays: dict[ArmatureObject, set[str]],
) -> Unused:
    """Take off what is not to be there any more, but for bones; which controls nothing uses then."""
    taken = (
        any(work.drivers_off or work.constraints_off for work in works) or any(ended.values()) or any(strays.values())
    )
    if taken or followed:
        with without_window_updates():
            for ob, names in strays.items():
                _free_of(ob, names)
            for work in works:
                _remove_drivers_first(work)
                _end(work, ended[work.limb])
            for ob in dict.fromkeys(work.limb[0] for work in works):
                remove_if_empty(ob)
    for work in works:
        for bone, name in work.astray:
            constraint: Any = _bone(work, bone).constraints[name]
            for follower in (constraint, *getattr(constraint, "targets", ())):
                if hasattr(follower, "target"):
                    follower.target = None
    unused = unused_of(followed, with_keys=all(work.description is None for work in works))
    for ob, names in unused.bones.items():
        remove_keys(ob, names)
    return unused


def _bone(work: LimbChanges, name: str) -> Any:
    return work.limb[0].pose.bones[name]


def _remove_drivers_first(work: LimbChanges) -> None:
    """Take drivers off first: Blender crashes on one that lost what it drives."""
    ob: Any = work.limb[0]
    for bone, path, channel in work.drivers_off:
        curve = ob.animation_data.drivers.find(f"{path_to_bone(bone)}.{path}", index=channel)
        if curve is not None:
            ob.animation_data.drivers.remove(curve)
    for bone, name in work.constraints_off:
        constraints = _bone(work, bone).constraints
        if name in constraints:  # what named a stray went with that
            constraints.remove(constraints[name])


def _free_of(ob: ArmatureObject, strays: set[str]) -> None:
    """Take off what names helpers that are no limb's any more, and drivers of such that somebody deleted."""
    for bone in ob.pose.bones:
        for constraint in [*bone.constraints]:
            if getattr(constraint, "subtarget", "") in strays and constraint.name.startswith(MADE_BY_US):
                bone.constraints.remove(constraint)
    for bone_name, curves in inventory_of(ob).drivers.items():
        if bone_name in strays or (HELPER_NAME.match(bone_name) and bone_name not in ob.pose.bones):
            for curve in curves.values():
                ob.animation_data.drivers.remove(curve)  # type: ignore[union-attr]  # it has drivers


def _end(work: LimbChanges, ended: Sequence[str]) -> None:
    """End what animates sliders that are gone, and the limb itself where that is taken away."""
    ob, name = work.limb
    if work.description is None:
        restore_settings(_bone_of(work.limb))
    if ended:
        remove_animation(ob, [path_to_custom(name, key) for key in ended])
    if work.description is None:
        remove_limb(_bone_of(work.limb))


# bones


def _edit(context: Context, ob: ArmatureObject, works: Sequence[LimbChanges], removed: set[str]) -> None:
    """Remove, make and hang bones of a rig, if there is anything to do."""
    own = [work for work in works if work.limb[0] == ob]
    removed = removed.union(*(work.bones_off for work in own))
    if removed and ob.data.users > 1:
        removed -= _used_by_others(ob)
    hung, bones = _hung(own), ob.data.bones
    hung = {name: above for name, above in hung.items() if name in bones and _above(bones[name]) != above}
    controls = [(work, kind, control) for work in works for kind, control in work.controls.items() if control.ob == ob]
    if not (removed or hung or controls or any(work.bones_on for work in own)):
        return
    check_rests(ob)
    if gone := {control.name for _, _, control in controls} - {*bones.keys()}:
        remove_keys(ob, gone)  # of such as were deleted: they would move the new ones
    with editing_bones(context, ob):
        edited = ob.data.edit_bones
        for edit_bone in [edited[name] for name in removed if name in edited]:
            edited.remove(edit_bone)
        renamed: dict[str, str] = {}  # what is called otherwise than it was to be, where that name was taken
        for work, kind, control in controls:
            renamed[control.name] = add_control_bone(control, renamed.get(control.parent, control.parent))
            work.new_controls[kind] = (ob, renamed[control.name])
        for work in own:
            refs = work.needed.refs
            for bone in work.bones_on:
                name = refs[bone.role][1] or making.helper_name(*work.limb, bone.role)
                refs[bone.role] = (ob, making.add_helper_bone(ob, bone, name, refs, bone.role in work.new))
        for name, above in hung.items():
            if name in edited:
                edited[name].parent = edited.get(above) if above else None
    remove_empty_collections(ob, (HELPERS, PIVOTS_COLLECTION, CONTROLS, ALL_OURS))


def _above(bone: Any) -> str:
    return bone.parent.name if bone.parent else ""


def _hung(works: Sequence[LimbChanges]) -> dict[str, str]:
    """What poles are to hang on that no more follow, and that those do which follow: nothing."""
    hung: dict[str, str] = {}
    for work in works:
        off = {bone for bone, name in work.constraints_off if name == FOLLOWING_POLE}
        hung |= {bone: above for bone, above in work.there.parents.items() if bone in off}
    return hung | {work.needed.refs[role][1]: "" for work in works for role in work.needed.parts.free}


def _used_by_others(ob: ArmatureObject) -> set[str]:
    """The helper bones that limbs of other objects of the same armature take over from, and what these need."""
    used: set[str] = set()
    for other in all_objects():
        if other.data == ob.data and other != ob and is_armature(other):
            used.update(name for roles in inventory_of(other).used for name in roles.values())
    return used


# putting on


def _add_parts(works: Sequence[LimbChanges], carried: dict[tuple[Any, str], Matrix]) -> None:
    """Make what is lacking, now that all bones are there."""
    if not any(work.is_needed for work in works):
        return
    with without_window_updates():  # not around Edit Mode, which has to see the window's own scene
        for work in works:
            if work.description:
                _follow(work, work.description, carried)
                _make(work)


def _follow(work: LimbChanges, description: Description, carried: dict[tuple[Any, str], Matrix]) -> None:
    """Pose new controls, and have the limb follow them."""
    for kind, control in work.controls.items():
        ob, name = work.new_controls[kind]
        above = bones_of(ob)[name].parent
        carried[ob, name] = finish_control(control, name, carried[ob, above.name] if above else None)
    target, pole = (
        work.new_controls.get(kind) or ref for kind, ref in (("target", description.target), ("pole", description.pole))
    )
    work.needed.refs.update(followed_refs(target, pole, work.needed.refs.get(ROLLED_TARGET)))
    if work.new_controls:
        constraint, follow = limb_constraint_of(_bone_of(work.limb)), Follow(*(target or NOTHING), *(pole or NOTHING))
        if follow_of_constraint(constraint) != follow:
            set_follow(constraint, follow)


def _make(work: LimbChanges) -> None:
    ob, refs = work.limb[0], work.needed.refs
    for bone in work.bones_on:
        making.finish_helper(ob, bone, refs[bone.role][1])
    if (spec := work.needed.spec) and ("root" in work.new or spec != work.there.built):
        ob.data.bones[refs["root"][1]][SPEC] = to_json(spec)
    for constraint in work.constraints_on:
        making.constrain(ob, constraint, refs)
    for owner in dict.fromkeys(constraint.bone for constraint in work.constraints_on):
        names = [constraint.name for constraint in work.needed.parts.constraints if constraint.bone == owner]
        making.put_in_order(ob, refs[owner][1], names)
    for driver in work.drivers_on:
        making.drive(ob, driver, refs)
    limb = _bone_of(work.limb)
    limb_constraint_of(limb).chain_count = sum(segments_of(limb))
    group_of(limb).pop(MAKING, None)
