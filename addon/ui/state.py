"""What a limb is called and how it is, as a dot and a few words, in as many lines as they take: found out once for a
pose, and what only an edit of the rig changes not again for each pose."""

from __future__ import annotations

from collections import Counter
from textwrap import wrap
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from bpy.types import Context, Depsgraph, PoseBone, Scene

from ..blender.types import scene_of, translated_text, view_layer_of
from ..tasks import status as about
from ..tasks.selection import control_of
from ..tasks.status import Outcome, Status, description_of, statuses
from .finding import cached_until_posed, cached_until_rebuilt, name_of

DOT_COLOURS = {
    "GREEN": (0.35, 0.75, 0.3),
    "AMBER": (1.0, 0.65, 0.1),
    "RED": (0.95, 0.25, 0.2),
    "GREY": (0.55, 0.55, 0.55),
}

COLOUR_OF = {Outcome.REACHED: "GREEN", Outcome.FK: "GREY", Outcome.LIVE_OFF: "GREY"}
COLOUR_OF |= dict.fromkeys((Outcome.EASED, Outcome.BLENDING, Outcome.BLENDING_OFF, Outcome.SCALED_UNEVENLY), "AMBER")
"""Green is on target, amber is off it because somebody wants it so; what is not named is red: short, or broken."""

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
    (status,) = statuses(limb.id_data, [limb], depsgraph, structure_known(limb))
    if status.is_broken:  # maybe by an edit that nothing says more of
        (status,) = statuses(limb.id_data, [limb], depsgraph)
    slider = slider_of_rig(limb)
    return about.as_shown(status, limb, slider, depsgraph) if slider else status


def structure_known(limb: PoseBone) -> about.Structure | None:
    """The structure of a limb, nothing of one that can't be posed; looked at anew when its rig is edited."""
    if about.why_unposable(limb):
        return None
    key = "structure", name_of(limb), *about.limb_fingerprint(limb)
    return cached_until_rebuilt(key, lambda: about.structure_of(limb))


def slider_of_rig(limb: PoseBone) -> about.RigSlider | None:
    """The slider of the rig's own that switches a limb, if there is one."""
    return cached_until_rebuilt(("slider", name_of(limb)), lambda: about.rig_slider(limb))


def sentence_of(context: Context, status: Status) -> str:
    """What a status says, in the scene's units and the language of the interface."""
    return translated_text(
        status.outcome.value, distance=length_text(scene_of(context), status.residual), why=status.why
    )


def dot_of(status: Status) -> int:
    """The number of the icon of a status: a dot in its colour."""
    number: int = _icons[0][COLOUR_OF.get(status.outcome, "RED")].icon_id
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


def draw_lines(layout: Any, context: Context, sentence: str, icon: str, width: float | None = None) -> None:
    """Draw a sentence in as many lines as the region takes, or a popup of this ``width`` in unscaled pixels, an
    icon before the first."""
    column = layout.column(align=True)
    for number, line_of_text in enumerate(_wrapped(context, sentence, width)):
        column.label(text=line_of_text, icon="BLANK1" if number else icon, translate=False)


def _wrapped(context: Context, sentence: str, width: float | None) -> list[str]:
    region, scale = context.region, context.preferences.system.ui_scale  # type: ignore[union-attr]
    across = width or (region.width if region else 250) / scale
    return wrap(sentence, max(20, int(across / 7.5) - 4))


def length_text(scene: Scene, length: float) -> str:
    """A length of the scene in the unit that suits it."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.3g}"
    text: str = bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
    return text


TITLES = {
    ("ARM", 1): "Left Arm",
    ("ARM", -1): "Right Arm",
    ("ARM", 0): "Arm",
    ("FORELEG", 1): "Left Foreleg",
    ("FORELEG", -1): "Right Foreleg",
    ("FORELEG", 0): "Foreleg",
    ("LEG", 1): "Left Leg",
    ("LEG", -1): "Right Leg",
    ("LEG", 0): "Leg",
}


def title_of(limb: PoseBone) -> str:
    """The title of a limb, in the language of the interface."""
    title, is_kind = cached_until_rebuilt(("title", name_of(limb)), lambda: _title(limb))
    return translated_text(title) if is_kind else title


def joint_label(limb: PoseBone) -> str:
    """What bends in a limb, in English: ``Elbow``, ``Knee`` or ``Bend``. Of two bones that are called as of an arm
    or a leg, the first two."""
    joint: str = cached_until_rebuilt(("joint", name_of(limb)), lambda: _joint(limb))
    return joint


def _joint(limb: PoseBone) -> str:
    kind = about.arm_or_leg(limb) if len(description_of(limb).segments) == 2 else ""
    return {"ARM": "Elbow", "LEG": "Knee"}.get(kind, "Bend")


def _title(limb: PoseBone) -> tuple[str, bool]:
    """The title in English, and whether it says what kind of limb it is."""
    title = _named(limb)
    counts = Counter(map(_named, about.limbs_of(limb.id_data)))
    if title and counts[title] == 1:
        return title, True
    target, bone = control_of(limb)
    if target and slider_of_rig(limb):  # the limb's bones are hidden: people know the control
        return bone or target.name, False
    return limb.name, False


def _named(limb: PoseBone) -> str:
    """``Left Leg`` and the like in English, nothing where the bones' names don't say."""
    kind = about.arm_or_leg(limb)
    return TITLES.get(("FORELEG" if kind == "ARM" and about.is_leg(limb) else kind, about.side_sign(limb.name)), "")
