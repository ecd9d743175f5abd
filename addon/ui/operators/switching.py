"""One click between FK and IK: the pose is carried over, and with Auto Keying the keys that make it seamless."""

from __future__ import annotations

from math import degrees

from bpy.props import EnumProperty
from bpy.types import Context, PoseBone
from mathutils import Matrix

from ... import live
from ...rig.data.access import ArmatureObject, chain_settings, place_of_setting, scene_of, view_layer_of
from ...rig.data.animation import drivers_on
from ...rig.data.dependencies import properties_read
from ...rig.data.keying import Change
from ...rig.data.unkeyed import unkeyed_kept
from ...rig.kinds import Refused
from ...rig.tasks.ends import turned_by, turned_ends, world_of
from ...rig.words import rpt_
from ..finding import selected_chains
from ..translations import told
from .chains import ChainOperator
from .matching import TO_FK, TO_IK


class POSE_OT_planar_ik_switch(ChainOperator):
    """Switch the selected chains between FK and IK without moving the limb: FK takes the solution over, or target and
    pole go to where the limb is. With Auto Keying, keys are set that hold the old state up to this frame"""

    bl_idname = "pose.planar_ik_switch"
    bl_label = "Switch FK/IK"

    to: EnumProperty(
        name="To",
        description="Which of the two to switch to",
        items=[
            ("OTHER", "The Other", "FK from IK, and IK from FK"),
            ("FK", "FK", "The bones' own pose"),
            ("IK", "IK", "The target"),
        ],
        options={"SKIP_SAVE"},
    )

    def act(self, context: Context) -> None:
        """Match one to the other, then set the influence, of all selected chains at once."""
        lowers = selected_chains(context)
        to = self.to
        if to == "OTHER":
            to = "FK" if chain_settings(lowers[0]).influence > 0.5 else "IK"
        scene = scene_of(context)
        with_keys = scene.tool_settings.use_keyframe_insert_auto
        matching = TO_FK if to == "FK" else TO_IK
        for lower in lowers:
            _check_undriven(lower)
            matching.check(context, lower, with_keys)
        ends = [(lower.id_data, end.name, world_of(context, end)) for lower in lowers for end in turned_ends(lower)]
        matched = matching.match(context, lowers)
        influences = [Change.of(*place_of_setting(lower, "influence"), lower.name) for lower in lowers]
        for lower in lowers:
            chain_settings(lower).influence = 0.0 if to == "FK" else 1.0
        changes = [*influences, *matched.poses, *(change for change in matched.settings if change.is_done)]
        with unkeyed_kept(context, {change.object for change in changes}):
            for change in changes:
                if with_keys or change.is_animated:
                    change.key_from(scene.frame_current)
            for change in influences:
                change.hold(scene.frame_current)
        for warning in matched.warnings:
            self.report({"WARNING"}, told(warning))
        live.refresh(context)
        self._tell_turned(context, ends)

    def _tell_turned(self, context: Context, ends: list[tuple[ArmatureObject, str, Matrix]]) -> None:
        """Tell of feet or hands that were so in the world, and turned: something else has part in that."""
        if ends:
            view_layer_of(context).update()
        for ob, name, before in ends:
            turned = degrees(turned_by(before, world_of(context, ob.pose.bones[name])))
            if turned:
                sentence = rpt_("'{bone}' turns by {angle}° as its limb is switched: see what else turns it")
                self.report({"WARNING"}, sentence.format(bone=name, angle=f"{turned:.3g}"))


def _check_undriven(lower: PoseBone) -> None:
    """Raise `Refused` if a driver sets a chain's influence, which then is not to be set."""
    driver = next((each.driver for each in drivers_on(*place_of_setting(lower, "influence")) if not each.mute), None)
    if driver is None:
        return
    source = next(properties_read(driver), None)
    if source:
        ob, owner, path = source
        sentence = rpt_("Influence of '{bone}' is driven by '{path}' of '{owner}': set that")
        raise Refused(sentence.format(bone=lower.name, path=path.strip('[]"'), owner=owner or ob.name))
    raise Refused(rpt_("Influence of '{bone}' is driven: remove its driver").format(bone=lower.name))


CLASSES = (POSE_OT_planar_ik_switch,)
