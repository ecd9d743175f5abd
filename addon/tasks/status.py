"""What a limb is and what became of it, as an enum and numbers, for whoever shows it: whether it reached its target, in
both modes, the evaluated tip against that and against where the solver puts it; whether what was made for it still
fits; and the lines that are drawn of it. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Vector

from ..blender.editing import keeping_frame, set_frame
from ..blender.stepping import Progress, rate_of
from ..blender.types import ArmatureObject, Message, Refused, is_evaluated, scene_of, view_layer_of
from ..feet.soles import paths_of, sole_of
from ..finding.branches import BranchLimbs
from ..finding.knees import bends_to, upright
from ..limb import storage, tips, transforms
from ..limb.features import FEATURES, pole_follow
from ..limb.features.feature import Choice
from ..limb.follow import (
    RigSlider,
    check_posable,
    follow_of,
    has_pole_follow,
    matrix_of,
    rig_slider,
    tip_at_rest,
)
from ..limb.names import ARM, LEG, has_word, side_sign
from ..limb.settings import (
    CHOICE,
    FEATURE_KEYS,
    KNEE_LIMITS,
    LIMB_MARK,
    VERSION,
    VERSION_KEY,
    BonesPerSegment,
    slider_of,
)
from ..limb.solving import BONE_MOVED, BONE_SCALED, SCALED_APART, SIZELESS, LimbsNow, Measured, limbs_now, measure
from ..limb.spec import ALL, Parts, differs
from ..limb.storage import (
    EDITED,
    bones_of_limb,
    chain_bones,
    check_complete,
    has_slider,
    is_converted,
    is_limb,
    limbs_of,
)
from ..limb.table import Table, table_of
from ..limb.tolerances import KEPT, MISS, ROUNDING, SEEN, STRAIGHT
from ..motion.reading import bones_to_read, new_recording, readers_of
from ..rigging import control_shapes, marks
from ..rigging.description import Description, describe, ref_of, spec_of
from ..rigging.features import follows_own_bones
from ..rigging.parts import needed_parts
from ..solver import rotation, triangle
from ..solver.limb import IN_ONE_PLANE
from ..solver.ops import Array, Points
from .contact_markers import Contacts, contacts_known, readable_limbs_beside

__all__ = [
    "CHOICE",
    "FEATURES",
    "IN_ONE_PLANE",
    "KNEE_LIMITS",
    "Choice",
    "Description",
    "RigSlider",
    "bends_to",
    "chain_bones",
    "check_complete",
    "is_converted",
    "is_limb",
    "limbs_of",
    "rig_slider",
    "side_sign",
]


class Outcome(Enum):
    """What became of a limb. The value is what is said of that: {distance} is from its tip to its target, {why} says
    what is wrong."""

    REACHED = "On target"
    EASED = "Eased, {distance}"  # softness keeps the tip off a target in reach
    TOO_FAR = "{distance} too far"
    TOO_NEAR = "{distance} too near"
    LIMITED = "{distance} off: a joint is at its limit"
    FK = "FK"
    LIVE_OFF = "In FK, because Live is off in this scene"
    BLENDING = "Blending"
    BLENDING_OFF = "Blending, {distance}"
    SCALED_UNEVENLY = (
        "{distance} from the target: the rig is scaled unevenly, and Blender blends FK and IK in the world"
    )
    INVALID = "{why}"  # it can't be posed, or is not where it should be


class Status(NamedTuple):
    """What became of a limb, how the solver reached its target, and how far its tip is from that, in scene units; how
    much of IK shows; and what is wrong with one that is `Outcome.INVALID`."""

    outcome: Outcome
    reach: triangle.Reach
    residual: float
    influence: float
    why: Message = Message("")  # it is constant

    @property
    def is_fk(self) -> bool:
        """Whether nothing of IK shows."""
        return self.influence <= 0.0

    @property
    def is_broken(self) -> bool:
        """Whether the limb can't be posed, or is not where it should be."""
        return self.outcome is Outcome.INVALID

    @property
    def message(self) -> str:
        """The sentence in English, with the distance in scene units."""
        return self.outcome.value.format(distance=f"{self.residual:.3g}", why=self.why)


class Structure(NamedTuple):
    """What does not change while a limb moves: its table for the solver, and what is wrong with its mechanism, as a
    sentence or ""."""

    table: Table
    broken: str


MOVED_BY_OTHERS = "Something else moves this limb after the IK: check its constraints and other add-ons, or rebuild it"


def structure_of(limb: PoseBone) -> Structure:
    """The structure of a limb that can be posed, by its last bone on the original rig."""
    return Structure(table_of([limb]), problems_of([limb])[0])


def as_shown(status: Status, limb: PoseBone, slider: RigSlider, depsgraph: Depsgraph) -> Status:
    """The status of a limb on a rig that blends it with an FK chain of its own, by how far it shows."""
    rig: Any = limb.id_data.evaluated_get(depsgraph)
    shown = rig.pose.bones[slider.copying]
    influence = shown.constraints[slider.constraint].influence
    if status.is_broken or influence >= 1.0:
        return status
    if influence <= 0.0:
        return status._replace(outcome=Outcome.FK, influence=0.0)
    own = shown.bone.matrix_local.inverted() @ tip_at_rest(limb)
    target, bone = follow_of(limb).pairs[0]
    place = matrix_of(target, bone, depsgraph).translation  # type: ignore[arg-type]  # it is there
    off = (rig.matrix_world @ shown.matrix @ own - place).length
    outcome = _outcome_at(influence, status.reach, off <= MISS * limb.length)
    return status._replace(outcome=outcome, residual=off, influence=influence)


def status_now(context: Context, limb: PoseBone) -> Status:
    """The status of one limb as the context's view layer shows it; ``limb`` may be of the evaluated rig."""
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    ob = limb.id_data.original
    return statuses(ob, [ob.pose.bones[limb.name]], depsgraph)[0]


def side_now(context: Context, limb: PoseBone) -> int:
    """Which way a limb bends now, seen in the world along Y: 1 against the clock, -1 with it, 0 straight."""
    evaluated: Any = limb.id_data.original.evaluated_get(context.evaluated_depsgraph_get())
    last = evaluated.pose.bones[limb.name]
    tip = last.matrix @ Vector(tips.tip_of(last, storage.choices_of(last)["tip"]).tolist())
    root, knee, end = [*(bone.head for bone in bones_of_limb(last)), tip][:3]
    one, other = (evaluated.matrix_world.to_3x3() @ along for along in (knee - root, end - knee))
    turn = one.x * other.z - one.z * other.x
    return 0 if abs(turn) < STRAIGHT * one.length * other.length else 1 if turn > 0.0 else -1


def statuses(
    ob: ArmatureObject, limbs: Sequence[PoseBone], depsgraph: Depsgraph, structure: Structure | None = None
) -> list[Status]:
    """The status of limbs of one rig, by their last bones on the original, as it is evaluated now. Who knows the
    ``structure`` of a single one saves the time to look at it."""
    problem = _unposed(ob, depsgraph)
    problems = [problem or why_unposable(limb) for limb in limbs]
    posed = [limb for limb, problem in zip(limbs, problems, strict=True) if not problem]
    judged = iter(_judged(ob, posed, depsgraph, structure) if posed else ())
    return [Status(Outcome.INVALID, triangle.Reach.INVALID, 0.0, 1.0, why) if why else next(judged) for why in problems]


def _unposed(ob: ArmatureObject, depsgraph: Depsgraph) -> Message | None:
    """Why no limb of a rig can be posed, if so."""
    if not is_evaluated(ob, depsgraph):
        return Message("'{rig}' is not shown here: show it to pose its limbs", rig=ob.name)
    if ob.data.pose_position == "REST":
        return Message("'{rig}' is in Rest Position, where nothing is posed: choose Pose Position", rig=ob.name)
    return None


def why_unposable(limb: PoseBone) -> Message | None:
    """Why a limb can't be posed at all, if so."""
    try:
        check_posable(limb)
    except Refused as why:
        return why.message
    return None


def _judged(
    ob: ArmatureObject, limbs: Sequence[PoseBone], depsgraph: Depsgraph, structure: Structure | None
) -> list[Status]:
    now = limbs_now(ob, limbs, depsgraph, table=structure.table if structure else None)
    scene: Any = depsgraph.scene
    is_off = [not storage.is_live(scene) and storage.mode_of(limb) == "LIVE" for limb in limbs]
    now.sliders["influence"][is_off] = 0.0
    measured, broken = measure(now), [structure.broken] if structure else problems_of(limbs)
    judged = [_status(limb, broken[row], measured, row) for row, limb in enumerate(limbs)]
    return [
        status._replace(outcome=Outcome.LIVE_OFF) if off and not status.is_broken else status
        for status, off in zip(judged, is_off, strict=True)
    ]


def _status(limb: PoseBone, broken: str, measured: Measured, row: int) -> Status:
    """What became of one limb of those that were measured, whose mechanism may be ``broken``."""
    residual = float(np.linalg.norm(measured.tips[row] - measured.targets[row]))
    influence, reach = float(measured.influence[row].clip(0.0, 1.0)), triangle.Reach(int(measured.solution.reach[row]))
    scale = measured.sizes[row] / measured.lengths[row]
    longest = scale * max(bone.bone.length for bone in chain_bones(limb))  # Blender counts heads from tails
    slack = ROUNDING * max(longest, float(np.abs(measured.targets[row]).max())) + MISS * measured.sizes[row]
    blended = 0.0 if influence in (0.0, 1.0) else 2.0 * SEEN * measured.sizes[row]
    off = float(np.linalg.norm(measured.tips[row] - measured.joints[row, -1]))
    is_off = off > slack + blended or measured.knee_errors[row] > slack + blended + 2.0 * SEEN * measured.sizes[row]
    outcome, why = _outcome_at(influence, reach, residual <= float(slack)), Message(MOVED_BY_OTHERS)
    if not np.isfinite([residual, off]).all():
        outcome, residual, why = Outcome.INVALID, 0.0, Message(SIZELESS, bone=limb.name)
    elif found := Message(broken, bone=limb.name) if broken else misplaced_bone(limb, MISS * measured.lengths[row]):
        outcome, why = Outcome.INVALID, found
    elif is_off and measured.is_uneven and 0.0 < influence < 1.0 and storage.mode_of(limb) == "RIG":
        outcome = Outcome.SCALED_UNEVENLY
    elif is_off:
        outcome, bone = Outcome.INVALID, inheriting_otherwise(limb)
        why = Message(SCALED_APART, bone=bone.name) if bone else why
    if outcome in (Outcome.INVALID, Outcome.REACHED):
        reach = triangle.Reach[outcome.name]
    return Status(outcome, reach, residual, influence, why)


def _outcome_at(influence: float, reach: triangle.Reach, is_on_target: bool) -> Outcome:
    """What became of a limb that stands where the solver puts it."""
    match influence, is_on_target:
        case 0.0, _:
            return Outcome.FK
        case 1.0, True:
            return Outcome.REACHED
        case 1.0, False:
            return Outcome.EASED if reach is triangle.Reach.REACHED else Outcome[reach.name]
        case _, True:
            return Outcome.BLENDING
    return Outcome.BLENDING_OFF


# whether it fits


BROKEN = "The helper bones of '{bone}' are missing or edited: rebuild the limb"
FIRST_BONE_MOVED = "The first bone of '{bone}' is moved now: rebuild the limb, which then goes along"
OLDER = "'{bone}' was made by an older Planar IK: rebuild the limb"
NEWER = "'{bone}' was made by a newer Planar IK: update Planar IK, or rebuild the limb"
"""What may be wrong with a limb."""

TOLD = {feature.name: feature.broken for feature in FEATURES if feature.broken} | {"": BROKEN}
"""What is said where parts are missing, by the feature that they are for."""


def mechanism_problem(limb: PoseBone) -> str:
    """What is wrong with the mechanism or the foot roll of a limb, as a sentence with {bone} in it; "" if nothing.
    What else somebody changed is told by the pose: see `status`."""
    return problems_of([limb])[0]


def problems_of(limbs: Sequence[PoseBone]) -> list[str]:
    """`mechanism_problem` each of some limbs of one rig."""
    having = [limb for limb in limbs if bones_of_limb(limb) and storage.has_helpers(limb)]
    made = marks.made_on(limbs[0].id_data) if having else {}
    return [
        (tips.FOOT_GONE if tips.is_foot_gone(limb) else problem_of_version(limb))
        or (_problem(limb, made[limb.name]) if limb in having else "")
        for limb in limbs
    ]


def problem_of_version(limb: Any) -> str:
    """Whether a limb was made by another version of the extension, which may have made it otherwise, or is no more as
    it was made."""
    group = tips.group_of(limb)
    version = VERSION if group is None else group.get(VERSION_KEY, 0)
    if version != VERSION:
        return OLDER if version < VERSION else NEWER
    return "" if all(slider.key in limb for slider in storage.sliders_meant(limb)) else EDITED


def _problem(limb: PoseBone, made: marks.Made) -> str:
    """Why what was made for a limb is not what its value says."""
    ref, description = ref_of(limb), describe(ref_of(limb))
    if has_pole_follow(limb) and not (description.pole_follow and follows_own_bones(description, ref)):
        return pole_follow.NEEDS
    spec = spec_of(ref, description, is_now=True) if description.mode == "RIG" else None
    by_feature = needed_parts(ref, description, made.built if spec else None)
    names = {name for _, name in made.constraints}
    for feature, missing in TOLD.items():
        parts = by_feature.get(feature, Parts())
        roles = {bone.role for bone in parts.bones}
        own = {constraint.name for constraint in parts.constraints if constraint.bone not in roles}
        if not (roles <= made.by_role.keys() and own <= names):
            return missing
    if spec and (made.built is None or differs(made.built, spec)):
        return EDITED if made.built else BROKEN
    if made.is_lost:
        return BROKEN
    return FIRST_BONE_MOVED if spec and made.built and spec.is_moved and not made.built.is_moved else ""


def inheriting_otherwise(limb: PoseBone) -> PoseBone | None:
    """A bone of a limb that inherits scale otherwise than IK needs it."""
    allowed = {"FULL", "ALIGNED"} if has_slider(limb, "stretch") else {"FULL"}
    return next((bone for bone in chain_bones(limb) if bone.parent and bone.bone.inherit_scale not in allowed), None)


def misplaced_bone(limb: PoseBone, least: float) -> Message | None:
    """Which bone of a limb has own scale or location that IK can't follow, as a message; None if there is none.
    ``least`` is what counts as moved, in the armature. Location of the first bone is fine, and so is its scale in FK
    with Stretch."""
    chain, scaled = chain_bones(limb), 1 if has_slider(limb, "stretch") else 0
    for bone in chain[scaled:]:
        if max(abs(size - 1.0) for size in bone.scale[:]) > KEPT:
            return Message(BONE_SCALED, bone=bone.name)
    for bone in chain[1:]:
        if np.abs(transforms.own_location(bone)).max() > least:
            return Message(BONE_MOVED, bone=bone.name)
    return None


# what is drawn of it


SEGMENTS = 16
"""Of the arc of the reach."""
AT_REACH = 1e-3, 1e-4
"""From how little short of the full reach, in shares of it, that arc is shown, and how much farther off than at rest
the target is then: straight legs rest at the end of their reach. Always while something is dragged."""
ARC = pi / 6.0
"""How far it goes to either side of the target."""
EDGE_ON = 0.2
"""The cosine between the arc's normal and the view below which only its edge would be seen."""
RING = 0.04
"""How large the ring around the knee is, in lengths of the limb, where the line to the pole is seen as a point."""
END_ON = 0.97
"""The cosine between the line to the pole and the view above which it is."""


class Stroke(NamedTuple):
    """A line through points (n, 3) of the world, and what it is: ``pole``, ``miss``, ``reach``, ``ghost``."""

    role: str
    points: Array


class Viewpoint(NamedTuple):
    """How a person looks at the limb: the unit view direction in the world (none without a window), whether something
    is dragged, and whether the whole reach is to be drawn."""

    along: Array | None = None
    is_dragging: bool = False
    has_reach: bool = False


def figure(
    limb: PoseBone,
    depsgraph: Depsgraph,
    view: Viewpoint = Viewpoint(),  # noqa: B008  # it is constant
    structure: Structure | None = None,
) -> list[Stroke]:
    """The lines that the overlay draws of one limb, in the world, as it is evaluated. To its pole, from its tip to a
    target that it misses, an arc of its reach where the target is near that (or all of it, stretched too), and its
    whole solution where it is between FK and IK."""
    if not is_evaluated(limb.id_data, depsgraph) or why_unposable(limb):
        return []
    now = limbs_now(limb.id_data, [limb], depsgraph, is_whole=True, table=structure.table if structure else None)
    measured = measure(now)
    target, influence = measured.targets[0], storage.read_slider(limb, "influence")
    if not np.isfinite(target).all() or influence <= 0.0:
        return []
    root = now.frames[0, :3, 3]
    strokes = []
    if influence < 1.0:
        strokes.append(Stroke("ghost", np.array([root, *measured.joints[0]])))
    elif np.linalg.norm(measured.tips[0] - target) > 3.0 * MISS * measured.sizes[0]:
        strokes.append(Stroke("miss", np.array([measured.tips[0], target])))
    if now.table.is_poled[0] and now.sliders["pole"][0] > 0.5:
        strokes += _pole(measured, view)
    return strokes if now.table.moved_roots else [*strokes, *_reach(now, measured, view)]


def _pole(measured: Measured, view: Viewpoint) -> list[Stroke]:
    """The line from knee to pole; and who looks along it sees a ring around the knee."""
    knee, pole = measured.joints[0, 0], measured.poles[0]
    line = Stroke("pole", np.array([knee, pole]))
    along, distance = pole - knee, float(np.linalg.norm(pole - knee))
    if view.along is None or distance == 0.0 or abs(float(along @ view.along)) < END_ON * distance:
        return [line]
    across = np.cross(view.along, np.eye(3)[np.argmin(abs(view.along))])
    across *= RING * measured.sizes[0] / np.linalg.norm(across)
    return [line, Stroke("pole", knee + _turned_about(view.along, across, pi, 2 * SEGMENTS))]


def _turned_about(axis: Points, edge: Points, arc: float, count: int) -> Points:
    """An edge turned about a unit axis by up to an arc to both sides, (count + 1, 3)."""
    angles = np.linspace(-arc, arc, count + 1)
    return np.array([rotation.rotate((cos(angle / 2.0), *(axis * sin(angle / 2.0))), tuple(edge)) for angle in angles])


def _reach(now: LimbsNow, measured: Measured, view: Viewpoint) -> list[Stroke]:
    """The arc of the full reach by the target, in the plane that the limb bends in."""
    limb, root = now.table.limbs[0], now.frames[0, :3, 3]
    total = sum(limb.geometry.lengths)
    farthest = measured.sizes[0] * min(now.table.singles[0].settings.farthest / total, 1.0)
    if limb.plane in IN_ONE_PLANE:  # where the tip is, whatever layer the root is in
        axis = now.frames[0, :3, 2] / float(np.linalg.norm(now.frames[0, :3, 2]))
        root = root + axis * float(axis @ (measured.tips[0] - root))
    along, knee = measured.targets[0] - root, measured.joints[0, 0] - root
    distance = float(np.linalg.norm(along))
    along_rest = sum(size * cos(angle) for size, angle in zip(limb.geometry.lengths, limb.geometry.angles, strict=True))
    at_rest = measured.sizes[0] * along_rest / total
    is_at_end = distance >= max((1.0 - AT_REACH[0]) * farthest, (1.0 + AT_REACH[1]) * at_rest)
    is_shown = view.has_reach or view.is_dragging or is_at_end
    if not is_shown or not distance:
        return []
    normal = now.frames[0, :3, 2] if limb.plane in IN_ONE_PLANE else np.cross(along, knee)
    if np.linalg.norm(normal) < 1e-6 * distance * measured.sizes[0]:  # straight
        normal = now.frames[0, :3, 2] - along * (now.frames[0, :3, 2] @ along) / distance**2
    normal = normal / max(float(np.linalg.norm(normal)), 1e-12)
    if view.along is not None and abs(float(normal @ view.along)) < EDGE_ON:
        return []
    arc, count = (pi, 4 * SEGMENTS) if view.has_reach else (ARC, SEGMENTS)
    ring = _turned_about(normal, along / distance * farthest, arc, count)
    sizes = [1.0, limb.choices["stretch_max"]] if view.has_reach and now.sliders["stretch"][0] > 0.0 else [1.0]
    return [Stroke("reach", root + size * ring) for size in sizes]


# what limbs do, frame by frame


class FrameStatus(NamedTuple):
    """One limb in one frame: how its target was reached, how far its tip is off, and what is wrong, if something is."""

    frame: float
    reach: str
    miss: float
    is_missed: bool
    problem: str


class LimbReport(NamedTuple):
    """One limb over frames, and its contacts in these, if it can be read."""

    limb: PoseBone
    states: list[FrameStatus]
    contacts: Contacts | None


def reported(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], max_miss: float | None, progress: Progress
) -> list[LimbReport]:
    """What limbs do in these frames, with their contacts. A tip that is farther off than ``max_miss`` is missed,
    else one that does not reach its target."""
    scene, rigs = scene_of(context), storage.by_rig(limbs)
    readable = readable_limbs_beside(context, limbs)
    recording = new_recording(readable, frames, bones_to_read, False)
    states: dict[PoseBone, list[FrameStatus]] = {limb: [] for limb in limbs}
    with keeping_frame(scene):
        for i, frame in enumerate(frames):
            progress(i / len(frames))
            set_frame(scene, frame)
            depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
            for ob, group in rigs.items():
                for limb, status in zip(group, statuses(ob, group, depsgraph), strict=True):
                    states[limb].append(_frame_status(frame, status, max_miss))
            readers_of(recording, depsgraph.id_eval_get, lambda ob: ob)(i)
    rate = rate_of(scene)
    paths = {limb: paths_of(recording, limb, sole_of(recording, limb, rate)) for limb in readable}
    listed = contacts_known(scene, [limb for limb in limbs if limb in paths], frames, paths)
    contacts = {of_limb.limb: of_limb for of_limb in listed}
    return [LimbReport(limb, states[limb], contacts.get(limb)) for limb in limbs]


def _frame_status(frame: float, status: Status, max_miss: float | None) -> FrameStatus:
    is_off = status.reach != triangle.Reach.REACHED if max_miss is None else status.residual > max_miss
    reach = status.reach.name if status.is_broken or not status.is_fk else "FK"
    problem = status.message if status.outcome in (Outcome.INVALID, Outcome.LIVE_OFF) else ""
    return FrameStatus(frame, reach, status.residual, status.influence >= 1.0 and is_off, problem)


# what it is


def description_of(limb: PoseBone) -> Description:
    """The description of a limb."""
    return describe(ref_of(limb))


def arm_or_leg(limb: PoseBone) -> str:
    """``ARM`` or ``LEG``, nothing where the bones' names don't say."""
    names = [bone.name for bone in chain_bones(limb)]
    return next(
        (kind for kind, words in (("ARM", ARM), ("LEG", LEG)) if any(has_word(name, words) for name in names)), ""
    )


def is_leg(limb: PoseBone, segments: BonesPerSegment | None = None) -> bool:
    """Whether a limb, or what could be one, is a leg, a foreleg too. Its foot rests on the ground, or its bones are
    called as a leg's and not as an arm's."""
    chain, foot = chain_bones(limb, segments), tips.foot_of(limb)
    root, tip = chain[0].bone.head_local, foot.bone.head_local if foot else limb.bone.tail_local
    length = sum(bone.bone.length for bone in chain)
    place = control_shapes.Place(tip, upright(limb.id_data), length, (tip - root).normalized())
    if foot and control_shapes.is_on_ground(limb.id_data, foot, place):
        return True
    names = [bone.name for bone in chain]
    return any(has_word(name, LEG) for name in names) and not any(has_word(name, ARM) for name in names)


def is_arm_or_leg(bone: PoseBone) -> bool:
    """Whether a bone is of an arm or a leg of its rig, where some are clear: a finger is not."""
    limbs = BranchLimbs(bone.id_data)
    return not limbs.clear or limbs.at(bone) is not None


class Field(NamedTuple):
    """The custom property of a slider: its data path from the limb's last bone, its label, its tooltip, and whether it
    has a number for each bone."""

    path: str
    label: str
    description: str
    is_of_bones: bool


def field_of(name: str) -> Field:
    """The field of a setting."""
    slider = slider_of(name)
    return Field(slider.path, slider.label, slider.description, slider.bone != ALL)


def limb_fingerprint(limb: PoseBone) -> tuple[Any, ...]:
    """What of a limb a person may edit without Blender building its depsgraph again."""
    chain: Any = chain_bones(limb)
    bones = [bone.bone for bone in (chain[0].parent, *chain, tips.foot_of(limb)) if bone]
    rest = [(tuple(map(tuple, bone.matrix_local)), bone.inherit_scale, bone.use_inherit_rotation) for bone in bones]
    local = tuple(bone.use_local_location for bone in bones)
    features = tuple(key in limb for key in FEATURE_KEYS)  # type: ignore[operator]
    return len(limb.id_data.pose.bones), tuple(rest), local, features, getattr(limb, LIMB_MARK), follow_of(limb)


def limbs_counted(count: int) -> Message:
    """A number of limbs, in words."""
    return Message("1 limb") if count == 1 else Message("{count} limbs", count=count)


def frames_counted(count: int) -> Message:
    """A number of frames, in words."""
    return Message("1 frame") if count == 1 else Message("{count} frames", count=count)


def contacts_counted(count: int) -> Message:
    """A number of contacts with the ground, in words."""
    return Message("1 contact") if count == 1 else Message("{count} contacts", count=count)
