"""What became of a limb on the rig is told as of a live one, whatever happens to it, and it can always be taken off."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from scripts import installed
from tests.blender.natives import leg_with_foot, make_live, make_portable, matrices, parts, rebuild
from tests.blender.rigs import (
    LEG,
    Bone,
    activate,
    editing,
    frame_of,
    from_library,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    press,
    put,
    select,
    set_keys,
    update,
)

NAN = math.nan
SAME = 1e-5


@pytest.mark.parametrize("way", ["LIVE", "RIG"])
@pytest.mark.parametrize("far", [300, 3000, 30000])
def test_a_limb_far_from_the_origin_reaches_as_far_as_single_precision_goes(way: str, far: float) -> None:
    ob = make_rig()
    put(ob.location, x=far)
    chain = make_chain(ob, plane="SWING")
    if way == "RIG":
        make_portable(ob)
    for step in (0.1, 0.05, -0.07):
        chain.target.location.z += step
        update()
        assert (chain.reach, chain.message) == ("REACHED", "")
    chain.target.location.z += 0.01 * far
    update()
    assert chain.reach in {"TOO_FAR", "TOO_NEAR"}
    chain.target.location.z -= 0.01 * far
    ob.pose.bones["shin"].planar_ik.influence = 0.9
    update()
    assert chain.reach == "LIMITED"


def no_target(ob: Any) -> None:
    ob.pose.bones["shin"].planar_ik.target.location.x = NAN


def no_hip(ob: Any) -> None:
    ob.pose.bones["hip"].location.x = NAN


def no_bend(ob: Any) -> None:
    ob.pose.bones["shin"].planar_ik.bend = NAN


def no_influence(ob: Any) -> None:
    ob.pose.bones["shin"].planar_ik.influence = NAN


def hidden_when_its_target_moved(ob: Any) -> None:
    put(ob, hide_viewport=True)
    ob.pose.bones["shin"].planar_ik.target.location.z += 0.3


def on_its_own_foot(ob: Any) -> None:
    chain = ob.pose.bones["shin"].planar_ik
    chain.target, chain.subtarget = ob, "foot"


SAID = {
    no_target: "place of the target, or of what carries the limb, is not a number",
    no_hip: "place of the target, or of what carries the limb, is not a number",
    no_bend: "Bend is not a number",
    no_influence: "Influence is not a number",
    hidden_when_its_target_moved: "'rig' is disabled in viewports or excluded",
    on_its_own_foot: "Bone 'foot' hangs on the chain of 'shin' itself",
}


@pytest.mark.parametrize("happen", SAID)
def test_what_keeps_a_limb_on_the_rig_from_its_target_is_said(happen: Callable[[Any], None]) -> None:
    ob = leg_with_foot()
    chain = ob.pose.bones["shin"].planar_ik
    happen(ob)
    update()
    assert chain.reach == "INVALID"
    assert SAID[happen] in chain.message


ASKED: list[dict[str, Any]] = [
    {},
    {"influence": 0.3},
    {"influence": 0.0},
    {"softness": 0.1},
    {"softness": 0.1, "influence": 0.5},
    {"stretch": 1.0, "stretch_max": 1.2},
    {"stretch": 0.3, "influence": 0.2},
    {"min_angle": 1.0},
    {"max_angle": 2.0},
    {"min_angle": 1.0, "max_angle": 2.0, "softness": 0.1, "influence": 0.7},
]


@pytest.mark.parametrize("plane", ["REST", "SWING"])
@pytest.mark.parametrize("settings", ASKED, ids=str)
def test_it_is_told_on_the_rig_as_live(plane: str, settings: dict[str, Any]) -> None:
    ob = leg_with_foot(plane=plane, **settings)
    shin, frame = ob.pose.bones["shin"], frame_of(ob)
    answers: dict[str, list[str]] = {}
    for way in ("RIG", "EXTENSION"):
        for share, height in itertools.product((-0.5, 0.1, 0.5, 0.9, 0.98, 1.1, 2.0), (0.0, 0.3)):
            put(shin.planar_ik.target, location=frame.target(share, 0.4, height))
            answers.setdefault(way, []).append(f"{share} {height} {shin.planar_ik.reach} {shin.planar_ik.message}")
        if way == "RIG":
            press(ob, "make_live")
    assert answers["RIG"] == answers["EXTENSION"]


def test_a_limb_is_not_rebuilt_to_follow_what_hangs_on_it() -> None:
    ob = leg_with_foot()
    on_its_own_foot(ob)
    before = parts(ob)
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="hangs on the chain of 'shin' itself"):
        bpy.ops.pose.planar_ik_rebuild()
    assert parts(ob) == before


@pytest.mark.parametrize("step", ["remove", "make_live"])
@pytest.mark.parametrize("lost", ["target", "pole_target", "both"])
def test_a_limb_that_has_nothing_to_follow_is_taken_off_the_rig(step: str, lost: str) -> None:
    ob = make_rig()
    had, own = parts(ob), matrices(ob)
    make_chain(ob, plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)), softness=0.1)
    make_portable(ob)
    chain = ob.pose.bones["shin"].planar_ik
    chain.influence = 0.25
    for name in ("target", "pole_target") if lost == "both" else (lost,):
        bpy.data.objects.remove(getattr(chain, name))
    update()
    select(ob, "shin")
    assert getattr(bpy.ops.pose, f"planar_ik_{step}")() == {"FINISHED"}
    update()
    assert parts(ob) == had
    assert np.allclose(matrices(ob), own, atol=1e-6)
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.runs_on == "EXTENSION"
    if step == "make_live":
        assert (chain.enabled, chain.softness, chain.influence) == (True, pytest.approx(0.1), pytest.approx(0.25))
        chain.target = chain.target or make_empty("other", frame_of(ob).target(0.6, 0.4))
        chain.pole_target = chain.pole_target or make_empty("pole", (0.3, 5, -0.5))
        chain.influence = 1.0
        update()
        assert np.linalg.norm(joints(ob).tip - place_of(chain.target)) < 0.1


def moved(ob: Any) -> None:
    """Move a bone of the mechanism."""
    ob.pose.bones["MCH-upper-shin"].location = (0.1, 0.0, 0.0)


def weaker(ob: Any) -> None:
    ob.pose.bones["shin"].constraints[0].influence = 0.5


def without_property(name: str) -> Callable[[Any], None]:
    """Have a limb lose a custom property."""

    def lose(ob: Any) -> None:
        del ob.pose.bones["shin"][f"planar_ik.{name}"]
        ob.update_tag()

    return lose


def without(bone: str, number: int) -> Callable[[Any], None]:
    """Have a bone lose a constraint."""

    def lose(ob: Any) -> None:
        constraints = ob.pose.bones[bone].constraints
        constraints.remove(constraints[number])

    return lose


def without_bone(name: str) -> Callable[[Any], None]:
    """Have a rig lose a bone."""

    def lose(ob: Any) -> None:
        with editing(ob) as bones:
            bones.remove(bones[name])

    return lose


def turned_at_rest(ob: Any) -> None:
    """Turn the visible limb as a whole, in Edit Mode, where hidden bones stay."""
    with editing(ob) as found:
        bones = [found[name] for name in ("thigh", "shin", "foot")]
        for bone in bones:
            bone.use_connect = False
        for bone in bones:
            bone.transform(Matrix.Rotation(0.7, 4, (1, 2, 3)))


DAMAGED = {
    "moved": moved,
    "weaker": weaker,
    "turned at rest": turned_at_rest,
    **{f"without {name}": without_property(name) for name in ("influence", "bend")},
    **{f"without {bone} {n}": without(bone, n) for bone in ("thigh", "shin") for n in range(3)},
    **{f"without a measure's {n}": without("MCH-target-shin", n) for n in range(4)},
    **{f"without {role}": without_bone(f"MCH-{role}") for role in ("world", "upper-axis-shin", "lower-shin")},
}


@pytest.mark.parametrize("way", DAMAGED)
def test_a_mechanism_that_somebody_changed_is_no_whole_one_and_is_mended(way: str) -> None:
    ob = leg_with_foot(influence=0.5)
    for name, angle in (("thigh", 0.3), ("shin", 0.5)):
        ob.pose.bones[name].rotation_quaternion = Euler((angle, 0.2, 0.1)).to_quaternion()
    update()
    before = matrices(ob)
    DAMAGED[way](ob)
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.reach == "INVALID"
    assert "press Rebuild on the Rig (pose.planar_ik_rebuild)" in chain.message
    rebuild(ob)
    assert (chain.reach, chain.message) == ("LIMITED", "")
    if way != "turned at rest":  # by which the limb's own pose was changed as well
        assert np.allclose(matrices(ob), before, atol=1e-5)
    put(chain, influence=1.0)
    assert np.linalg.norm(joints(ob).tip - place_of(chain.target)) <= SAME * length(ob)


def test_a_pose_that_is_pasted_on_a_limb_on_the_rig_leaves_it_its_target() -> None:
    ob = leg_with_foot(plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)))
    target, before = bpy.data.objects["target"], matrices(ob)
    select(ob, "thigh", "shin")
    bpy.ops.pose.copy()
    bpy.ops.pose.paste()
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert np.allclose(matrices(ob), before, atol=1e-6)
    assert (chain.target, chain.pole_target) == (target, bpy.data.objects["pole"])
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert np.allclose(matrices(ob), before, atol=1e-5)


def test_a_file_that_says_less_of_how_a_limb_was_made_is_taken_as_it_is():
    ob = leg_with_foot()
    chain = ob.pose.bones["shin"].planar_ik
    measure = ob.pose.bones["MCH-target-shin"]
    (key,) = (key for key in measure.keys() if "made" in str(measure[key]))  # noqa: SIM118
    said = json.loads(measure[key])
    del said["made"]["carriers"]
    measure[key] = json.dumps(said)
    assert (chain.reach, chain.message) == ("REACHED", "")
    said["made"]["drivers"] += 1
    measure[key] = json.dumps(said)
    ob.update_tag()
    update()
    assert chain.reach == "INVALID"


def test_what_poses_a_limb_is_looked_at_after_an_edit_and_not_in_every_frame(monkeypatch: Any) -> None:
    ob, scene = leg_with_foot(), bpy.context.scene
    chain = ob.pose.bones["shin"].planar_ik
    x = chain.target.location.x
    set_keys(chain.target, "location.x", {1: x, 11: x + 0.1})
    for tell in (update, partial(scene.frame_set, 5)):
        scene.frame_set(1)
        assert chain.reach == "REACHED"
        with monkeypatch.context() as patch:
            patch.setattr(installed.addon("addon.native.status"), "Found", None)
            for frame in (2, 5, 11):
                scene.frame_set(frame)
                assert (chain.reach, chain.message) == ("REACHED", "")
        ob.data.bones["shin"].inherit_scale = "NONE"  # which changes no pose
        tell()
        assert chain.reach == "INVALID"
        put(ob.data.bones["shin"], inherit_scale="FULL")


FAR = (40.0, -120.0, 90.0)
"""Where a hand is in an armature that is in centimetres."""


def test_a_limb_of_small_bones_that_stretches_is_no_changed_one_in_other_poses() -> None:
    far = np.array(FAR)
    knee, tip = far + np.array((0.0, 1.0, 0.02)), far + np.array((0.0, 2.0, 0.03))
    hand = Bone("hand", far - np.array((0.3, 0.2, -1.0)), far)
    ob = make_rig((hand, Bone("thigh", far, knee, "hand", True), Bone("shin", knee, tip, "thigh", True)))
    press(ob, "add")
    ob.pose.bones["shin"].planar_ik.stretch = 0.5
    for angles in itertools.product((-1.0, 0.5, 2.0), repeat=3):
        for bone in ("hand", "thigh", "shin"):
            ob.pose.bones[bone].rotation_quaternion = Euler(angles).to_quaternion()
        update()
        assert ob.pose.bones["shin"].planar_ik.message == ""


def test_a_limb_whose_bones_have_axes_that_are_no_unit_vectors_is_no_changed_one(tmp_path: Path) -> None:
    """As in files from before Blender 2.8; where Edit Mode is left, Blender makes unit vectors of them."""
    rest = np.array(make_rig().data.bones["thigh"].matrix_local.transposed(), "f")
    file = tmp_path / "old.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=False)
    shortened = rest * [[0.99], [0.99], [0.99], [1]]
    file.write_bytes(file.read_bytes().replace(rest.tobytes(), shortened.astype("f").tobytes()))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    ob = bpy.data.objects["rig"]
    assert ob.data.bones["thigh"].matrix_local.col[0].length == pytest.approx(0.99)
    press(ob, "add")
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("REACHED", "")


def test_a_linked_rig_says_in_which_file_its_limb_is_to_be_rebuilt(tmp_path: Path) -> None:
    ob = leg_with_foot()
    with editing(ob) as bones:
        bones["thigh"].parent = None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    ob, _ = from_library(tmp_path / "library.blend", "rig", "target")
    assert ob.pose.bones["shin"].planar_ik.message.endswith("rebuild it in the file that its rig is linked from")


def keyed(ob: Any, bone: str, channel: str, value: tuple[float, float, float]) -> None:
    """Key a channel of a bone, as it is and to something else."""
    for frame, each in ((1, tuple(getattr(ob.pose.bones[bone], channel))), (9, value)):
        setattr(ob.pose.bones[bone], channel, each)
        ob.pose.bones[bone].keyframe_insert(channel, frame=frame)
    bpy.context.scene.frame_set(1)


LENGTHENED = {
    "Scale of 'thigh'": ("thigh", "scale", (1.3, 1.3, 1.3)),
    "Scale of 'shin'": ("shin", "scale", (1.0, 1.2, 1.0)),
    "Location of 'shin'": ("shin", "location", (0.1, 0.0, 0.0)),
}


@pytest.mark.parametrize("what", LENGTHENED)
def test_a_limb_whose_lengths_are_animated_stays_live(what: str) -> None:
    """The rig would have those of the frame in which it was put there."""
    ob = leg_with_foot()
    make_live(ob)
    with editing(ob) as bones:
        bones["shin"].use_connect = False
    keyed(ob, *LENGTHENED[what])
    select(ob, "shin")
    with pytest.raises(RuntimeError, match=f"{what} is animated: remove its keys first"):
        bpy.ops.pose.planar_ik_make_portable()
    bpy.context.scene.frame_set(9)
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    bpy.context.scene.frame_set(1)
    ob.animation_data.action = None
    make_portable(ob)
    keyed(ob, *LENGTHENED[what])
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(5)
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("INVALID", f"{what} is animated: remove its keys first")


@pytest.mark.parametrize("bone", ["thigh", "shin"])
@pytest.mark.parametrize("scale", [(1.0, 1.0, -1.0), (-1.2, -1.2, -1.2)])
def test_a_limb_that_its_own_scale_mirrors_stays_live(scale: tuple[float, float, float], bone: str) -> None:
    """On the rig, its skin would come out not mirrored."""
    ob = leg_with_foot()
    make_live(ob)
    ob.pose.bones[bone].scale = scale
    before = matrices(ob)
    select(ob, "shin")
    with pytest.raises(RuntimeError, match=f"The scale of '{bone}' mirrors it, which no limb on the rig keeps"):
        bpy.ops.pose.planar_ik_make_portable()
    assert np.abs(matrices(ob) - before).max() == 0.0
    ob.pose.bones[bone].scale = (1.0, 1.0, 1.0)
    make_portable(ob)
    ob.pose.bones[bone].scale = scale
    ob.pose.bones["shin"].planar_ik.target.location.x += 3.0
    bpy.context.view_layer.update()
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.reach == "INVALID"
    assert f"The scale of '{bone}' mirrors it" in chain.message
    before = matrices(ob)
    with pytest.raises(RuntimeError, match=f"The scale of '{bone}' mirrors it"):
        bpy.ops.pose.planar_ik_rebuild()
    assert np.abs(matrices(ob) - before).max() == 0.0


BELOW = (
    Bone("arm", (0.1, 0.0, -1.9), (0.1, -0.8, -2.0), "shin"),
    Bone("forearm", (0.1, -0.8, -2.0), (0.1, -1.5, -1.8), "arm", connected=True),
    Bone("hand", (0.1, -1.5, -1.8), (0.1, -1.7, -1.8), "forearm"),
)


def two_that_stretch(volumes: tuple[str, str], inherited: str) -> tuple[Any, list[Any]]:
    """Live limbs of which one hangs on the other, both longer than at rest."""
    ob = make_rig((*LEG, *BELOW))
    ob.data.bones["arm"].inherit_scale = inherited
    places = ((0.3, -0.5, -2.6), (0.5, -3.0, -2.2))
    chains = [
        make_chain(ob, make_empty(name, place), name, plane="SWING", stretch=1.0, stretch_volume=volume)
        for name, place, volume in zip(("shin", "forearm"), places, volumes, strict=True)
    ]
    return ob, chains


VOLUMES = tuple(itertools.product(("LENGTH", "VOLUME", "UNIFORM"), repeat=2))


@pytest.mark.parametrize("inherited", ["FULL", "AVERAGE", "NONE"])
@pytest.mark.parametrize("volumes", VOLUMES)
def test_a_limb_that_stretches_below_another_is_moved_by_nothing_or_refused(volumes: Any, inherited: str) -> None:
    """Sheared by the other one it would miss its target."""
    ob, _ = two_that_stretch(volumes, inherited)
    names = ob.data.bones.keys()
    before = matrices(ob, *names)
    if "UNIFORM" not in volumes and inherited == "FULL":
        with pytest.raises(RuntimeError, match="'forearm' hangs on the limb of 'shin', which stretches unevenly too"):
            make_portable(ob, "shin", "forearm")
    else:
        make_portable(ob, "shin", "forearm")
    assert np.abs(matrices(ob, *names) - before).max() < 1e-5


def test_a_limb_that_comes_to_hang_on_one_that_stretches_so_says_it() -> None:
    ob, (carrier, chain) = two_that_stretch(("UNIFORM", "LENGTH"), "FULL")
    make_portable(ob, "shin", "forearm")
    carrier.stretch_volume = "LENGTH"
    update()
    assert carrier.reach == "REACHED"
    assert chain.reach == "INVALID"
    assert "'forearm' hangs on the limb of 'shin', which stretches unevenly too" in chain.message
    press(ob, "mend", "forearm", way="UNIFORM")
    update()
    assert (chain.stretch_volume, chain.reach, chain.message) == ("UNIFORM", "REACHED", "")


def test_scale_that_is_keyed_and_only_rounded_is_none() -> None:
    """As importers leave it; nor is that across the bone."""
    ob = leg_with_foot()
    make_live(ob)
    keyed(ob, "thigh", "scale", (1.0, 1.0000002, 1.0))
    keyed(ob, "shin", "scale", (1.2, 1.0, 1.2))
    make_portable(ob)
    bpy.context.scene.frame_set(5)
    assert (ob.pose.bones["shin"].planar_ik.runs_on, ob.pose.bones["shin"].planar_ik.message) == ("RIG", "")


def test_a_target_that_was_hung_on_the_limb_later_is_said() -> None:
    ob = leg_with_foot()
    target = ob.pose.bones["shin"].planar_ik.target
    target.parent, target.parent_type, target.parent_bone = ob, "BONE", "foot"
    update()
    put(ob.pose.bones["hip"], location=(0.2, 0.1, 0.3))
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.reach == "INVALID"
    assert chain.message.startswith(f"'{target.name}' hangs on the chain of 'shin' itself")


def two_legs() -> Any:
    """Two legs, of which each follows a control bone of its own, with names that end as those of the other leg."""
    bones = [LEG[0]]
    for side, other, x in (("A", "B", 0.0), ("B", "A", 1.0)):
        joints_of_leg = [(x, 0, 0), (x + 0.1, 0.2, -1), (x + 0.1, 0, -1.9)]
        bones.append(Bone(f"thigh{side}", *joints_of_leg[:2], "hip"))
        bones.append(Bone(f"shin{side}", *joints_of_leg[1:], f"thigh{side}", connected=True))
        bones.append(Bone(f"control{other}", (x + 0.1, 0.2, -1.2), (x + 0.1, 0.4, -1.2)))
    ob = make_rig(bones)
    for side in "AB":
        make_chain(ob, ob, f"shin{side}", subtarget=f"control{side}", plane="SWING")
    return ob


def hang(ob: Any, side: str, parent: str) -> None:
    """Give the control of a leg another parent, as by Ctrl P in Edit Mode."""
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones[f"control{side}"].parent = ob.data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


def reaches(ob: Any) -> list[tuple[str, bool]]:
    """Of both legs, what is told and whether a sentence says why."""
    chains = [ob.pose.bones[f"shin{side}"].planar_ik for side in "AB"]
    return [(chain.reach, "hangs on the chain" in chain.message) for chain in chains]


def test_limbs_whose_targets_come_to_hang_on_each_other_are_not_reached() -> None:
    ob = two_legs()
    make_portable(ob, "shinA", "shinB")
    activate(ob)
    for _ in range(2):
        assert reaches(ob) == 2 * [("REACHED", False)]
        hang(ob, "A", "shinB")
        assert reaches(ob) == 2 * [("REACHED", False)]
        hang(ob, "B", "shinA")
        assert reaches(ob) == 2 * [("INVALID", True)]
        put(ob.data.bones["shinA"], name="calfA")
        assert ob.pose.bones["calfA"].planar_ik.reach == "INVALID"
        ob.data.bones["calfA"].name = "shinA"
        hang(ob, "B", "hip")
        hang(ob, "A", "hip")


def test_a_limb_is_asked_beside_one_whose_lower_bone_has_no_parent_any_more() -> None:
    ob = two_legs()
    make_portable(ob, "shinA", "shinB")
    with editing(ob) as bones:
        bones["shinB"].parent = None
    put(ob.pose.bones["controlA"], location=(0, 0, 9))
    assert ob.pose.bones["shinA"].planar_ik.reach == "TOO_FAR"
    assert "has no parent" in ob.pose.bones["shinB"].planar_ik.message


def test_limbs_whose_targets_hang_on_each_other_do_not_come_onto_the_rig_together() -> None:
    ob = two_legs()
    hang(ob, "A", "shinB")
    hang(ob, "B", "shinA")
    before = parts(ob)
    with pytest.raises(RuntimeError, match="hangs on the chain of 'shin"):
        make_portable(ob, "shinA", "shinB")
    assert parts(ob) == before


def test_a_target_that_reads_a_property_of_its_limb_is_reached() -> None:
    ob = leg_with_foot()
    chain = ob.pose.bones["shin"].planar_ik
    variable = (curve := chain.target.driver_add("hide_render")).driver.variables.new()
    variable.targets[0].id = ob
    variable.targets[0].data_path = 'pose.bones["shin"].planar_ik_softness'
    curve.driver.expression = variable.name
    update()
    assert (chain.reach, chain.message) == ("REACHED", "")


def test_the_origin_of_its_own_armature_is_refused_on_the_rig_and_the_limb_stays() -> None:
    """As while a bone of it is chosen, of which the object comes first: Blender disables such constraints."""
    ob = make_rig()
    chain = make_chain(ob, make_empty(location=(0.1, -0.5, -0.9)), plane="SWING")
    make_portable(ob)
    tail = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"].tail.copy()
    put(chain, target=ob)
    assert chain.reach == "INVALID"
    assert "pick one of its bones" in chain.message
    assert (ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"].tail - tail).length < 1e-6
