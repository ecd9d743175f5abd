"""How the limb that is shown is, as a dot and a few words: found out once for a pose, and what only an edit of the rig
changes not again for each pose."""

from __future__ import annotations

from typing import Any

import bpy.utils.previews
import numpy as np
from bpy.types import Context, Depsgraph, PoseBone

from ..blender.types import scene_of, view_layer_of
from ..blender.words import translated_text
from ..tasks.limbs import limb_fingerprint
from ..tasks.status import (
    RigSlider,
    Status,
    Structure,
    Table,
    as_shown,
    rig_slider,
    status_of,
    structure_of,
    unposable_status,
)
from .lines import length_text
from .remembering import cached_until_posed, cached_until_rebuilt, name_of

DOT_COLOURS = {
    "GREEN": (0.35, 0.75, 0.3),
    "AMBER": (1.0, 0.65, 0.1),
    "RED": (0.95, 0.25, 0.2),
    "GREY": (0.55, 0.55, 0.55),
}

SIZE = 32
"""Pixels of an icon, across."""

RADIUS = 9.0

_icons: list[Any] = []


def status_in(context: Context, limb: PoseBone) -> Status:
    """The status of a limb as its rig shows it in a context."""
    key = "status", name_of(limb), view_layer_of(context).as_pointer()
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    return cached_until_posed(key, lambda: _status(limb, depsgraph))


def _status(limb: PoseBone, depsgraph: Depsgraph) -> Status:
    status = status_of(limb, depsgraph, structure_known(limb))
    if status.is_broken:  # maybe by an edit that nothing says more of
        status = status_of(limb, depsgraph)
    slider = slider_of_rig(limb)
    return as_shown(status, limb, slider, depsgraph) if slider else status


def structure_known(limb: PoseBone) -> Structure | None:
    """The structure of a limb, nothing of one that can't be posed; looked at anew when its rig is edited."""
    if unposable_status(limb):
        return None
    return cached_until_rebuilt(("structure", name_of(limb), *limb_fingerprint(limb)), lambda: structure_of(limb))


def table_known(limb: PoseBone) -> Table | None:
    """What the solver takes of a limb."""
    structure = structure_known(limb)
    return structure.table if structure else None


def slider_of_rig(limb: PoseBone) -> RigSlider | None:
    """The slider of the rig's own that switches a limb, if there is one."""
    return cached_until_rebuilt(("slider", name_of(limb)), lambda: rig_slider(limb))


def sentence_of(context: Context, status: Status) -> str:
    """What a status says, in the scene's units."""
    scene = scene_of(context)
    values = {
        name: length_text(scene, value) if isinstance(value, float) else value for name, value in status.values.items()
    }
    return translated_text(status.template, **values)


def colour_of(status: Status) -> str:
    """The colour of what a status says: green is on target, amber is off it because somebody wants it so, red short."""
    if status.is_broken:
        return "RED"
    if status.is_fk:
        return "GREY"
    if not status.is_ik or status.is_eased:
        return "AMBER"
    return "GREEN" if status.is_reached else "RED"


def dot_icon(colour: str) -> int:
    """The number of the icon of a colour."""
    number: int = _icons[0][colour].icon_id
    return number


def _pixels(colour: tuple[float, float, float]) -> list[float]:
    """A disc with a soft edge: of each pixel red, green and blue, as opaque as it is, and its opacity."""
    across = np.arange(SIZE) - (SIZE - 1) / 2.0
    opacity = np.clip(RADIUS + 0.5 - np.hypot(*np.meshgrid(across, across)), 0.0, 1.0)
    pixels = np.empty((SIZE, SIZE, 4))
    pixels[..., :3], pixels[..., 3] = opacity[..., None] * np.array(colour), opacity
    flat: list[float] = pixels.ravel().tolist()
    return flat


def register() -> None:
    """Make the icons."""
    icons: Any = bpy.utils.previews.new()
    _icons.append(icons)
    for name, colour in DOT_COLOURS.items():
        icon = icons.new(name)
        icon.icon_size = (SIZE, SIZE)
        icon.icon_pixels_float = _pixels(colour)


def unregister() -> None:
    """Take them away."""
    bpy.utils.previews.remove(_icons.pop())
