"""What of limbs, and of what they follow, can be moved and set; and the slider by which a rig itself switches."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Object, PoseBone

from ..blender.animation import driver_of, drivers_of
from ..blender.dependencies import Dependencies, driver_targets
from ..blender.keying import Change
from ..blender.types import bones_of, split_path
from ..blender.words import Refused
from .settings import slider_of
from .storage import bones_of_limb, limbs_of, path_to_slider

FIXING = {"COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH", "CLAMP_TO", "SHRINKWRAP", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""The constraints that leave nothing to what they hold, at full influence."""


def change_of(limb: PoseBone, slider: str) -> Change:
    """A `Change` for a slider of a limb that will be set."""
    return Change.of_property(limb.id_data, limb.name, slider_of(slider).path)


def check_movable(limb: PoseBone, ob: Object, bone: str) -> None:
    """Refuse to move a target or pole that drivers, constraints or another limb pose, that comes from another file, or
    that the limb hangs on."""
    name, dependencies = bone or ob.name, Dependencies()
    if not ob.is_editable:
        raise Refused("'{name}' is of another file: make a library override of it, then snap", name=name)
    check_apart(limb, ob, bone, dependencies)
    owner: Any = bones_of(ob)[bone] if bone else ob
    if bone:
        own = [*owner.constraints]
        movers: list[Any] = [mover for mover in dependencies.constraints_and_drivers(owner) if mover not in own]
        movers += [other for other in limbs_of(ob) if owner in bones_of_limb(other)]  # type: ignore[arg-type]
    else:
        movers = [
            curve for curve in drivers_of(ob) if curve.data_path in ("location", "delta_location") and not curve.mute
        ]
    fixing = [
        constraint
        for constraint in owner.constraints
        if not constraint.mute and constraint.influence >= 1.0 and constraint.type in FIXING
    ]
    if movers or fixing:
        raise Refused("Something else moves '{name}': mute its constraints and drivers, then snap", name=name)


def check_apart(limb: PoseBone, ob: Object, bone: str, dependencies: Dependencies) -> None:
    """Refuse to move something that the limb hangs on."""
    first = bones_of_limb(limb)[0]
    if (ob, bone) in dependencies.dependencies_of((limb.id_data, first.parent.name if first.parent else "")):
        raise Refused(
            "'{name}' carries this limb: have the limb follow something else, then snap", name=bone or ob.name
        )


def check_undriven(limb: PoseBone, *names: str) -> None:
    """Refuse to set sliders of a limb that drivers set."""
    for name in names:
        curve = driver_of(limb.id_data, path_to_slider(limb.name, name))
        if curve is not None and not curve.mute:
            source = next(driver_targets(curve), None)
            raise Refused(
                "{slider} of '{bone}' is driven by '{source}': set that",
                slider=slider_of(name).key,
                bone=limb.name,
                source=(source[1] or source[0].name) if source else "a formula",
            )


class RigSlider(NamedTuple):
    """A rig's own slider that switches a limb between FK and IK, as Rigify's rigs have."""

    bone: str  # that has the slider
    name: str  # of its custom property
    copying: str  # the bone that copies the limb as far as the slider says
    constraint: str  # the name of the one by which it does


def rig_slider(limb: PoseBone) -> RigSlider | None:
    """The rig's own slider that switches a limb between FK and IK, or None: it drives how far other bones copy each of
    the limb's; what copies one of them, as a twist bone does, is none."""
    drivers = [curve for curve in drivers_of(limb.id_data) if not curve.mute]
    driven = {curve.data_path: curve for curve in drivers if curve.data_path.endswith(".influence")}
    copied = [_sliders_copying(bone, driven) for bone in bones_of_limb(limb)] if driven else []
    if not copied:
        return None
    return next((slider for key, slider in copied[-1].items() if all(key in of_bone for of_bone in copied)), None)


def _sliders_copying(source: PoseBone, driven: dict[str, Any]) -> dict[tuple[str, str], RigSlider]:
    """The custom properties by which other bones copy one, by bone and name."""
    sliders, rig = dict[tuple[str, str], RigSlider](), source.id_data
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if getattr(constraint, "target", None) != rig or getattr(constraint, "subtarget", "") != source.name:
                continue
            curve = driven.get(constraint.path_from_id("influence"))
            for variable in curve.driver.variables if curve else ():
                owner, path = split_path(variable.targets[0].data_path)
                if path.startswith("[") and path != slider_of("influence").path:
                    name = path.strip("[]\"'")
                    sliders.setdefault((owner, name), RigSlider(owner, name, bone.name, constraint.name))
    return sliders
