"""From Blender to the overlay's numbers: how the limbs that are shown stand in the evaluated scene, read by the rig."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph
from mathutils import Matrix, Quaternion, Vector

from ...rig.access import ArmatureObject, bones_of, view_layer_of
from ...rig.anatomy import frame_of
from ...rig.status import MISSED
from ...rig.targets import Target
from ...solver.chain import Own, solve_chain, tip_position
from ...solver.ops import FLOATS, Array
from .figure import Limbs, cross, dot, other_side, radii, size_of
from .sights import Shape, Sight, Sights

sights = Sights()

NO_PLANE = 1e-3
"""The sine of a knee's turn up to which its bones do not tell in which plane they bend."""


class Rig:
    """Where all bones of an armature are, in the world: ``(bones, 4, 3)`` axes and heads, and tails."""

    def __init__(self, ob: ArmatureObject, depsgraph: Depsgraph) -> None:
        self.evaluated = ob.evaluated_get(depsgraph)
        bones = self.evaluated.pose.bones
        matrices, tails = np.empty((len(bones), 4, 4), np.float32), np.empty((len(bones), 3), np.float32)
        bones.foreach_get("matrix", matrices.ravel())  # by columns
        bones.foreach_get("tail", tails.ravel())
        world = np.array(self.evaluated.matrix_world)
        turn, self._place = world[:3, :3].T, world[:3, 3]
        self.axes = matrices[:, :3, :3] @ turn
        self.heads, self.tails = matrices[:, 3, :3] @ turn + self._place, tails @ turn + self._place

    def scales(self) -> Array:
        """What the bones' own channels scale them by, ``(bones, 3)``."""
        found = np.empty((len(self.heads), 3), np.float32)
        self.evaluated.pose.bones.foreach_get("scale", found.ravel())
        return found


def limbs_shown(context: Context) -> Limbs | None:
    """The limbs of selected chains, and of chains whose target or pole is selected; None if there are none."""
    limbs, count = limbs_drawn(context)
    return Limbs(*(each[:count] for each in limbs)) if limbs and count else None


def limbs_drawn(context: Context) -> tuple[Limbs | None, int]:
    """All limbs that something is drawn of, and how many of them, the first ones, are shown with all there is; the
    others have their bones tinted."""
    depsgraph = view_layer_of(context).depsgraph
    if depsgraph is None:
        return None, 0
    shown = sights.look(context, depsgraph)
    rigs = {ob: Rig(ob, depsgraph) for ob in {*(sight.object for sight in shown), *sights.tinted}}
    gathered = [_gather(rigs, ob, list(chains), depsgraph) for ob, chains in groupby(shown, key=attrgetter("object"))]
    gathered += [_tinted(rigs[ob], np.array(pairs)) for ob, pairs in sights.tinted.items()]
    if not gathered:
        return None, 0
    return Limbs(*map(np.concatenate, zip(*gathered, strict=True))), len(shown)


def _gather(rigs: dict[Any, Rig], ob: ArmatureObject, chains: list[Sight], depsgraph: Depsgraph) -> Limbs:
    """Chains of one object."""
    rig, shapes = rigs[ob], [_shape(chain) for chain in chains]
    uppers, lowers = np.array([chain.bones for chain in chains]).T
    root, knee, tip = rig.heads[uppers], rig.heads[lowers], rig.tails[lowers]
    scales = _scales(rig, chains, uppers, depsgraph)
    turned = rig.axes[uppers].transpose(0, 2, 1) / np.where(scales, scales, 1.0)[:, None]
    axes, bends, rings, is_blended = _constants(tuple(shapes))
    plane = turned @ axes
    solved = np.stack((knee, tip), axis=1)
    own = np.repeat(root[:, None], 2, axis=1)
    target = np.array([_place(rigs, chain.target, chain.followed[0], depsgraph) for chain in chains])
    pole = np.array(
        [
            _place(rigs, chain.pole, chain.followed[1], depsgraph) if chain.pole else root[i]
            for i, chain in enumerate(chains)
        ]
    )
    for i in np.flatnonzero(is_blended):
        pair = (target[i], pole[i] if chains[i].pole else None)
        plane[i], solved[i], own[i] = _unblended(chains[i], rig, pair, depsgraph)
    away = tip - target
    is_missed = dot(away, away) > (MISSED * rings[:, 0]) ** 2 * dot(plane[:, :, 0], plane[:, :, 0])
    other = np.stack([root + _other(plane, solved - root[:, None], bends), solved[:, 1]], axis=1)
    solved[~is_blended] = root[~is_blended, None]
    along, across = plane[:, :, 0], plane[:, :, 1]
    return Limbs(root, knee, tip, target, pole, along, across, other, solved, own, rings, is_missed)


def _goals(chain: Sight) -> tuple[tuple[Target | None, int], tuple[Target | None, int]]:
    """The target and the pole, and the places of their bones."""
    return (chain.target, chain.followed[0]), (chain.pole, chain.followed[1])


def _shape(chain: Sight) -> Shape:
    return chain.posing  # type: ignore[return-value]  # which is None for those only that are not shown


def _tinted(rig: Rig, bones: Array) -> Limbs:
    """Limbs of which only the bones are drawn."""
    uppers, lowers = bones.T
    root, knee, tip = rig.heads[uppers], rig.heads[lowers], rig.tails[lowers]
    upper, lower = knee - root, tip - knee
    normal = cross(lower, upper)
    least = NO_PLANE * size_of(upper) * size_of(lower)
    normal = np.where((size_of(normal) > least)[:, None], normal, rig.axes[uppers, 0])
    pair = np.repeat(root[:, None], 2, axis=1)
    radii_, is_missed = np.zeros((len(root), 11), np.float32), np.zeros(len(root), bool)
    return Limbs(root, knee, tip, root, root, upper, cross(normal, upper), pair, pair, pair, radii_, is_missed)


_kept: tuple[tuple[Shape, ...], Any] = ((), None)


def _constants(shapes: tuple[Shape, ...]) -> Any:
    """What does not change while limbs only move: the axes of bend planes in the unturned upper bones, bends and the
    sides knees swing to, the radii of rings, and which limbs are blended."""
    global _kept  # noqa: PLW0603 - of those drawn last
    if len(shapes) != len(_kept[0]) or any(one is not other for one, other in zip(shapes, _kept[0], strict=True)):
        bends = np.array([(shape.settings.bend, shape.settings.swing_side) for shape in shapes]).T
        rings = np.array([radii(shape.body.limb.bones, shape.settings) for shape in shapes], np.float32)
        is_blended = np.array([shape.settings.influence < 1.0 for shape in shapes])
        _kept = (shapes, (_bend_axes(shapes), bends, rings, is_blended))
    return _kept[1]


def forget() -> None:
    """Let go of everything in the file."""
    global _kept  # noqa: PLW0603
    _kept = ((), None)
    sights.forget()


def _scales(rig: Rig, chains: list[Sight], uppers: Array, depsgraph: Depsgraph) -> Array:
    """What lengthens the upper bones: their own channels, and on the rig what stretches them there."""
    scales = rig.scales()[uppers]
    for i, chain in enumerate(chains):
        if chain.source is None and _shape(chain).settings.stretch > 0.0:
            upper = bones_of(rig.evaluated)[chain.bones[0]]
            inside = frame_of(upper).to_3x3().inverted_safe() @ upper.matrix.to_3x3()
            scales[i] = [axis.length for axis in inside.col]
    return scales


def _place(rigs: dict[Any, Rig], goal: Any, bone: int, depsgraph: Depsgraph) -> Any:
    """Where a target or pole is."""
    if bone < 0:
        return goal.object.evaluated_get(depsgraph).matrix_world.translation[:]
    rig = rigs.get(goal.object)
    return rig.heads[bone] if rig else goal.position(depsgraph)[:]


def _bend_axes(shapes: Sequence[Shape]) -> Array:
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


def _other(plane: Array, solved: Array, bends: Array) -> Array:
    """The knees of the other solutions, from the roots."""
    knees = other_side(_in_plane(plane, solved[:, 0]), _in_plane(plane, solved[:, 1]), *bends)
    return (plane @ knees[:, :, None])[:, :, 0]  # type: ignore[no-any-return]


def _in_plane(plane: Array, places: Array) -> Array:
    """Places ``(n, 3)`` by their components ``(n, 2)`` along the first two of the axes, which need not be square."""
    along, across = plane[:, :, 0], plane[:, :, 1]
    aa, ab, bb = dot(along, along), dot(along, across), dot(across, across)
    a, b = dot(along, places), dot(across, places)
    size: Array = aa * bb - ab * ab
    size[size == 0.0] = 1.0  # a limb scaled to nothing
    return np.stack([(bb * a - ab * b) / size, (aa * b - ab * a) / size], axis=1)


def _unblended(chain: Sight, rig: Rig, goals: tuple[Any, Any], depsgraph: Depsgraph) -> tuple[Any, Any, Any]:
    """The bend plane, and knee and tip, of the whole solution of a chain, and knee and tip of the animator's pose."""
    shape = _shape(chain)
    body, settings, features = shape
    frame = rig.evaluated.matrix_world @ frame_of(bones_of(rig.evaluated)[chain.bones[0]])
    inside: Any = frame.inverted_safe()  # the stubs don't know how long vectors are
    target, pole = (None if goal is None else (inside @ Vector(goal))[:] for goal in goals)
    whole = features._replace(blended=False)
    solution = solve_chain(target, body.limb, settings, whole, FLOATS, pole, uninherited=body.uninherited)  # type: ignore[arg-type]  # a place
    turns = Own(solution.upper, solution.lower)
    plane = np.array(frame.to_3x3() @ Quaternion(solution.upper).to_matrix()) @ _bend_axes([shape])[0]
    return plane, _joints(frame, turns, body, solution.stretch), _joints(frame, chain.own(depsgraph), body, 1.0)


def _joints(frame: Matrix, turns: Own, body: Any, stretch: float) -> tuple[Any, Any]:
    """Knee and tip in the world of a limb whose bones are turned so."""
    places = [tip_position(turns, limb, stretch, body.uninherited) for limb in (body.limb._replace(r2=0.0), body.limb)]
    return tuple((frame @ Vector(place))[:] for place in places)  # type: ignore[return-value]
