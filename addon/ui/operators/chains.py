"""Adding, removing, solving and flipping chains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from bpy.app import translations
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Context, Event, Operator, PoseBone

from ... import live
from ...native import convert
from ...rig.data.access import chain_settings, runs_on_rig, view_layer_of
from ...rig.kinds import Refused
from ...rig.settings import BY_NAME
from ...rig.tasks.controls import followed_bones, take_away
from ...rig.tasks.limbs import is_shown
from ...rig.tasks.setup import make_pole, remove_chain, remove_unused
from ...rig.tasks.snapping import at_full_influence
from ...rig.words import rpt_
from ..finding import NOTHING_FOLLOWED, NOTHING_SELECTED, chains_meant, goals_of, left_behind, selected_chains
from ..meaning import NO_BONE
from ..translations import told
from .adding import AddRequest, add_chains
from .selecting import select

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

FOR_SCRIPTS: Any = {"HIDDEN", "SKIP_SAVE"}
"""Options of what is not shown among an operator's settings, nor kept from one call to the next."""

RUNS_ON: Any = {
    "name": "Runs On",
    "description": "What poses the limb",
    "items": [
        ("RIG", "Rig", "The rig's own bones, constraints and drivers, which leave the limb's own channels free"),
        ("EXTENSION", "Extension", "The extension: nothing is added to the rig"),
    ],
    "translation_context": translations.contexts.operator_default,  # elsewhere it is that of a file's name
}
"""The setting of operators that make chains."""


class PoseOperator(Operator):
    """What all operators on chains share: they run in Pose Mode, and refuse with a sentence"""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Pose Mode, with an active bone."""
        if context.mode != "POSE":
            cls.poll_message_set(rpt_(NO_BONE))
            return False
        if context.active_pose_bone is None and not context.selected_pose_bones:
            cls.poll_message_set(rpt_("Select the lower bone of a limb"))
            return False
        return True

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Do it, or refuse with a sentence and change nothing."""
        view_layer_of(context).update()  # to adjust it undoes it first, which Blender evaluates only afterwards
        try:
            self.act(context)
        except Refused as why:
            self.report({"ERROR"}, told(str(why)))
            return {"CANCELLED"}
        return {"FINISHED"}

    def act(self, context: Context) -> None:
        """What the operator does; raises `Refused`."""
        raise NotImplementedError


class ChainOperator(PoseOperator):
    """What operators on chains that are there share: they also run in Object Mode, on what follows a selected object"""

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where a chain is selected, by a bone of it or by what it follows."""
        if context.mode not in {"POSE", "OBJECT"}:
            cls.poll_message_set(rpt_("Go to Pose Mode, or to Object Mode"))
            return False
        if not chains_meant(context, or_off=True):
            cls.poll_message_set(told(NOTHING_SELECTED if context.mode == "POSE" else NOTHING_FOLLOWED))
            return False
        return True


class POSE_OT_planar_ik_add(PoseOperator):
    """Put a chain on every selected limb"""

    bl_idname = "pose.planar_ik_add"
    bl_label = "Add Planar IK"
    bl_description = (
        "Pose the selected bone and its parent so that its tail follows a target: the other selected object or bone, "
        "or a new empty. Without one of your own the limb stays where it is; else its tip goes there"
    )

    plane: EnumProperty(
        name="Plane",
        description="The plane that the limb bends in",
        items=[
            (
                "AUTO",
                "Automatic",
                "Hinge on a rig that lies in one plane; Pole with a pole, or if the limb is twisted; else Free",
            ),
            *(item[:3] for item in BY_NAME["plane"].options["items"]),
        ],
    )
    flip: BoolProperty(
        name="Bend Other Way",
        description="Turn the knees or elbows of all limbs added to the other side",
        options={"SKIP_SAVE"},
    )
    controls: EnumProperty(
        name="New Controls",
        description="What is made where no target or pole is selected",
        items=[
            ("EMPTY", "Empties", "Empties in the active collection"),
            ("BONE", "Bones", "Control bones of the rig that hang on nothing"),
            ("ROOT", "Bones Under the Root", "Control bones of the rig that go along with its topmost bone"),
        ],
    )
    keep_rotation: BoolProperty(
        name="Foot Turns with Target",
        description=(
            "Turn the bone below the limb, a foot or a hand, as the target is turned; in FK it is free to be posed"
        ),
    )
    runs_on: EnumProperty(**RUNS_ON)
    any_bones: BoolProperty(
        name="Any Two Bones",
        description="Take the active bone and its parent, also if they do not look like a limb",
        options={"SKIP_SAVE"},
    )
    go_to_target: BoolProperty(
        name="Select the Target", description="Go on with the target selected, ready to move", options={"SKIP_SAVE"}
    )

    # For scripts; a person selects them.
    target: StringProperty(
        name="Target",
        description="Name of the target object; empty for the selected one or a new empty",
        options=FOR_SCRIPTS,
    )
    subtarget: StringProperty(name="Target Bone", description="Name of a bone of the target", options=FOR_SCRIPTS)
    pole_target: StringProperty(
        name="Pole", description="Name of the pole object; empty for a new empty", options=FOR_SCRIPTS
    )
    pole_subtarget: StringProperty(
        name="Pole Bone", description="Name of a bone of the pole object", options=FOR_SCRIPTS
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Also right after it selected an empty: only what could run again has its settings shown, bottom left."""
        return (context.mode == "OBJECT" and was_last(cls, context)) or super().poll(context)

    def invoke(self, context: Context, _event: Event) -> set[OperatorReturnItems]:
        """A person wants to move the target next."""
        self.go_to_target = True
        return self.execute(context)

    def execute(self, context: Context) -> set[OperatorReturnItems]:
        """Add, and select the target."""
        done = super().execute(context)
        lowers = chains_meant(context) if self.go_to_target and done == {"FINISHED"} else []
        if len(lowers) == 1:
            target = goals_of(lowers[0])["TARGET"]
            select(context, target.object, target.bone)
        return done

    def act(self, context: Context) -> None:
        """Check everything, then add."""
        plane = "" if self.plane == "AUTO" else self.plane
        goals = (self.target, self.subtarget, self.pole_target, self.pole_subtarget)
        how = (self.runs_on == "RIG", self.flip, self.any_bones, self.controls, self.keep_rotation)
        request = AddRequest(plane, *goals, *how)
        for warning in add_chains(context, request):
            self.report({"WARNING"}, told(warning))


def was_last(cls: type[Operator], context: Context) -> bool:
    """Whether an operator was the last to be called, so that its settings may be adjusted: Blender polls it as things
    are after it, though it will undo it first."""
    manager: Any = context.window_manager
    done = manager.operators
    return len(done) > 0 and done[-1].bl_idname == cls.__name__


class POSE_OT_planar_ik_pole(ChainOperator):
    """Bend the selected chains towards their poles; where there is none, one is made where the knee points, so that the
    limb stays where it is"""

    bl_idname = "pose.planar_ik_pole"
    bl_label = "Bend Towards Pole"

    def act(self, context: Context) -> None:
        """Set the plane, and make what poles it lacks."""
        for lower in selected_chains(context, or_off=True):
            if chain_settings(lower).pole_target is None:
                with _whole(context, lower):
                    make_pole(context, lower)
            chain_settings(lower).plane = "POLE"
        live.refresh(context)


@contextmanager
def _whole(context: Context, lower: PoseBone) -> Iterator[None]:
    """A chain between FK and IK, as its whole solution."""
    is_between = 0.0 < chain_settings(lower).influence < 1.0
    with at_full_influence(lower) if is_between else nullcontext():
        if is_between:
            live.solve_now(context)
        yield


class POSE_OT_planar_ik_remove(ChainOperator):
    """Take the chains off the selected bones and give them their own pose back. Constraints that Convert replaced do
    not come back: undo for that"""

    bl_idname = "pose.planar_ik_remove"
    bl_label = "Remove Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Also where a chain that is gone left something."""
        return super().poll(context) or bool(left_behind(context))

    def act(self, context: Context) -> None:
        """Remove the selected chains."""
        left = left_behind(context)
        forsaken = convert.clear(context, left)
        chains = chains_meant(context, or_off=True) if left else selected_chains(context, or_off=True)
        names = [(lower.id_data, lower.name) for lower in chains]
        goals = [*forsaken, *(goal for lower in chains for goal in followed_bones(lower))]
        convert.take_off(context, filter(runs_on_rig, chains))
        for ob, name in names:
            remove_chain(ob.pose.bones[name])
        take_away(context, goals)
        remove_unused(goal.object for goal in forsaken)
        live.refresh(context)
        _select_instead(context, names)


def _select_instead(context: Context, names: list[tuple[Any, str]]) -> None:
    """Go on with a limb where what was selected is gone, with a target or a pole; without a limb, there is none."""
    is_gone = context.active_pose_bone is None if context.mode == "POSE" else context.active_object is None
    shown = [(ob, name) for ob, name in names if ob.visible_get() and is_shown(ob.pose.bones[name])]
    if is_gone and shown:
        select(context, *shown[0])


class POSE_OT_planar_ik_solve(ChainOperator):
    """Pose the selected chains once, for when Live is off"""

    bl_idname = "pose.planar_ik_solve"
    bl_label = "Solve Planar IK"

    def act(self, context: Context) -> None:
        """Pose the selected chains."""
        chains = selected_chains(context, or_off=True)
        live.solve_only(context, chains)
        live.refresh(context)
        problems = [problem for lower in chains if (problem := chain_settings(lower).message)]
        if problems:
            raise Refused(problems[0])


class POSE_OT_planar_ik_flip(ChainOperator):
    """Bend the selected chains to the other side"""

    bl_idname = "pose.planar_ik_flip"
    bl_label = "Flip Planar IK"

    def act(self, context: Context) -> None:
        """Reverse the bend of the selected chains."""
        for lower in selected_chains(context, or_off=True):
            chain = chain_settings(lower)
            chain.bend = -chain.bend


CLASSES = (
    POSE_OT_planar_ik_add,
    POSE_OT_planar_ik_remove,
    POSE_OT_planar_ik_solve,
    POSE_OT_planar_ik_flip,
    POSE_OT_planar_ik_pole,
)
