"""From Blender to the overlay's numbers: which limbs are shown, and how they stand in the evaluated scene."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph
from mathutils import Matrix, Quaternion, Vector

from ...rig.access import ArmatureObject, view_layer_of
from ...rig.anatomy import frame_of
from ...rig.status import MISSED
from ...solver.chain import Own, solve_chain, tip_position
from ...solver.ops import FLOATS, Array
from .figure import Limbs, other_side, radii
from .sights import Sight, sights


def limbs_shown(context: Context) -> Limbs | None:
    """The limbs of selected chains, and of chains whose target or pole is selected; None if there are none."""
    depsgraph = view_layer_of(context).depsgraph
    if depsgraph is None:
        return None
    gathered = [_gather(ob, chains, depsgraph) for ob, chains in sights(context, depsgraph).items()]
    if not gathered:
        return None
    return Limbs(*(np.concatenate(parts).astype(np.float32) for parts in zip(*gathered, strict=True)))


def _gather(ob: ArmatureObject, chains: list[Sight], depsgraph: Depsgraph) -> Limbs:
    """Chains of one object."""
    evaluated = ob.evaluated_get(depsgraph)
    world = np.array(evaluated.matrix_world)
    bones = evaluated.pose.bones
    pairs = [(bones[chain.upper], bones[chain.lower]) for chain in chains]
    turned = _linear(upper.matrix for upper, _ in pairs)
    joints = np.array([(upper.head[:], lower.head[:], lower.tail[:]) for upper, lower in pairs])
    joints = joints @ world[:3, :3].T + world[:3, 3]
    scales = np.array([chain.scale for chain in chains])
    shapes: list[Any] = [chain.posing for chain in chains]
    axes = _bend_axes(shapes)
    plane = (world[:3, :3] @ turned) @ (axes / np.where(scales, scales, 1.0)[:, :, None])
    root, solved = joints[:, 0], joints[:, 1:].copy()
    own = np.repeat(joints[:, :1], 2, axis=1)
    is_blended = np.array([shape.settings.influence < 1.0 for shape in shapes])
    for i in np.flatnonzero(is_blended):
        plane[i], solved[i], own[i] = _unblended(chains[i], pairs[i], evaluated.matrix_world, depsgraph)
    goals = [_places(chain, depsgraph) for chain in chains]
    target = np.array([goal for goal, _ in goals])
    pole = np.array([joints[i, 0] if pole is None else pole for i, (_, pole) in enumerate(goals)])
    rings = np.array([radii(shape.body.limb.bones, shape.settings) for shape in shapes])
    size = rings[:, 0] * np.linalg.norm(plane[:, :, 0], axis=1)
    is_missed = np.linalg.norm(joints[:, 2] - target, axis=1) > MISSED * size
    other = np.stack([root + _other(plane, solved - root[:, None], shapes), solved[:, 1]], axis=1)
    solved[~is_blended] = root[~is_blended, None]
    return Limbs(
        root,
        joints[:, 1],
        joints[:, 2],
        target,
        pole,
        plane[:, :, 0],
        plane[:, :, 1],
        other,
        solved,
        own,
        rings,
        is_missed,
    )


def _linear(matrices: Iterable[Matrix]) -> Array:
    return np.array([(*m[0][:3], *m[1][:3], *m[2][:3]) for m in matrices]).reshape(-1, 3, 3)


def _bend_axes(shapes: list[Any]) -> Array:
    """Along the unturned upper bones, across them in the bend plane, and the axes that the limbs bend about, as columns
    ``(n, 3, 3)``.

    Between bends of 1 and -1 these axes have swung about the bone.
    """
    axes = np.array([shape.body.limb.axes for shape in shapes]).transpose(0, 2, 1)
    bends = [(shape.settings.bend, shape.settings.swing_side) for shape in shapes]
    bend, side = np.array(bends).T
    swing = side * np.sqrt(np.maximum(1.0 - bend * bend, 0.0))
    turns = np.zeros((len(shapes), 3, 3))
    turns[:, 0, 0] = 1.0
    turns[:, 1, 1] = turns[:, 2, 2] = bend
    turns[:, 2, 1], turns[:, 1, 2] = swing, -swing
    return axes @ turns


def _places(chain: Any, depsgraph: Depsgraph) -> tuple[Any, Any]:
    pole = chain.pole.position(depsgraph)[:] if chain.pole else None
    return chain.target.position(depsgraph)[:], pole


def _other(plane: Array, solved: Array, shapes: list[Any]) -> Array:
    """The knees of the other solutions, from the roots."""
    knee, tip = _in_plane(plane, solved[:, 0]), _in_plane(plane, solved[:, 1])
    settings = [shape.settings for shape in shapes]
    bends, sides = np.array([(one.bend, one.swing_side) for one in settings]).T
    knees = other_side(knee, tip, bends, sides)
    return (plane @ knees[:, :, None])[:, :, 0]  # type: ignore[no-any-return]


def _in_plane(plane: Array, places: Array) -> Array:
    """Places ``(n, 3)`` by their components ``(n, 2)`` along the first two of the axes, which need not be square."""
    along, across = plane[:, :, 0], plane[:, :, 1]
    aa, ab, bb = _dot(along, along), _dot(along, across), _dot(across, across)
    a, b = _dot(along, places), _dot(across, places)
    size: Array = aa * bb - ab * ab
    size[size == 0.0] = 1.0  # a limb scaled to nothing
    return np.stack([(bb * a - ab * b) / size, (aa * b - ab * a) / size], axis=1)


def _dot(one: Array, other: Array) -> Array:
    return (one * other).sum(axis=1)  # type: ignore[no-any-return]


def _unblended(
    chain: Any, bones: tuple[Any, Any], world: Matrix, depsgraph: Depsgraph
) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
    """The bend plane, and knee and tip, of the whole solution of a chain, and knee and tip of the animator's pose."""
    upper, _ = bones
    body, settings, features, own = chain.posing
    frame = world @ frame_of(upper)
    inside: Any = frame.inverted_safe()  # the stubs don't know how long vectors are
    target, pole = _places(chain, depsgraph)
    at = (inside @ Vector(pole))[:] if pole else None
    whole = features._replace(blended=False)
    solution = solve_chain(
        (inside @ Vector(target))[:], body.limb, settings, whole, FLOATS, at, uninherited=body.uninherited
    )
    turns = Own(solution.upper, solution.lower)
    plane = np.array(frame.to_3x3() @ Quaternion(solution.upper).to_matrix()) @ _bend_axes([chain.posing])[0]
    return plane, _joints(frame, turns, body, solution.stretch), _joints(frame, own, body, 1.0)


def _joints(frame: Matrix, turns: Own, body: Any, stretch: float) -> tuple[Any, Any]:
    """Knee and tip in the world of a limb whose bones are turned so."""
    places = [tip_position(turns, limb, stretch, body.uninherited) for limb in (body.limb._replace(r2=0.0), body.limb)]
    return tuple((frame @ Vector(place))[:] for place in places)  # type: ignore[return-value]
