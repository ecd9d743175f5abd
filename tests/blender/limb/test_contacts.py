"""When a foot stands, by points of its sole whose contacts are known: of a walk in numbers, without a rig."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

STRIDE, STANCE, FLAT_FROM, FLAT_TO = 1.1, 0.66, 0.14, 0.4
"""Seconds of a stride and of a stance in it; from when to when in this the sole is flat."""

LENGTH, STEP, LIFT, HEEL, BALL, TOE = 0.85, 1.3, 0.04, -0.06, 0.14, 0.21
"""Metres: the leg, a stride, how high a foot is lifted, and where on the sole its points are, ahead of the ankle."""

DOWN, OFF = np.radians(-20.0), np.radians(55.0)
"""How far the foot is pitched where the heel comes down and where the toe leaves."""


def smooth(share: Any) -> Any:
    share = np.clip(share, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def pitch_of(time: Any) -> Any:
    """How far the foot is pitched at times of a stance (seconds), toe down for positive."""
    rises = OFF * np.clip((time - FLAT_TO) / (STANCE - FLAT_TO), 0.0, 1.0) ** 2
    return DOWN * (1.0 - smooth(time / FLAT_FROM)) + rises


def sole_at(times: Any, begins: float, level: Any) -> Any:
    """Heel, ball and toe (3, times, 3) of a foot that comes down at strides from a time on; ``level`` gives the height
    of the ground of each stride. On the ground the heel, the ball and the toe turn about what stands."""
    strides = np.floor((times - begins) / STRIDE)
    time = times - begins - strides * STRIDE
    share = smooth((time - STANCE) / (STRIDE - STANCE))
    pitch = np.where(time < STANCE, pitch_of(time), OFF + (DOWN - OFF) * share)

    def foot(pitch: Any, at: Any) -> Any:
        pivot = np.where(pitch < 0.0, HEEL, BALL)
        flat = np.minimum(pitch, 0.0)  # the toe stays flat while the ball stands
        points = [(pivot + np.cos(pitch) * (x - pivot), -np.sin(pitch) * (x - pivot)) for x in (HEEL, BALL)]
        ball = np.array(points[1])
        points.append(tuple(ball + (TOE - BALL) * np.array((np.cos(flat), -np.sin(flat)))))
        return np.array([np.stack((at + x, 0.0 * x, z), axis=-1) for x, z in points])

    at = STEP * (strides + share)
    rise = level(strides + 1.0) - level(strides)
    height = level(strides) + rise * smooth(np.where(rise > 0.0, share, share - 0.375) * 1.6)  # over the edge of a step
    height = height + np.where(time < STANCE, 0.0, LIFT * np.sin(np.pi * share))
    return foot(pitch, at) + np.stack((0.0 * height, 0.0 * height, height), axis=-1)


BEGINS = {"L": 0.3, "R": 0.3 + STRIDE / 2.0}


def walk(addon: Any, rate: float, count: float = 5.6, level: Any = lambda stride: 0.0 * stride) -> dict[str, Any]:
    """The paths of two feet over some strides, in metres, at so many frames a second."""
    times = np.arange(round(count * STRIDE * rate)) / rate
    soles = {side: sole_at(times, begins, level) for side, begins in BEGINS.items()}
    return {side: addon("feet.contacts").Path(sole[0], sole, LENGTH) for side, sole in soles.items()}


def found(addon: Any, paths: dict[str, Any], rate: float) -> dict[str, Any]:
    contacts = addon("feet.contacts")
    floor = contacts.floor_of([*paths.values()])
    return {side: contacts.contacts_of(path, range(path.sole.shape[1]), rate, floor) for side, path in paths.items()}


def check(listed: dict[str, Any], count: int, rate: float) -> None:
    """Contacts begin and end within a frame or 0.06 seconds of where they do; heel, sole and toe follow each other."""
    slack = max(1.01, 0.06 * rate)
    for side, contacts in listed.items():
        starts = (BEGINS[side] + STRIDE * np.arange(-1.0, 8.0)) * rate
        known = [(start, start + STANCE * rate) for start in starts]
        known = [(max(a, 0.0), min(b, count - 1.0)) for a, b in known if b > 2.0 and a < count - 3.0]
        assert len(contacts) == len(known)
        for contact, span in zip(contacts, known, strict=True):
            assert np.abs(np.array(contact.frames) - span).max() <= slack
        for contact in contacts[1:-1]:
            assert [phase.on for phase in contact.phases] == ["heel", "sole", "toe"]


@pytest.mark.parametrize("rate", [12, 24, 30, 60, 120])
def test_at_any_frame_rate(addon: Any, rate: int) -> None:
    paths = walk(addon, rate)
    check(found(addon, paths, rate), paths["L"].sole.shape[1], rate)


@pytest.mark.parametrize(("size", "speed"), [(0.03, 5.0), (0.03, 1.0), (30.0, 0.3), (1000.0, 1.0)])
def test_of_a_mouse_and_of_a_giant(addon: Any, size: float, speed: float) -> None:
    """Also where time goes as gravity has it."""
    paths = walk(addon, 60)
    scaled = {side: type(path)(path.tip * size, path.sole * size, path.size * size) for side, path in paths.items()}
    assert found(addon, scaled, 60 * speed) == found(addon, paths, 60)


@pytest.mark.parametrize("what", ["drift", "noise", "stairs up", "stairs down", "slope"])
def test_of_captures_that_are_not_clean(addon: Any, what: str) -> None:
    rate, random = 25, np.random.default_rng(5)
    rise = {"stairs up": 0.34, "stairs down": -0.34, "slope": 0.1 * STEP}.get(what, 0.0)
    paths = walk(addon, rate, level=lambda stride: rise * stride)
    for path in paths.values():
        if what == "drift":
            path.sole[..., 1] += 0.1 / rate * np.arange(path.sole.shape[1])
        elif what == "noise":
            path.sole[...] += random.normal(0.0, 0.002, path.sole.shape)
    check(found(addon, paths, rate), paths["L"].sole.shape[1], rate)


def test_a_foot_held_in_the_air_does_not_stand(addon: Any) -> None:
    rate = 25
    paths = walk(addon, rate, 2.0)
    lifted = 0.4 * np.interp(np.arange(200.0), (10, 25, 150, 165), (0.0, 1.0, 1.0, 0.0))
    rest = np.array([(x, 0.0, 0.0) for x in (HEEL, BALL, TOE)])
    still = rest[:, None] + np.zeros((3, 200, 3))
    up = still + np.stack((0.0 * lifted, 0.0 * lifted, lifted), axis=-1)
    paths = {side: type(paths["L"])(sole[0], sole, LENGTH) for side, sole in (("L", still), ("R", up))}
    listed = found(addon, paths, rate)
    assert [contact.frames for contact in listed["L"]] == [(0, 199)]
    assert [contact.last <= 12 or contact.frames.first >= 160 for contact in listed["R"]] == [True, True]
