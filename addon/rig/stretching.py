"""How a limb's bones lengthen: what becomes of their scale, by what the lower one inherits of the upper one's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from bpy.types import PoseBone
from bpy.utils import escape_identifier, unescape_identifier

from ..solver.lengthening import MOST_ASIDE, Lengthening, Sizes, lengthened
from ..solver.ops import FLOATS
from ..solver.rotation import Quaternion
from ..solver.triangle import Settings
from .anatomy import Anatomy, Unposable
from .data.access import chain_settings, path_to_bone, upper_of
from .data.animation import animated_paths
from .kinds import Kind, Problem

SHEARING = {"FULL", "FIX_SHEAR"}
"""The ways to inherit scale that shear a turned bone under one that is scaled unevenly."""

ON_LOWER: Literal["ALIGNED"] = "ALIGNED"
"""What a limb that stretches on the rig has the lower bone inherit of its scale."""

ON_OTHERS = "AVERAGE"
"""What it had other bones that hang on it inherit, in files of development builds."""

POWERS = {"LENGTH": (0.0, 1.0, 0.0), "UNIFORM": (1.0, 1.0, 1.0), "VOLUME": (-0.5, 1.0, -0.5)}
"""By which power of the factor that lengthens a bone each of its axes grows, for each `stretch_volume`."""

UNIFORM = "set Stretch Volume to Uniform"
ALIGNED = "set it to Aligned, or Stretch Volume to Uniform"


def avoid_shear(lower: PoseBone) -> None:
    """Let the lower bone take over the upper bone's lengthening along its own axes, and keep in the chain's settings
    what it inherited before."""
    chain, kept = chain_settings(lower), dict(_kept(lower))
    if shears(lower):
        kept.setdefault(lower.name, lower.bone.inherit_scale)
        lower.bone.inherit_scale = ON_LOWER
    lines = "\n".join(f"{mode} {escape_identifier(name)}" for name, mode in kept.items())
    if lines != chain.own_inherit_scale:
        chain.own_inherit_scale = lines


def shears(lower: PoseBone) -> bool:
    """Whether `avoid_shear` has something to set."""
    return lower.bone.inherit_scale in {*SHEARING, "AVERAGE"}


def restore_inherit_scale(lower: PoseBone) -> None:
    """Set Inherit Scale back to what it was before `avoid_shear`, and forget what it was: except where it was set
    otherwise since, or a bake keyed how the limb lengthens, which is right with what is inherited now."""
    bones, chain = lower.id_data.pose.bones, chain_settings(lower)
    kept = _kept(lower)
    for name, mode in () if kept and _is_scale_animated(lower.parent) else kept:
        if name in bones and bones[name].bone.inherit_scale == (ON_LOWER if name == lower.name else ON_OTHERS):
            bones[name].bone.inherit_scale = mode
    if chain.own_inherit_scale:
        chain.own_inherit_scale = ""


def _is_scale_animated(bone: PoseBone | None) -> bool:
    return bone is not None and f"{path_to_bone(bone.name)}.scale" in animated_paths(bone.id_data)


UNSCALED = (1.0, 1.0, 1.0)

ASIDE = 1e-6
"""How far aside of its knee, as a sine, a bone in single precision may point and still count as pointing at it."""

Powers = tuple[float, float, float]


class Stretching(NamedTuple):
    """How a limb's bones are scaled by the factor that lengthens it: each axis by a power of the factor, ``upper`` and
    ``lower`` for x, y and z. With ``how``, the bones must be turned as well, for the joints to be where they belong.
    ``inherited`` is the lower bone's `inherit_scale`."""

    upper: Powers
    lower: Powers
    how: Lengthening | None
    inherited: str

    def turn_and_scale(
        self, upper: Quaternion, lower: Quaternion, factor: float
    ) -> tuple[Quaternion, Quaternion, Sizes, Sizes]:
        """The rotations and factors on the scales of the upper and the lower bone of a limb that was solved so."""
        if self.how is None or (factor == 1.0 and self.how.own == UNSCALED):
            return upper, lower, _powers_of(factor, self.upper), _powers_of(factor, self.lower)
        upper, lower, grown, wanted = lengthened(upper, lower, factor, self.how, FLOATS)
        return upper, lower, grown, besides_inherited(wanted, grown, self.inherited)


def stretching_of(lower: PoseBone, body: Anatomy, settings: Settings, volume: str) -> Stretching:
    """How the limb of an evaluated lower bone stretches; raises `Unposable` if it can't without leaving its joints."""
    bone, upper = lower.bone, upper_of(lower)
    mode, powers = bone.inherit_scale, POWERS[volume]
    plain = Stretching(powers, _lower_powers(mode, volume), None, mode)
    is_passed_on, own = mode in SHEARING, body.uneven or UNSCALED
    along = body.limb.axes[0]
    if settings.stretch == 0.0:
        along = (0.0, 1.0, 0.0)  # which knee moves aside is all the same to a limb that does not lengthen
    points = abs(along[0]) <= ASIDE and abs(along[2]) <= ASIDE
    if own == UNSCALED and (volume == "UNIFORM" or (points and not is_passed_on)):
        return plain
    if volume != "UNIFORM":
        check_pointing(along, upper, lower)
    if is_passed_on and (mode == "FIX_SHEAR" or not bone.use_inherit_rotation):
        setting = "Fix Shear" if mode == "FIX_SHEAR" else "Full, without rotation"
        sentence = f"'{lower.name}' has Inherit Scale {setting}, which bends a limb that stretches: {ALIGNED}"
        raise Unposable(Problem(Kind.STRETCHED_BENT, sentence))
    if own == UNSCALED and points and _is_straight_where_stretched(settings):
        return plain
    how = Lengthening(along, body.lower_axes, bone.use_inherit_rotation, is_passed_on, volume, own)
    return plain._replace(how=how)


def check_pointing(along: Sequence[float], upper: PoseBone, lower: PoseBone) -> None:
    """Raise `Unposable` if an upper bone points so far aside of its knee that getting longer does not move this off."""
    if along[1] * along[1] < MOST_ASIDE:
        sentence = f"'{upper.name}' points away from '{lower.name}', so that it can't just get longer: {UNIFORM}"
        raise Unposable(Problem(Kind.STRETCHED_ASIDE, sentence))


def _lower_powers(inherited: str, volume: str) -> Powers:
    """By which powers the lower bone's scale grows, with what it inherits, while it is in line with the upper one."""
    x, y, z = POWERS[volume]
    if inherited == "AVERAGE":
        mean = (x + y + z) / 3.0
        return (x - mean, y - mean, z - mean)
    return (0.0, 0.0, 0.0) if inherited in {*SHEARING, "ALIGNED"} else (x, y, z)


def _is_straight_where_stretched(settings: Any) -> bool:
    """Whether a limb with these settings lengthens only while its knee is straight."""
    return bool(settings.softness == 0.0 and settings.max_cos2 == 0.0 and settings.influence == 1.0)


def _powers_of(factor: float, powers: Powers) -> Sizes:
    return (factor ** powers[0], factor ** powers[1], factor ** powers[2])


def besides_inherited(wanted: Sizes, upper: Sizes, mode: str) -> Sizes:
    """The scale that a lower bone needs of its own to be ``wanted`` in all, below an upper bone of the scale ``upper``
    of which it inherits by ``mode``; shear not counted."""
    x, y, z = upper
    if mode == "AVERAGE":
        x = y = z = (x * y * z) ** (1.0 / 3.0)
    elif mode != "ALIGNED":
        return wanted
    return (wanted[0] / x, wanted[1] / y, wanted[2] / z)


def _kept(lower: PoseBone) -> list[tuple[str, str]]:
    lines = (line.split(" ", 1) for line in chain_settings(lower).own_inherit_scale.split("\n") if line)
    return [(unescape_identifier(name), mode) for mode, name in lines]
