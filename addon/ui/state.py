"""How the limb that is shown is, as a dot and a few words: found out once for a pose, and what only an edit of the rig
changes not again for each pose."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Depsgraph, PoseBone

from ..blender.types import scene_of, view_layer_of
from ..limb.follow import follow_of
from ..limb.moving import RigSlider, rig_slider
from ..limb.settings import FEATURE_KEYS
from ..limb.storage import chain_bones, group_of
from ..limb.table import Table
from ..limb.tips import foot_of
from ..limb.words import translated_text
from ..solver.reach import Reach
from ..tasks.status import Status, Structure, as_shown, problem_of, status_of, structure_of
from .remembering import name_of, until_posed, until_rebuilt
from .units import length_text


def status_in(context: Context, last: PoseBone) -> Status:
    """The status of a limb as its rig shows it in a context."""
    key = "status", name_of(last), view_layer_of(context).as_pointer()
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    return until_posed(key, lambda: _status(last, depsgraph))


def _status(last: PoseBone, depsgraph: Depsgraph) -> Status:
    status = status_of(last, depsgraph, structure_known(last))
    if status.reach == Reach.INVALID:  # maybe by an edit that nothing says more of
        status = status_of(last, depsgraph)
    slider = slider_of_rig(last)
    return as_shown(status, last, slider, depsgraph) if slider else status


def structure_known(last: PoseBone) -> Structure | None:
    """The structure of a limb, nothing of one that can't be posed; looked at anew when its rig is edited."""
    if problem_of(last):
        return None
    return until_rebuilt(("structure", name_of(last), *_edited(last)), lambda: structure_of(last))


def table_known(last: PoseBone) -> Table | None:
    """What the solver takes of a limb."""
    structure = structure_known(last)
    return structure.table if structure else None


def _edited(last: PoseBone) -> tuple[Any, ...]:
    """What of a limb may be edited without Blender building its graph anew."""
    chain: Any = chain_bones(last)
    bones = [bone.bone for bone in (chain[0].parent, *chain, foot_of(last)) if bone]
    rest = [(tuple(map(tuple, bone.matrix_local)), bone.inherit_scale, bone.use_inherit_rotation) for bone in bones]
    local = tuple(bone.use_local_location for bone in bones)
    features = tuple(key in last for key in FEATURE_KEYS)  # type: ignore[operator]
    group = str(group_of(last).to_dict())
    return len(last.id_data.pose.bones), tuple(rest), local, features, group, follow_of(last)


def slider_of_rig(last: PoseBone) -> RigSlider | None:
    """The slider of the rig's own that switches a limb, if there is one."""
    return until_rebuilt(("slider", name_of(last)), lambda: rig_slider(last))


def sentence_of(context: Context, status: Status) -> str:
    """What a status says, in the scene's units."""
    scene = scene_of(context)
    values = {
        name: length_text(scene, value) if isinstance(value, float) else value for name, value in status.values.items()
    }
    return translated_text(status.template, **values)


def colour_of(status: Status) -> str:
    """The colour of what a status says: green is on target, amber is off it because somebody wants it so, red short."""
    if status.reach == Reach.INVALID:
        return "RED"
    if status.is_fk:
        return "GREY"
    if not status.is_ik or status.is_eased:
        return "AMBER"
    return "GREEN" if status.reach == Reach.REACHED else "RED"
