"""Seeded sessions of many steps: nothing but sentences is raised, what limbs say is so, and nothing moves that
should not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.session import CLOSE, EVERYTHING, Failed, Key, Session, curves
from tests.blender.steps import STEPS, Moved

pytestmark = pytest.mark.dear

STEPS_EACH = 120


def check_status(session: Session) -> None:
    """Whether what limbs say of themselves is so: by the evaluated pose alone."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for key, last in session.limbs().items():
        status, limb = last.planar_ik.status, last.planar_ik
        ob = last.id_data.evaluated_get(depsgraph)
        names = session.chains()[key]
        tip = np.array(ob.matrix_world @ ob.pose.bones[names[2]].head, float)
        if status.reach.name == "INVALID" and limb.target is None:
            continue
        if status.reach.name == "INVALID" and "emove" not in status.message and status.template.startswith("Something"):
            raise Failed(f"{key} {limb.mode}: {status.message}, {status.residual}")
        if status.reach.name != "REACHED" or not status.is_ik:
            continue
        target = limb.target.evaluated_get(depsgraph)
        bone = target.pose.bones.get(limb.subtarget) if limb.subtarget and target.pose else None
        place = target.matrix_world @ bone.head if bone else target.matrix_world.translation
        size = sum((ob.matrix_world @ bone.head - ob.matrix_world @ bone.tail).length for bone in (last, last.parent))
        miss = float(np.linalg.norm(tip - np.array(place, float)))
        if status.message == "On target" and miss > 2e-4 * max(size, 0.1):
            raise Failed(f"{key} {limb.mode} says {status.message}, and its tip is {miss} off")


def check_moved(before: dict[Key, Any], after: dict[Key, Any], moved: Moved) -> None:
    """Whether only that has moved which may have."""
    for key in before.keys() & after.keys() if moved != EVERYTHING else ():
        off = float(np.abs(before[key] - after[key]).max())
        may = any(chain == key[1] and name != f"not {key[0]}" for name, chain in moved)  # copies share what they follow
        if not may and not off <= CLOSE:
            raise Failed(f"{key} moved by {off}")


def take(session: Session, name: str) -> None:
    """One step, and what has to be so after it."""
    before = session.joints()
    moved = STEPS[name].act(session)
    after = session.joints()
    if moved is None:  # undone or done again: as it was then; what is animated may be as its keys say
        animated = {name for name, _ in curves()}
        check_moved(
            {key: then for key, then in session.history[session.at].items() if key[0] not in animated}, after, set()
        )
    else:
        bpy.ops.ed.undo_push(message=name)
        del session.history[session.at + 1 :]
        session.history.append(after)
        session.at += 1
        check_moved(before, after, moved)
    check_status(session)


def run(seed: int, steps: int, quiet: Callable[[], str]) -> list[str]:
    """A session of so many steps; what was done. ``quiet`` gives what was written to stderr since."""
    session, done = Session(seed), []
    names, weights = [*STEPS], [step.weight for step in STEPS.values()]
    for number in range(steps):
        name, session.note = session.rng.choices(names, weights)[0], ""
        done.append(name)
        try:
            take(session, name)
        except Exception as why:
            what = f"seed {seed}, step {number}, {name} ({session.note}): {why!r}; before: {done[-8:]}"
            raise Failed(what) from why
        if "Traceback" in (said := quiet()):
            raise Failed(f"seed {seed}, step {number}, {name}: {said[-2000:]}")
    return done


@pytest.mark.parametrize("seed", [4, 11])
def test_session(seed, capfd):
    assert len(run(seed, STEPS_EACH, lambda: capfd.readouterr().err)) == STEPS_EACH
