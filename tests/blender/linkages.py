"""Machines to be drawn bone by bone, and where their joints have to be: where two circles meet."""

from __future__ import annotations

from cmath import exp, phase, rect
from math import acos, copysign, sin, sqrt, tau
from typing import NamedTuple

import bpy
import numpy as np

from tests.blender import rigs

FRAMES = 24
"""How many frames a cycle has."""


class Dyad(NamedTuple):
    """Two bones, and the pin that the second is held at: where they begin and meet in the XZ plane, as complex numbers,
    and the bones that the first hangs on, and the pin. The first may slide along its line rather than turn."""

    name: str
    root: complex
    on: str
    joint: complex
    pin: complex
    pin_on: str
    slides: bool = False

    @property
    def size(self) -> float:
        """How long its longer bone is."""
        return max(abs(self.joint - self.root), abs(self.pin - self.joint))


class Cylinder(NamedTuple):
    """A housing and a rod that aim at each other's foot, and what these hang on."""

    name: str
    foot: complex
    on: str
    other: complex
    other_on: str

    @property
    def size(self) -> float:
        """How far apart its feet are."""
        return abs(self.other - self.foot)


class Machine(NamedTuple):
    """A crank on the ground from one place to another, which turns all round or so far to and fro, and what moves with
    it, each after what it hangs on."""

    pivot: complex
    end: complex
    turn: float
    parts: tuple[Dyad | Cylinder, ...]

    def angle(self, frame: float) -> float:
        """By how much the crank is turned."""
        share = (frame - 1.0) / FRAMES
        return tau * share if self.turn == tau else self.turn * sin(tau * share)


def four_bars(pivot: complex, end: complex, ground: complex, joint: complex, turn: float) -> Machine:
    """A crank, a rocker on the same ground, and a rod from this to the crank's end."""
    return Machine(pivot, end, turn, (Dyad("a", ground, "ground", joint, end, "crank"),))


def scissor(stages: int) -> Machine:
    """A scissor lift of bars of length 1, which cross in their middles: the foot of one turns, that of the other
    slides. Each stage stands on the ends of the one below."""
    end = rect(1.0, 0.7)
    foot, middle = complex(end.real), end / 2.0
    parts = [Dyad("0", foot + 0.4, "ground", foot, middle, "crank", slides=True)]
    left, on_left, right, on_right = 2.0 * middle - foot, "0 second", end, "crank"
    for k in range(1, stages):
        middle += complex(0.0, end.imag)
        parts.append(Dyad(str(k), left, on_left, middle, right, on_right))
        left, right = 2.0 * middle - right, 2.0 * middle - left
        on_left, on_right = f"{k} second", f"{k} first"
    return Machine(0j, end, 0.35, tuple(parts))


MACHINES = {
    "four bar": four_bars(0j, 0.4j, 1.2 + 0j, 1.35 + 0.9j, tau),
    "wiper": four_bars(0j, 0.15 + 0j, 1.0 + 0.2j, 0.9 + 0.6j, tau),
    "brace gear": four_bars(0j, 0.1 - 0.9j, 1.0 + 0j, 0.9 - 0.75j, 0.4),
    "toggle clamp": four_bars(0j, 0.8 + 0.1j, 1.5 - 0.2j, 1.3 + 0.5j, 0.25),
    "locomotive rod": four_bars(0j, 0.3j, 1.5 + 0j, 1.5 + 0.3j, 1.3),
    "bucket link": Machine(  # a lever turns the bucket, and this another lever
        0j,
        0.3 + 0.5j,
        0.4,
        (
            Dyad("a", -0.9 + 0.1j, "ground", -0.6 + 0.75j, 0.3 + 0.5j, "crank"),
            Dyad("b", -1.3 + 0.4j, "ground", -1.1 + 1.2j, -0.3 + 0.9j, "a first"),
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
    "slider-crank": Machine(
        0j, 0.3 + 0.2j, tau, (Dyad("a", 1.8 + 0.1j, "ground", 1.4 + 0.1j, 0.3 + 0.2j, "crank", slides=True),)
    ),
    "quick return": Machine(
        0j,
        0.3j,
        tau,
        (
            Cylinder("a", -1j, "ground", 0.3j, "crank"),
            Dyad("b", -1.3 + 1.0j, "ground", -0.9 + 1.0j, 0.9j, "a housing", slides=True),
        ),
    ),
    "boom with cylinder": Machine(
        0j,
        1.2 + 0.5j,
        0.3,
        (
            Dyad("a", -0.4 + 0.6j, "ground", 0.3 + 1.1j, 1.2 + 0.5j, "crank"),
            Cylinder("b", 0.3 - 0.4j, "ground", 0.6 + 0.2j, "crank"),
            Cylinder("c", -0.6 + 1.1j, "ground", 0.7 + 0.9j, "a second"),
        ),
    ),
    "scissor of four": scissor(4),
}


def meet(a: complex, r: float, b: complex, q: float, side: float) -> complex:
    """Where circles around two places meet, to one side of the line from the first to the second."""
    d = abs(b - a)
    return a + r * (b - a) / d * exp(1j * side * acos((r * r + d * d - q * q) / (2.0 * r * d)))


def slid(root: complex, line: complex, pin: complex, rod: float, side: float) -> complex:
    """Where a circle around a pin meets a line from a root, ahead of the pin or behind."""
    seen = (pin - root) / line
    return root + line * (seen.real - side * sqrt(rod * rod - seen.imag**2))


Ends = dict[tuple[str, str], complex]
"""Where bones begin (``head``) and end (``tail``)."""


def ends(machine: Machine, angle: float) -> Ends:
    """Where the bones are that machines move, with the crank turned by an angle."""
    turns = {"ground": (0j, 0j, 1.0 + 0j), "crank": (machine.pivot, machine.pivot, exp(1j * angle))}

    def now(place: complex, on: str) -> complex:
        at_rest, at, turned = turns[on]
        return at + (place - at_rest) * turned

    found: Ends = {}
    for part in machine.parts:
        if isinstance(part, Cylinder):
            foot, other = now(part.foot, part.on), now(part.other, part.other_on)
            line = (other - foot) / abs(other - foot)
            turned = line / ((part.other - part.foot) / part.size)
            halves = (("housing", part.foot, foot, HALF * line), ("rod", part.other, other, -HALF * line))
            for half, at_rest, at, along in halves:
                turns[f"{part.name} {half}"] = (at_rest, at, turned)
                found |= {(f"{part.name} {half}", "head"): at, (f"{part.name} {half}", "tail"): at + along}
            continue
        root, pin = now(part.root, part.on), now(part.pin, part.pin_on)
        r, q = abs(part.joint - part.root), abs(part.pin - part.joint)
        if part.slides:
            line = (part.joint - part.root) / r * turns[part.on][2]
            joint = slid(root, line, pin, q, copysign(1.0, ((part.pin - part.joint) / (part.joint - part.root)).real))
            turns[f"{part.name} first"] = (part.joint, joint, turns[part.on][2])
        else:
            side = float(np.sign(((part.joint - part.root) / (part.pin - part.root)).imag))
            joint = meet(root, r, pin, q, side)
            turns[f"{part.name} first"] = (part.root, root, (joint - root) / (part.joint - part.root))
        turns[f"{part.name} second"] = (part.joint, joint, (pin - joint) / (part.pin - part.joint))
        found |= {(f"{part.name} second", "head"): joint, (f"{part.name} second", "tail"): pin}
    return found


HALF = 0.25
"""How long the bones of cylinders are."""


def drawn(machine: Machine):
    """The bones, without IK, and the crank's keys."""

    def at(place: complex):
        return (place.real, 0.0, place.imag)

    bones = {
        "ground": (at(machine.pivot - 0.3j), at(machine.pivot - 0.5j), ""),
        "crank": (at(machine.pivot), at(machine.end), "ground"),
    }
    for part in machine.parts:
        if isinstance(part, Cylinder):
            way = HALF * (part.other - part.foot) / part.size
            bones[f"{part.name} housing"] = (at(part.foot), at(part.foot + way), part.on)
            bones[f"{part.name} rod"] = (at(part.other), at(part.other - way), part.other_on)
            continue
        bones |= {
            f"{part.name} pin": (at(part.pin), at(part.pin + 0.1j), part.pin_on),
            f"{part.name} first": (at(part.root), at(part.joint), part.on),
            f"{part.name} second": (at(part.joint), at(part.pin), f"{part.name} first"),
        }
    ob = rigs.rig(bones)
    rigs.activate(ob, "EDIT")
    for part in machine.parts:
        if isinstance(part, Dyad) and part.slides:
            ob.data.edit_bones[f"{part.name} first"].use_connect = False
    rigs.activate(ob)
    rigs.turn_crank(ob, {frame: machine.angle(frame) for frame in range(1, FRAMES + 2)})
    return ob


def worst(machine, ob, step=1.0):
    """How far bones' ends are off at most over the cycle from where they have to be with the crank as it is, in lengths
    of the largest link."""
    size = max(part.size for part in machine.parts)
    off = 0.0
    for frame in np.arange(1.0, FRAMES + 1.0, step):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        pose = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        crank = pose["crank"].tail
        angle = phase((complex(crank.x, crank.z) - machine.pivot) / (machine.end - machine.pivot))
        for (bone, end), place in ends(machine, angle).items():
            seen = getattr(pose[bone], end)
            off = max(off, abs(complex(seen.x, seen.z) - place), abs(seen.y))
    return off / size
