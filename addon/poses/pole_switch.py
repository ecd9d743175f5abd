"""Limbs whose rig switches their pole on and off, as Rigify does; without it the animator swings the knee by turning
the first bone about its length."""

from __future__ import annotations

from math import atan2, cos, remainder, sin, tau
from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..blender.fcurves import reset
from ..blender.rotation import rotation_channel
from ..blender.types import path_to_bone, path_to_custom
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import SLIDER
from ..limb.sides import outwards
from ..limb.storage import bones_of_limb, read_slider, write_slider

STILL = 1e-5
"""How much of a swivel, in radians, is none."""


def switch_pole(last: PoseBone, constraint: Any, switch: Any, is_poled: bool) -> None:
    """Have a limb, which has the slider for it, follow its pole only while ``switch``, a driver, gives 1, as
    ``is_poled`` says that it does now: the limb has the swivel that fits now. ``constraint`` is Blender's, with the
    pole, that it is made from."""
    ob, swivel = last.id_data, read_slider(last, "swivel")
    write_slider(last, "pole", is_poled)
    pole = path_to_custom(last.name, SLIDER["pole"].key)
    poling = ob.animation_data.drivers.from_existing(src_driver=switch)
    poling.data_path, poling.mute = pole, False
    first = bones_of_limb(last)[0]
    channel = "" if first.lock_rotation[1] else rotation_channel(first.rotation_mode)
    turn, now, read = _turn_about_length(first, channel)
    sign = outwards(last.name)
    poled = swivel if is_poled else sign * _swivel_of(last, constraint)
    free = 0.0 if is_poled else sign * remainder(sign * swivel - now, tau)
    if max(abs(poled), abs(free)) < STILL and not read:
        write_slider(last, "swivel", 0.0)
        return
    curve: Any = last.driver_add(f'["{SLIDER["swivel"].key}"]')
    reset(curve)
    paths = {"p": pole} | {name: f"{path_to_bone(first.name)}.{channel}[{index}]" for name, index in read.items()}
    for name, path in paths.items():
        variable = curve.driver.variables.new()
        variable.name = name
        variable.targets[0].id, variable.targets[0].data_path = ob, path
    poled, free = (number if abs(number) > STILL else 0.0 for number in (poled, free))
    turn = turn if sign > 0.0 else f"-{turn}"
    curve.driver.expression = f"{poled:.9g} if p>0.5 else {turn}+{free:.9g}".replace("+-", "-")


def _turn_about_length(bone: Any, channel: str) -> tuple[str, float, dict[str, int]]:
    """An expression of how much a bone is turned about its length by hand, how much it is now, and the numbers of its
    channel that the expression reads, by name."""
    if channel == "rotation_euler":
        return "y", bone.rotation_euler[1], {"y": 1}
    if channel == "rotation_quaternion":
        w, _, y, _ = bone.rotation_quaternion
        return "2*atan2(y,w)", 2.0 * atan2(y, w), {"w": 0, "y": 2}
    return "0", 0.0, {}


def _swivel_of(last: PoseBone, constraint: Any) -> float:
    """What a constraint's pole angle is as a swivel: its pole is where an axis across the first bone points, ours where
    the knee does."""
    geometry = rest_geometry_of(last)
    x, _, z = (geometry.frame[:3, :3].T @ geometry.reference[0][:3, axis] for axis in range(3))
    aside = x * cos(constraint.pole_angle) + z * sin(constraint.pole_angle)
    return -atan2(aside[2], -aside[0]) if np.hypot(aside[0], aside[2]) > STILL else 0.0
