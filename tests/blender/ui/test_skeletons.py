"""Anybody's skeleton: *A* and Add, and a click on each bone, give the limbs that a person points at, nothing else."""

from __future__ import annotations

import random
import re
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.characters import select_all
from tests.blender.skeletons import SKELETONS, blocky, mmd, twisted

from .conftest import call, select


def limbs_of(ob: Any) -> dict[str, list[str]]:
    """The bones of each limb, from the root down, by its last bone."""
    found = {}
    for last in ob.pose.bones:
        if last.planar_ik.enabled:
            line = [last, *last.parent_recursive][: next(c for c in last.constraints if c.type == "IK").chain_count]
            found[last.name] = [bone.name for bone in reversed(line)]
    return found


def in_line(limbs: dict[str, list[list[str]]]) -> dict[str, list[str]]:
    return {last: [name for segment in segments for name in segment] for last, segments in limbs.items()}


@pytest.mark.parametrize("kind", SKELETONS)
def test_all_selected(kind: str) -> None:
    ob, limbs = SKELETONS[kind]()
    names = ob.pose.bones.keys()
    before = rigs.matrices(ob, names)
    select_all(ob)
    assert not call("add")
    assert limbs_of(ob) == in_line(limbs)
    size = np.ptp(before[:, :3, 3], axis=0).max()
    assert np.abs(rigs.matrices(ob, names) - before).max() < 2e-5 * max(1.0, size)
    assert {bone.planar_ik.message for bone in ob.pose.bones if bone.planar_ik.enabled} == {"On target"}


@pytest.mark.parametrize("kind", SKELETONS)
def test_each_bone_clicked(kind: str) -> None:
    """A bone of a limb, one of its twist bones, its foot: that limb."""
    limbs = SKELETONS[kind]()[1]
    bpy.ops.ed.undo_push(message="made")
    for last, segments in limbs.items():
        for name in [name for segment in segments for name in segment]:
            select(name)
            assert not call("add"), name
            assert limbs_of(bpy.context.object) == {last: [n for segment in segments for n in segment]}, name
            bpy.ops.ed.undo()


def line(count: int) -> Any:
    """Bones in line, to and fro."""
    return rigs.rig(
        {
            f"B{k}": ((0.1 * (k % 2), 0, k), (0.1 * ((k + 1) % 2), 0, k + 1), f"B{k - 1}" if k else "")
            for k in range(count)
        }
    )


def stumps() -> Any:
    bones: Any = {"body": ((0, 0, 1), (0, 0, 1.4), "")}
    for side, x in (("L", 1), ("R", -1)):
        bones[f"arm.{side}"] = ((0.15 * x, 0, 1.35), (0.6 * x, 0.02, 1), "body")
        bones[f"leg.{side}"] = ((0.1 * x, 0, 1), (0.1 * x, 0, 0), "body")
    return rigs.rig(bones)


REFUSED = {
    "five in line": (lambda: line(5), [f"B{k}" for k in range(5)], "two to four bones"),
    "five of eight": (lambda: line(8), [f"B{k}" for k in range(2, 7)], "two to four bones"),
    "what moves with the limb": (lambda: mmd(twist=True)[0], ["腕.L", "ひじ.L", "人指２.L"], "moves with this limb"),
    "what carries it": (lambda: twisted()[0], ["spine", "fore.L"], "carries the limb"),
    "arms and legs of one bone": (stumps, ["body", "arm.L", "arm.R", "leg.L", "leg.R"], "carries limbs"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_t_be_used_is_refused_by_name(case: str) -> None:
    make, names, why = REFUSED[case]
    ob = make()
    select(*names)
    before = rigs.snapshot()
    assert re.search(why, call("add"))
    assert not limbs_of(ob)
    assert rigs.differences(before, rigs.snapshot()) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_selections(seed: int) -> None:
    """Of some selected bones Add makes limbs of which each bone is a part, or its foot, toe, target or pole; or it
    refuses by a name. Where several limbs are made, what is of none of them may be selected as well."""
    rng = random.Random(seed)
    ob, _ = SKELETONS[rng.choice([*SKELETONS])]()
    names = rng.sample(ob.pose.bones.keys(), rng.randint(2, 4))
    select(*names)
    refused = call("add")
    made = limbs_of(ob)
    assert bool(refused) != bool(made)
    if len(made) == 1:
        [(last, own)] = made.items()
        limb = ob.pose.bones[last]
        near = [*limb.children_recursive, *(bone for bone in limb.parent_recursive if len(bone.children) == 1)]
        used = {*own, limb.planar_ik.subtarget, limb.planar_ik.pole_subtarget, *(bone.name for bone in near)}
        assert {*names} <= used, (names, made)


@pytest.mark.parametrize("turns", ["", "in", "out"])
@pytest.mark.parametrize("depth", [None, 0.0, 0.01, 0.1])
def test_what_is_drawn_flat(depth: float | None, turns: str) -> None:
    """Flat pieces make a puppet; blocks, and legs that leave the plane, a body, whose knees and elbows have poles."""
    ob = blocky(depth, turns)
    select_all(ob)
    assert not call("add")
    planes = {bone.planar_ik.plane for bone in ob.pose.bones if bone.planar_ik.enabled}
    assert len(limbs_of(ob)) == 4
    assert planes == {"POLE" if turns == "out" or depth == 0.1 else "HINGE"}


def test_one_that_can_t_be_does_not_stop_the_others() -> None:
    ob, limbs = SKELETONS["twist under any name"]()
    ob.data.bones["shin.L"].inherit_scale = "ALIGNED"
    ob.pose.bones["hips"].scale = (1.3, 0.7, 1.0)
    select_all(ob)
    assert not call("add")
    assert {*limbs_of(ob)} == {*limbs} - {"shin.L"}
