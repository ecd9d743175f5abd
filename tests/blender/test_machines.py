"""Machines drawn bone by bone, by the clicks that docs/machines.md names: over a full cycle their joints are where two
circles meet, on the rig, live and baked, without a change of branch."""

from __future__ import annotations

from cmath import exp
from math import acos, sin, tau
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from tests.blender import rigs

FRAMES = 24
"""How many frames a cycle has."""


class Dyad(NamedTuple):
    """Two bones, and the pin that the second is held at: where they begin and meet in the XZ plane, as complex numbers,
    and the bones that the first hangs on, and the pin."""

    name: str
    root: complex
    on: str
    joint: complex
    pin: complex
    pin_on: str


class Machine(NamedTuple):
    """A crank on the ground from one place to another, which turns all round or so far to and fro, and dyads, each
    after what it hangs on."""

    pivot: complex
    end: complex
    turn: float
    dyads: tuple[Dyad, ...]

    def angle(self, frame: float) -> float:
        """By how much the crank is turned."""
        share = (frame - 1.0) / FRAMES
        return tau * share if self.turn == tau else self.turn * sin(tau * share)


def four_bars(pivot: complex, end: complex, ground: complex, joint: complex, turn: float) -> Machine:
    """A crank, a rocker on the same ground, and a rod from this to the crank's end."""
    return Machine(pivot, end, turn, (Dyad("a", ground, "ground", joint, end, "crank"),))


MACHINES = {
    "four bar": four_bars(0j, 0.4j, 1.2 + 0j, 1.35 + 0.9j, tau),
    "wiper": four_bars(0j, 0.15 + 0j, 1.0 + 0.2j, 0.9 + 0.6j, tau),
    "brace gear": four_bars(0j, 0.1 - 0.9j, 1.0 + 0j, 0.9 - 0.75j, 0.4),
    "toggle clamp": four_bars(0j, 0.8 + 0.1j, 1.5 - 0.2j, 1.3 + 0.5j, 0.25),
    "locomotive rod": four_bars(0j, 0.3j, 1.5 + 0j, 1.5 + 0.3j, 1.3),
    "bucket link": Machine(
        0j,
        0.3 + 0.5j,
        0.4,
        (
            Dyad("a", -0.9 + 0.1j, "ground", -0.6 + 0.75j, 0.3 + 0.5j, "crank"),
            Dyad("b", -1.3 + 0.4j, "ground", -1.1 + 1.2j, -0.3 + 0.9j, "a second"),
        ),
    ),
    "desk lamp": Machine(
        0j,
        0.2 + 1.0j,
        0.4,
        (
            Dyad("a", 0.3 + 0j, "ground", 0.5 + 1.0j, 0.2 + 1.0j, "crank"),
            Dyad("b", 0.35 + 1.3j, "a second", 1.2 + 1.5j, 0.9 + 0.2j, "ground"),
        ),
    ),
}


def meet(a: complex, r: float, b: complex, q: float, side: float) -> complex:
    """Where circles around two places meet, to one side of the line from the first to the second."""
    d = abs(b - a)
    return a + r * (b - a) / d * exp(1j * side * acos((r * r + d * d - q * q) / (2.0 * r * d)))


def joints(machine: Machine, frame: float) -> dict[str, complex]:
    """Where the second bones begin and end."""
    turns = {"ground": (0j, 0j, 1.0 + 0j), "crank": (machine.pivot, machine.pivot, exp(1j * machine.angle(frame)))}

    def now(place: complex, on: str) -> complex:
        at_rest, at, turned = turns[on]
        return at + (place - at_rest) * turned

    found = {}
    for dyad in machine.dyads:
        root, pin = now(dyad.root, dyad.on), now(dyad.pin, dyad.pin_on)
        r, q = abs(dyad.joint - dyad.root), abs(dyad.pin - dyad.joint)
        side = float(np.sign(((dyad.joint - dyad.root) / (dyad.pin - dyad.root)).imag))
        joint = meet(root, r, pin, q, side)
        turns[f"{dyad.name} first"] = (dyad.root, root, (joint - root) / (dyad.joint - dyad.root))
        turns[f"{dyad.name} second"] = (dyad.joint, joint, (pin - joint) / (dyad.pin - dyad.joint))
        found |= {f"{dyad.name} joint": joint, f"{dyad.name} pin": pin}
    return found


def drawn(machine: Machine):
    """The bones, without IK, and the crank's keys."""

    def at(place: complex):
        return (place.real, 0.0, place.imag)

    bones = {
        "ground": (at(machine.pivot - 0.3j), at(machine.pivot - 0.5j), ""),
        "crank": (at(machine.pivot), at(machine.end), "ground"),
    }
    for dyad in machine.dyads:
        bones |= {
            f"{dyad.name} pin": (at(dyad.pin), at(dyad.pin + 0.1j), dyad.pin_on),
            f"{dyad.name} first": (at(dyad.root), at(dyad.joint), dyad.on),
            f"{dyad.name} second": (at(dyad.joint), at(dyad.pin), f"{dyad.name} first"),
        }
    ob = rigs.rig(bones)
    crank = ob.pose.bones["crank"]
    crank.rotation_mode = "AXIS_ANGLE"
    axis = crank.bone.matrix_local.to_3x3().inverted().col[1]  # the depth; a turn about it is with the clock
    for frame in range(1, FRAMES + 2):
        crank.rotation_axis_angle = (-machine.angle(frame), *axis)
        crank.keyframe_insert("rotation_axis_angle", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    bpy.context.scene.frame_set(1)
    return ob


def click(ob, *names):
    """Select bones, the last of which is then active."""
    for bone in ob.pose.bones:
        rigs.select(bone, bone.name in names)
    ob.data.bones.active = ob.data.bones[names[-1]]


def worst(machine, ob):
    """How far joints are off at most over the cycle, in lengths of the largest link."""
    size = max(max(abs(dyad.joint - dyad.root), abs(dyad.pin - dyad.joint)) for dyad in machine.dyads)
    off = 0.0
    for frame in range(1, FRAMES + 2):
        bpy.context.scene.frame_set(frame)
        pose = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        want = joints(machine, frame)
        for dyad in machine.dyads:
            second = pose[f"{dyad.name} second"]
            for seen, end in ((second.head, "joint"), (second.tail, "pin")):
                off = max(off, abs(complex(seen.x, seen.z) - want[f"{dyad.name} {end}"]), abs(seen.y))
    return off / size


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("name", MACHINES)
def test_a_cycle(name, mode):
    machine = MACHINES[name]
    ob = drawn(machine)
    for dyad in machine.dyads:
        click(ob, f"{dyad.name} pin", f"{dyad.name} first", f"{dyad.name} second")
        assert bpy.ops.pose.planar_ik_add(mode=mode, tip="TAIL", foot_follows=False) == {"FINISHED"}
        limb = ob.pose.bones[f"{dyad.name} second"].planar_ik
        assert (limb.plane, limb.subtarget, limb.mode) == ("HINGE", f"{dyad.name} pin", mode)
    assert worst(machine, ob) < 1e-5
    if mode == "LIVE":
        click(ob, *(f"{dyad.name} second" for dyad in machine.dyads))
        assert bpy.ops.pose.planar_ik_bake() == {"FINISHED"}
        assert worst(machine, ob) < 2e-5
