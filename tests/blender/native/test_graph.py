"""Blender's dependency graph of limbs on the rig: no cycle, and nothing that it can't find; by what it says itself."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender.natives import FOOT, leg_on_rig, make_live, make_portable, matrices
from tests.blender.rigs import (
    LEG,
    NEXT,
    Bone,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    override_of,
    place_of,
    put,
    update,
)

DEEP = (
    *LEG,
    Bone("toe", (0.1, 0, -1.9), (0.1, -0.4, -2.2), "shin", True),
    Bone("tip", (0.1, -0.4, -2.2), (0.1, -0.2, -2.6), "toe", True),
    Bone("arm", (0.5, 0, 0), (0.6, 0.4, -0.5), "tip"),
    Bone("hand", (0.6, 0.4, -0.5), (0.6, 0, -1.0), "arm", True),
    Bone("goal", (0.1, 0.3, -1.3), (0.1, 0.5, -1.3)),
    Bone("goal2", (0.3, -0.2, -2.0), (0.3, -0.1, -2.0), "shin"),
    Bone("goal3", (0.5, 0.1, -0.9), (0.5, 0.2, -0.9), "tip"),
)

GOALS = (("shin", "goal"), ("tip", "goal2"), ("hand", "goal3"))


@pytest.fixture
def complaints(capfd):
    """What Blender has said of its graph since the test began."""

    def said() -> list[str]:
        out, err = capfd.readouterr()
        lines = [line for line in (out + err).splitlines() if "ycle" in line or "ailed to add" in line]
        return [line for line in lines if "cycles" not in line.lower()]  # the renderer

    return said


def test_blender_says_of_a_cycle(complaints):
    one, other = make_empty("one"), make_empty("other")
    one.constraints.new("COPY_LOCATION").target = other
    other.constraints.new("COPY_LOCATION").target = one
    update()
    assert complaints()


def test_blender_finds_out_nothing_anew_because_a_number_is_set():
    chain = leg_on_rig().pose.bones["shin"].planar_ik
    found = []

    def note(_scene, depsgraph):
        found.append(depsgraph.id_type_updated("COLLECTION"))

    bpy.app.handlers.depsgraph_update_post.append(note)
    put(chain, influence=0.5)
    assert found
    assert not any(found)


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("bone", ["", "thigh", "shin"])
def test_target_and_pole_of_the_same_armature(complaints, plane, bone):
    """With a root that moves of its own, and a bone that does not inherit rotation."""
    goals = (Bone("goal", (0.2, 0.4, -1.2), (0.2, 0.5, -1.2), "hip"), Bone("pole", (0.3, 5, -1), (0.3, 5, -0.9)))
    ob = make_rig((*LEG, *goals))
    ob.pose.bones["thigh"].location = (0.1, 0.05, 0.02)
    if bone:
        ob.data.bones[bone].use_inherit_rotation = False
    settings = {"subtarget": "goal", "pole_target": ob, "pole_subtarget": "pole", "softness": 0.1, "influence": 0.7}
    make_chain(ob, ob, plane=plane, bend=0.5, **settings)
    make_portable(ob)
    assert ob.pose.bones["shin"].planar_ik.message == ""
    for name in ("goal", "pole", "hip"):
        put(ob.pose.bones[name], location=(0.1, -0.2, 0.1))
    assert not complaints()


def hang(ob):
    """Three chains, each of which hangs on the one before, with its target too."""
    for lower, goal in GOALS:
        make_chain(ob, ob, lower, subtarget=goal, plane="POLE", pole_target=make_empty(f"pole of {lower}", (1, 4, 1)))


@pytest.mark.parametrize("is_overridden", [False, True])
def test_chains_that_hang_on_each_other_are_right_in_one_pass(complaints, tmp_path, is_overridden):
    ob = make_rig(DEEP)
    hang(ob)
    if is_overridden:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
        ob = override_of(tmp_path / "library.blend", "rig")
        hang(ob)
    complaints()
    make_portable(ob, "shin", "tip", "hand")
    for place in ((0.1, 0.1, 0.1), (-0.2, 0.3, 0.1), (0.3, 0, -0.2)):
        put(ob.pose.bones["goal"], location=place)
        reached = 0
        for lower, target in GOALS:
            chain = ob.pose.bones[lower].planar_ik
            assert (chain.runs_on, chain.message) == ("RIG", "")
            if chain.reach == "REACHED":
                reached += 1
                assert np.linalg.norm(joints(ob, lower).tip - place_of(ob, target)) <= 1e-5 * length(ob, lower)
        assert reached
    assert not complaints()
    posed = matrices(ob, "shin", "tip", "hand")
    make_live(ob, "shin", "tip", "hand")
    assert np.allclose(matrices(ob, "shin", "tip", "hand"), posed, atol=5e-5)


def solver_on(ob, bone, count, **settings):
    """An IK constraint of Blender's that turns as many bones, from this one up."""
    made = ob.pose.bones[bone].constraints.new("IK")
    made.target, made.chain_count = make_empty("old"), count
    for name, value in settings.items():
        setattr(made, name, value)
    update()
    return made


@pytest.mark.parametrize("off", [{"mute": True}, {"influence": 0.0}])
@pytest.mark.parametrize(("bone", "count"), [("shin", 2), ("shin", 0), ("foot", 3)])
def test_a_solver_of_both_bones_keeps_them_off_the_rig_even_if_it_is_off(complaints, bone, count, off):
    ob = make_rig((*LEG, FOOT))
    solver = solver_on(ob, bone, count, **off)
    chain = make_chain(ob, plane="SWING")
    with pytest.raises(RuntimeError, match=f"Even muted, constraint 'IK' of '{bone}' keeps Blender from posing 'shin'"):
        make_portable(ob)
    put(chain.target, location=NEXT)
    assert (chain.runs_on, chain.reach, chain.message) == ("EXTENSION", "REACHED", "")
    ob.pose.bones[bone].constraints.remove(solver)
    make_portable(ob)
    put(chain.target, location=(0.2, 0.4, -1.3))
    assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
    assert not complaints()


@pytest.mark.parametrize(("bone", "count"), [("foot", 1), ("foot", 2), ("shin", 1)])
def test_a_solver_of_one_of_them_that_is_off_does_not(complaints, bone, count):
    ob = make_rig((*LEG, FOOT))
    solver_on(ob, bone, count, mute=True)
    chain = make_chain(ob, plane="SWING")
    make_portable(ob)
    put(chain.target, location=NEXT)
    assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
    assert not complaints()


def test_a_solver_that_comes_later_is_named():
    ob = leg_on_rig((*LEG, FOOT), plane="SWING")
    chain = ob.pose.bones["shin"].planar_ik
    solver = solver_on(ob, "foot", 3, mute=True)
    assert (chain.reach, chain.message[:33]) == ("INVALID", "Even muted, constraint 'IK' of 'f")
    ob.pose.bones["foot"].constraints.remove(solver)
    update()
    assert (chain.reach, chain.message) == ("REACHED", "")
