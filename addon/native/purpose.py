"""What the mechanism of a chain is made for, kept with it, and what of that was changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import PoseBone

from ..rig.anatomy import EVEN, Unposable, anatomy
from ..rig.data.access import setting_path, upper_of
from ..rig.data.animation import changing_paths
from ..rig.data.dependencies import Dependencies
from ..rig.kinds import Kind, Problem, Refused
from ..rig.settings import IN_SHAPE, titled
from ..rig.solver_settings import angles_of
from ..rig.stretching import check_pointing
from ..solver.limb import Limb
from ..solver.ops import FLOATS
from ..solver.triangle import bones
from .checking import check_goals, check_kept, check_lengths
from .keyed import SWITCHED, leaves_sides
from .mechanism.blending import is_mirrored
from .mechanism.found import Found, host_of
from .wanted import Wanted, goals_wanted, read


def is_set_anew(found: Found) -> bool:
    """Whether the mechanism of a chain is not the one that its settings ask for. The shape of the limb does not count,
    nor keys that will be moved at the next evaluation. Raises `Refused` as `changed_since` does."""
    return not found.is_whole or bool(_set_since(found, read(found.lower)._replace(waiting=frozenset())))


def changed_since(found: Found, evaluated: PoseBone) -> str:
    """What of a chain was changed since its mechanism, which is whole, was made: the first part of a sentence.
    Raises `Refused` if no mechanism can be made for it."""
    wanted = read(found.lower)
    check_new_goals(found, wanted)
    check_kept(found.lower, wanted)
    if shaped := _shaped_since(found, evaluated, wanted):
        check_lengths(found.lower)
    return _set_since(found, wanted) or shaped


def _set_since(found: Found, wanted: Wanted) -> str:
    """What was set otherwise."""
    lower, built = found.lower, found.purpose
    if animated := sorted(wanted.waiting | (_animated_since(lower, wanted, built) if built else set())):
        return f"{titled(animated[0])} of '{lower.name}' was animated since it was put on the rig"
    if built is None or found.goals != goals_wanted(wanted):
        return f"'{lower.name}' has another target or pole than when it was put on the rig"
    words, numbers = _words(_as_built(wanted, built), lower), _numbers(_as_built(wanted, built))
    if words["swings"] and not built["words"]["swings"] and leaves_sides(lower):
        return f"The knee of '{lower.name}' does not swing yet, as it does with a bend between 1 and -1"
    if not {*words["moving"]} <= {*built["words"]["moving"]}:
        return f"The location of '{upper_of(lower).name}' was changed since '{lower.name}' was put on the rig"
    if _planes_in(words["kinds"][0]) <= _planes_in(built["words"]["kinds"][0]):
        words["kinds"][0] = built["words"]["kinds"][0]
    needless = {name: built["words"][name] for name in ("swings", "moving")}  # but harmless
    if words | needless != built["words"] or not _are_alike(built["numbers"], numbers, 1e-6):
        return f"'{lower.name}' or its chain was changed since it was put on the rig"
    return ""


def _animated_since(lower: PoseBone, wanted: Wanted, built: dict[str, Any]) -> set[str]:
    """The settings that the mechanism holds fixed, and that animation changes over time; keys that repeat the fixed
    value do not count."""
    paths = {setting_path(lower.name, name): name for name in wanted.exposed.difference(built["words"]["exposed"])}
    return {paths[path] for path in changing_paths(lower.id_data, paths)} if paths else set()


def _shaped_since(found: Found, evaluated: PoseBone, wanted: Wanted) -> str:
    """Whether the limb has another shape, to within single precision. With scale taken over by axes, its length varies
    with the pose where those above it are not quite square, as Blender leaves axes of bones that point along -Y."""
    lower, built = found.lower, found.purpose or {}
    shape = _shape(limb_of(evaluated, lower, _as_built(wanted, built))) | {"place": found.place}
    size = max(shape["lengths"])
    within = {"axes": 1e-4, "lengths": EVEN * size, "place": 1e-4 * max(1.0, size)}
    if all(_are_alike(built[name], shape[name], limit) for name, limit in within.items()):
        return ""
    return f"'{lower.name}' or its chain was changed since it was put on the rig"


def _as_built(wanted: Wanted, built: dict[str, Any]) -> Wanted:
    """What a chain wants, with the custom properties that its mechanism was made with, also those of settings that
    nothing animates any more."""
    return wanted._replace(exposed=frozenset(built["words"]["exposed"]))


def check_new_goals(found: Found, wanted: Wanted) -> None:
    """Raise `Refused` if a chain is to follow what its mechanism does not measure, and can't."""
    if found.goals != goals_wanted(wanted):
        check_goals(found.lower, (wanted.target, wanted.pole), Dependencies())


def limb_of(evaluated: PoseBone, lower: PoseBone, wanted: Wanted) -> Limb:
    """The shape of a limb by its evaluated lower bone and the original one, whose scale is its own. Lengths are in the
    unit in which the mechanism measures targets. Angles that are custom properties count as 0."""
    upper = upper_of(evaluated)
    parent = upper.parent if upper.bone.inherit_scale == "ALIGNED" else None
    sizes = [axis.length for axis in parent.matrix.to_3x3().col] if parent else [1.0]
    if max(sizes) - min(sizes) > 1e-4 * max(sizes):
        sentence = f"'{upper.name}' takes over an uneven scale axis by axis: let it inherit scale in full"
        raise Refused(Problem(Kind.UPPER_INHERITS, sentence))
    still = {name: 0.0 if name in wanted.exposed else wanted.settings[name] for name in IN_SHAPE}
    try:
        limb = anatomy(upper, evaluated, upper_of(lower).scale[:], lower.scale[:], angles_of(still)).limb
        if wanted.lengthens_only:
            check_pointing(limb.axes[0], upper, lower)
    except Unposable as why:
        raise Refused(*why.args) from why
    r1, r2 = limb.r1 / sizes[0], limb.r2 / sizes[0]
    return limb._replace(r1=r1, r2=r2, bones=bones(r1, r2, FLOATS)) if parent else limb


def purpose_of(wanted: Wanted, limb: Limb, lower: PoseBone) -> dict[str, Any]:
    """What a mechanism is made for, in words and numbers that can be kept with it and compared."""
    return {"words": _words(wanted, lower), "numbers": _numbers(wanted), **_shape(limb)}


def _words(wanted: Wanted, lower: PoseBone) -> dict[str, Any]:
    volume = wanted.settings["stretch_volume"]
    words: dict[str, Any] = {
        "hangs": [[bone.bone.use_inherit_rotation, bone.bone.inherit_scale] for bone in (upper_of(lower), lower)],
        "exposed": sorted(wanted.exposed),
        "kinds": [_kind_of_plane(wanted), "" if "stretch_volume" in wanted.exposed else volume],
        "swings": wanted.swings,
        "moving": list(wanted.moving),
    }
    if not lower.bone.use_inherit_rotation:
        words["mirrored"] = is_mirrored(upper_of(lower))
    if host_of(lower) != lower.id_data:  # in an annex, where bones turn as the limb's do
        words["modes"] = [bone.rotation_mode for bone in (upper_of(lower), lower)]
    return words


def _kind_of_plane(wanted: Wanted) -> str:
    return "SWITCHED" if wanted.planes == SWITCHED else " ".join(sorted(wanted.planes))


def _planes_in(kind: str) -> set[str]:
    """The planes of which a mechanism of some kind has one or another."""
    return {*SWITCHED} if kind == "SWITCHED" else {*kind.split()}


def _numbers(wanted: Wanted) -> list[float]:
    """What the mechanism has for good."""
    fixed = sorted(name for name in wanted.settings if name not in wanted.exposed)
    return [wanted.settings[name] for name in fixed if isinstance(wanted.settings[name], float)]


def _shape(limb: Limb) -> dict[str, list[float]]:
    axes = [number for turn in (*limb.axes, *limb.knee_turns) for number in turn]
    return {"axes": axes, "lengths": [limb.r1, limb.r2]}


def _are_alike(one: Sequence[float], other: Sequence[float], within: float) -> bool:
    """Whether numbers differ by no more, next to their size where that is above 1."""
    pairs = zip(one, other, strict=True)
    return len(one) == len(other) and all(abs(a - b) <= within * max(1.0, abs(b)) for a, b in pairs)
