"""``report`` and ``bake``: what limbs do, frame by frame, as lines of JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import bpy
from bpy.types import PoseBone

from ..bake import Baked, Report, Request, bake, frames_between, look
from ..blender.types import scene_of
from ..solver.reach import Reach
from .shots import say

Line = dict[str, Any]


def request_of(lasts: Sequence[PoseBone], arguments: Namespace) -> Request:
    """What is to be baked or looked at."""
    scene = scene_of(bpy.context)
    first, last = arguments.frames or (scene.frame_start, scene.frame_end)
    request = Request(lasts, frames_between(first, last, arguments.step), max_miss=arguments.max_miss)
    if arguments.command == "report":
        return request
    return request._replace(
        remove=arguments.remove,
        for_game=arguments.purpose == "game",
        tolerance=arguments.tolerance,
        new_action=arguments.new_action,
    )


def report_limbs(lasts: Sequence[PoseBone], arguments: Namespace) -> list[Line]:
    """What limbs do as Blender evaluates them; nothing is changed."""
    return _lines(look(bpy.context, request_of(lasts, arguments)))


def bake_limbs(lasts: Sequence[PoseBone], arguments: Namespace) -> list[Line]:
    """Bake limbs as the arguments say, and tell what they do."""
    return _lines(bake(bpy.context, request_of(lasts, arguments)))


def _lines(report: Report) -> list[Line]:
    for warning in report.warnings:
        say(warning)
    return [_line(limb, report.frames) for limb in report.limbs]


def _line(limb: Baked, frames: Sequence[float]) -> Line:
    words = [
        "FK" if influence <= 0.0 and reach != Reach.INVALID else Reach(int(reach)).name
        for reach, influence in zip(limb.reach, limb.influence, strict=True)
    ]
    runs = [list(run) for _, run in groupby(zip(frames, words, strict=True), key=lambda each: each[1])]
    line = {**limb.line(), "reach": [{"from": run[0][0], "to": run[-1][0], "is": run[0][1]} for run in runs]}
    broken = words.count("INVALID")
    return {**line, "problem": f"not where its IK puts it in {broken} frames"} if broken else line
