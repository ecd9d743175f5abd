"""Add takes what is selected: limbs by any of their bones, targets and poles in any order."""

from __future__ import annotations

from math import pi
from typing import Any

import bpy
import pytest
from mathutils import Matrix, Vector

from tests.blender import oracle, rigs
from tests.blender.characters import grown, person, sided

from .conftest import call, select


def limbs() -> list[str]:
    return [bone.name for bone in bpy.data.objects["rig"].pose.bones if bone.planar_ik.enabled]


def empty(name: str, place: Any) -> Any:
    made = rigs.empty(name, place)
    made.select_set(True)
    return made


@pytest.mark.parametrize("active", ["shin.L", "step.L", "aim.L"])
def test_a_pole_that_hangs_on_the_foot_s_control(biped: Any, active: str) -> None:
    """Knee follows foot, on both sides: two bones that could be a limb of their own."""
    controls: dict[str, Any] = {}
    for side, x in ((".L", 1), (".R", -1)):
        controls[f"step{side}"] = ((0.1 * x, 0.02, 0.1), (0.1 * x, 0.2, 0.1), "root")
        controls[f"aim{side}"] = ((0.1 * x, -0.6, 0.55), (0.1 * x, -0.8, 0.55), f"step{side}")
        controls[f"aim end{side}"] = ((0.1 * x, -1.2, 0.55), (0.1 * x, -1.3, 0.55), f"aim{side}")
    grown(biped, controls)
    biped.pose.bones["thigh.L"].rotation_euler = biped.pose.bones["shin.L"].rotation_quaternion[1:] = (0, 0, 0)
    select("shin.L", "step.L", "aim.L", active=active)
    assert not call("add")
    assert limbs() == ["shin.L"]
    limb = bpy.context.object.pose.bones["shin.L"].planar_ik
    assert (limb.subtarget, limb.pole_subtarget, limb.plane) == ("step.L", "aim.L", "POLE")


@pytest.mark.parametrize("active", ["forearm.L", "shin.L", "root"])
def test_what_can_t_be_is_named_and_the_rest_is_done(biped: Any, active: str, capfd: Any) -> None:
    biped.pose.bones["upper_arm.R"].constraints.new("LIMIT_ROTATION")
    biped.pose.bones["forearm.L"].driver_add("rotation_quaternion", 1)
    select(*biped.pose.bones.keys(), active=active)
    assert not call("add")
    assert limbs() == ["shin.L", "shin.R"]
    said = capfd.readouterr().out
    assert "Added 2; skipped " in said
    assert "forearm.L: 'forearm.L' is driven: remove the driver" in said
    assert "forearm.R: 'Limit Rotation' on 'upper_arm.R' conflicts with IK: mute it" in said


def test_all_selected_once_more(biped: Any) -> None:
    """What is there is left as it is."""
    select("thigh.L")
    assert not call("add")
    select(*(bone.name for bone in bpy.context.object.pose.bones))
    assert not call("add")
    assert sorted(limbs()) == ["forearm.L", "forearm.R", "shin.L", "shin.R"]
    select(*(bone.name for bone in bpy.context.object.pose.bones))
    before = rigs.snapshot()
    assert "have IK already" in call("add")
    assert rigs.snapshot() == before


def test_selected_objects_are_target_and_pole(biped: Any) -> None:
    tip, knee = rigs.place(biped, "foot.L"), rigs.place(biped, "shin.L")
    empty("far", knee + rigs.Vector((0.0, -1.0, 0.0)))
    empty("near", tip)
    assert not call("add")
    limb = bpy.context.object.pose.bones["shin.L"].planar_ik
    assert (limb.target.name, limb.pole_target.name, limb.plane) == ("near", "far", "POLE")
    assert limb.reach == "REACHED"


def test_the_skin_is_no_target(biped: Any) -> None:
    skin = bpy.data.objects.new("skin", bpy.data.meshes.new("skin"))
    bpy.context.collection.objects.link(skin)
    skin.parent = biped
    skin.select_set(True)
    empty("of the importer", (0, 0, 0))
    assert not call("add")
    assert bpy.context.object.pose.bones["shin.L"].planar_ik.subtarget == "foot_ik.L"


def test_settings(biped: Any) -> None:
    had = len(biped.pose.bones)
    assert not call("add", mode="LIVE", plane="POLE", foot_follows=False, tip="TAIL", bends="OTHER")
    limb = biped.pose.bones["shin.L"].planar_ik
    assert (limb.mode, limb.plane, limb.subtarget, limb.pole_subtarget) == ("LIVE", "POLE", "foot_ik.L", "knee_pole.L")
    assert len(biped.pose.bones) == had + 2
    assert not len(biped.pose.bones["foot.L"].constraints)
    assert oracle.kept(biped.pose.bones["shin.L"])["tip"] == "TAIL"
    now = rigs.evaluated(biped).pose.bones["shin.L"].tail
    assert (biped.matrix_world @ now - rigs.place(biped, "foot_ik.L")).length < 1e-5


def knee_way(ob: Any) -> Any:
    """Where the knee of the left leg lies off the line from its root to its tip, as a direction."""
    root, knee, tip = (rigs.place(ob, name) for name in ("thigh.L", "shin.L", "foot.L"))
    return ((knee - root) - (tip - root) * (knee - root).dot(tip - root) / (tip - root).length_squared).normalized()


@pytest.mark.parametrize("plane", ["FREE", "POLE", "HINGE"])
@pytest.mark.parametrize(("bends", "turn"), [("FOUND", 0.0), ("OTHER", pi), ("LEFT", pi / 2), ("RIGHT", -pi / 2)])
def test_bends(biped: Any, plane: str, bends: str, turn: float) -> None:
    biped.pose.bones["thigh.L"].rotation_euler = biped.pose.bones["shin.L"].rotation_quaternion[1:] = (0, 0, 0)
    bpy.context.view_layer.update()
    before, root, tip = knee_way(biped), rigs.place(biped, "thigh.L"), rigs.place(biped, "foot.L")
    assert not call("add", bends=bends, plane=plane)
    wanted = Matrix.Rotation(0.0 if plane == "HINGE" and abs(turn) < 3 else turn, 3, tip - root) @ before
    assert knee_way(biped).dot(wanted) > 0.999
    assert (rigs.place(biped, "foot.L") - tip).length < 1e-5
    assert biped.pose.bones["shin.L"].planar_ik.reach == "REACHED"
    if plane == "POLE":
        assert ((rigs.place(biped, "knee_pole.L") - rigs.place(biped, "shin.L")).normalized()).dot(wanted) > 0.7


@pytest.mark.parametrize("plane", ["FREE", "POLE", "HINGE"])
@pytest.mark.parametrize(("bends", "way"), [("FOUND", (0, -1, 0)), ("OTHER", (0, 1, 0)), ("LEFT", (-1, 0, 0))])
def test_a_straight_limb_does_not_twist_for_how_it_bends(plane: str, bends: str, way: Any) -> None:
    ob = person(Vector((1, 0, 0)))
    select("shin.L")
    before = rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L"))
    assert not call("add", bends=bends, plane=plane)
    assert abs(before - rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L"))).max() < 1e-3
    target = ob.pose.bones["foot_ik.L"]
    rigs.put(target, rigs.place(ob, "foot_ik.L") + Vector((0, 0, 0.2)))
    assert knee_way(ob).dot(Vector(way)) > 0.999
    assert ob.pose.bones["shin.L"].planar_ik.reach == "REACHED"


def test_offered_on_arms_and_legs_only(addon: Any, biped: Any) -> None:
    """Else the panel says why there is nothing to add; of a rig of Rigify's it says nothing."""
    panel = addon("ui.panel")

    def offered(*names: str) -> tuple[list[str], str]:
        select(*names)
        limbs, _ = addon("finding.choosing").limbs_offered(bpy.context)
        return [limb.name for limb, _ in limbs], panel._offer(bpy.context)

    found = {name: offered(name) for name in list(biped.pose.bones.keys())}
    without = {name: said for name, (limbs, said) in found.items() if not limbs}
    assert {*without} == {"root", "hips", "spine"}
    assert all(f"'{name}' is of no arm or leg: click" in said for name, said in without.items())
    assert {limb for limbs, _ in found.values() for limb in limbs} == set(sided("shin", "forearm"))
    assert set(offered(*biped.pose.bones.keys())[0]) == set(sided("shin", "forearm"))
    assert offered("root", "hips", "spine", "shoulder.L", "upper_arm.L")[1] == "ADD"
    biped.data["rig_id"] = "as Rigify writes it"
    assert {offered(name) == ([], "") for name in found} == {True}


@pytest.mark.parametrize("count", [1, 5, 9])
def test_the_panel_says_why_there_is_nothing_to_add(addon: Any, count: int) -> None:
    """On a rig of one bone, and on spines that are too long."""
    ob = rigs.stack(*(f"Bone.{k}" for k in range(count)), name="rig")
    rigs.activate(ob)
    select(*ob.pose.bones.keys())
    said = addon("ui.panel")._offer(bpy.context)
    assert said == call("add").removeprefix("Error: ").strip()
    assert (f"are {count}" if count > 1 else "no parent to bend against") in said
    assert addon("ui.panel").VIEW3D_PT_planar_ik.poll(bpy.context)


def test_what_a_limb_follows_is_not_offered(addon: Any) -> None:
    """On any bone of a machine of which a loop is closed, and of a puppet: what hangs on a limb is."""
    from scripts import machines

    panel = addon("ui.panel")
    for name, below in (("FOUR_BARS", ()), ("JANSEN", ("f", "g")), ("EXCAVATOR", ("lever", "bucket", "link"))):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        machine = getattr(machines, name)
        ob = machines.build(name, machine._replace(turns={}), (0.0, 0.0, 0.0), False)
        bpy.ops.object.mode_set(mode="POSE")
        rigs.click(ob, "boom" if name == "EXCAVATOR" else "crank")
        assert not call("add")
        followed = {bone.planar_ik.subtarget for bone in ob.pose.bones if bone.planar_ik.enabled}
        for bone in [bone.name for bone in ob.pose.bones if not bone.name.startswith("MCH")]:
            rigs.click(ob, bone)
            limbs, _ = addon("finding.choosing").limbs_offered(bpy.context)
            assert not {limb.name for limb, _ in limbs} & followed, (name, bone)
            assert panel._offer(bpy.context) == "ADD" or bone not in below, (name, bone)


def test_meant_by_target_pole_and_foot(addon: Any, biped: Any) -> None:
    meant = addon("ui.finding").active_limb
    assert not call("add", plane="POLE")
    for name in ("thigh.L", "shin.L", "foot.L", "toe.L", "foot_ik.L", "knee_pole.L"):
        select(name)
        assert meant(bpy.context).name == "shin.L", name
    for name in ("hips", "thigh.R", "shin.R"):
        select(name)
        assert meant(bpy.context) is None


def test_limb_of_an_empty_in_object_mode(addon: Any, biped: Any) -> None:
    goal = empty("goal", rigs.place(biped, "foot.L"))
    assert not call("add")
    rigs.activate(goal, "OBJECT")
    assert addon("ui.finding").active_limb(bpy.context).name == "shin.L"
    assert not call("switch", to="FK")
    assert bpy.data.objects["rig"].pose.bones["shin.L"].planar_ik.influence == 0.0
    assert not call("select", role="LIMB")
    assert bpy.context.mode == "POSE"
    assert {bone.name for bone in bpy.context.selected_pose_bones} == {"thigh.L", "shin.L"}
    assert not call("select", role="TARGET")
    assert bpy.context.mode == "OBJECT"


def test_a_script_names_limbs(biped: Any) -> None:
    """In Object Mode, with nothing active; on either side to its own target."""
    for side, x in ((".L", 1), (".R", -1)):
        grown(biped, {f"go{side}": ((0.1 * x, 0.02, 0.1), (0.1 * x, 0.2, 0.1), "root")})
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None
    pose = biped.pose.bones
    assert bpy.ops.pose.planar_ik_add(limbs="shin.L shin.R", target="go.L", pole="root") == {"FINISHED"}
    assert bpy.ops.pose.planar_ik_add(limbs="fore*.[LR]") == {"FINISHED"}
    assert [pose[name].planar_ik.subtarget for name in ("shin.L", "shin.R")] == ["go.L", "go.R"]
    assert {pose[name].planar_ik.pole_subtarget for name in ("shin.L", "shin.R")} == {"root"}
    assert {pose[name].planar_ik.mode for name in limbs()} == {"RIG"}
    assert sorted(limbs()) == ["forearm.L", "forearm.R", "shin.L", "shin.R"]
    assert bpy.context.mode == "OBJECT"
    refused = [
        ({"limbs": "shin.L"}, "has IK already"), ({"limbs": "knee"}, "No rig here has knee"),
        ({"limbs": '"shin.L'}, "a quote"), ({}, "Go to Pose Mode"),
    ]  # fmt: skip
    for words, why in refused:
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.pose.planar_ik_add(**words)


def test_numbers_out_of_range_are_refused(addon: Any, biped: Any) -> None:
    """None is changed to the nearest that would do."""
    select("thigh.L", "shin.L")
    assert not call("add")
    before, types, refused = rigs.snapshot(), addon("blender.types"), list[str]()
    for operator in [getattr(bpy.ops.pose, name) for name in dir(bpy.ops.pose) if name.startswith("planar_ik_")]:
        for each in operator.get_rna_type().properties:
            if each.type in {"INT", "FLOAT"} and operator.poll():
                low, high = types.allowed_range(each)
                for value in (*([low - 1] * (low > -types.ENDLESS)), *([high + 1] * (high < types.ENDLESS))):
                    with pytest.raises(RuntimeError, match=f"{each.name} is a number from .*, not {value:g}"):
                        operator(**{each.identifier: value})
                    refused.append(each.identifier)
    assert rigs.snapshot() == before
    wanted = {"tolerance", "ease", "height", "speed", "step", "stretch_max", "min_angle", "max_angle"}
    assert wanted <= {*refused}
    assert len(refused) > 25
