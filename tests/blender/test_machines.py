"""Machines drawn bone by bone, by the presses that docs/machines.md names: over a full cycle their joints are where two
circles meet, on the rig, live and baked, without a change of branch."""

from __future__ import annotations

import contextlib
from cmath import phase
from math import pi, sqrt

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from scripts import machines
from tests.blender import rigs
from tests.blender.linkages import MACHINES, Cylinder, Dyad, drawn, meet, worst


def add(ob, machine, mode, is_plain):
    """Press A and Add once, cylinders before that, and what slides with its rotation locked. Drawn plainly, there is no
    pin where some bone ends anyhow."""
    for part in machine.parts:
        if isinstance(part, Cylinder):
            rigs.click(ob, f"{part.name} housing", f"{part.name} rod")
            assert bpy.ops.pose.planar_ik_cylinder() == {"FINISHED"}
        elif part.slides:
            ob.pose.bones[f"{part.name} first"].lock_rotation = (True,) * 3
    pins = {f"{part.name} second": f"{part.name} pin" for part in machine.parts if isinstance(part, Dyad)}
    rigs.activate(ob, "EDIT")
    for last, pin in [*pins.items()] if is_plain else ():
        head, bones = ob.data.edit_bones[pin].head, ob.data.edit_bones
        if any((bone.tail - head).length < 1e-5 for bone in bones if bone.name not in (last, pin)):
            bones.remove(bones[pin])
            pins[last] = f"{last}_ik"
    rigs.activate(ob)
    drives = {bone.name for bone in ob.pose.bones}
    rigs.click(ob, *drives)
    assert bpy.ops.pose.planar_ik_add(mode=mode) == {"FINISHED"}
    limbs = {bone.name: bone.planar_ik for bone in ob.pose.bones if bone.planar_ik.enabled}
    assert {name: limb.subtarget for name, limb in limbs.items()} == pins
    assert {limb.mode for limb in limbs.values()} == {mode}
    for part in machine.parts:
        if isinstance(part, Dyad):
            assert limbs[f"{part.name} second"].plane == ("SLIDE" if part.slides else "HINGE")


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("name", MACHINES)
def test_a_cycle(name, mode, is_plain):
    machine = MACHINES[name]
    ob = drawn(machine)
    add(ob, machine, mode, is_plain)
    assert worst(machine, ob) < 1e-5
    if ([*MACHINES].index(name) + (mode == "LIVE")) % 2 == is_plain:  # which half of them in each mode
        assert bpy.ops.pose.planar_ik_bake(which="ALL") == {"FINISHED"}
        assert worst(machine, ob) < 1e-5
        assert worst(machine, ob, 0.5) < 1e-4
        if any(isinstance(part, Cylinder) for part in machine.parts):
            assert bpy.ops.pose.planar_ik_bake(which="ALL", for_game=True) == {"FINISHED"}
            assert not [bone.name for bone in ob.pose.bones if "MCH" in bone.name or bone.constraints]
            assert worst(machine, ob) < 1e-5


A, B, C, D = 0j, 0.3j, 1.2 + 0.75j, 1.1 + 0j
GROUND = {"ground": (-0.1j, 1.1 - 0.1j, "")}
CRANK = GROUND | {"crank": (A, B, "ground")}
FOUR_BARS = {
    "pin": CRANK | {"pin": (B, 0.4j, "crank"), "rocker": (D, C, "ground"), "rod": (C, B, "rocker")},
    "no pin": CRANK | {"rocker": (D, C, "ground"), "rod": (C, B, "rocker")},
    "no ground": {"crank": (A, B, ""), "rocker": (D, C, ""), "rod": (C, B, "rocker")},
    "crank first": CRANK | {"rod": (B, C, "crank"), "rocker": (D, C, "ground")},
    "all in line": {
        "ground": (D, A, ""),
        "crank": (A, B, "ground"),
        "rod": (B, C, "crank"),
        "rocker": (C, D, "rod"),
    },
    "a rod on the ground": CRANK | {"rocker": (D, C, "ground"), "rod": (C, B, "ground")},
    "a rod the other way": CRANK | {"rocker": (D, C, "ground"), "rod": (B, C, "rocker")},
    "a triad": CRANK
    | {"rod": (B, 1.0 + 0.5j, "crank"), "other": (2.0 + 0j, 1.0 + 0.5j, "ground"), "third": (1j, 1.0 + 0.5j, "other")},
}
"""How people draw four bars, and three rods that meet."""

CLOSED = "pin", "no pin", "no ground"
"""Those that two bones close as they are drawn."""


def flat(bones):
    """A rig of bones in XZ, by where they begin and end as complex numbers."""

    def at(place):
        return (place.real, 0.0, place.imag)

    return rigs.rig({name: (at(head), at(tail), on) for name, (head, tail, on) in bones.items()})


@pytest.mark.parametrize("clicked", ["", "crank", "rocker", "rod"])
@pytest.mark.parametrize("name", FOUR_BARS)
def test_four_bars_as_people_draw_them(name, clicked):
    """By A, or by a click on one of them: closed, the crank free; or refused by name, and nothing is changed."""
    ob = flat(FOUR_BARS[name])
    before = rigs.matrices(ob, FOUR_BARS[name])
    if clicked and clicked not in FOUR_BARS[name]:
        pytest.skip("there is none")
    rigs.click(ob, *([clicked] if clicked else FOUR_BARS[name]))
    there = rigs.snapshot()
    if name not in CLOSED:
        with contextlib.suppress(RuntimeError):
            bpy.ops.pose.planar_ik_add()
            assert clicked
        assert np.abs(rigs.matrices(ob, FOUR_BARS[name]) - before).max() < 1e-6
        assert clicked or not rigs.differences(there, rigs.snapshot())
        return
    assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
    assert np.abs(rigs.matrices(ob, FOUR_BARS[name]) - before).max() < 1e-6
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["rod"]
    rigs.turn_crank(ob, {1: 0.0, 2: 1.0})
    bpy.context.scene.frame_set(2)
    crank, rod = (rigs.evaluated(ob).pose.bones[bone] for bone in ("crank", "rod"))
    assert (crank.tail - rod.tail).length < 1e-5
    assert abs(phase(complex(crank.tail.x, crank.tail.z) / 1j) - 1.0) < 1e-5


def test_two_loops_at_one_press_get_each_its_own_pin():
    bones = CRANK | {"rocker": (D, C, "ground"), "rod": (C, B, "rocker")}
    bones |= {"other": (-1.0 + 0j, -1.0 + 0.6j, "ground"), "other rod": (-1.0 + 0.6j, B, "other")}
    ob = flat(bones)
    rigs.click(ob, "rocker", "rod", "other", "other rod")
    assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
    pins = [bone.planar_ik.subtarget for bone in ob.pose.bones if bone.planar_ik.enabled]
    assert (len({*pins}), {ob.pose.bones[pin].parent.name for pin in pins}) == (2, {"crank"})


@pytest.mark.parametrize("deep", [0.0, 0.08])
def test_a_brace_of_what_is_not_flat(deep):
    """A landing gear's, askew on an aeroplane: a click on a brace closes it; in layers, its pin, both, and Hinge do."""
    turned = Euler((0.3, 0.7, -0.4)).to_matrix()
    depth = {"upper brace": 0.6 * deep, "lower brace": deep}
    bones = {
        name: (*((turned @ Vector((at.real, depth.get(name, 0.0), at.imag)))[:] for at in ends), on)
        for name, (*ends, on) in machines.BRACE.bones.items()
    }
    ob = rigs.rig(bones | {"hull": ((2, 0, 0), (2, 3, 0.5), ""), "tail": ((2, 3, 0.5), (2.5, 4, 2), "hull")})
    rigs.click(ob, *(["pin", "upper brace", "lower brace"] if deep else ["lower brace"]))
    assert bpy.ops.pose.planar_ik_add(plane="HINGE" if deep else "AUTO") == {"FINISHED"}
    limb, leg, axis = ob.pose.bones["lower brace"].planar_ik, ob.pose.bones["leg"], turned.col[1]
    assert (limb.plane, limb.subtarget) == ("HINGE", "pin")
    leg.rotation_mode = "AXIS_ANGLE"
    for angle in (0.1, -0.3):
        leg.rotation_axis_angle = (angle, *(leg.bone.matrix_local.to_3x3().inverted() @ axis))
        now = rigs.evaluated(ob).pose.bones
        off = now["lower brace"].tail - now["pin"].head
        assert (off - axis * off.dot(axis)).length < 1e-5
        assert abs(off.dot(axis) - deep) < 1e-5
        assert limb.message == "On target"
        assert limb.side in (-1, 1)


def test_a_lug_is_no_end():
    """Of a rod with a bone on its middle, the tip is at its tail, where the pin is; and a target at any other limb's
    tail is where that ends."""
    bones = FOUR_BARS["pin"] | {"lug": ((B + C) / 2.0, (B + C) / 2.0 + 0.3j, "rod")}
    ob = flat(bones)
    rigs.click(ob, "pin", "rocker", "rod")
    assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
    assert (ob.pose.bones["rod"].planar_ik.tip, ob.pose.bones["rod"].planar_ik.subtarget) == ("TAIL", "pin")


def jansen(m):
    """Where Jansen's joints are, by his lengths, with the crank's pin here."""
    a = complex(-38.0, -7.8)
    upper, lower = meet(a, 41.5, m, 50.0, 1.0), meet(a, 39.3, m, 61.9, -1.0)
    back = meet(a, 40.1, upper, 55.8, 1.0)
    knee = meet(back, 39.4, lower, 36.7, -1.0)
    return {"j": upper, "k": lower, "f": back, "g": knee, "h tail": meet(knee, 65.7, lower, 49.0, -1.0)}


def klann(m):
    elbow = meet(complex(-38.8, -12.5), 23.7, m, 38.8, 1.0)
    knee = meet(elbow, 35.2, m, 73.4, 1.0)
    hip = meet(complex(-14.6, 41.9), 34.1, knee, 57.7, -1.0)
    return {"rod": elbow, "foot": knee, "thigh": hip, "foot tail": meet(hip, 111.7, knee, 59.0, 1.0)}


def hoekens(m):
    joint = meet(2.0 + 0j, 2.5, m, 2.5, -1.0)
    return {"rod": joint, "point tail": 2.0 * joint - m}


def peaucellier(m):
    """Its far corner is the near one's image by inversion in a circle of the radius sqrt(25 - 9) around the pivot."""
    return {"lower bar": 16.0 * m / abs(m) ** 2, "upper bar": meet(0j, 5.0, m, 3.0, 1.0)}


def watt(m):
    return {"rod": (joint := meet(1.0 + 0j, sqrt(2.0), m, 2.0, 1.0)), "middle": (joint + m) / 2.0}


LINKAGES = {"jansen": (jansen, 0.02), "klann": (klann, 0.015), "hoekens": (hoekens, 0.4)}
LINKAGES |= {"peaucellier": (peaucellier, 0.3), "watt": (watt, 0.4)}


@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_by_their_published_lengths(name):
    """Those of scripts/machines.py, drawn without pins and made by A and Add: all the way round, joints are where
    closed forms have them."""
    form, size = LINKAGES[name]
    machine = getattr(machines, name)()
    ob = machines.build(name, machine, (0.0, 0.0, 0.0), is_skinned=False)
    assert {bone.planar_ik.plane for bone in ob.pose.bones if bone.planar_ik.enabled} == {"HINGE"}
    (drive,) = machine.turns
    off, line, lemniscate, crank = 0.0, [], [], []
    for frame in np.arange(1.0, 25.0, 0.5):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        pose = rigs.evaluated(ob).pose.bones
        seen = {bone.name: complex(bone.head.x, bone.head.z) / size for bone in pose}
        seen |= {f"{bone.name} tail": complex(bone.tail.x, bone.tail.z) / size for bone in pose}
        crank.append(seen[f"{drive} tail"])
        places = form(crank[-1])
        off = max(off, *(abs(seen[joint] - place) for joint, place in places.items()))
        line.append(seen.get("lower bar", 0j).real)
        lemniscate.append(abs(seen.get("middle", 1j) - 1.0) * abs(seen.get("middle", 1j) + 1.0))
    longest = max(abs(tail - head) for head, tail, _ in machine.bones.values()) / size
    assert off < 1e-5 * longest
    assert np.ptp(np.angle(crank)) > (5.5 if machine.turns[drive] > pi else 0.4)
    if name == "peaucellier":
        assert np.ptp(line) < 5e-6  # of bars of 5: a millionth
        assert abs(line[0] - 16.0 / 3.0) < 1e-5
    if name == "watt":
        assert np.ptp(lemniscate) < 2e-5
        assert abs(lemniscate[0] - 1.0) < 1e-5
