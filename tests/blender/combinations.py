"""A scene as people make them from a seed, IK added to it and a verb or two, and what did not stay as it was.

``python -m tests.blender.combinations 7 12`` runs seeds, and prints of each what it is and what was off.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import cos, pi, sin
from typing import Any, NamedTuple

from scripts import installed

USER = installed.fresh_user_folder() if __name__ == "__main__" else None

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Euler, Matrix, Quaternion, Vector  # noqa: E402

from tests.blender import rigs  # noqa: E402
from tests.blender.snapshots import differences, snapshot  # noqa: E402

FIRST, LAST = 1, 24
"""The scene's range."""

WHOLE, HALF = (0.001, 1.0, 0.002), (0.005, 3.0, 0.01)
"""How far a bone may be off in frames and halfway between: in lengths of the limb, in degrees, in parts of its size."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "rig": ("leg", "leg", "legs", "arm", "arm", "three", "boom"),
    "bent": (True, True, False),
    "twist": ("", "", "in line", "leaf", "copies"),
    "names": ("given", "given", "given", "default"),
    "parent": (True, True, True, False),
    "order": ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE", "mixed"),
    "place": ("plain", "moved", "moved", "hundredth", "large", "uneven"),
    "posed": (False, True),
    "moves": (
        "", "limb", "limb", "limb", "limb hips", "limb hips hand", "limb toe", "hips", "hand", "toe", "object", "above",
        "limb object", "hips above",
    ),
    "wrung": (False, False, True),
    "keys": ("plain", "plain", "between", "far", "outside"),
    "on": ("", "", "", "cycles", "noise", "linear"),
    "by": ("action", "action", "action", "strip", "scaled", "repeated", "muted", "slots", "driver"),
    "by_hand": (False, False, False, False, True),
    "shown": (1, 1, 7, 12, 24, 30),
    "selected": ("last", "bones", "bones", "all"),
    "plane": ("AUTO", "AUTO", "FREE", "POLE", "HINGE"),
    "mode": ("RIG", "RIG", "LIVE"),
    "foot_follows": (True, True, True, False),
    "foot_roll": (False, False, True),
    "pole_follows": (True, True, False),
    "tip": ("FOOT", "FOOT", "FOOT", "TAIL"),
}  # fmt: skip
"""What scenes are made of: what people do more often stands in it more often."""


class Short(AssertionError):
    """Something is not as it was."""


class Refusal(Exception):
    """An operator refused, and left the file as it was."""


class Scene(NamedTuple):
    """What was made of a seed: the rig, the limbs' bones from the root down, all that is watched, and frames."""

    case: dict[str, Any]
    ob: Any
    limbs: list[list[str]]
    frames: list[float]
    size: float


# what a seed stands for


def chosen(seed: int) -> dict[str, Any]:
    """The case of a seed, with one or two verbs."""
    rng = random.Random(seed)
    case = {name: rng.choice(values) for name, values in CHOICES.items()}
    fit = [name for name in sorted(VERBS) if name not in ONLY or ONLY[name](case)]
    case["verbs"] = rng.sample([name for name in fit if name not in LAST_VERBS], rng.choice((0, 1, 1)))
    case["verbs"].append(rng.choice(fit))
    return case


def bones_of(case: dict[str, Any]) -> tuple[dict[str, Any], list[list[str]]]:
    """The bones of a rig, as `rigs.rig` has them, and the limbs of it."""
    bent = 0.06 if case["bent"] else 0.0
    if case["rig"] in ("leg", "legs"):
        bones: dict[str, Any] = {"hips": ((0, 0, 1), (0, 0, 1.2), "")}
        limbs = [_leg(bones, side, bent) for side in ("LR" if case["rig"] == "legs" else "L")]
    elif case["rig"] == "arm":
        bones = {"chest": ((0, 0, 1.2), (0, 0, 1.5), "")}
        limbs = [["upper_arm.L", "forearm.L", "hand.L"]]
        bones |= _line(limbs[0], [(0.2, 0, 1.45), (0.47, bent, 1.45), (0.74, 0, 1.45), (0.84, 0, 1.45)], "chest")
        bones |= _line(["finger.L", "finger.L.001"], [(0.84, 0, 1.45), (0.88, 0, 1.44), (0.92, 0, 1.42)], "hand.L")
        bones["thumb.L"] = ((0.76, -0.02, 1.45), (0.8, -0.05, 1.44), "hand.L")
    elif case["rig"] == "three":
        bones = {"hips": ((0, 0, 1), (0, -0.3, 1), "")}
        limbs = [["thigh.L", "shin.L", "metatarsus.L", "paw.L"]]
        places = [(0.1, 0, 1), (0.1, -2 * bent, 0.65), (0.1, 2 * bent, 0.35), (0.1, 0, 0.08), (0.1, -0.1, 0.0)]
        bones |= _line(limbs[0], places, "hips")
        bones["toe.L"] = ((0.1, -0.1, 0.0), (0.1, -0.16, 0.0), "paw.L")
    else:
        bones, limbs = {"cabin": ((0, 0, 0.5), (0, 0, 1), "")}, [["boom", "stick", "bucket"]]
        bones |= _line(limbs[0], [(0, -0.3, 0.8), (0, -1.8, 1.2 + 6 * bent), (0, -3, 0.9), (0, -3.2, 0.4)], "cabin")
        bones["tooth"] = ((0, -3.2, 0.4), (0, -3.1, 0.3), "bucket")
    if not case["parent"] and len(limbs) == 1:
        del bones[next(iter(bones))]
        head, tail, _ = bones[limbs[0][0]]
        bones[limbs[0][0]] = (head, tail, "")
    return bones, limbs


def _leg(bones: dict[str, Any], side: str, bent: float) -> list[str]:
    x, names = (0.1 if side == "L" else -0.1), [f"{name}.{side}" for name in ("thigh", "shin", "foot")]
    bones |= _line(names, [(x, 0, 1), (x, -bent, 0.55), (x, 0, 0.1), (x, -0.14, 0.02)], "hips")
    bones[f"toe.{side}"] = ((x, -0.14, 0.02), (x, -0.2, 0.02), names[-1])
    return names


def _line(names: list[str], places: list[Any], parent: str) -> dict[str, Any]:
    parents = [parent, *names]
    return {name: (places[i], places[i + 1], parents[i]) for i, name in enumerate(names)}


def _twisted(case: dict[str, Any], bones: dict[str, Any], limb: list[str]) -> None:
    """Give the first bone of a limb a twist bone: in line with it, or beside it."""
    first, second = limb[:2]
    head, tail, parent = bones[first]
    middle, name = tuple((a + b) / 2 for a, b in zip(head, tail, strict=True)), f"twist_{first}"
    if case["twist"] == "in line":
        bones[first], bones[name] = (head, middle, parent), (middle, tail, first)
        bones[second] = (*bones[second][:2], name)
    else:
        bones[name] = (middle, tail, first)


def built(case: dict[str, Any], rng: random.Random) -> Scene:
    """Build the scene of a case."""
    bones, limbs = bones_of(case)
    if case["twist"] and case["rig"] != "three":
        for limb in limbs:
            _twisted(case, bones, limb)
    ordered: dict[str, Any] = {}
    while len(ordered) < len(bones):
        ordered |= {name: bone for name, bone in bones.items() if not bone[2] or bone[2] in ordered}
    rolls = {name: rng.uniform(-3, 3) for name in ordered} if case["bent"] and case["plane"] != "HINGE" else {}
    ob = rigs.rig(ordered, rolls)
    for bone in ob.pose.bones:
        mixed = case["order"] == "mixed"
        bone.rotation_mode = rng.choice(("QUATERNION", "XYZ", "YZX", "AXIS_ANGLE")) if mixed else case["order"]
    if case["twist"] == "copies" and case["rig"] != "three":
        for limb in limbs:
            copy = ob.pose.bones[f"twist_{limb[0]}"].constraints.new("COPY_ROTATION")
            copy.target, copy.subtarget, copy.influence = ob, limb[1], 0.4
            copy.owner_space = copy.target_space = "LOCAL"
    _place(ob, case, rng)
    if case["names"] == "default":
        limbs = _unnamed(ob, limbs)
    if case["rig"] in ("arm", "boom"):
        prop = rigs.empty("prop", (0.02, 0.05, 0.01), ob, limbs[0][-1])
        prop.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    size = ob.matrix_world.to_scale()[1] * sum(ob.data.bones[name].length for name in limbs[0][:-1])
    made = Scene(case, ob, limbs, [], size)
    _move(made, rng)
    halves = [FIRST + i / 2 for i in range(2 * (LAST - FIRST) + 1)]
    return made._replace(frames=halves)


def _unnamed(ob: Any, limbs: list[list[str]]) -> list[list[str]]:
    """Call bones as Blender does where nobody names them; the limbs."""
    new = {bone.name: f"Bone.{i:03}" if i else "Bone" for i, bone in enumerate(ob.data.bones)}
    for old, name in new.items():
        ob.data.bones[old].name = f"{name} now"
    for name in new.values():
        ob.data.bones[f"{name} now"].name = name
    return [[new[name] for name in limb] for limb in limbs]


def _place(ob: Any, case: dict[str, Any], rng: random.Random) -> None:
    turn = Euler([rng.uniform(-pi, pi) for _ in range(3)])
    place = Vector([rng.uniform(-3, 3) for _ in range(3)])
    scale = {"hundredth": (0.01,) * 3, "large": (7.0,) * 3, "uneven": (1.3, 0.8, 1.1)}.get(case["place"])
    if case["place"] != "plain":
        ob.matrix_world = Matrix.LocRotScale(place, turn, scale and Vector(scale))


# how it moves


def turn(bone: Any, axis: Vector, angle: float) -> None:
    """Turn a bone from its rest about an axis of the armature, in the mode that it has."""
    turned = Quaternion(bone.bone.matrix_local.to_3x3().inverted() @ axis, angle)
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turned
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = turned.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turned.to_euler(bone.rotation_mode)


def path_of(bone: Any) -> str:
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        bone.rotation_mode, "rotation_euler"
    )


def _move(made: Scene, rng: random.Random) -> None:
    """Pose the limbs, and animate what the case says."""
    case, ob, scene = made.case, made.ob, bpy.context.scene
    for limb in made.limbs if case["posed"] else ():
        pose_limb(made, limb, rng)
    times = {"plain": (1, 9, 17, 24), "between": (1, 9.998, 24), "far": (-40, 70), "outside": (-8, 5, 14, 33)}
    at = {"cycles": (1, 7, 13), "noise": (1, 12, 24), "linear": (1, 7, 13)}.get(case["on"], times[case["keys"]])
    if case["by"] in ("repeated", "scaled"):
        at = (1, 7, 13)
    for owner, path, pose in moving(made, rng):
        for i, time in enumerate(at):
            pose(random.Random(0 if i == len(at) - 1 and case["on"] == "cycles" else 7 * i))
            owner.keyframe_insert(path, frame=time)
    if case["by"] == "driver":
        holder = ob.pose.bones[0]
        driver = holder.driver_add("location", 0).driver
        driver.expression = f"{0.1 * holder.bone.length / 0.2} * sin(frame / 4)"
    for curve in _curves(ob):
        _goes_on(curve, case["on"])
    _layered(ob, case["by"], rng)
    for action in bpy.data.actions:
        action.update_tag()  # which new modifiers don't do
    scene.frame_set(case["shown"])


def moving(made: Scene, rng: random.Random) -> Iterator[tuple[Any, str, Callable[[random.Random], None]]]:
    """What moves: its owner, the path that gets keys, and what poses it from a time's random numbers."""
    ob, words = made.ob, made.case["moves"].split()
    for limb in made.limbs if "limb" in words else ():
        for i, name in enumerate(limb[:-1]):
            bone = ob.pose.bones[name]
            yield bone, path_of(bone), _poses(made, limb, i, rng.random())
    for word, depth in (("hand", 0), ("toe", 1)):
        for limb in made.limbs if word in words else ():
            bone = ob.pose.bones[limb[-1]]
            bone = bone.children[0] if depth and bone.children else bone
            axis = rigs.turn(rng, pi) @ Vector((1, 0, 0))
            yield bone, path_of(bone), lambda at, b=bone, a=axis: turn(b, a, at.uniform(-0.4, 0.4))
    above = ob.pose.bones[0]
    if "hips" in words and above.name not in {limb[0] for limb in made.limbs}:
        if made.case["by"] != "driver":
            yield above, "location", lambda at: setattr(above, "location", [at.uniform(-0.1, 0.1) for _ in range(3)])
        yield above, path_of(above), lambda at: turn(above, Vector((at.uniform(-1, 1), 1, 0)), at.uniform(-0.3, 0.3))
    if "object" in words:
        yield from _object_moves(ob)
    if "above" in words:
        parent = rigs.empty("above", (0.3, 0.1, 0.2))
        bpy.context.view_layer.update()
        ob.parent = parent
        ob.matrix_parent_inverse = parent.matrix_world.inverted()
        yield from _object_moves(parent)


def _object_moves(ob: Any) -> Iterator[tuple[Any, str, Callable[[random.Random], None]]]:
    was = ob.location.copy()
    size = max(ob.dimensions.length, 0.01) if ob.data else 1.0
    yield (
        ob,
        "location",
        lambda at: setattr(ob, "location", was + size * 0.3 * Vector([at.uniform(-1, 1) for _ in range(3)])),
    )
    was_turned = ob.rotation_euler.copy()
    yield (
        ob,
        "rotation_euler",
        lambda at: setattr(ob, "rotation_euler", [angle + at.uniform(-0.4, 0.4) for angle in was_turned]),
    )


def _poses(made: Scene, limb: list[str], place: int, phase: float) -> Callable[[random.Random], None]:
    """What poses a bone of a limb: the first anyhow, the next about the bend's axis, and anyhow if it is wrung."""

    def pose(at: random.Random) -> None:
        number = at.random() + phase
        bone, axis = made.ob.pose.bones[limb[place]], hinge_of(made, limb)
        if place == 0:
            aside = Vector((0.4 * sin(9 * number), 0.2 * cos(5 * number), 0.3))
            way = axis if made.case["plane"] == "HINGE" else (axis + aside).normalized()
            turn(bone, way, 0.4 * sin(9 * number))
        else:
            way = axis * (1.0 if place % 2 else -1.0)
            if made.case["wrung"] and made.case["plane"] != "HINGE" and place == len(limb) - 2 and len(limb) == 3:
                way = (way + Vector((0.3 * sin(7 * number), 0.3, 0.2 * cos(3 * number)))).normalized()
            turn(bone, way, (0.25 if len(limb) == 3 else 0.1) + 0.3 * abs(sin(5 * number)))

    return pose


def hinge_of(made: Scene, limb: list[str]) -> Vector:
    """The axis that a limb is drawn to bend about, in the armature: a turn about it bends the knee."""
    return Vector((0, 0, -1)) if made.case["rig"] == "arm" else Vector((1, 0, 0))


def pose_limb(made: Scene, limb: list[str], rng: random.Random) -> None:
    for place in range(len(limb) - 1):
        _poses(made, limb, place, rng.random())(rng)


def _goes_on(curve: Any, how: str) -> None:
    """How a curve goes on beyond its keys."""
    if how == "cycles":
        curve.modifiers.new("CYCLES")
    elif how == "noise":
        noise = curve.modifiers.new("NOISE")
        noise.scale, noise.strength = 12.0, 0.1
    elif how == "linear":
        curve.extrapolation = "LINEAR"


def _curves(ob: Any) -> list[Any]:
    action = ob.animation_data.action if ob.animation_data else None
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags] if action else []
    return [curve for bag in bags for curve in bag.fcurves]


def _layered(ob: Any, by: str, rng: random.Random) -> None:
    """Put the action on strips, or give it a second slot."""
    data = ob.animation_data
    if data is None or data.action is None:
        return
    action, slot = data.action, data.action_slot
    if by == "slots":
        other = rigs.empty("other")
        other.animation_data_create().action = action
        other.animation_data.action_slot = action.slots.new("OBJECT", "other")
        for time in (1, 20):
            other.location.x = time
            other.keyframe_insert("location", frame=time)
    if by in ("strip", "scaled", "repeated", "muted"):
        strip = data.nla_tracks.new().strips.new("walk", 1, action)
        strip.action_slot = slot
        strip.scale = 1.7 if by == "scaled" else 1.0
        strip.repeat = 3.0 if by == "repeated" else 1.0
        data.action = None
        if by == "muted":
            track = data.nla_tracks.new()
            muted = track.strips.new("other", 1, action.copy())
            muted.action_slot = muted.action.slots[0]
            track.mute = True


# what is seen


def seen(made: Scene, names: list[str]) -> np.ndarray:
    """The matrices of bones and of what hangs on them in the world, now (n, 4, 4)."""
    graph = bpy.context.evaluated_depsgraph_get()
    ob = bpy.data.objects[made.case["name"]].evaluated_get(graph)
    world = ob.matrix_world
    bones, objects = ob.pose.bones, bpy.data.objects
    found = [
        world @ bones[name].matrix if name in bones else objects[name].evaluated_get(graph).matrix_world
        for name in names
    ]
    return np.array(found, float)


def recorded(made: Scene, names: list[str], hand: dict[str, Any]) -> np.ndarray:
    """What is seen now, then in each frame (1 + frames, n, 4, 4), in the file as it is after."""
    scene, found = bpy.context.scene, [seen(made, names)]
    shown = scene.frame_current
    for frame in made.frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        found.append(seen(made, names))
    scene.frame_set(shown)
    for name, channels in hand.items():
        for path, value in channels.items():
            setattr(bpy.data.objects[made.case["name"]].pose.bones[name], path, value)
    bpy.context.view_layer.update()
    return np.array(found)


def off(before: np.ndarray, after: np.ndarray, size: float) -> np.ndarray:
    """By how much matrices are off: places in sizes, axes in degrees, scales in parts (…, 3)."""
    place = np.linalg.norm(before[..., :3, 3] - after[..., :3, 3], axis=-1) / size
    was, is_ = (np.linalg.norm(m[..., :3, :3], axis=-2) for m in (before, after))
    axes = (before[..., :3, :3] * after[..., :3, :3]).sum(axis=-2) / np.maximum(was * is_, 1e-12)
    angle = np.degrees(np.arccos(np.clip(axes, -1, 1))).max(axis=-1)
    return np.stack([place, angle, np.abs(is_ / np.maximum(was, 1e-12) - 1).max(axis=-1)], axis=-1)


def check(
    made: Scene, names: list[str], before: np.ndarray, after: np.ndarray, told: str, verb: str, hangs: bool = False
) -> None:
    """Raise `Short` for the worst of all bones in all frames, if that is too far off."""
    times = ["now", *made.frames]
    allowed = np.full((*before.shape[:2], 3), WHOLE)
    # halfway between what keys in whole frames can say
    allowed[2:-1:2] = HALF + off(before[2:-1:2], (before[1:-2:2] + before[3::2]) / 2, made.size)
    if hangs:  # keys can't say where it is from the last frame that it hangs to the next
        allowed[1 + made.frames.index(PART[1] + 0.5)] = np.inf
    worse = off(before, after, made.size) / allowed
    if worse.max() <= 1.0:
        return
    worst = worse.max(axis=-1)
    frame, name = np.unravel_index(worst.argmax(), worst.shape)
    place, angle, scale = (worse * allowed)[frame, name]
    count = int((worst.max(axis=1) > 1.0).sum())
    what = f"{verb}: {names[name]} in frame {times[frame]} is off by {place:.4f}, {angle:.1f}°, size {scale:.3f}"
    raise Short(f"{what}; {count} of {len(times)} frames{f'; told: {told}' if told else ''}")


# what people do


@contextmanager
def printed() -> Iterator[list[str]]:
    """What Blender prints meanwhile, warnings among it."""
    lines: list[str] = []
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield lines
        finally:
            sys.stdout.flush()
            for number, old in zip((1, 2), kept, strict=True):
                os.dup2(old, number)
                os.close(old)
            file.seek(0)
            lines += file.read().decode().splitlines()
            for said in lines:
                if "ependency cycle" in said:
                    print(said)


def call(name: str, **options: Any) -> str:
    """Call one of our operators as a person does, with an undo step: its warnings."""
    before = snapshot()
    try:
        with printed() as lines:
            getattr(bpy.ops.pose, f"planar_ik_{name}")("EXEC_DEFAULT", True, **options)
    except RuntimeError as why:
        if "fault of" in str(why):
            raise Short(f"{name}: {why}") from None
        if different := differences(before, snapshot()):
            raise Short(f"{name} refused ({why}), and changed {different[:3]}") from None
        if "poll()" in str(why):
            raise AssertionError(f"{name} is not for what is selected: {why}") from None
        raise Refusal(f"{name}: {why}") from None
    bpy.context.view_layer.update()
    return " ".join(line for line in lines if line.startswith("Warning"))


def rig_of(made: Scene) -> Any:
    return bpy.data.objects[made.case["name"]]


def select(made: Scene, *names: str) -> None:
    ob = rig_of(made)
    if bpy.context.mode != "POSE":
        rigs.activate(ob)
    rigs.click(ob, *names)


def select_limbs(made: Scene, only: int = 0) -> None:
    """Select limbs by their last bones, of each or of the first."""
    limbs = [limb[-2] for limb in made.limbs]
    select(made, *(limbs[:only] if only else limbs))


def over(made: Scene, name: str, **options: Any) -> str:
    select_limbs(made)
    return call(name, use_range=True, **options)


def now(made: Scene, name: str, **options: Any) -> str:
    select_limbs(made)
    return call(name, **options)


def there_and_back(made: Scene) -> str:
    return over(made, "switch", to="FK") + over(made, "switch", to="IK")


def part(made: Scene, name: str, **options: Any) -> str:
    """Over a few frames."""
    select_limbs(made)
    return call(name, frame_start=PART[0], frame_end=PART[1], **options)


def other_mode(made: Scene) -> str:
    return now(made, "set", mode="LIVE" if made.case["mode"] == "RIG" else "RIG")


def save_and_open(made: Scene) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    return ""


def undo(made: Scene) -> str:
    bpy.ops.ed.undo_push(message="as it is seen now, after frames were played")
    now(made, "set", flip=True)
    bpy.ops.ed.undo()
    return ""


def mirror_and_back(made: Scene) -> str:
    first, other = (limb[-2] for limb in made.limbs)
    said = ""
    for name in (first, other):
        select(made, name)
        said += call("mirror", use_range=True)
    return said


PART = (8, 13)
PARENT = "parent over a part"


def parent_over_a_part(made: Scene) -> str:
    """The control of the first limb hangs on something that moves, over a few frames."""
    control = rig_of(made).pose.bones[made.limbs[0][-2]].planar_ik.subtarget
    if control not in rig_of(made).pose.bones:
        raise Refusal("parent: no control")
    place = rig_of(made).matrix_world @ rig_of(made).pose.bones[control].matrix.translation
    shown = min(max(bpy.context.scene.frame_current, FIRST), LAST)
    carrier = bpy.data.objects.get("carrier") or rigs.empty("carrier")
    for frame in (FIRST, LAST, shown):
        part_done = (frame - FIRST) / (LAST - FIRST)
        carrier.location, carrier.rotation_euler.z = place + Vector((0, 0, made.size * part_done)), part_done
        for path in ("location", "rotation_euler"):
            carrier.keyframe_insert(path, frame=frame)
    for curve in _curves(carrier):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    select(made, control)
    return call("parent", parent="carrier\n", frame_start=PART[0], frame_end=PART[1])


def hips_too_high(made: Scene) -> str:
    """Hold feet, with the hips up: in frames in which it is not said that they do not reach, they are on their
    targets."""
    ob, scene = rig_of(made), bpy.context.scene
    hips, holding, contacts = ob.pose.bones["hips"], installed.addon("tasks.holding"), installed.addon("feet.contacts")
    turned = (ob.matrix_world @ hips.bone.matrix_local).to_3x3()
    hips.location += turned.inverted() @ Vector((0, 0, 0.1 * made.size))  # shows where it has no keys
    bpy.context.view_layer.update()
    before, limbs = snapshot(), [ob.pose.bones[limb[-2]] for limb in made.limbs]
    stands = [[holding.sole_contact(contacts.FrameRange(8, 13))] for _ in limbs]
    options = holding.HoldOptions(plants=True, is_mean=True, lower_hips=True)
    try:
        missed = holding.hold_tips(bpy.context, limbs, stands, options).missed
    except installed.addon("blender.types").Refused as why:
        if different := differences(before, snapshot()):
            raise Short(f"hold refused ({why}), and changed {different[:3]}") from None
        return str(why)
    for frame in range(8, 14):
        scene.frame_set(frame)
        for limb in limbs:
            off = limb.planar_ik.residual / made.size
            if off > WHOLE[0] and frame not in missed[ob, limb.name]:
                raise Short(f"hips too high: '{limb.name}' is off its target by {off:.4f} in frame {frame}")
    return f"does not reach in {missed}" if any(missed.values()) else ""


VERBS: dict[str, Callable[[Scene], str]] = {
    "snap IK": lambda made: now(made, "snap_target"),
    "snap IK over the range": lambda made: over(made, "snap_target"),
    "snap IK over a part": lambda made: part(made, "snap_target"),
    "snap FK": lambda made: now(made, "snap_fk"),
    "snap FK over the range": lambda made: over(made, "snap_fk"),
    "snap FK over a part": lambda made: part(made, "snap_fk"),
    "switch": lambda made: now(made, "switch", to="FK"),
    "switch with keys": lambda made: now(made, "switch", to="FK", insert_keys=True),
    "switch over the range": lambda made: over(made, "switch", to="FK"),
    "switch over a part": lambda made: part(made, "switch", to="FK"),
    "there and back": there_and_back,
    "bake": lambda made: now(made, "bake"),
    "bake few": lambda made: now(made, "bake", tolerance=0.0005 * made.size),
    "bake a part": lambda made: part(made, "bake"),
    "bake and remove": lambda made: now(made, "bake", remove=True),
    "bake a new action": lambda made: now(made, "bake", new_action=True),
    "bake for games": lambda made: now(made, "bake", for_game=True),
    "free": lambda made: now(made, "set", plane="FREE"),
    "pole": lambda made: now(made, "set", plane="POLE"),
    "other mode": other_mode,
    "rebuild": lambda made: now(made, "rebuild"),
    "save and open": save_and_open,
    "undo": undo,
    "mirror there and back": mirror_and_back,
    "plant": lambda made: now(made, "plant"),
    PARENT: parent_over_a_part,
}
"""What is done after IK was added. Each is to leave what is seen as it was."""


LAST_VERBS = ("bake and remove", "bake for games", "plant")
"""After these a limb may be no more, or stand elsewhere."""

ONLY: dict[str, Callable[[dict[str, Any]], bool]] = {
    "mirror there and back": lambda case: case["rig"] == "legs" and case["names"] == "given",
    "plant": lambda case: case["rig"] in ("leg", "legs") and case["names"] == "given" and "limb" in case["moves"],
    "rebuild": lambda case: case["mode"] == "RIG",
}
"""What verbs are for, where that is not every limb."""


def left_alone(made: Scene, verb: str, names: list[str]) -> list[str]:
    """The bones that a verb must not move."""
    ob = rig_of(made)
    moved: set[str] = set()
    if verb == "plant":
        moved = {limb[0] for limb in made.limbs}
    elif verb == "mirror there and back":
        moved = {made.limbs[-1][0]}
    below = {each.name for name in moved for each in [ob.pose.bones[name], *ob.pose.bones[name].children_recursive]}
    return [name for name in names if name not in below and not (below and name == "prop")]


def by_hand(made: Scene, rng: random.Random) -> dict[str, Any]:
    """Pose bones of limbs that may have keys: their channels."""
    for limb in made.limbs:
        pose_limb(made, limb, rng)
        turn(made.ob.pose.bones[limb[-1]], Vector((0, 1, 0)), 0.3)
    bpy.context.view_layer.update()
    bones = [made.ob.pose.bones[name] for limb in made.limbs for name in limb]
    return {bone.name: {path_of(bone): getattr(bone, path_of(bone))[:]} for bone in bones}


def run(seed: int, instead: Callable[[Scene], str] | None = None) -> str:
    """Build the scene of a seed, add IK and do its verbs, or something ``instead``: what an operator refused, or
    nothing. Raises `Short`."""
    case = chosen(seed)
    rng = random.Random(seed + 1000)
    made = built(case, rng)
    case["name"] = made.ob.name
    names = [bone.name for bone in made.ob.pose.bones] + [name for name in ("prop",) if name in bpy.data.objects]
    hand = by_hand(made, rng) if case["by_hand"] else {}
    before = recorded(made, names, hand)
    bones = [name for limb in made.limbs for name in limb[:-1]]
    selected = {"last": [limb[-2] for limb in made.limbs], "bones": bones, "all": [b.name for b in made.ob.pose.bones]}
    select(made, *selected[case["selected"]])
    bpy.ops.ed.undo_push(message="made")
    options = {name: case[name] for name in ("plane", "mode", "foot_follows", "foot_roll", "pole_follows", "tip")}
    options["tolerance"] = 5e-4
    try:
        told = call("add", **options)
        after = recorded(made, names, {})
        check(made, names, before, after, told, "add")
        if instead:
            return instead(made)
        for i, verb in enumerate(case["verbs"]):
            watched = left_alone(made, verb, names)
            kept = [names.index(name) for name in watched]
            after[0] = seen(made, names)  # what was posed by hand over keys has gone
            told = VERBS[verb](made)
            then, after = after, recorded(made, names, {})
            if verb in LAST_VERBS and not FIRST <= case["shown"] <= LAST:
                after[0] = then[0]  # what is taken away is kept in the frames that are baked
            hangs = PARENT in case["verbs"][: i + 1]
            check(made, watched, then[:, kept], after[:, kept], told, verb, hangs)
    except Refusal as why:
        return str(why)
    return ""


def line(seed: int) -> str:
    """What builds the scene again, and what it is."""
    case = ", ".join(f"{name} {value}" for name, value in chosen(seed).items() if value not in ("", False))
    return f"python -m tests.blender.combinations {seed}  # {case}"


def main(seeds: list[int]) -> int:
    installed.install()
    short = 0
    for seed in seeds:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        try:
            said = run(seed) or "kept"
        except Short as why:
            said, short = f"SHORT {why}", short + 1
        print(f"{seed}: {said.strip()}  # {line(seed).partition('# ')[2]}", flush=True)
    print(f"{short} of {len(seeds)} short")
    return int(short > 0)


if __name__ == "__main__":
    ENDS = [word.partition("-") for word in sys.argv[1:]]
    installed.run(lambda: main([n for a, _, b in ENDS for n in range(int(a), int(b or a) + 1)]), USER)
