"""Making rigs as limbs are described: what is kept on the limbs' bones, then all that is made of it.

    build(context, {limb: describe(limb)._replace(mode="RIG"), other: None})

A limb whose value is that which is built is left alone. Of any other, all that bears its mark is taken off and made
anew: all limbs at once, in one visit to Edit Mode for each rig, if helper bones are to be others. Constraints and
drivers go before the bones that they name, and come after."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple
from zlib import crc32

from bpy.types import Context
from mathutils import Matrix

from ..blender import animation, dependencies, editing, fcurves, transaction
from ..blender.types import (
    ArmatureObject,
    all_objects,
    announce,
    bones_of,
    is_armature,
    path_to_bone,
    path_to_custom,
    split_path,
    view_layer_of,
)
from ..limb import storage, tolerances
from ..limb.features import pole_follow, roll
from ..limb.follow import Follow, follow_of, follow_of_constraint, set_follow
from ..limb.names import side_sign
from ..limb.settings import COLLECTION as ALL_OURS
from ..limb.settings import MADE_FOR_LIMB, SPEC
from ..limb.spec import (
    ALL,
    CHANNEL,
    ConstraintSpec,
    DriverSpec,
    DriverVariable,
    HelperBone,
    Parts,
    Spec,
    differs,
    to_json,
)
from ..limb.spec import COLLECTION as HELPERS
from .controls import (
    COLLECTIONS,
    Control,
    Unused,
    add_control_bone,
    finish_control,
    made_for,
    remove_keys,
    remove_unused_shapes,
    unused_of,
)
from .description import (
    Description,
    LimbRef,
    check_features,
    describe,
    ended_sliders,
    keep_settings,
    restore_settings,
    spec_of,
)
from .marks import Made, made_on
from .parts import NOTHING, Refs, followed_refs, needed_parts, refs_of, united

Descriptions = Mapping[LimbRef, Description | None]


def build(context: Context, descriptions: Descriptions, anew: Collection[LimbRef] = ()) -> list[str]:
    """Make limbs as described, or remove those described as None; returns the names of controls that stay. Controls
    of removed limbs go if nothing else uses them. Limbs in ``anew`` are rebuilt though they are as described."""
    limbs_on = {ob: [name for own, name in descriptions if own == ob] for ob, _ in descriptions}
    made = {ob: made_on(ob, names) for ob, names in limbs_on.items()}
    before = {limb: describe(limb) if storage.group_of(_bone_of(limb)) is not None else None for limb in descriptions}
    followed = [ref for limb, description in descriptions.items() for ref in _let_go(limb, before[limb], description)]
    controls = [
        ref
        for description in descriptions.values()
        if description
        for ref in (description.target, description.pole)
        if isinstance(ref, Control)
    ]
    announce(*made, *(control.ob for control in controls))
    carried = _carriers_now(context, controls, descriptions)
    for limb, description in descriptions.items():
        if description:
            check_features(limb, before[limb], description)
            keep_settings(limb, before[limb], description)
    works = [
        _work_for(limb, before[limb], description, made[limb[0]][limb[1]], limb in anew)
        for limb, description in descriptions.items()
        if limb in anew or description is None or not _is_built(limb, before[limb], description, made)
    ]
    if not works:
        return []
    ended = {work.limb: ended_sliders(before[work.limb], work.description) for work in works}
    strays = {ob: on_rig[""] for ob, on_rig in made.items()} if any(work.is_less for work in works) else {}
    with editing.keeping_unkeyed(context, made):
        unused = _remove_parts(works, ended, followed, strays)
        edited = [*made, *unused.bones, *(control.ob for work in works for control in work.controls.values())]
        for ob in dict.fromkeys(edited):
            _edit(context, ob, works, unused.bones.get(ob, set()).union(strays[ob].bones if ob in strays else ()))
        _add_parts(works, carried)
    for ob in made:
        ob.update_tag(refresh={"DATA"})
    view_layer_of(context).update()
    transaction.at_end(remove_unused_shapes)
    return unused.kept


def _bone_of(ref: LimbRef) -> Any:
    return ref[0].pose.bones[ref[1]]


# before


def _let_go(ref: LimbRef, before: Description | None, description: Description | None) -> list[dependencies.BoneRef]:
    """What a limb no more follows that may go: all, of one that is taken away; what a new control is made for."""
    if description is None:
        limb = _bone_of(ref)
        pairs = [(ob, bone) for ob, bone in follow_of(limb).pairs if ob is not None]
        return [*pairs, *(made_for(limb) if storage.is_orphaned(limb) else ())]
    pairs = [(before.target, description.target), (before.pole, description.pole)] if before else []  # type: ignore[list-item]
    return [was for was, now in pairs if isinstance(now, Control) and was is not None]  # type: ignore[misc]


def _carriers_now(
    context: Context, controls: Iterable[Control], descriptions: Descriptions
) -> dict[tuple[Any, str], Matrix]:
    """The evaluated matrices, in their armatures, of the bones that new controls hang on or go with."""
    carriers = {(control.ob, control.parent) for control in controls}
    for limb, description in descriptions.items():
        if description and description.pole_follow and isinstance(description.pole, Control):
            target: Any = description.target
            carriers |= {(limb[0], description.pole_follow.above)}
            carriers |= set() if isinstance(target, Control) else {target}
    carriers = {(ob, bone) for ob, bone in carriers if bone in bones_of(ob)}
    depsgraph: Any = context.evaluated_depsgraph_get() if carriers else None
    return {(ob, bone): ob.evaluated_get(depsgraph).pose.bones[bone].matrix.copy() for ob, bone in carriers}


class Work(NamedTuple):
    """What is to be done on a rig for a limb: what was ``made`` goes, and the parts come that it needs, with what their
    roles refer to. Its helper bones stay if it ``keeps_bones``; ``places`` are those of its constraints among others,
    by bone; ``new_controls`` those that are made, by kind."""

    limb: LimbRef
    description: Description | None
    made: Made
    parts: Parts
    refs: dict[str, Any]
    spec: Spec | None
    keeps_bones: bool
    places: dict[str, int]
    new_controls: dict[str, Any]

    @property
    def is_less(self) -> bool:
        """Whether something goes that may have left strays."""
        return self.description is None or bool(self.made.bones and not self.keeps_bones)

    @property
    def controls(self) -> dict[str, Any]:
        """The controls to be made for the limb, by kind."""
        pairs = {"target": self.description.target, "pole": self.description.pole} if self.description else {}
        return {kind: ref for kind, ref in pairs.items() if isinstance(ref, Control)}


def _is_built(
    ref: LimbRef, before: Description | None, description: Description, made: Mapping[Any, Mapping[str, Made]]
) -> bool:
    """Whether what was made for a limb is what its value says: nothing is to be done."""
    built = made[ref[0]][ref[1]].built
    spec = _spec_of(ref, description, built)
    return before == description and (spec and spec[3:]) == (built and built[3:])  # but names


def _spec_of(ref: LimbRef, description: Description, built: Spec | None) -> Spec | None:
    """The spec of a limb's mechanism: that of which it was built, if this still fits."""
    spec = spec_of(ref, description) if description.mode == "RIG" else None
    if spec is None or built is None or differs(built, spec):
        return spec
    return built._replace(bones=spec.bones, last_bone=spec.last_bone, parent=spec.parent)


def _work_for(
    ref: LimbRef, before: Description | None, description: Description | None, made: Made, anew: bool
) -> Work:
    """What is to be done for a limb."""
    parts, refs, spec, keeps_bones = Parts(), dict[str, Any](), None, False
    if description:
        spec = _spec_of(ref, description, None if anew else made.built)
        parts = united(needed_parts(ref, description, spec))
        were = united(needed_parts(ref, before, made.built)).bones if before and not anew else ()
        has_all = sorted(made.bones.values()) == sorted(bone.role for bone in were)
        keeps_bones = has_all and _are_alike(were, parts.bones)
        refs = refs_of(ref, description, parts.bones, made.by_role if keeps_bones else {})
    places = dict[str, int]()
    for bone, name in made.constraints:
        place = ref[0].pose.bones[bone].constraints.find(name)
        places[bone] = min(place, places.get(bone, place))
    return Work(
        limb=ref,
        description=description,
        made=made,
        parts=parts,
        refs=refs,
        spec=spec,
        keeps_bones=keeps_bones,
        places=places,
        new_controls={},
    )


def _are_alike(bones: Sequence[HelperBone], others: Sequence[HelperBone]) -> bool:
    """Whether helper bones are the same, and rest the same but for what Blender rounds."""
    if [bone._replace(rest=()) for bone in bones] != [bone._replace(rest=()) for bone in others]:
        return False
    rests = (pair for one, other in zip(bones, others, strict=True) for pair in zip(one.rest, other.rest, strict=True))
    return all(isclose(*pair, rel_tol=tolerances.ON_TARGET, abs_tol=tolerances.ON_TARGET) for pair in rests)


# taking off


def _remove_parts(
    works: Sequence[Work],
    ended: Mapping[LimbRef, list[str]],
    followed: Sequence[dependencies.BoneRef],
    strays: Mapping[ArmatureObject, Made],
) -> Unused:
    """Take off what was made for limbs, but for bones; which controls nothing uses then."""
    removed = {work.limb for work in works if work.description is None}
    with editing.without_window_updates():
        for ob in dict.fromkeys(ob for ob, _ in ended):
            own = [work for work in works if work.limb[0] == ob]
            for work in own:
                if work.description and work.description.mode == "RIG":
                    storage.keep(_bone_of(work.limb), **{storage.MAKING: True})  # not live, in between
            stems = tuple(helper_stem(*work.limb) for work in own)
            _strip(ob, [*(work.made for work in own), *([strays[ob]] if ob in strays else ())], stems)
        for ref, sliders in ended.items():
            _end(ref, sliders, ref in removed)
        for ob in dict.fromkeys(ob for ob, _ in ended):
            animation.remove_if_empty(ob)
    unused = unused_of(followed, with_keys=all(work.description is None for work in works))
    for ob, names in unused.bones.items():
        remove_keys(ob, names)
    return unused


def _strip(ob: Any, made: Sequence[Made], stems: tuple[str, ...]) -> None:
    """Take off drivers, those too of helper bones with such names that somebody deleted, then constraints: Blender
    crashes on a driver that lost what it drives."""
    bones = {name for own in made for name in own.bones}
    constraints = {pair for own in made for pair in own.constraints}
    for curve in animation.drivers_of(ob):
        bone, path = split_path(curve.data_path)
        is_lost = bone not in ob.pose.bones and bone.startswith(stems)
        if bone in bones or is_lost or (bone, *path.split('"')[1:2]) in constraints:
            ob.animation_data.drivers.remove(curve)
    constraints |= {
        (name, constraint.name)
        for name in bones
        for constraint in ob.pose.bones[name].constraints
        if storage.is_mechanism_constraint(constraint)
    }
    for bone, name in constraints:
        own_constraints = ob.pose.bones[bone].constraints
        own_constraints.remove(own_constraints[name])


def _end(ref: LimbRef, keys: Sequence[str], is_removed: bool) -> None:
    """End what animates sliders that are gone, by the ``keys`` of their custom properties, and the limb itself where
    that is taken away."""
    if is_removed:
        restore_settings(_bone_of(ref))
    if keys:
        animation.remove_animation(ref[0], [path_to_custom(ref[1], key) for key in keys])
    if is_removed:
        storage.remove_limb(_bone_of(ref))


# bones


def _edit(context: Context, ob: ArmatureObject, works: Sequence[Work], removed: set[str]) -> None:
    """Remove, make and hang bones of a rig, if there is anything to do."""
    own = [work for work in works if work.limb[0] == ob]
    removed = removed.union(*(work.made.bones for work in own if not work.keeps_bones))
    if removed and ob.data.users > 1:
        removed -= _used_by_others(ob)
    hung, bones = _hung(own), ob.data.bones
    hung = {name: above for name, above in hung.items() if name in bones and _above(bones[name]) != above}
    controls = [(work, kind, control) for work in works for kind, control in work.controls.items() if control.ob == ob]
    if not (removed or hung or controls or any(work.parts.bones and not work.keeps_bones for work in own)):
        return
    editing.check_rests(ob)
    if gone := {control.name for _, _, control in controls} - {*bones.keys()}:
        remove_keys(ob, gone)  # of such as were deleted: they would move the new ones
    with editing.editing_bones(context, ob):
        edited = ob.data.edit_bones
        for edit_bone in [edited[name] for name in removed if name in edited]:
            edited.remove(edit_bone)
        renamed: dict[str, str] = {}  # what is called otherwise than it was to be, where that name was taken
        for work, kind, control in controls:
            renamed[control.name] = add_control_bone(control, renamed.get(control.parent, control.parent))
            work.new_controls[kind] = (ob, renamed[control.name])
        for work in own:
            for bone in work.parts.bones if not work.keeps_bones else ():
                name = helper_name(*work.limb, bone.role)
                work.refs[bone.role] = (ob, add_helper_bone(ob, bone, name, work.refs))
        for name, above in hung.items():
            if name in edited:
                edited[name].parent = edited.get(above) if above else None
    editing.remove_empty_collections(ob, (HELPERS, roll.PIVOTS_COLLECTION, *COLLECTIONS.values(), ALL_OURS))


def _above(bone: Any) -> str:
    return bone.parent.name if bone.parent else ""


def _hung(works: Sequence[Work]) -> dict[str, str]:
    """What poles are to hang on that no more follow, and that those do which follow: nothing."""
    hung: dict[str, str] = {}
    for work in works:
        hung |= work.made.parents
    return hung | {work.refs[role][1]: "" for work in works for role in work.parts.free}


def _used_by_others(ob: ArmatureObject) -> set[str]:
    """The helper bones that limbs of other objects of the same armature take over from, and what these need."""
    used: set[str] = set()
    for other in all_objects():
        if other.data == ob.data and other != ob and is_armature(other):
            used.update(bone for limb, made in made_on(other).items() if limb for bone in made.bones)
    return used


# putting on


def _add_parts(works: Sequence[Work], carried: dict[tuple[Any, str], Matrix]) -> None:
    """Make what is lacking, now that all bones are there."""
    with editing.without_window_updates():  # not around Edit Mode, which has to see the window's own scene
        for work in works:
            if work.description:
                _follow(work, work.description, carried)
                _make(work)


def _follow(work: Work, description: Description, carried: dict[tuple[Any, str], Matrix]) -> None:
    """Pose new controls, note their matrices in ``carried`` and their names in the work, and have the limb follow
    them."""
    for kind, control in work.controls.items():
        ob, name = work.new_controls[kind]
        above = bones_of(ob)[name].parent
        moved = carried[ob, above.name] @ above.bone.matrix_local.inverted() if above else None
        if kind == "pole" and description.pole_follow:
            target: Any = work.new_controls.get("target") or description.target
            above_moved, target_moved = (
                carried[pair] @ bones_of(ob)[pair[1]].bone.matrix_local.inverted() if pair[1] else Matrix()
                for pair in ((ob, description.pole_follow.above), target)
            )
            moved = pole_follow.carried(above_moved, target_moved, description.sliders["pole_follow"])
        carried[ob, name] = finish_control(control, name, moved)
    target, pole = (
        work.new_controls.get(kind) or ref for kind, ref in (("target", description.target), ("pole", description.pole))
    )
    work.refs.update(followed_refs(target, pole, work.refs.get(roll.ROLLED_TARGET)))
    if work.new_controls:
        constraint, follow = (
            storage.limb_constraint_of(_bone_of(work.limb)),
            Follow(*(target or NOTHING), *(pole or NOTHING)),
        )
        if follow_of_constraint(constraint) != follow:
            set_follow(constraint, follow)


def _make(work: Work) -> None:
    ob, refs = work.limb[0], work.refs
    for bone in work.parts.bones if not work.keeps_bones else ():
        finish_helper(ob, bone, refs[bone.role][1])
    if work.spec and (work.spec != work.made.built or not work.keeps_bones):
        setattr(ob.data.bones[refs["root"][1]], SPEC, to_json(work.spec))
    constraints = work.parts.constraints
    for constraint in constraints:
        constrain(ob, constraint, refs)
    for owner in dict.fromkeys(constraint.bone for constraint in constraints):
        own = [constraint for constraint in constraints if constraint.bone == owner]
        place = 0 if any(constraint.targets for constraint in own) else work.places.get(refs[owner][1])
        if place is not None:
            put_at(ob, refs[owner][1], [constraint.name for constraint in own], place)
    for driver in work.parts.drivers:
        drive(ob, driver, refs)
    limb = _bone_of(work.limb)
    storage.limb_constraint_of(limb).chain_count = sum(storage.segments_of(limb))
    storage.keep(limb, **{storage.MAKING: None})


# one by one


SIDES = re.compile(r"(?i)^[lr][._ -]|^(?:left|right)|(?:[._ -][lr]|[._ -]?(?:left|right))(?=(?:\.\d+)?$)")
"""What says a side at either end of a name."""

NAME_BYTES = 32
"""How many bytes of a bone's name those of its helpers have: Blender takes 63 in all, with a number at the end."""

# bones


def helper_name(ob: ArmatureObject, limb_name: str, role: str) -> str:
    """The name of a helper bone: MCH-SHIN-turn1.L for that of shin.L. On both sides it is the same but for the side,
    so that Blender's mirroring finds one by the other."""
    return f"{helper_stem(ob, limb_name)}{role.replace(' ', '')}{('.R', '', '.L')[side_sign(limb_name) + 1]}"


def helper_stem(ob: ArmatureObject, limb_name: str) -> str:
    """How the names of a limb's helper bones begin: MCH-SHIN-.

    As armatures are joined, Blender loses drivers of bones whose names have another's in them: capitals are as no bone
    has them, or if one does, eight digits of its name."""
    core = SIDES.sub("", limb_name) or limb_name
    core = core.lower() if core.isupper() else core.upper()
    core = core.encode()[:NAME_BYTES].decode(errors="ignore")
    if any(bone.name in core for bone in ob.data.bones):
        core = f"{crc32(limb_name.encode()):08x}"
    return f"MCH-{core}-"


def add_helper_bone(ob: ArmatureObject, bone: HelperBone, name: str, refs: Refs) -> str:
    """Add a helper bone in Edit Mode; returns its name. Blender takes no matrix for a bone without a length."""
    bones = ob.data.edit_bones
    laid: Any = bones.new(name)
    setattr(laid, MADE_FOR_LIMB, bone.role)
    rest = Matrix((bone.rest[:4], bone.rest[4:8], bone.rest[8:12], bone.rest[12:]))
    laid.head, laid.tail = rest.translation, rest.translation + rest.col[1].to_3d() * bone.length
    laid.matrix = rest
    laid.length = bone.length
    laid.use_deform = laid.select = laid.select_head = laid.select_tail = False
    above = refs[bone.parent][1] if bone.parent else ""
    if bone.like:
        like = bones[refs[bone.like][1]]
        if bone.copies_rest:
            laid.head, laid.tail, laid.roll = like.head, like.tail, like.roll
        laid.inherit_scale, laid.use_inherit_rotation = like.inherit_scale, like.use_inherit_rotation
    laid.parent = bones[above] if above else None
    return str(laid.name)


def finish_helper(ob: ArmatureObject, bone: HelperBone, name: str) -> None:
    """Set what a helper bone has outside of Edit Mode, and reset its channels. A bone that is made again would keep
    those of the one before with its name."""
    pose_bone: Any = ob.pose.bones[name]
    pose_bone.rotation_mode, pose_bone.location = bone.order, bone.location
    pose_bone.rotation_quaternion, pose_bone.rotation_euler = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    pose_bone.scale = (1.0, 1.0, 1.0)
    place = 3 if bone.collection == roll.PIVOTS_COLLECTION else 2
    editing.collect(ob, pose_bone.bone, bone.collection, ALL_OURS, place).is_visible = False


# constraints


def constrain(ob: ArmatureObject, constraint: ConstraintSpec, refs: Refs) -> None:
    """Add a constraint to the bone of its role; ``refs`` are the bones and objects of a mechanism by role."""
    owner: Any = ob.pose.bones[refs[constraint.bone][1]]
    real = owner.constraints.new(constraint.type)
    real.name, real.show_expanded = constraint.name, False
    followers = [real.targets.new() for _ in constraint.targets] or [real]
    for follower, role in zip(followers, constraint.targets or (constraint.target,), strict=True):
        follower.target, bone = refs[role]
        if hasattr(follower, "subtarget"):
            follower.subtarget = bone
    for name, value in constraint.settings:
        setattr(real, name, value)
    if constraint.space:
        real.space_object, real.space_subtarget = refs[constraint.space]


def put_at(ob: ArmatureObject, bone: str, names: Sequence[str], place: int) -> None:
    """Put these constraints of a bone, in their order, at a place among its others."""
    constraints: Any = ob.pose.bones[bone].constraints
    for offset, name in enumerate(names):
        constraints.move(constraints.find(name), place + offset)


# drivers


def drive(ob: ArmatureObject, driver: DriverSpec, refs: Refs) -> None:
    """Add a driver, and check it: Blender silently cuts expressions that are too long."""
    curve: Any = ob.driver_add(f"{path_to_bone(refs[driver.bone][1])}.{driver.path}", driver.channel)
    fcurves.reset(curve)  # its keys would round numbers near 0 and 1 (5.2)
    new = curve.driver
    new.type = "SUM" if [variable.letter for variable in driver.variables] == [driver.expression] else "SCRIPTED"
    for variable in driver.variables:
        added = new.variables.new()
        added.name, added.type = variable.letter, variable.type
        for target, read in zip(added.targets, _reads(variable, refs), strict=True):
            target.id = ob
            for name, value in read.items():
                setattr(target, name, value)
    if new.type == "SCRIPTED":
        new.expression = driver.expression
        if new.expression != driver.expression or not new.is_simple_expression:
            raise RuntimeError(f"Blender does not take the expression {driver.expression}")


def _reads(variable: DriverVariable, refs: Refs) -> list[dict[str, str]]:
    """The settings of a variable's targets."""
    reads = []
    for read in variable.reads:
        bone = refs[read.bone][1]
        if not read.space:
            path = path_to_custom(bone, read.what)
            reads.append({"data_path": path if read.item == ALL else f"{path}[{read.item}]"})
        elif read.space == CHANNEL:
            reads.append({"data_path": f"{path_to_bone(bone)}.{read.what}"})
        else:
            kind = {"transform_type": read.what} if read.what else {}
            reads.append({"bone_target": bone, "transform_space": read.space} | kind)
    return reads
