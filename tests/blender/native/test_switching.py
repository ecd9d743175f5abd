"""Limbs on the rig whose plane is switched, by keys or a driver: between Free and Pole, as that of limbs converted from
Rigify is, or to the hinge and back."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from tests.blender.natives import make_live, make_portable, matrices, played_alone, rebuild
from tests.blender.rigs import (
    HIP,
    SHIN,
    THIGH,
    Bone,
    curves,
    editing,
    expected,
    frame_of,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    override_of,
    press,
    put,
    select,
    set_keys,
    update,
)

SWITCH = Bone("switch", (1, 0, 0), (1, 0, 0.3))
ON_BONE, ON_RIG = 'pose.bones["shin"].planar_ik_plane', 'pose.bones["shin"]["planar_ik.plane"]'
NUMBERS = {"REST": 0, "POLE": 1, "SWING": 2}
POLES = {1: "POLE", 0: "SWING"}


def leg(**settings: Any) -> Any:
    """A leg that bends towards its pole or freely."""
    ob = make_rig((HIP, THIGH, SHIN, SWITCH))
    target, pole = make_empty("target", frame_of(ob).target(0.6, 0.4)), make_empty("pole", (4, 2, 0.5))
    make_chain(ob, target, **({"plane": "SWING", "pole_target": pole} | settings))
    return ob


def driven_leg(**settings: Any) -> Any:
    """One whose plane a custom property of a bone drives."""
    ob = leg(**settings)
    ob.pose.bones["switch"]["pole"] = False
    drive(ob)
    return ob


def drive(ob: Any) -> None:
    """Let that drive the plane."""
    driver = ob.pose.bones["shin"].driver_add("planar_ik_plane").driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "var", ob
    variable.targets[0].data_path = 'pose.bones["switch"]["pole"]'
    driver.expression = "1 if (var) else 2"
    update()


def switch(ob: Any, to: bool) -> None:
    """Switch what drives the plane."""
    ob.pose.bones["switch"]["pole"] = to
    ob.update_tag()
    update()


def places(count: int, seed: int) -> list[Vector]:
    """Places round the leg's root, beside its rest plane too."""
    rng = random.Random(seed)
    return [Vector([rng.uniform(-1.1, 1.1) for _ in range(3)]) for _ in range(count)]


def knee_towards(frame: Any, target: Any, pole: Any) -> np.ndarray:
    """Where the knee is in the plane of the pole, by the law of cosines."""
    r1, r2 = frame.lengths
    way, aside = np.array(frame.inside(target)), np.array(frame.inside(pole))
    distance = float(np.linalg.norm(way))
    along = way / distance
    aside = aside - along * (along @ aside)
    x = (distance**2 + r1**2 - r2**2) / (2 * distance)
    return np.array(frame.outside(along * x + aside / np.linalg.norm(aside) * np.sqrt(r1**2 - x**2)))


def knee_of_swing(frame: Any, target: Any) -> np.ndarray:
    """Where it is in the rest plane, turned the shortest way by Blender."""
    line, way = Vector(frame.tip), Vector(frame.inside(target))
    turn = line.rotation_difference(way)
    in_rest_plane = frame.outside(np.array(line.normalized() * way.length))
    return np.array(frame.outside(np.array(turn @ Vector(frame.inside(expected(frame, in_rest_plane).knee)))))


def test_the_knee_goes_where_the_switch_says() -> None:
    """Worked out from the joints at rest; by a driver on the plane that is copied whole."""
    ob = driven_leg()
    frame = frame_of(ob)
    make_portable(ob)
    chain, pole = ob.pose.bones["shin"].planar_ik, bpy.data.objects["pole"]
    within = [place for place in places(30, 1) if 0.3 < (place - Vector(frame.outside(np.zeros(3)))).length < 1.7]
    assert len(within) > 10
    for place in within:
        chain.target.location = place
        for to in (True, False):
            switch(ob, to)
            knee = knee_towards(frame, place, pole.location) if to else knee_of_swing(frame, place)
            at = joints(ob)
            assert np.linalg.norm(at.knee - knee) < 2e-5 * length(ob)
            assert np.linalg.norm(at.tip - np.array(place)) < 1e-5 * length(ob)
            assert (chain.plane, chain.reach, chain.message) == (POLES[to], "REACHED", "")


FEATURES: list[dict[str, Any]] = [
    {},
    {"bend": -1.0, "influence": 0.6},
    {"bend": 0.3, "hinge_angle": 0.7, "lower_twist": -0.4, "pole_angle": 0.9},
    {"softness": 0.1, "stretch": 0.5, "stretch_volume": "UNIFORM", "min_angle": 0.5, "max_angle": 2.7},
]


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("animated", [(), ("bend", "hinge_angle", "softness")])
def test_both_planes_are_those_of_live(features: dict[str, Any], animated: tuple[str, ...]) -> None:
    ob = driven_leg(**features)
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0, 0.2), Euler((0.2, 0.4, 0.1)), (1.2, 1.2, 1.2))
    for name in ("thigh", "shin"):
        ob.pose.bones[name].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    for name in animated:
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
    in_line = joints(ob).root + 0.5 * (np.array(bpy.data.objects["pole"].location) - joints(ob).root) / 5
    wanted = poses(ob, [*places(12, 2), Vector(in_line)])
    make_portable(ob)
    assert ob.pose.bones["shin"].planar_ik.runs_on == "RIG"
    found = poses(ob, [*places(12, 2), Vector(in_line)])
    assert np.abs(found - wanted).max() < 2e-5
    make_live(ob)
    assert np.abs(poses(ob, [*places(12, 2), Vector(in_line)]) - wanted).max() == 0.0


def poses(ob: Any, at: list[Vector]) -> np.ndarray:
    """The limb's matrices with its target at places, in both planes."""
    found = []
    for place in at:
        bpy.data.objects["target"].location = place
        for to in (True, False):
            switch(ob, to)
            found.append(matrices(ob))
            assert ob.pose.bones["shin"].planar_ik.message == ""
    return np.array(found)


def test_a_limb_that_is_not_switched_has_nothing_of_it() -> None:
    ob = leg(plane="POLE")
    bone = ob.pose.bones["shin"]
    for frame in (1, 5):  # constant, as importers leave curves
        bone.keyframe_insert("planar_ik_plane", frame=frame)
    make_portable(ob)
    assert "planar_ik.plane" not in bone.keys()  # noqa: SIM118
    read = [
        target.data_path
        for curve in ob.animation_data.drivers
        for each in curve.driver.variables
        for target in each.targets
    ]
    assert ON_RIG not in read


def keyed_leg() -> Any:
    """A leg whose plane is keyed."""
    ob = leg()
    set_keys(ob.pose.bones["shin"], "planar_ik_plane", {1: "SWING", 5: "POLE", 9: "SWING"})
    return ob


def keys(ob: Any) -> list[tuple[str, list[tuple[float, float, str]]]]:
    """What an object's action animates, and the keys of that."""
    return [
        (path, [(*key.co, key.interpolation) for key in curve.keyframe_points])
        for (path, _), curve in curves(ob).items()
    ]


POINTS = [(1, 2, "CONSTANT"), (5, 1, "CONSTANT"), (9, 2, "CONSTANT")]


def played(ob: Any) -> np.ndarray:
    """The limb's matrices over the frames, and what its plane is said to be."""
    found = []
    for frame in range(12):
        bpy.context.scene.frame_set(frame)
        found.append(matrices(ob))
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.plane, chain.message) == ("POLE" if 5 <= frame < 9 else "SWING", "")
    return np.array(found)


def test_keys_are_carried_over_there_and_back() -> None:
    ob = keyed_leg()
    wanted = played(ob)
    make_portable(ob)
    assert keys(ob) == [(ON_RIG, POINTS)]
    assert np.abs(played(ob) - wanted).max() < 1e-5
    rebuild(ob)
    assert keys(ob) == [(ON_RIG, POINTS)]
    assert np.abs(played(ob) - wanted).max() < 1e-5
    make_live(ob)
    assert keys(ob) == [(ON_BONE, POINTS)]
    assert np.abs(played(ob) - wanted).max() == 0.0


def test_keys_that_a_script_sets_later_act() -> None:
    """By the setting's name on the bone; between whole choices, nothing is interpolated."""
    ob = keyed_leg()
    make_portable(ob)
    bone = ob.pose.bones["shin"]
    bone.planar_ik_plane = "POLE"
    bone.keyframe_insert("planar_ik_plane", frame=12)
    bone["planar_ik.plane"] = NUMBERS["SWING"]
    bone.keyframe_insert('["planar_ik.plane"]', frame=15)
    update()
    assert keys(ob) == [(ON_RIG, [*POINTS, (12, 1, "CONSTANT"), (15, 2, "CONSTANT")])]
    for frame, plane in ((11, "SWING"), (12, "POLE"), (14, "POLE"), (15, "SWING")):
        bpy.context.scene.frame_set(frame)
        assert (bone.planar_ik.plane, bone.planar_ik.message) == (plane, "")


@pytest.mark.parametrize("how", ["set and keyed", "by a script"])
def test_a_plane_that_is_keyed_on_the_rig_is_switched(how: str) -> None:
    """By a script that makes keys of another value than is set, once it is rebuilt."""
    ob = leg(plane="POLE")
    make_portable(ob)
    for frame, plane in ((1, "POLE"), (5, "SWING")):
        bone = ob.pose.bones["shin"]
        if how == "set and keyed":
            bone.planar_ik_plane = plane  # which makes the mechanism anew, and so the bone another one
        ob.pose.bones["shin"].keyframe_insert("planar_ik_plane", frame=frame)
    if how == "by a script":
        (curve,) = curves(ob).values()
        curve.keyframe_points[1].co.y = 2.0  # SWING
    bpy.context.scene.frame_set(1)
    if how == "by a script":
        said = "Plane of 'shin' was animated since it was put on the rig, so press Rebuild on the Rig"
        assert ob.pose.bones["shin"].planar_ik.message.startswith(said)
        rebuild(ob)
    on_rig = []
    for frame, plane in ((1, "POLE"), (5, "SWING")):
        bpy.context.scene.frame_set(frame)
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.plane, chain.reach, chain.message) == (plane, "REACHED", "")
        on_rig.append(matrices(ob))
    make_live(ob)
    for frame, pose in zip((1, 5), on_rig, strict=True):
        bpy.context.scene.frame_set(frame)
        assert np.abs(matrices(ob) - pose).max() < 1e-5


def test_without_its_driver_it_is_switched_by_hand() -> None:
    ob = driven_leg()
    make_portable(ob)
    bone = ob.pose.bones["shin"]
    bone.driver_remove('["planar_ik.plane"]')
    bone.keyframe_insert("planar_ik_influence", frame=1)
    before = {}
    for plane in ("POLE", "SWING"):
        put(bone.planar_ik, plane=plane)
        before[plane] = matrices(ob)
        assert (bone.planar_ik_plane, bone["planar_ik.plane"]) == (plane, NUMBERS[plane])
        assert bone.path_resolve('["planar_ik.plane"]') == plane
        assert (bone.planar_ik.reach, bone.planar_ik.message) == ("REACHED", "")
    assert np.abs(before["POLE"] - before["SWING"]).max() > 0.1
    bone.planar_ik_plane = "REST"  # which is another mechanism
    update()
    assert "planar_ik.plane" not in ob.pose.bones["shin"].keys()  # noqa: SIM118
    assert ob.pose.bones["shin"].planar_ik.message == ""


PLANES = ("REST", "SWING", "POLE")


def keyed_through(ob: Any, *planes: str) -> list[Vector]:
    """Key a plane in each frame from 1 on, the target at other places meanwhile, which are returned."""
    at = places(4 * len(planes), 3)
    for frame, place in enumerate(at, 1):
        ob.pose.bones["shin"].planar_ik_plane = planes[frame % len(planes)]
        ob.pose.bones["shin"].keyframe_insert("planar_ik_plane", frame=frame)
        bpy.data.objects["target"].location = place
        bpy.data.objects["target"].keyframe_insert("location", frame=frame)
    return at


def shown(ob: Any, count: int) -> tuple[np.ndarray, list[tuple[str, str, str]]]:
    """The limb's matrices in so many frames, and what is said of it."""
    found, said = [], []
    for frame in range(1, count + 1):
        bpy.context.scene.frame_set(frame)
        chain = ob.pose.bones["shin"].planar_ik
        found.append(matrices(ob))
        said.append((chain.plane, chain.reach, chain.message))
    return np.array(found), said


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("animated", [(), ("bend", "hinge_angle", "softness")])
@pytest.mark.parametrize("planes", [PLANES, PLANES[:2]])
def test_hinges_at_times_are_those_of_live(
    features: dict[str, Any], animated: tuple[str, ...], planes: tuple[str, ...]
) -> None:
    ob = leg(plane="REST", **features)
    if "POLE" not in planes:
        ob.pose.bones["shin"].planar_ik.pole_target = None
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale((0.1, 0, 0.2), Euler((0.2, 0.4, 0.1)), (1.2, 1.2, 1.2))
    for name in ("thigh", "shin"):
        ob.pose.bones[name].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    for name in animated:
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
        setattr(ob.pose.bones["shin"], f"planar_ik_{name}", 0.4)
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=9)
    at = keyed_through(ob, *planes)
    wanted, said = shown(ob, len(at))
    make_portable(ob)
    assert ob.pose.bones["shin"].planar_ik.runs_on == "RIG"
    found, on_rig = shown(ob, len(at))
    assert np.abs(found - wanted).max() < 2e-5
    assert on_rig == said
    assert {plane for plane, *_ in said} == {*planes}
    assert all(curve.driver.is_valid for curve in ob.animation_data.drivers)
    make_live(ob)
    assert np.abs(shown(ob, len(at))[0] - wanted).max() < 1e-6


def test_the_knee_of_a_hinge_at_times_is_in_its_plane() -> None:
    """Worked out from the joints at rest."""
    ob = leg(plane="REST")
    frame, pole = frame_of(ob), bpy.data.objects["pole"].location
    at = keyed_through(ob, "POLE", "REST")
    make_portable(ob)
    for number, place in enumerate(at, 1):
        bpy.context.scene.frame_set(number)
        if number % 2:  # a hinge
            assert np.linalg.norm(joints(ob).knee - expected(frame, place).knee) < 1e-5 * length(ob)
            assert np.linalg.norm(joints(ob).tip - expected(frame, place).tip) < 1e-5 * length(ob)
        elif 0.3 < (place - Vector(joints(ob).root)).length < 1.7:
            assert np.linalg.norm(joints(ob).knee - knee_towards(frame, place, pole)) < 2e-5 * length(ob)


@pytest.mark.parametrize(
    "expression", ["2 if frame < 9 else 0", "2 - 2 * (frame >= 9)", "min(2, max(0, 18 - 2 * frame))"]
)
def test_a_driver_may_switch_to_the_hinge(expression: str) -> None:
    """Whether or not its expression tells beforehand which planes there will be."""
    ob = leg(softness=0.1)
    ob.pose.bones["shin"].driver_add("planar_ik_plane").driver.expression = expression
    wanted, _ = shown(ob, 12)
    make_portable(ob)
    found, said = shown(ob, 12)
    assert np.abs(found - wanted).max() < 1e-5
    assert [plane for plane, *_ in said][7:9] == ["SWING", "REST"]
    assert not any(message for *_, message in said)


def test_a_driver_that_says_no_plane_gives_the_first() -> None:
    ob = leg()
    bone = ob.pose.bones["shin"]
    bone.driver_add("planar_ik_plane").driver.expression = "7"
    update()
    assert (bone.planar_ik.plane, bone.planar_ik.message) == ("REST", "")
    assert np.linalg.norm(joints(ob).knee - expected(frame_of(ob), bpy.data.objects["target"].location).knee) < 1e-5


def test_a_plane_whose_driver_tells_that_it_is_never_the_hinge_costs_nothing_for_it() -> None:
    ob = driven_leg()
    make_portable(ob)
    assert not [bone.name for bone in ob.pose.bones if "tilt" in bone.name]
    assert '["planar_ik.z"]' not in "".join(curve.data_path for curve in ob.animation_data.drivers)


def test_a_hinge_at_times_outlasts_its_keys() -> None:
    """The mechanism does more than it must then, and is no wrong one."""
    ob = leg(plane="REST")
    keyed_through(ob, "REST", "SWING")
    make_portable(ob)
    ob.animation_data.action = None
    for plane in ("SWING", "REST"):
        put(ob.pose.bones["shin"].planar_ik, plane=plane)
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.plane, chain.message) == (plane, "")


def test_a_chain_that_is_switched_needs_its_pole_always() -> None:
    ob = driven_leg()
    ob.pose.bones["shin"].planar_ik.pole_target = None
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="'shin' has no pole target"):
        bpy.ops.pose.planar_ik_make_portable()
    ob.pose.bones["shin"].planar_ik.pole_target = bpy.data.objects["pole"]
    make_portable(ob)
    bpy.data.objects.remove(bpy.data.objects["pole"])
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("INVALID", "'shin' has no pole target")
    put(chain, pole_target=make_empty("other", (3, 1, -1)))
    assert (chain.reach, chain.message) == ("REACHED", "")
    switch(ob, True)
    frame = frame_of_rig(ob)
    knee = knee_towards(frame, bpy.data.objects["target"].location, (3, 1, -1))
    assert np.linalg.norm(joints(ob).knee - knee) < 1e-5 * length(ob)


def frame_of_rig(ob: Any) -> Any:
    """`frame_of` a limb that runs on the rig."""
    make_live(ob)
    frame = frame_of(ob)
    make_portable(ob)
    return frame


def test_drivers_that_read_the_plane_go_on_reading_it() -> None:
    ob = driven_leg()
    reader = make_empty("reader")
    driver = reader.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "plane", ob, ON_BONE
    driver.expression = "plane"
    for change in (make_portable, make_live):
        change(ob)
        for to in (True, False):
            switch(ob, to)
            assert reader.location.x == NUMBERS[POLES[to]]


@pytest.mark.parametrize("to", [True, False])
def test_snapping_and_flipping_in_both_planes(to: bool) -> None:
    ob = driven_leg()
    make_portable(ob)
    switch(ob, to)
    select(ob, "shin")
    before = matrices(ob)
    assert bpy.ops.pose.planar_ik_snap_fk() == {"FINISHED"}
    put(ob.pose.bones["shin"].planar_ik, influence=0.0)
    assert np.abs(matrices(ob) - before).max() < 1e-5
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.2, 0.1, -0.1))
    posed, tip = matrices(ob), joints(ob).tip
    assert bpy.ops.pose.planar_ik_snap_target() == {"FINISHED"}
    put(ob.pose.bones["shin"].planar_ik, influence=1.0)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.plane, chain.message) == (POLES[to], "")
    assert np.linalg.norm(joints(ob).tip - tip) < 1e-5 * length(ob)
    assert not to or np.abs(matrices(ob) - posed).max() < 1e-4
    knee = joints(ob).knee
    assert bpy.ops.pose.planar_ik_flip() == {"FINISHED"}
    update()
    assert np.linalg.norm(joints(ob).tip - tip) < 1e-5 * length(ob)
    assert np.linalg.norm(joints(ob).knee - knee) > 0.1


def test_its_mirror_image_has_the_plane_that_it_has_now() -> None:
    ob = driven_leg()
    ob.data.bones["thigh"].name, ob.data.bones["shin"].name = "thigh.L", "shin.L"
    with editing(ob) as bones:
        for name in ("thigh", "shin"):
            bone, made = bones[f"{name}.L"], bones.new(f"{name}.R")
            made.head, made.tail, made.roll = bone.head, bone.tail, bone.roll
        bones["shin.R"].parent = bones["thigh.R"]
    make_portable(ob, "shin.L")
    switch(ob, True)
    press(ob, "mirror", "shin.L")
    chain = ob.pose.bones["shin.R"].planar_ik
    assert (chain.plane, chain.reach, chain.message) == ("POLE", "REACHED", "")


def test_an_overridden_rig_is_switched_by_its_library_s_property(tmp_path: Path) -> None:
    """The driver goes to the armature that holds what poses the limb, and reads the rig from there."""
    ob = leg()
    ob.pose.bones["switch"]["pole"] = False
    ob.pose.bones["switch"].property_overridable_library_set('["pole"]', True)
    ob.pose.bones["hip"].keyframe_insert("location", frame=1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    ob = override_of(tmp_path / "library.blend", "rig")
    target, pole = make_empty("target"), make_empty("pole", (4, 2, 0.5))
    chain = ob.pose.bones["shin"].planar_ik
    chain.target, chain.pole_target = target, pole
    drive(ob)
    wanted = poses(ob, places(6, 3))
    make_portable(ob)
    assert (chain.runs_on, chain.message) == ("RIG", "")
    assert np.abs(poses(ob, places(6, 3)) - wanted).max() < 2e-5
    make_live(ob)
    assert np.abs(poses(ob, places(6, 3)) - wanted).max() < 1e-6


def switched_by_keys() -> Any:
    """A leg whose switch is keyed."""
    ob = driven_leg()
    for frame, to in ((1, False), (5, True), (9, False)):
        ob.pose.bones["switch"]["pole"] = to
        ob.pose.bones["switch"].keyframe_insert('["pole"]', frame=frame)
    return ob


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("make", ["keyed", "driven"])
def test_a_bake_follows_the_switch(make: str, runs_on: str) -> None:
    ob = keyed_leg() if make == "keyed" else switched_by_keys()
    if runs_on == "RIG":
        make_portable(ob)
    wanted = played(ob)
    press(ob, "bake", frame_start=0, frame_end=11)
    for frame, pose in enumerate(wanted):
        bpy.context.scene.frame_set(frame)
        assert np.abs(matrices(ob) - pose).max() < 1e-5


@pytest.mark.parametrize("make", [switched_by_keys, keyed_leg])
def test_without_the_extension_it_is_the_same(make: Any, tmp_path: Path) -> None:
    ob = make()
    make_portable(ob)
    wanted = played(ob)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    found, said = played_alone(tmp_path, [path], range(12))
    assert np.abs(found[0] - wanted).max() < 1e-6
    assert "cycle" not in said.lower()
