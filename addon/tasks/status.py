"""How a limb is: whether it reached its target, in both modes, the evaluated tip against that and against where the
solver puts it; whether what was made for it still fits; and the lines that are drawn of it. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ..blender.editing import keeping_frame, set_frame
from ..blender.stepping import Progress, rate_of
from ..blender.types import ArmatureObject, is_evaluated, scene_of, view_layer_of
from ..blender.words import Refused
from ..feet.soles import paths_of, sole_of
from ..limb.features import FEATURES
from ..limb.features.pole_follow import NEEDS
from ..limb.follow import (
    RigSlider,
    check_posable,
    follow_of,
    has_pole_follow,
    has_roll,
    matrix_of,
    rig_slider,
    tip_at_rest,
)
from ..limb.parts import Parts
from ..limb.settings import VERSION, VERSION_KEY
from ..limb.solving import BONE_MOVED, BONE_SCALED, SCALED_APART, SIZELESS, LimbsNow, Measured, limbs_now, measure
from ..limb.spec import differs
from ..limb.storage import (
    bones_of_limb,
    by_rig,
    chain_bones,
    choices_of,
    has_slider,
    is_live,
    is_on_rig,
    mode_of,
    read_slider,
)
from ..limb.table import Table, table_of
from ..limb.tips import FOOT_GONE, group_of, is_foot_gone, tip_of
from ..limb.tolerances import KEPT, MISS, ROUNDING, SEEN, STRAIGHT
from ..limb.transforms import own_location
from ..motion.reading import bones_to_read, new_recording, readers_of
from ..rigging.description import describe, ref_of, spec_of
from ..rigging.features import follows_own_bones
from ..rigging.marks import Made, made_on
from ..rigging.parts import needed_parts
from ..solver.limb import IN_ONE_PLANE
from ..solver.rotation import rotate
from ..solver.triangle import Reach
from .contact_markers import Contacts, contacts_known, readable_limbs_beside

__all__ = ["RigSlider", "Status", "Structure", "Table", "rig_slider"]

Array = NDArray[Any]


class Status(NamedTuple):
    """What became of a limb: how its target was reached, how far its tip is from it in scene units, and a sentence, as
    a template with values. ``is_fk`` says that its influence is 0, ``is_ik`` that it is 1."""

    reach: Reach
    residual: float
    template: str
    values: dict[str, Any]
    is_fk: bool = False
    is_ik: bool = True

    @property
    def is_broken(self) -> bool:
        """Whether the limb can't be posed, or is not where it should be: the message says why."""
        return self.reach == Reach.INVALID

    @property
    def is_reached(self) -> bool:
        """Whether the target is reached."""
        return self.reach == Reach.REACHED

    @property
    def is_off(self) -> bool:
        """Whether the limb is a live one while *Live* is off."""
        return self.template == OFF

    @property
    def is_eased(self) -> bool:
        """Whether softness keeps the tip off a target in reach."""
        return self.template == EASED

    @property
    def message(self) -> str:
        """The sentence in English, with distances in scene units."""
        values = {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in self.values.items()}
        return self.template.format(**values)


class Structure(NamedTuple):
    """What does not change while a limb moves: its table for the solver, and what is wrong with its mechanism, as a
    sentence or ""."""

    table: Table
    broken: str


EASED = "Eased, {distance}"
BLENDING, BLENDING_ON_TARGET = "Blending, {distance}", "Blending"
SENTENCES = {
    Reach.REACHED: "On target",
    Reach.TOO_FAR: "{distance} too far",
    Reach.TOO_NEAR: "{distance} too near",
    Reach.LIMITED: "{distance} off: a joint is at its limit",
}
OFF = "In FK, because Live is off in this scene"
SCALED_UNEVENLY = "{distance} from the target: the rig is scaled unevenly, and Blender blends FK and IK in the world"
MOVED_BY_OTHERS = "Something else moves this limb after the IK: check its constraints and other add-ons, or rebuild it"


def structure_of(limb: PoseBone) -> Structure:
    """The structure of a limb that can be posed, by its last bone on the original rig."""
    return Structure(table_of(limb.id_data, [limb]), problems_of([limb])[0])


def status_of(limb: PoseBone, depsgraph: Depsgraph, structure: Structure | None = None) -> Status:
    """The status of one limb, by its last bone on the original rig. Who knows its ``structure`` saves the time to look
    at it."""
    return statuses(limb.id_data, [limb], depsgraph, structure)[0]


def as_shown(status: Status, limb: PoseBone, slider: RigSlider, depsgraph: Depsgraph) -> Status:
    """The status of a limb on a rig that blends it with an FK chain of its own, by how far it shows."""
    rig: Any = limb.id_data.evaluated_get(depsgraph)
    shown = rig.pose.bones[slider.copying]
    influence = shown.constraints[slider.constraint].influence
    if status.reach == Reach.INVALID or influence >= 1.0:
        return status
    if influence <= 0.0:
        return status._replace(template="FK", values={}, is_fk=True, is_ik=False)
    own = shown.bone.matrix_local.inverted() @ tip_at_rest(limb)
    target: Any = follow_of(limb).pairs[0]
    off = rig.matrix_world @ shown.matrix @ own - matrix_of(target[0], target[1], depsgraph).translation
    template, values = _blending(off.length, MISS * limb.length)
    return status._replace(template=template, values=values, is_fk=False, is_ik=False)


def _blending(distance: float, slack: float) -> tuple[str, dict[str, Any]]:
    """What a limb between FK and IK says of its distance from the target."""
    return (BLENDING, {"distance": distance}) if distance > slack else (BLENDING_ON_TARGET, {})


def status_now(context: Context, limb: PoseBone) -> Status:
    """The status of one limb as the context's view layer shows it; ``limb`` may be of the evaluated rig."""
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    return status_of(limb.id_data.original.pose.bones[limb.name], depsgraph)


def side_now(context: Context, limb: PoseBone) -> int:
    """Which way the first joint of a limb is turned in the world, as it is seen along Y: 1 against the clock, -1 with
    it, and 0 straight."""
    evaluated: Any = limb.id_data.original.evaluated_get(context.evaluated_depsgraph_get())
    last = evaluated.pose.bones[limb.name]
    tip = last.matrix @ Vector(tip_of(last, choices_of(last)["tip"]).tolist())
    root, knee, end = [*(bone.head for bone in bones_of_limb(last)), tip][:3]
    one, other = (evaluated.matrix_world.to_3x3() @ along for along in (knee - root, end - knee))
    turn = one.x * other.z - one.z * other.x
    return 0 if abs(turn) < STRAIGHT * one.length * other.length else 1 if turn > 0.0 else -1


def statuses(
    ob: ArmatureObject, limbs: Sequence[PoseBone], depsgraph: Depsgraph, structure: Structure | None = None
) -> list[Status]:
    """The status of limbs of one rig, as it is evaluated now; ``structure`` is that of one."""
    if not is_evaluated(ob, depsgraph):
        return [_invalid("'{rig}' is not shown here: show it to pose its limbs", rig=ob.name) for _ in limbs]
    if ob.data.pose_position == "REST":
        return [
            _invalid("'{rig}' is in Rest Position, where nothing is posed: choose Pose Position", rig=ob.name)
        ] * len(limbs)
    problems = [unposable_status(limb) for limb in limbs]
    posed = [limb for limb, problem in zip(limbs, problems, strict=True) if not problem]
    judged = iter(_judged(ob, posed, depsgraph, structure) if posed else ())
    return [problem or next(judged) for problem in problems]


def _judged(
    ob: ArmatureObject, limbs: Sequence[PoseBone], depsgraph: Depsgraph, structure: Structure | None
) -> list[Status]:
    now = limbs_now(ob, limbs, depsgraph, table=structure.table if structure else None)
    scene: Any = depsgraph.scene
    is_off = [not is_live(scene) and mode_of(limb) == "LIVE" for limb in limbs]
    now.sliders["influence"][is_off] = 0.0
    measured, broken = measure(now), [structure.broken] if structure else problems_of(limbs)
    judged = [_status(limb, broken[row], measured, row) for row, limb in enumerate(limbs)]
    return [
        status._replace(template=OFF) if off and status.reach != Reach.INVALID else status
        for status, off in zip(judged, is_off, strict=True)
    ]


def unposable_status(limb: PoseBone) -> Status | None:
    """The status of a limb that can't be posed at all; None if it can."""
    try:
        check_posable(limb)
    except Refused as why:
        return _invalid(why.message.template, **why.message.values)
    return None


def _status(limb: PoseBone, broken: str, measured: Measured, row: int) -> Status:
    residual = float(np.linalg.norm(measured.tips[row] - measured.targets[row]))
    off = float(np.linalg.norm(measured.tips[row] - measured.joints[row, -1]))
    influence = float(measured.influence[row])
    scale = measured.sizes[row] / measured.lengths[row]
    longest = scale * max(bone.bone.length for bone in chain_bones(limb))  # Blender counts heads from tails
    slack = ROUNDING * max(longest, float(np.abs(measured.targets[row]).max())) + MISS * measured.sizes[row]
    reach = Reach(int(measured.solution.reach[row]))
    if not np.isfinite([residual, off]).all():
        return _invalid(SIZELESS, bone=limb.name)
    allowed = slack if influence in (0.0, 1.0) else slack + 2.0 * SEEN * measured.sizes[row]
    is_fk, is_ik = influence <= 0.0, influence >= 1.0
    stray = None if broken else misplaced_bone(limb, float(MISS * measured.lengths[row]))
    if stray:
        return Status(Reach.INVALID, residual, stray[0], {"bone": stray[1].name}, is_fk=is_fk, is_ik=is_ik)
    is_off = off > allowed or measured.knee_errors[row] > allowed + 2.0 * SEEN * measured.sizes[row]
    if is_off and not broken and measured.is_uneven and not (is_fk or is_ik) and mode_of(limb) == "RIG":
        return Status(reach, residual, SCALED_UNEVENLY, {"distance": residual}, is_fk=is_fk, is_ik=is_ik)
    if is_off and not broken and (bone := inheriting_otherwise(limb)):
        return _invalid(SCALED_APART, bone=bone.name)
    if broken or is_off:
        return Status(Reach.INVALID, residual, broken or MOVED_BY_OTHERS, {"bone": limb.name}, is_fk=is_fk, is_ik=is_ik)
    if influence <= 0.0:
        return Status(reach, residual, "FK", {}, is_fk=True, is_ik=False)
    if influence < 1.0:
        template, values = _blending(residual, slack)
        return Status(reach, residual, template, values, is_fk=False, is_ik=False)
    if residual <= slack:
        return Status(Reach.REACHED, residual, SENTENCES[Reach.REACHED], {})
    if reach == Reach.REACHED:  # softness keeps it off
        return Status(reach, residual, EASED, {"distance": residual})
    return Status(reach, residual, SENTENCES.get(reach, MOVED_BY_OTHERS), {"distance": residual})


def _invalid(template: str, **values: Any) -> Status:
    return Status(Reach.INVALID, 0.0, template, values)


# whether it fits


EDITED = "Bones or settings of '{bone}' were edited: rebuild the limb"
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
    made = made_on(limbs[0].id_data) if any(map(_has_parts, limbs)) else {}
    return [
        (FOOT_GONE if is_foot_gone(limb) else problem_of_version(limb))
        or (_problem(limb, made[limb.name]) if _has_parts(limb) else "")
        for limb in limbs
    ]


def _has_parts(limb: PoseBone) -> bool:
    return bool(bones_of_limb(limb)) and (is_on_rig(limb) or has_roll(limb) or has_pole_follow(limb))


def problem_of_version(limb: PoseBone) -> str:
    """Whether a limb was made by another version of the extension, which may have made it otherwise."""
    group = group_of(limb)
    version = VERSION if group is None else group.get(VERSION_KEY, 0)
    return OLDER if version < VERSION else NEWER if version > VERSION else ""


def _problem(limb: PoseBone, made: Made) -> str:
    """Why what was made for a limb is not what its value says."""
    ref, description = ref_of(limb), describe(ref_of(limb))
    if has_pole_follow(limb) and not (description.pole_follow and follows_own_bones(description, ref)):
        return NEEDS
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


def misplaced_bone(limb: PoseBone, least: float) -> tuple[str, PoseBone] | None:
    """A bone of a limb that is scaled or moved by its own channels where IK can't follow, with the message; None if
    there is none. ``least`` is what counts as moved, in the armature. Location of the first bone is fine, and so is its
    scale in FK with Stretch."""
    chain, scaled = chain_bones(limb), 1 if has_slider(limb, "stretch") else 0
    for bone in chain[scaled:]:
        if max(abs(size - 1.0) for size in bone.scale[:]) > KEPT:
            return BONE_SCALED, bone
    for bone in chain[1:]:
        if np.abs(own_location(bone)).max() > least:
            return BONE_MOVED, bone
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
    table: Table | None = None,
) -> list[Stroke]:
    """The lines of one limb as it is evaluated: to its pole, from its tip to a target that it misses, an arc of its
    reach where the target is near that (or all of it, stretched too), and its whole solution where it is between FK and
    IK."""
    if not is_evaluated(limb.id_data, depsgraph) or unposable_status(limb):
        return []
    now = limbs_now(limb.id_data, [limb], depsgraph, is_whole=True, table=table)
    measured = measure(now)
    target, influence = measured.targets[0], read_slider(limb, "influence")
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


def _turned_about(axis: Array, edge: Array, arc: float, count: int) -> Array:
    """An edge turned about a unit axis by up to an arc to both sides, (count + 1, 3)."""
    angles = np.linspace(-arc, arc, count + 1)
    return np.array([rotate((cos(angle / 2.0), *(axis * sin(angle / 2.0))), tuple(edge)) for angle in angles])


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
    """What limbs do in these frames; a tip that is farther off than ``max_miss`` is missed, else one that does not
    reach its target."""
    scene, rigs = scene_of(context), by_rig(limbs)
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
            readers_of(recording, _evaluated_by(depsgraph), lambda ob: ob)(i)
    rate = rate_of(scene)
    paths = {limb: paths_of(recording, limb, sole_of(recording, limb, rate)) for limb in readable}
    listed = contacts_known(scene, [limb for limb in limbs if limb in paths], frames, paths)
    contacts = {of_limb.limb: of_limb for of_limb in listed}
    return [LimbReport(limb, states[limb], contacts.get(limb)) for limb in limbs]


def _evaluated_by(depsgraph: Depsgraph) -> Callable[[Any], Any]:
    return lambda ob: ob.evaluated_get(depsgraph)


def _frame_status(frame: float, status: Status, max_miss: float | None) -> FrameStatus:
    is_off = not status.is_reached if max_miss is None else status.residual > max_miss
    reach = status.reach.name if status.is_broken or not status.is_fk else "FK"
    problem = status.message if status.is_broken or status.is_off else ""
    return FrameStatus(frame, reach, status.residual, status.is_ik and is_off, problem)
