"""Where a limb is kept: the muted IK constraint of its last bone, its sliders and its group of choices.

Blender itself renames, symmetrizes, joins, duplicates, appends, overrides and saves all of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpy.types import Object, PoseBone, Scene

from ..blender.types import ArmatureObject, Refused, announce, is_armature, path_to_custom, tag_rig
from . import names, settings, spec, tips
from .features import FEATURES
from .features.feature import Slider
from .tips import group_of as group_of  # noqa: PLC0414
from .tips import keep as keep  # noqa: PLC0414
from .tolerances import ROUNDING


def limb_constraint_of(bone: PoseBone) -> Any:
    """The muted IK constraint that makes this bone a limb's last one, or None."""
    group = group_of(bone)
    if group is None or not has_slider(bone, "influence"):
        return None
    constraint = bone.constraints.get(group.get("constraint", settings.CONSTRAINT_NAME)) or bone.constraints.get(
        settings.CONSTRAINT_NAME
    )
    return (
        constraint
        if constraint and constraint.type == "IK"
        else next((each for each in bone.constraints if each.type == "IK" and each.mute), None)
    )


def is_limb(bone: PoseBone) -> bool:
    """Whether a bone is the last of a limb."""
    return limb_constraint_of(bone) is not None


def is_converted(bone: PoseBone) -> bool:
    """Whether a limb was made from Blender's own IK constraint."""
    return settings.CONVERTED_FROM in (group_of(bone) or {})


def limbs_of(ob: ArmatureObject) -> list[PoseBone]:
    """The last bones of all limbs of a rig, in the order of its bones."""
    return [bone for bone in ob.pose.bones if is_limb(bone)]


def is_orphaned(bone: PoseBone) -> bool:
    """Whether a bone was a limb's last one and has lost its IK constraint, as by Blender's *Remove IK*."""
    return group_of(bone) is not None and not is_limb(bone)


def make_limb(bone: PoseBone, segments: settings.BonesPerSegment = (1, 1), constraint: Any = None) -> Any:
    """Make a bone the last one of a limb, if it is not yet; returns the IK constraint, a given one or a new one."""
    check_parents(bone, sum(segments))
    constraint = constraint or limb_constraint_of(bone) or bone.constraints.get(settings.CONSTRAINT_NAME)
    if constraint is None:
        constraint = bone.constraints.new("IK")
        constraint.name = settings.CONSTRAINT_NAME
    constraint.mute = True
    constraint.chain_count = sum(segments)
    if group_of(bone) is None:
        tips.mark_tip(bone)
    _mark_segments(bone, segments)
    name = None if constraint.name == settings.CONSTRAINT_NAME else constraint.name
    keep(bone, segments=None if segments == (1, 1) else segments, constraint=name)
    for slider in settings.every_slider():
        if not slider.is_feature and not has_slider(bone, slider.name):
            make_slider(bone, slider)
    return constraint


LOCKED = "locked"
"""What a limb's group calls that the location of its first bone was locked for it."""


def use_aligned_scale(bone: PoseBone) -> None:
    """Have the bones of a limb below the first inherit scale as Aligned, for stretch to lengthen each along itself.
    Also with a bent knee. What other limbs inherit stays as it was."""
    if not has_slider(bone, "stretch") or choices_of(bone)["stretch_volume"] == "UNIFORM":
        undo_aligned_scale(bone)
        return
    chain = chain_bones(bone)
    changed = [i for i, chain_bone in enumerate(chain) if i and chain_bone.bone.inherit_scale == "FULL"]
    for i in changed:
        chain[i].bone.inherit_scale = "ALIGNED"
    if changed:
        keep(bone, aligned=sorted({*changed, *(group_of(bone) or {}).get("aligned", ())}))


def undo_aligned_scale(bone: PoseBone) -> None:
    """Undo `use_aligned_scale`."""
    group, chain = group_of(bone) or {}, chain_bones(bone)
    for i in group.get("aligned", ()):
        if i < len(chain) and chain[i].bone.inherit_scale == "ALIGNED":
            chain[i].bone.inherit_scale = "FULL"
    if "aligned" in group:
        keep(bone, aligned=None)


def lock_location(bone: PoseBone, is_locked: bool) -> None:
    """Lock the location of a limb's first bone, or unlock it. A mechanism made without it does not take it over:
    moved by accident, the limb would hang in the air. What a person has locked stays; what a person unlocks stays,
    too."""
    group, first = group_of(bone) or {}, chain_bones(bone)[0]
    if is_locked != (LOCKED in group) and not (is_locked and any(first.lock_location)):
        first.lock_location = (is_locked, is_locked, is_locked)
        keep(bone, **{LOCKED: is_locked or None})


def remove_limb(bone: PoseBone) -> None:
    """Remove the sliders, the stored settings and the constraint; a constraint that was converted stays, muted."""
    constraint = limb_constraint_of(bone)
    group = group_of(bone) or {}
    chain = chain_bones(bone)
    undo_aligned_scale(bone)
    if group:
        lock_location(bone, is_locked=False)
        tips.unmark_tip(bone)
        for each in chain:
            each.property_unset(settings.SEGMENT_MARK)
    if constraint is not None and constraint.name.startswith(settings.CONSTRAINT_NAME):
        bone.constraints.remove(constraint)
    bone.property_unset(settings.LIMB_MARK)
    for slider in settings.every_slider():
        if slider.key in bone:  # type: ignore[operator]
            del bone[slider.key]


ANGLE_STEP = 100
"""The step with which a field moves as Blender's own rotations do."""


def make_slider(bone: PoseBone, slider: Slider) -> None:
    """Give a bone the custom property of a setting that animates."""
    default: Any = slider.default if slider.bone == spec.ALL else [slider.default] * len(segments_of(bone))
    bone[slider.key] = default
    shown: dict[str, Any] = {"description": slider.description, "default": default}
    if slider.limits:
        shown |= {"min": slider.limits[0], "max": slider.limits[1], "subtype": slider.subtype}
    if slider.subtype == "ANGLE":
        shown["step"] = ANGLE_STEP
    owner: Any = bone  # the stubs say that this gives nothing
    owner.id_properties_ui(slider.key).update(**shown)
    bone.property_overridable_library_set(slider.path, True)


def has_slider(bone: Any, name: str) -> bool:
    """Whether a bone has the custom property of a slider, and so the feature that it belongs to."""
    return settings.slider_of(name).key in bone


def sliders_meant(limb: Any) -> list[Slider]:
    """The sliders that a limb has, or should have: those of all limbs, and of features of which any is there."""
    there = {slider.key for slider in settings.every_slider() if slider.key in limb or not slider.is_feature}
    for feature in FEATURES:
        keys = {slider.key for slider in feature.sliders}
        there |= keys if keys & there else set()
    return [
        slider for slider in settings.every_slider() if slider.key in there and slider.bone < len(segments_of(limb))
    ]


def read_slider(bone: PoseBone, name: str) -> Any:
    """The value of a slider; its default where the limb lacks it."""
    slider = settings.slider_of(name)
    return type(slider.default)(value_in(bone, slider))


def value_in(bone: Any, slider: Slider) -> Any:
    """The value of a slider in its custom property; its default where there is none."""
    value = bone.get(slider.key, slider.default)
    if slider.bone != spec.ALL and not isinstance(value, float):
        value = value[slider.bone] if slider.bone < len(value) else slider.default
    return value if isinstance(value, int | float) else slider.default  # an FBX brings lists as text


def write_slider(bone: PoseBone, name: str, value: Any) -> None:
    """Set a slider of a limb that has it."""
    slider, owner = settings.slider_of(name), bone  # type: Any, Any
    announce(bone.id_data)
    if slider.bone == spec.ALL:
        owner[slider.key] = type(slider.default)(value)
    else:
        owner[slider.key][slider.bone] = value
    tag_rig(bone)


def path_to_slider(limb_name: str, name: str) -> str:
    """The data path of a slider of a limb, from its rig."""
    return path_to_custom(limb_name, settings.slider_of(name).key)


def choices_of(bone: PoseBone) -> dict[str, Any]:
    """The settings of a limb that do not animate, by name."""
    group = group_of(bone) or {}
    kept = {name: group[name] for name in settings.CHOICES if name in group and _is_allowed(name, group[name])}
    return settings.CHOICES | kept


def _is_allowed(name: str, value: Any) -> bool:
    """Whether a choice is one that is understood: another version of the extension may have more of them."""
    allowed: Any = settings.ALLOWED[name]
    if isinstance(settings.CHOICES[name], str):
        return value in allowed
    return isinstance(value, int | float) and allowed[0] - ROUNDING <= value <= allowed[1] + ROUNDING


def segments_of(bone: PoseBone) -> settings.BonesPerSegment:
    """How many bones each segment of a limb has, from the root down: more than one where twist bones lie in line. As
    marks on the bones say, or where a marked bone is gone, as it was when the limb was made."""
    return tuple(map(len, _marked_segments(bone))) or _segments_when_made(bone)


def chain_bones(limb: PoseBone, segments: settings.BonesPerSegment | None = None) -> list[PoseBone]:
    """All bones of a limb from the root down, twist bones included; only the last one if some are missing. Of a limb
    to be, with these ``segments``."""
    if segments is None and group_of(limb) is not None:
        return [bone for segment in _marked_segments(limb) for bone in segment] or [limb]
    return hierarchy(limb, sum(segments or segments_of(limb)))


def bones_of_limb(bone: PoseBone, segments: settings.BonesPerSegment | None = None) -> list[PoseBone]:
    """The first bone of each segment of a limb, from the root down; none where some are missing. Of a limb to be, with
    these ``segments``."""
    if segments is None and group_of(bone) is not None:
        return [segment[0] for segment in _marked_segments(bone)]
    segments = segments or segments_of(bone)
    chain = chain_bones(bone, segments)
    starts = [sum(segments[:i]) for i in range(len(segments))]
    return [chain[start] for start in starts] if len(chain) == sum(segments) else []


def _marked_segments(limb: PoseBone) -> list[list[PoseBone]]:
    """The segments of a limb as they are marked on its bones, from the root down; none where some are missing."""
    segments = _segments_there(limb)
    return segments if len(segments) == len(_segments_when_made(limb)) else []


def _segments_when_made(limb: PoseBone) -> settings.BonesPerSegment:
    """How many bones the segments of a limb had when it was made."""
    return tuple(int(count) for count in (group_of(limb) or {}).get("segments", (1, 1)))


def _segments_there(limb: PoseBone) -> list[list[PoseBone]]:
    """The segments of a limb as they are marked on its bones, from the root down: the lower ones, up to one that is
    missing."""
    segments: list[list[PoseBone]] = [[]]
    count = len(_segments_when_made(limb))
    bone: Any = limb
    while bone is not None and len(segments) <= count:
        if getattr(bone, settings.LIMB_MARK) and bone != limb:  # of another limb, from which this one hangs
            break
        segments[0].insert(0, bone)
        if place := getattr(bone, settings.SEGMENT_MARK):
            if place != count - len(segments) + 1:
                break
            segments.insert(0, [])
        bone = bone.parent
    return segments[1:]


def _mark_segments(limb: PoseBone, segments: settings.BonesPerSegment) -> None:
    """Mark the bones at which the segments of a limb begin, by their places in it."""
    for bone in (*chain_bones(limb), *hierarchy(limb, sum(segments))):  # a copy of a marked one may be among them
        bone.property_unset(settings.SEGMENT_MARK)
    for place, start in enumerate(bones_of_limb(limb, segments), 1):
        setattr(start, settings.SEGMENT_MARK, place)


def hierarchy(bone: PoseBone, count: int) -> list[PoseBone]:
    """A bone and its parents, ``count`` in all or as many as there are, from the root down."""
    chain = [bone]
    while len(chain) < count and chain[0].parent:
        chain.insert(0, chain[0].parent)
    return chain


def check_parents(bone: PoseBone, count: int) -> None:
    """Refuse a bone that has, with those above it, fewer than ``count`` bones."""
    if len(hierarchy(bone, count)) < count:
        raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=bone.name)


def check_complete(limb: PoseBone, segments: settings.BonesPerSegment | None = None) -> None:
    """Refuse a limb with missing bones."""
    first = _below_missing(limb, segments)
    if first is not None:
        raise Refused(
            "The bone above '{first}' is missing: parent '{first}' to it again, or remove the limb of '{bone}'",
            first=first.name,
            bone=limb.name,
        )


def _below_missing(limb: PoseBone, segments: settings.BonesPerSegment | None) -> PoseBone | None:
    """The bone above which one of a limb is missing; None where all are there."""
    if segments is not None or group_of(limb) is None:
        segments = segments or segments_of(limb)
        chain = chain_bones(limb, segments)
        return chain[0] if len(chain) < sum(segments) else None
    counts, there = _segments_when_made(limb), _segments_there(limb)
    if len(there) == len(counts):
        return None
    count = counts[-len(there) - 1]  # of the segment that is missing, whose upper bones may be
    return hierarchy(there[0][0], count)[0] if there else hierarchy(limb, count - 1)[0]


def by_rig(limbs: Iterable[PoseBone]) -> dict[ArmatureObject, list[PoseBone]]:
    """Limbs by their rigs."""
    rigs: dict[ArmatureObject, list[PoseBone]] = {}
    for limb in limbs:
        rigs.setdefault(limb.id_data, []).append(limb)
    return rigs


def is_mechanism_constraint(constraint: Any) -> bool:
    """Whether a constraint of a limb's bone belongs to its mechanism."""
    return bool(constraint.name.startswith(spec.MADE_BY_US))


def is_on_rig(limb: PoseBone) -> bool:
    """Whether a limb has a mechanism, whole or not."""
    return any(is_mechanism_constraint(constraint) for bone in chain_bones(limb) for constraint in bone.constraints)


def has_helpers(limb: PoseBone) -> bool:
    """Whether a limb has helper bones, or should: for its mechanism, or for a feature."""
    features = (feature for feature in FEATURES if feature.has_helpers)
    return is_on_rig(limb) or any(has_slider(limb, key) for feature in features for key in feature.keys)


MAKING = "making"
"""What the group of a limb has while a mechanism is made for it, which poses it from then on."""


def mode_of(limb: PoseBone) -> str:
    """What poses a limb: ``RIG`` or ``LIVE``."""
    return "RIG" if is_on_rig(limb) or MAKING in (group_of(limb) or {}) else "LIVE"


def is_live(scene: Scene) -> bool:
    """Whether live limbs of a scene are to be posed."""
    return bool(scene.planar_ik.live)  # type: ignore[attr-defined]


EDITED = "Bones or settings of '{bone}' were edited: rebuild the limb"
ELSEWHERE = "'{rig}' comes from another file: set this there"


def can_change_structure(limb: PoseBone) -> bool:
    """Whether properties and bones can be added to this limb: not on a library override, which keeps only values."""
    ob = limb.id_data
    return not (ob.library or ob.override_library or (is_limb(limb) and mode_of(limb) == "RIG" and ob.data.library))


def check_structure(limb: PoseBone) -> None:
    """Refuse to change more than slider values where `can_change_structure` says no."""
    if not can_change_structure(limb):
        raise Refused(ELSEWHERE, rig=limb.id_data.name)


def is_mechanism_bone(bone: Any) -> bool:
    """Whether a bone is a helper bone or control that was made for limbs, or belongs to another mechanism."""
    return bool(getattr(bone, settings.MADE_FOR_LIMB)) or bone.name.startswith("MCH-")


CONTROL_KINDS = ("target", "pole")
"""What controls are for."""


def is_control(ob: Object, bone: str) -> bool:
    """Whether a bone is a control that was made for limbs to follow."""
    holder: Any = ob.data.bones.get(bone) if bone and is_armature(ob) else None
    return holder is not None and getattr(holder, settings.MADE_FOR_LIMB) in CONTROL_KINDS


KEPT_ON = "kept_on"
"""What the group calls the side on which the limb was made and its axes were found: that of its name, which may be
another since, and that of the armature's X."""


def outward_sign(limb: PoseBone) -> float:
    """1 or -1, by the side of the limb as it was made: times this, a swivel is a turn about the line to the tip.

    A knee to the front, of a leg that points down, turns to -X by a positive turn: inwards on the left."""
    return -1.0 if _side_of(limb) > 0 else 1.0


def keep_side(limb: PoseBone) -> None:
    """Note the side of a limb, on which its axes were found."""
    keep(limb, **{KEPT_ON: [_side_of(limb), _side_of_x(limb)]})


def stored_axes(limb: PoseBone) -> tuple[list[float], list[float]]:
    """What is stored of a limb: the axis that it bends about, and the rotations of its bones in the reference, or
    neither. The axis is in the last bone's axes, each rotation is four numbers. Symmetrize copies them unchanged to
    the other side, where axes are mirrored across X: there, the mirror image of a turn has the same part about X,
    and the others negated."""
    group = group_of(limb) or {}
    axis, flat = [*group.get("bend_axis", ())], [*group.get("reference_rotations", ())]
    if _is_image(limb):
        axis[1:] = [-number for number in axis[1:]]
        flat = [-number if i % 4 > 1 else number for i, number in enumerate(flat)]
    return axis, flat


def _is_image(limb: PoseBone) -> bool:
    """Whether Symmetrize made a limb of the other side's."""
    kept = [*(group_of(limb) or {}).get(KEPT_ON, ())]
    return bool(kept) and kept[0] != 0 and [-side for side in kept] == [names.side_sign(limb.name), _side_of_x(limb)]


def _side_of(limb: PoseBone) -> int:
    """1 on the left, -1 on the right, 0 in the middle: as its name told when the limb was made, or now for one that is
    none yet."""
    kept = (group_of(limb) or {}).get(KEPT_ON)
    return names.side_sign(limb.name) if kept is None or _is_image(limb) else kept[0]


def _side_of_x(limb: PoseBone) -> int:
    x = limb.bone.head_local[0]
    return int(x > 0.0) - int(x < 0.0)
