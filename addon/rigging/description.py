"""One limb as one plain value: all that it is, read from its rig or planned. What is made of it is said in `parts`,
`feature_parts` and `controls`; `apply` makes the rig so."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject
from ..limb.features import BY_NAME, FEATURES
from ..limb.features.feature import Slider
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.features.pole_follow import PoleFollow
from ..limb.features.roll import Roll
from ..limb.follow import HUNG_ON_TARGET, flat_toes, follow_of, has_pole_follow, has_roll, is_still_helper
from ..limb.parts import ALL
from ..limb.settings import CHOICES, CONSTRAINT_NAME, CONVERTED_FROM, every_slider
from ..limb.sides import stored_axes
from ..limb.storage import choices_of, group_of, limb_constraint_of, mode_of, read_slider, segments_of
from ..limb.tips import foot_of
from .controls import Control
from .feet import foot_turn_of
from .foot_pivots import pivots_of

LimbRef = tuple[ArmatureObject, str]
"""A limb: its rig, and the name of its last bone. It stays, as Edit Mode makes the bones anew."""

Turn = tuple[float, float, float, float]


USUAL_SLIDERS: dict[str, Any] = {slider.name: slider.default for slider in every_slider() if not slider.is_feature}
"""Those that every limb has."""


class Description(NamedTuple):
    """A limb. ``foot`` is the bone that begins at its tip, or nothing, and ``foot_turn`` how that is turned off what it
    follows, as Euler angles; None if it does not follow. ``target`` and ``pole`` are objects or bones, or controls to
    be made. ``bend_axis`` and ``reference_rotations`` may be none, see `limb.rest_geometry`; ``sliders`` has those that
    the limb has, by name. ``constraint`` is the name of the IK constraint that is the limb."""

    segments: tuple[int, ...]
    foot: str
    bend_axis: tuple[float, ...] = ()
    reference_rotations: tuple[Turn, ...] = ()
    target: BoneRef | Control | None = None
    pole: BoneRef | Control | None = None
    foot_turn: tuple[float, float, float] | None = None
    roll: Roll | None = None
    pole_follow: PoleFollow | None = None
    sliders: dict[str, Any] = USUAL_SLIDERS
    choices: dict[str, Any] = CHOICES
    mode: str = "LIVE"
    constraint: str = CONSTRAINT_NAME
    converted_from: str = ""

    @property
    def tip(self) -> str:
        """Where the tip is: where the ``FOOT`` begins, or at the ``TAIL``."""
        return str(self.choices["tip"])

    @property
    def followed(self) -> tuple[BoneRef | None, BoneRef | None]:
        """Its target and its pole, but for controls that are yet to be made."""
        target, pole = self.target, self.pole
        return None if isinstance(target, Control) else target, None if isinstance(pole, Control) else pole

    def has(self, name: str) -> bool:
        """Whether it has a feature."""
        return BY_NAME[name].of(self)

    def without(self, name: str) -> Description:
        """The same without a feature."""
        feature = BY_NAME[name]
        sliders = {name: value for name, value in self.sliders.items() if name not in feature.keys}
        none: dict[str, Any] = dict.fromkeys(feature.fields)
        return self._replace(sliders=sliders, **none)

    def following(self, kind: str, ref: BoneRef | Control | None) -> Description:
        """The same with another ``target`` or ``pole``."""
        return self._replace(target=ref) if kind == "target" else self._replace(pole=ref)

    def with_slider(self, name: str, value: Any) -> Description:
        """The same with a slider, which it may have already, at a value."""
        return self._replace(sliders=self.sliders | {name: value})

    def with_sliders_of(self, name: str, **values: Any) -> Description:
        """The same with the sliders of a feature, at these values, or as they are, or else at rest."""
        sliders = [slider for slider in BY_NAME[name].sliders if slider.bone < len(self.segments)]
        return self._replace(sliders={slider.name: slider.default for slider in sliders} | self.sliders | values)

    def of_its_bones(self) -> Description:
        """The same with the features that a limb of so many bones has from the start, and without those that say
        something of each bone: there may have been others."""
        description = self
        for feature in FEATURES:
            if any(slider.bone != ALL for slider in feature.sliders):
                description = description.without(feature.name)
            elif feature.is_usual:
                has_bones = len(self.segments) >= feature.least_bones
                change = description.with_sliders_of if has_bones else description.without
                description = change(feature.name)
        return description

    def with_choice(self, name: str, value: Any) -> Description:
        """The same with a setting that does not animate at another value."""
        return self._replace(choices=self.choices | {name: value})


def ref_of(limb: PoseBone) -> LimbRef:
    """A limb by its last bone."""
    return limb.id_data, limb.name


def describe(ref: LimbRef) -> Description:
    """The description of a limb, read from its rig."""
    limb: Any = ref[0].pose.bones[ref[1]]
    group, foot = group_of(limb) or {}, foot_of(limb)
    axis, flat = stored_axes(limb)
    turns: Any = tuple(tuple(flat[i : i + 4]) for i in range(0, len(flat), 4))
    constraint = limb_constraint_of(limb)
    target, pole = (ref if ref[0] is not None else None for ref in follow_of(limb).pairs)
    return Description(
        segments=segments_of(limb),
        foot=foot.name if foot else "",
        bend_axis=tuple(axis),
        reference_rotations=turns,
        target=target,  # type: ignore[arg-type]  # it is there
        pole=pole,  # type: ignore[arg-type]
        foot_turn=foot_turn_of(foot),
        roll=_roll_of(limb) if has_roll(limb) else None,
        pole_follow=_pole_follow_of(limb) if has_pole_follow(limb) else None,
        sliders={slider.name: read_slider(limb, slider.name) for slider in every_slider() if _has(limb, slider)},
        choices=choices_of(limb),
        mode=mode_of(limb),
        constraint=constraint.name if constraint else CONSTRAINT_NAME,
        converted_from=group.get(CONVERTED_FROM, ""),
    )


def _has(limb: Any, slider: Slider) -> bool:
    return slider.key in limb and slider.bone < len(segments_of(limb))


def _roll_of(limb: PoseBone) -> Roll:
    return Roll(pivots_of(limb), tuple(toe.name for toe in flat_toes(limb)))


def _pole_follow_of(limb: PoseBone) -> PoleFollow | None:
    """What the pole of a limb hung on; None where that can't be told any more, and there is no Pole Follow."""
    follow, ob = follow_of(limb), limb.id_data
    pole: Any = ob.pose.bones.get(follow.pole_subtarget) if follow.pole == ob else None
    carrying: Any = pole.constraints.get(FOLLOWING_POLE) if pole else None
    if carrying is None or len(carrying.targets) != 2:
        return pole_follow_of_new(limb, pole)
    above = carrying.targets[0].subtarget
    return PoleFollow("" if is_still_helper(ob, above) else above, bool((group_of(limb) or {}).get(HUNG_ON_TARGET)))


def pole_follow_of_new(limb: PoseBone, pole: PoseBone | None) -> PoleFollow | None:
    """Pole Follow for a pole that hangs on a bone of its own rig, or on nothing; None without a pole."""
    if pole is None:
        return None
    above, follow = pole.parent, follow_of(limb)
    if above is not None and follow.target == limb.id_data and above.name == follow.subtarget:
        return PoleFollow(above.parent.name if above.parent else "", True)
    return PoleFollow(above.name if above else "", False)
