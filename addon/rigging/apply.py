"""Making rigs as limbs are described: what is kept on the limbs' bones, then all that is made of it.

    apply(context, {limb: describe(limb)._replace(mode="RIG"), other: None})

A limb whose value is that which is built is left alone. Of any other, all constraints and drivers are stripped and made
anew; and its helper bones, if these are to be others: all limbs at once, in one visit to Edit Mode for each rig.
Constraints and drivers go before the bones that they name, and come after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple

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
from ..limb.features.roll import PIVOTS_COLLECTION, ROLLED_TARGET
from ..limb.follow import Follow, follow_of, follow_of_constraint, set_follow
from ..limb.parts import COLLECTION as HELPERS
from ..limb.parts import MADE_BY_US, HelperBone
from ..limb.settings import COLLECTION as ALL_OURS
from ..limb.storage import MAKING, group_of, is_orphaned, limb_constraint_of, remove_limb, segments_of
from ..limb.tolerances import ON_TARGET
from . import making
from .controls import COLLECTION as CONTROLS
from .controls import (
    Control,
    Unused,
    add_control_bone,
    finish_control,
    made_for,
    remove_keys,
    remove_unused_shapes,
    unused_of,
)
from .description import Description, LimbRef, check_features, describe, ended_sliders, keep_settings, restore_settings
from .making import NO_NEED, NOTHING, Needed, followed_refs, needed_of, needed_parts, united
from .spec import to_json
from .there import (
    HELPER_NAME,
    SPEC,
    Driven,
    ExistingParts,
    ExistingPartsOfRig,
    drivers_of_parts,
    inventory_of,
    is_whole,
)

Descriptions = Mapping[LimbRef, Description | None]


def apply(context: Context, descriptions: Descriptions, anew: Collection[LimbRef] = ()) -> list[str]:
    """Make limbs as described, or remove them (None) with the controls that nothing else uses; returns the names of
    controls that stay. Limbs in ``anew`` are rebuilt though they are as described."""
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
            check_features(limb, before[limb], description)
            keep_settings(limb, before[limb], description)
    works = [
        work
        for limb, description in descriptions.items()
        if (work := _work_for(limb, before[limb], description, rigs[limb[0]], there[limb], limb in anew))
    ]
    if not works and before == descriptions:
        return []
    ended = {limb: ended_sliders(before[limb], description) for limb, description in descriptions.items()}
    has_removals = any(work.bones_off or work.description is None for work in works)
    strays = {ob: {*on_rig.inventory.strays} for ob, on_rig in rigs.items()} if has_removals else {}
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


def _are_alike(bones: Sequence[HelperBone], others: Sequence[HelperBone]) -> bool:
    """Whether helper bones are the same, and rest the same but for what Blender rounds."""
    if [bone._replace(rest=()) for bone in bones] != [bone._replace(rest=()) for bone in others]:
        return False
    rests = (pair for one, other in zip(bones, others, strict=True) for pair in zip(one.rest, other.rest, strict=True))
    return all(isclose(*pair, rel_tol=ON_TARGET, abs_tol=ON_TARGET) for pair in rests)


class Work(NamedTuple):
    """What is to be done on a rig for a limb: what is there goes, and what it needs comes. Its helper bones stay if it
    ``keeps_bones``; ``places`` are those of its constraints among others, by bone; ``new_controls`` those that were
    made, by kind."""

    limb: LimbRef
    description: Description | None
    there: ExistingParts
    needed: Needed
    keeps_bones: bool
    drivers: list[Driven]
    places: dict[str, int]
    new_controls: dict[str, Any]

    @property
    def bones_off(self) -> set[str]:
        """The helper bones that go."""
        return self.there.useless if self.keeps_bones else self.there.bones

    @property
    def bones_on(self) -> tuple[HelperBone, ...]:
        """The helper bones that come."""
        return () if self.keeps_bones else self.needed.parts.bones

    @property
    def controls(self) -> dict[str, Any]:
        """The controls to be made for the limb, by kind."""
        pairs = {"target": self.description.target, "pole": self.description.pole} if self.description else {}
        return {kind: ref for kind, ref in pairs.items() if isinstance(ref, Control)}


def _work_for(
    ref: LimbRef,
    before: Description | None,
    description: Description | None,
    on_rig: ExistingPartsOfRig,
    there: ExistingParts,
    anew: bool,
) -> Work | None:
    """What is to be done for a limb; None where it is as described."""
    needed, keeps_bones = NO_NEED, False
    if description:
        needed = needed_of(ref, description, there._replace(built=None) if anew else there)
        rests = united(needed_parts(ref, before, there.built)).bones if before and not anew else ()
        keeps_bones = _are_alike(rests, needed.parts.bones) and {bone.role for bone in rests} == there.helpers.keys()
        is_built = keeps_bones and (needed.spec and needed.spec[3:]) == (there.built and there.built[3:])  # but names
        is_so = before == description and is_built and not there.useless
        if is_so and not anew and is_whole(on_rig.inventory, needed.parts, needed.refs):
            return None
        if not keeps_bones:
            needed.refs.update({bone.role: (ref[0], "") for bone in needed.parts.bones})
    places = dict[str, int]()
    for bone, name in there.constraints:
        place = ref[0].pose.bones[bone].constraints.find(name)
        places[bone] = min(place, places.get(bone, place))
    drivers = drivers_of_parts(on_rig.inventory, there)
    return Work(
        limb=ref,
        description=description,
        there=there,
        needed=needed,
        keeps_bones=keeps_bones,
        drivers=drivers,
        places=places,
        new_controls={},
    )


# taking off


def _remove_parts(
    works: Sequence[Work],
    ended: Mapping[LimbRef, list[str]],
    followed: Sequence[BoneRef],
    strays: dict[ArmatureObject, set[str]],
) -> Unused:
    """Take off what was made for limbs, but for bones; which controls nothing uses then."""
    removed = {work.limb for work in works if work.description is None}
    with without_window_updates():
        for ob, names in strays.items():
            _free_of(ob, names)
        for work in works:
            _strip(work)
        for ref, sliders in ended.items():
            _end(ref, sliders, ref in removed)
        for ob in dict.fromkeys(ob for ob, _ in ended):
            remove_if_empty(ob)
    unused = unused_of(followed, with_keys=all(work.description is None for work in works))
    for ob, names in unused.bones.items():
        remove_keys(ob, names)
    return unused


def _strip(work: Work) -> None:
    """Take off drivers, then constraints: Blender crashes on a driver that lost what it drives."""
    ob: Any = work.limb[0]
    if work.description and work.description.mode == "RIG":
        group_of(_bone_of(work.limb))[MAKING] = True  # that nobody takes it for live in between
    for bone, path, channel in work.drivers:
        curve = ob.animation_data.drivers.find(f"{path_to_bone(bone)}.{path}", index=channel)
        if curve is not None:
            ob.animation_data.drivers.remove(curve)
    for bone, name in work.there.constraints:
        constraints = ob.pose.bones[bone].constraints
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


def _end(ref: LimbRef, ended: Sequence[str], is_removed: bool) -> None:
    """End what animates sliders that are gone, and the limb itself where that is taken away."""
    if is_removed:
        restore_settings(_bone_of(ref))
    if ended:
        remove_animation(ref[0], [path_to_custom(ref[1], key) for key in ended])
    if is_removed:
        remove_limb(_bone_of(ref))


# bones


def _edit(context: Context, ob: ArmatureObject, works: Sequence[Work], removed: set[str]) -> None:
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
                name = making.helper_name(*work.limb, bone.role)
                refs[bone.role] = (ob, making.add_helper_bone(ob, bone, name, refs))
        for name, above in hung.items():
            if name in edited:
                edited[name].parent = edited.get(above) if above else None
    remove_empty_collections(ob, (HELPERS, PIVOTS_COLLECTION, CONTROLS, ALL_OURS))


def _above(bone: Any) -> str:
    return bone.parent.name if bone.parent else ""


def _hung(works: Sequence[Work]) -> dict[str, str]:
    """What poles are to hang on that no more follow, and that those do which follow: nothing."""
    hung: dict[str, str] = {}
    for work in works:
        hung |= work.there.parents
    return hung | {work.needed.refs[role][1]: "" for work in works for role in work.needed.parts.free}


def _used_by_others(ob: ArmatureObject) -> set[str]:
    """The helper bones that limbs of other objects of the same armature take over from, and what these need."""
    used: set[str] = set()
    for other in all_objects():
        if other.data == ob.data and other != ob and is_armature(other):
            used.update(name for roles in inventory_of(other).used for name in roles.values())
    return used


# putting on


def _add_parts(works: Sequence[Work], carried: dict[tuple[Any, str], Matrix]) -> None:
    """Make what is lacking, now that all bones are there."""
    with without_window_updates():  # not around Edit Mode, which has to see the window's own scene
        for work in works:
            if work.description:
                _follow(work, work.description, carried)
                _make(work)


def _follow(work: Work, description: Description, carried: dict[tuple[Any, str], Matrix]) -> None:
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


def _make(work: Work) -> None:
    ob, refs = work.limb[0], work.needed.refs
    for bone in work.bones_on:
        making.finish_helper(ob, bone, refs[bone.role][1])
    if ((spec := work.needed.spec) and spec != work.there.built) or (not work.keeps_bones and spec):
        ob.data.bones[refs["root"][1]][SPEC] = to_json(spec)
    constraints = work.needed.parts.constraints
    for constraint in constraints:
        making.constrain(ob, constraint, refs)
    for owner in dict.fromkeys(constraint.bone for constraint in constraints):
        own = [constraint for constraint in constraints if constraint.bone == owner]
        place = 0 if any(constraint.targets for constraint in own) else work.places.get(refs[owner][1])
        if place is not None:
            making.put_at(ob, refs[owner][1], [constraint.name for constraint in own], place)
    for driver in work.needed.parts.drivers:
        making.drive(ob, driver, refs)
    limb = _bone_of(work.limb)
    limb_constraint_of(limb).chain_count = sum(segments_of(limb))
    group_of(limb).pop(MAKING, None)
