"""Where a limb has to be: forward kinematics and the law of cosines, in plain numpy, from what Blender evaluates of the
limb's parent, of what it follows and of its sliders. Of three and four bones, their groups are complex numbers."""

from __future__ import annotations

import json
from cmath import exp, phase
from cmath import sqrt as complex_root
from itertools import pairwise
from math import acos, atan2, copysign, cos, hypot, pi, remainder, sin, sqrt, tau
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

Array = Any

DEFAULTS = {"plane": "FREE", "segments": [1, 1], "stretch_volume": "LENGTH", "stretch_max": 2.0}
DEFAULTS |= {"min_angle": 0.0, "max_angle": pi, "root_min_angle": -pi, "root_max_angle": pi}
"""What a limb is like that says nothing of it."""


class Expected(NamedTuple):
    """Where a limb has to be, in the world: its joints (root, knees, tip), and the axes of its bones, each of length
    1. ``target``, of a hinge where it counts, and ``length`` are in the world too. ``reach`` is the name of the `Reach`
    at influence 1."""

    joints: Array
    axes: tuple[Array, ...]
    target: Array
    length: float
    reach: str
    influence: float
    sizes: tuple[Array, ...] | None  # the bones' scale, where nothing above is scaled


def expected(last: Any, depsgraph: Any = None) -> Expected:
    """Where the limb of this last bone, of an original rig, has to be."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    ob = last.id_data.evaluated_get(depsgraph)
    group, constraint = {**DEFAULTS, **kept(last)}, last.constraints["Planar IK"]
    bones = chain_bones(ob.pose.bones[last.name], group["segments"])
    limb = _reference(bones, group)
    world = np.array(ob.matrix_world, float)
    carried = world @ _carried(bones[0], last.id_data.pose.bones[bones[0].name].location)
    to_frame = np.linalg.inv(carried @ limb.frame)
    sliders = _sliders(ob.pose.bones[last.name])
    target = place_of(constraint.target, constraint.subtarget, depsgraph)
    pole = place_of(constraint.pole_target, constraint.pole_subtarget, depsgraph) if constraint.pole_target else None
    solved = _solve(to_frame, target, pole, limb, sliders, group, last.name.endswith(".L"))
    own = [turn_of(last.id_data.pose.bones[bones[i].name]) for i in starts_of(group["segments"])]
    blended = [q.slerp(p, sliders["influence"]) for q, p in zip(own, solved.turns, strict=True)]
    stretch = 1.0 + sliders["influence"] * (solved.stretch - 1.0)
    joints, poses = _posed(bones, group["segments"], blended, stretch, limb.tip)
    normal = limb.frame[:3, 2]
    line = _unit((limb.joints[1] - limb.joints[0]) @ (np.eye(3) - np.outer(normal, normal)))
    joints = joints + sliders["influence"] * solved.slide * line
    joints = np.array([(carried @ [*joint, 1.0])[:3] for joint in joints])
    if group["plane"] in ("HINGE", "SLIDE"):
        x, y, _ = (to_frame @ [*target, 1.0])[:3]
        target = (carried @ limb.frame @ [x, y, (to_frame @ [*joints[-1], 1.0])[2], 1.0])[:3]
    return Expected(
        joints,
        tuple(_unit_columns((carried @ pose)[:3, :3]) for pose in poses),
        np.array(target),
        sum(limb.lengths) * float(np.linalg.norm((carried @ limb.frame)[:3, 1])),
        solved.reach,
        sliders["influence"],
        _sizes(group, limb, stretch),
    )


def mark(bone: Any, name: str) -> Any:
    """A mark of a bone as Blender stores it, also where the extension is off; None where there is none."""
    holder = bone.bl_system_properties_get() if hasattr(bone, "bl_system_properties_get") else bone
    return holder.get(name) if holder else None


def kept(last: Any) -> dict[str, Any]:
    """What is kept of a limb on its last bone."""
    group: dict[str, Any] = json.loads(mark(last, "planar_ik_limb") or "{}")
    return group


def keep(last: Any, without: str = "", **values: Any) -> None:
    """Write in there, as no operator does."""
    group = {**kept(last), **values}
    group.pop(without, None)
    last.planar_ik_limb = json.dumps(group)


def seen(last: Any, depsgraph: Any = None) -> tuple[Array, tuple[Array, ...], tuple[Array, ...]]:
    """The joints and axes that Blender shows, in the world, as `Expected` has them, and the scales of the bones."""
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    ob = last.id_data.evaluated_get(depsgraph)
    segments = tuple(kept(last).get("segments", (1, 1)))
    return seen_of(ob, last.name, segments)


def seen_of(ob: Any, name: str, segments: tuple[int, ...] = (1, 1)) -> tuple[Array, Any, Any]:
    """`seen` of an evaluated rig whose limb may be gone."""
    bones = chain_bones(ob.pose.bones[name], segments)
    world = np.array(ob.matrix_world, float)
    poses = [world @ np.array(bones[i].matrix, float) for i in starts_of(segments)]
    tip = world @ np.array(bones[-1].matrix, float) @ [*tip_of(bones[-1]), 1.0]
    sizes = tuple(np.linalg.norm(pose[:3, :3], axis=0) for pose in poses)
    joints = np.array([*(pose[:3, 3] for pose in poses), tip[:3]])
    return joints, tuple(_unit_columns(pose[:3, :3]) for pose in poses), sizes


def chain_bones(last: Any, segments: Any) -> list[Any]:
    """All bones of a limb, from the root down."""
    line = [last]
    while len(line) < sum(segments):
        line.insert(0, line[0].parent)
    return line


def starts_of(segments: Any) -> list[int]:
    """The first bone of each segment, among all of a limb."""
    return [sum(segments[:k]) for k in range(len(segments))]


def tip_of(last: Any) -> Array:
    """The head of the bone that is marked as a limb's foot, in its last bone's own space; of what is no limb, that of
    the only bone below; else the tail."""
    below = last.bone.children
    feet = [child for child in below if mark(last.id_data.pose.bones[child.name], "planar_ik_tip")]
    if not feet and (mark(last, "planar_ik_limb") or len(below) != 1):
        return np.array((0.0, last.bone.length, 0.0))
    feet = feet or below
    return (np.linalg.inv(np.array(last.bone.matrix_local, float)) @ [*feet[0].head_local, 1.0])[:3]


def place_of(ob: Any, bone: str, depsgraph: Any) -> Array:
    """Where an object or a bone is in the world."""
    now = ob.evaluated_get(depsgraph)
    place = (
        now.matrix_world @ now.pose.bones[bone].head if ob.type == "ARMATURE" and bone else now.matrix_world.translation
    )
    return np.array(place, float)


def turn_of(bone: Any) -> Quaternion:
    """The rotation that a bone's own channels say."""
    if bone.rotation_mode == "QUATERNION":
        return bone.rotation_quaternion.normalized()
    if bone.rotation_mode == "AXIS_ANGLE":
        angle, *axis = bone.rotation_axis_angle
        return Quaternion(axis, angle)
    return bone.rotation_euler.to_quaternion()


class _Limb(NamedTuple):
    frame: Array  # G at rest
    poses: tuple[Array, ...]  # of the bones in the reference
    lengths: tuple[float, ...]
    angles: tuple[float, ...]  # of the bones off the line, counter-clockwise about the normal
    reference_rotations: tuple[Quaternion, ...]
    tip: Array
    joints: Array  # (joints, 3): root, knees and tip in the reference


class _Solved(NamedTuple):
    turns: tuple[Quaternion, ...]
    stretch: float
    reach: str
    slide: float = 0.0


def _reference(bones: list[Any], group: Any) -> _Limb:
    count = len(group["segments"])
    flat = [*group.get("reference_rotations", (1, 0, 0, 0) * count)]
    reference_rotations = tuple(Quaternion(flat[4 * k : 4 * k + 4]) for k in range(count))
    tip = tip_of(bones[-1])
    joints, poses = _posed(bones, group["segments"], reference_rotations, 1.0, tip)
    ways = np.diff(joints, axis=0)
    y = _unit(joints[-1] - joints[0])
    beside = (joints - joints[0]) @ (np.eye(3) - np.outer(y, y))
    if group["plane"] in ("HINGE", "SLIDE") and "bend_axis" in group:  # square to that, and joints beside each other
        z = _unit(poses[-1][:3, :3] @ np.array(group["bend_axis"], float))
        ways = ways @ (np.eye(3) - np.outer(z, z))
        y = _unit(ways.sum(axis=0))
        turns = [float(np.cross(a, b) @ z) / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairwise(ways)]
        if max(map(abs, turns)) > 1e-4:
            z *= -np.sign(ways[_kept(turns)[0]].sum(axis=0) @ np.cross(y, z))
    elif np.linalg.norm(beside, axis=1).max() <= 1e-4 * np.linalg.norm(ways, axis=1).sum():
        z = poses[-1][:3, :3] @ np.array(group.get("bend_axis", (1.0, 0.0, 0.0)), float)
        z = _unit(z - y * (y @ z))
    else:  # the plane that the joints lie nearest to, the first group on its -X
        z = np.cross(np.linalg.svd(beside)[2][0], y)
        turns = [float(np.cross(a, b) @ z) / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairwise(ways)]
        z *= -np.sign(ways[_kept(turns)[0]].sum(axis=0) @ np.cross(y, z))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.array((np.cross(y, z), y, z)).T, joints[0]
    ways = ways @ frame[:3, :3]
    lengths = tuple(hypot(*way[:2]) for way in ways)  # in the plane: what lies beside it stays
    return _Limb(frame, poses, lengths, tuple(atan2(-way[0], way[1]) for way in ways), reference_rotations, tip, joints)


def _posed(bones: list[Any], segments: Any, turns: Any, stretch: float, tip: Array) -> tuple[Array, tuple[Array, ...]]:
    """Joints and poses of a limb below a parent at rest, in the armature, whose bones are turned so. Stretch moves the
    joints away from the root."""
    rest = [np.array(bone.bone.matrix_local, float) for bone in bones]
    own = dict(zip(starts_of(segments), turns, strict=True))
    poses: list[Array] = []
    for i, matrix in enumerate(rest):
        above = poses[-1] @ np.linalg.inv(rest[i - 1]) if i else np.eye(4)
        poses.append(above @ matrix @ np.array(own.get(i, Quaternion()).to_matrix().to_4x4(), float))
    of_segments = tuple(poses[start] for start in own)
    joints = np.array([*(pose[:3, 3] for pose in of_segments), (poses[-1] @ [*tip, 1.0])[:3]])
    return joints[0] + stretch * (joints - joints[0]), of_segments


def _carried(first: Any, location: Vector) -> Array:
    """What takes the first bone's rest pose to where it would be with channels that say nothing but a location."""
    above = {}
    if first.parent:
        above = {"parent_matrix": first.parent.matrix, "parent_matrix_local": first.parent.bone.matrix_local}
    own = Matrix() if first.bone.use_connect and first.parent else Matrix.Translation(location)
    unturned = first.bone.convert_local_to_pose(own, first.bone.matrix_local, **above)
    return np.array(unturned, float) @ np.linalg.inv(np.array(first.bone.matrix_local, float))


def _sliders(bone: Any) -> dict[str, float]:
    names = {"influence": 1.0, "flip": 0.0, "swivel": 0.0, "softness": 0.0, "stretch": 0.0, "pole": 1.0, "ankle": 0.0}
    sliders = {name: float(bone.get(f"IK {name.title()}", default)) for name, default in names.items()}
    return sliders | {"twist": [*bone.get("IK Twist", ())]}


def _solve(to_frame: Array, target: Array, pole: Any, limb: _Limb, sliders: Any, group: Any, is_left: bool) -> _Solved:
    x, y, z = (to_frame @ [*target, 1.0])[:3]
    side = -1.0 if sliders["flip"] > 0.5 else 1.0
    if group["plane"] == "SLIDE":
        return _slid((x, y, z), side, limb, sliders["twist"], is_left)
    if group["plane"] == "HINGE":
        line, distance = _about((0, 0, 1), atan2(-x, y)), hypot(x, y)
    else:
        distance = sqrt(x * x + y * y + z * z)
        line = _shortest(np.array((x, y, z)))
        roll = -sliders["swivel"] if is_left else sliders["swivel"]
        if group["plane"] == "POLE" and pole is not None and sliders["pole"] > 0.5:
            aside = line[:3, :3].T @ (to_frame @ [*pole, 1.0])[:3]
            roll += atan2(aside[2], -aside[0])
        line = line @ _about((0, 1, 0), roll)
    gone, stretch, reach = _gone(distance, limb, sliders, group)
    angles = [side * angle for angle in _angles(gone, limb, sliders["ankle"])]
    if group["plane"] == "HINGE" and group["root_max_angle"] - group["root_min_angle"] < tau - 1e-6:
        angles, reach = _within_limits((x, y), angles, side, limb, group, reach)
    line = line @ _about((0, 0, 1), angles[0] - limb.angles[0])
    return _Solved(_turns_of(limb, line, angles, sliders["twist"], is_left), stretch, reach)


def _slid(place: Any, side: float, limb: _Limb, twist: Any, is_left: bool) -> _Solved:
    """A first bone that slides: where a circle around the target meets its line."""
    first, rod = limb.lengths
    seen = complex(*place[:2]) / (1j * exp(1j * limb.angles[0]))  # from the root along the line, and beside it
    ahead = copysign(sqrt(max(rod**2 - seen.imag**2, 0.0)), side * cos(limb.angles[1] - limb.angles[0]))
    turn = phase(complex(ahead, max(min(seen.imag, rod), -rod)))
    reach = "TOO_FAR" if abs(seen.imag) - rod > 1e-5 * sum(limb.lengths) else "REACHED"
    angles = [limb.angles[0], limb.angles[0] + turn]
    return _Solved(_turns_of(limb, np.eye(4), angles, twist, is_left), 1.0, reach, seen.real - ahead - first)


def _turns_of(limb: _Limb, line: Array, angles: Any, twist: Any, is_left: bool) -> tuple[Quaternion, ...]:
    """The bones' own rotations where the first one is turned so in G, and each is at such an angle off the line."""
    turned = limb.frame @ line @ np.linalg.inv(limb.frame)
    one = np.linalg.inv(limb.poses[0]) @ turned @ limb.poses[0]
    turns = [limb.reference_rotations[0] @ Matrix(one[:3, :3].tolist()).to_quaternion()]
    for k in range(1, len(angles)):
        bent = (angles[k] - angles[k - 1]) - (limb.angles[k] - limb.angles[k - 1])
        normal = limb.poses[k][:3, :3].T @ limb.frame[:3, 2]
        turns.append(limb.reference_rotations[k] @ Quaternion(normal, bent))
    return _twisted(turns, limb, twist, is_left)


def _twisted(turns: list[Quaternion], limb: _Limb, twist: Any, is_left: bool) -> tuple[Quaternion, ...]:
    """The bones turned about the lines from their joints to the next, and what hangs on them turned back."""
    turns = [turn.copy() for turn in turns]
    for k, angle in enumerate(twist):
        line = limb.poses[k][:3, :3].T @ (limb.joints[k + 1] - limb.joints[k])
        turn = Quaternion(line, -angle if is_left else angle)
        turns[k] = turns[k] @ turn
        if k + 1 < len(turns):  # of the bone below, in whose axes at rest the line lies so
            about = limb.reference_rotations[k + 1] @ Vector(limb.poses[k + 1][:3, :3].T @ limb.poses[k][:3, :3] @ line)
            turns[k + 1] = Quaternion(about, angle if is_left else -angle) @ turns[k + 1]
    return tuple(turns)


def _within_limits(
    place: Any, angles: list[float], side: float, limb: _Limb, group: Any, reach: str
) -> tuple[list[float], str]:
    """The angles off the line of two bones whose first joint has limits, too: those without, or with the first bone at
    the end of its range where the tip comes nearest, by looking for the knee's best turn."""
    off_line = atan2(-place[0], place[1])
    still = limb.reference_rotations[0]
    turned = 2.0 * atan2(float(np.dot(still[1:], limb.poses[0][:3, :3].T @ limb.frame[:3, 2])), still[0])
    low, high = (limb.angles[0] + group[name] - turned for name in ("root_min_angle", "root_max_angle"))
    if abs(remainder(off_line + angles[0] - (low + high) / 2.0, tau)) <= (high - low) / 2.0:
        return angles, reach

    def off(first: float, bent: Any) -> Any:
        tip = limb.lengths[0] * exp(1j * first) + limb.lengths[1] * np.exp(1j * (first - side * bent))
        return abs(1j * tip - complex(*place))

    found = []
    for first in (low, high):
        start, end = pi - group["max_angle"], pi - group["min_angle"]
        for _ in range(6):
            bends = np.linspace(start, end, 2001)
            best = bends[off(first, bends).argmin()]
            start, end = max(best - (end - start) / 500, start), min(best + (end - start) / 500, end)
        found.append((float(off(first, best)), first, float(best)))
    distance, first, bent = min(found)
    if distance > 1e-5 * sum(limb.lengths):
        reach = "LIMITED"
    return [first - off_line, first - side * bent - off_line], reach


def _angles(gone: float, limb: _Limb, ankle: float) -> list[float]:
    """The bones' angles off the line to a tip that is so far away: of two by the law of cosines, of more by that of
    their groups, the sums of bones as complex numbers, whose squares follow that of the distance."""
    places, groups, rest = _groups(limb, ankle)
    total = sum(limb.lengths)
    share = min((total**2 - gone**2) / max(total**2 - rest**2, 1e-30), _largest_share(limb, ankle))
    sizes = [sqrt(max(_square(group, share), 0.0)) for group in groups]
    found = [0.0] * len(limb.lengths)
    for k, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        off = (1.0, -1.0)[k] * _angle(gone, size, sizes[1 - k])
        for i, bone in enumerate(group):
            aside = 0.0
            if len(group) == 2:
                side = copysign(1.0, _bend(limb, places[k], ankle)) * (1.0, -1.0)[i]
                aside = side * _angle(size, abs(bone), abs(group[1 - i]))
            found[places[k][i]] = off + aside
    return found


def _kept(turns: Any) -> tuple[list[int], list[int]]:
    """Which bones keep together, by the sines of the turns between them: every other one, or neighbours where two turns
    that should be opposite are alike."""
    places = [*range(len(turns) + 1)]
    signs = {np.sign(turn) * (-1) ** k for k, turn in enumerate(turns) if abs(turn) > 1e-3}
    return (places[::2], places[1::2]) if len(signs) < 2 else (places[:-2], places[-2:])


def _groups(limb: _Limb, ankle: float) -> tuple[Any, list[list[complex]], float]:
    """Which bones keep together, these at rest as complex numbers, and how far the tip is there."""
    bones = [r * exp(1j * angle) for r, angle in zip(limb.lengths, limb.angles, strict=True)]
    places = _kept([sin(b - a) for a, b in pairwise(limb.angles)])
    bones[-1] *= exp(1j * ankle) if len(bones) > 2 else 1.0
    return places, [[bones[k] for k in each] for each in places], abs(sum(bones))


def _bend(limb: _Limb, places: list[int], ankle: float) -> float:
    """To which side the first bone of a group is off its second. The ankle may turn the last bone past folded: it stays
    on the side from which it came."""
    first, second = (limb.angles[k] for k in places)
    return sin((remainder(first - second, tau) - ankle * (places[-1] == len(limb.angles) - 1)) / 2.0)


def _square(group: list[complex], share: Any) -> Any:
    """The square of a group's length."""
    return sum(map(abs, group)) ** 2 * (1.0 - share) + share * abs(sum(group)) ** 2


def _largest_share(limb: _Limb, ankle: float) -> float:
    """How far neighbours go on bending, by halving: while the angle between the groups grows (its cosine's slope, by a
    complex step), and no bend is past 120 degrees."""
    places, groups, rest = _groups(limb, ankle)
    if places[1][0] + 1 != places[1][-1]:
        return 1.0
    total = sum(limb.lengths)

    def cosine(share: complex) -> complex:
        a, b = (_square(group, share) for group in groups)
        return (total**2 - share * (total**2 - rest**2) - a - b) / (2.0 * complex_root(a) * complex_root(b))

    low, high = 1.0, min(0.75 / max(sin(phase(a / b) / 2.0) ** 2, 1e-9) for a, *others in groups for b in others)
    for _ in range(60 if high > low else 0):
        middle = 0.5 * (low + high)
        now = cosine(middle + 1e-30j)
        low, high = (middle, high) if now.imag < 0.0 and now.real > -1.0 else (low, middle)
    return low


def _gone(distance: float, limb: _Limb, sliders: Any, group: Any) -> tuple[float, float, str]:
    """How far a limb goes, by how much it lengthens, and whether that is as far as the target."""
    total, small, large = sum(limb.lengths), group["min_angle"], group["max_angle"]
    near, far = _range(limb, small, large, sliders["ankle"])
    soft = sliders["softness"] * total
    gone = distance
    if soft and distance > far - soft:
        gone = distance - (min(distance, far + soft) - far + soft) ** 2 / (4.0 * soft)
    gone = min(max(gone, near), far)
    factor = min(1.0 + sliders["stretch"] * max(distance / max(gone, 1e-30) - 1.0, 0.0), group["stretch_max"])
    short = min(distance - gone * factor, max(distance - far, 0.0)) / total  # softness is meant
    if short > 1e-5:
        return gone, factor, "LIMITED" if large < pi - 1e-6 else "TOO_FAR"
    return gone, factor, "REACHED" if short >= -1e-5 else "LIMITED" if small > 0.0 else "TOO_NEAR"


def _range(limb: _Limb, small: float, large: float, ankle: float) -> tuple[float, float]:
    """The nearest and the farthest that a limb goes, as its lengths and its knees' limits let it."""
    if len(limb.lengths) == 2:
        r1, r2 = limb.lengths
        near = sqrt(max(r1 * r1 + r2 * r2 - 2 * r1 * r2 * cos(small), 0.0)) if small > 0.0 else abs(r1 - r2)
        return near, sqrt(r1 * r1 + r2 * r2 - 2 * r1 * r2 * cos(large)) if large < pi - 1e-6 else r1 + r2
    share = _largest_share(limb, ankle)
    a, b = (sqrt(max(_square(group, share), 0.0)) for group in _groups(limb, ankle)[1])
    return abs(a - b), sum(limb.lengths)


def _angle(gone: float, near: float, far: float) -> float:
    """The angle of a triangle between a side and the line, by the law of cosines."""
    return acos(min(max((gone * gone + near * near - far * far) / max(2.0 * gone * near, 1e-30), -1.0), 1.0))


def _sizes(group: Any, limb: _Limb, stretch: float) -> tuple[Array, ...]:
    """The scale of the bones by the stretch alone; a bone that does not point at its next joint has it evenly."""
    joints = [pose[:3, 3] for pose in limb.poses]
    ways = zip(np.diff(joints, axis=0), limb.poses, limb.lengths, strict=False)
    points = all(np.linalg.norm(way / length - pose[:3, 1]) < 1e-4 for way, pose, length in ways)
    points = points and abs(_unit(limb.tip)[1] - 1) < 1e-8
    kind = group["stretch_volume"] if points else "UNIFORM"
    wide = {"LENGTH": 1.0, "UNIFORM": stretch, "VOLUME": stretch**-0.5}[kind]
    return (np.array((wide, stretch, wide)),) * len(limb.lengths)


def _about(axis: Any, angle: float) -> Array:
    x, y, z = axis
    k = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    made = np.eye(4)
    made[:3, :3] += sin(angle) * k + (1.0 - cos(angle)) * k @ k
    return made


def _shortest(way: Array) -> Array:
    """The shortest rotation of Y to a direction."""
    axis = np.cross((0.0, 1.0, 0.0), way)
    size = float(np.linalg.norm(axis))
    return _about(axis / size, atan2(size, way[1])) if size > 1e-12 else np.eye(4)


def _unit(v: Array) -> Array:
    return np.asarray(v) / np.linalg.norm(v)


def _unit_columns(axes: Array) -> Array:
    return axes / np.linalg.norm(axes, axis=0)
