"""Mirroring limbs to the other side of their rig."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.types import ArmatureObject, takes_bones
from ..blender.words import Message, Refused
from ..limb.moving import move
from ..limb.storage import has_slider, is_limb, write_slider
from ..limb.transactional import transactional
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe
from ..rigging.features import live_for_now
from ..rigging.mirrored import Image, image_of, images_of, moves_of, pair_of


class Mirrored(NamedTuple):
    """Rigs with the names of both last bones, and warnings."""

    pairs: list[tuple[ArmatureObject, str, str]]
    warnings: list[Message]


@transactional
def mirror(context: Context, limbs: Sequence[PoseBone]) -> Mirrored:
    """Give the other side of limbs their settings, and targets and poles that are posed as the mirror image of theirs;
    limbs and controls are made where there are none. New limbs are on the rig where the first ones are. Raises
    `Refused` before anything is done."""
    depsgraph, dependencies, pairs = context.evaluated_depsgraph_get(), Dependencies(), [*map(pair_of, limbs)]
    images = {pair.image: images_of(pair, depsgraph) for pair in pairs}
    wishes = {pair.image: image_of(pair, images[pair.image], depsgraph, dependencies) for pair in pairs}
    warnings = list[Message]()
    if all(takes_bones(pair.ob) for pair in pairs):
        modes = {pair.image: describe((pair.ob, pair.last)).mode for pair in pairs}
        new = {limb: wish for limb, wish in wishes.items() if (modes[limb], wish.mode) == ("RIG", "LIVE")}
        on_rig, warnings = live_for_now(new, dependencies)
        apply(context, wishes | on_rig)
    else:
        for limb, wish in wishes.items():
            _set_sliders(limb, wish, images[limb])
    move(context, moves_of(chain.from_iterable(images.values())))
    return Mirrored([pair[:3] for pair in pairs], warnings)


def _set_sliders(ref: LimbRef, wish: Description, images: Sequence[Image]) -> None:
    """Give a limb that is there, of a rig from another file, what of the other side animates."""
    other = ref[0].pose.bones[ref[1]]
    if not is_limb(other) or any(image.there is None for image in images):
        template = "'{other}' has no IK, and '{rig}' comes from another file: mirror the limb there"
        raise Refused(template, other=ref[1], rig=ref[0].name)
    for name in wish.sliders:
        if has_slider(other, name):
            write_slider(other, name, wish.sliders[name])
