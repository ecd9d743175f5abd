"""Planting feet: where they are, over a range, or in the contacts that markers say; and at one press, all of that for a
capture."""

from __future__ import annotations

from typing import Any, cast

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Event, PoseBone

from ...blender.editing import select_if_shown
from ...blender.stepping import Steps
from ...blender.types import ENDLESS, Refused, scene_of, translated_text
from ...tasks import contact_markers, holding, selection
from ...tasks.adding import FEWER_KEYS, LimbRequest
from ...tasks.selection import LimbsToAdd, limbs_to_add, limbs_without_ik
from ...tasks.status import check_complete, contacts_counted, description_of, frames_counted, is_arm_or_leg, is_leg
from .. import finding, state
from . import base, switching
from .adding import rigify_ik

HEIGHT_PROPERTY: Any = {
    "name": "Height",
    "description": "How high above their floor heel and toe still stand, as a share of the limb's length",
    "default": contact_markers.HEIGHT,
    "soft_min": 0.0,
    "soft_max": 0.5,
    "max": ENDLESS,
    "precision": 3,
}
SPEED_PROPERTY: Any = {
    "name": "Speed",
    "description": "How fast they may slide there, as a share of the fastest that they go in a step",
    "default": contact_markers.SPEED,
    "soft_min": 0.0,
    "soft_max": 1.0,
    "max": ENDLESS,
}
EASE_PROPERTY: Any = {
    "name": "Ease",
    "description": "Frames before and after the range that lead there and back",
    "default": 3,
    "soft_min": 0,
    "soft_max": holding.MOST_EASE,
}

LOWER_HIPS_PROPERTY: Any = {
    "name": "Lower Hips",
    "description": "Where a foot does not reach, its heel rises, then what carries the legs is moved by as little "
    "as it takes; on a Ground, that goes up and down along with it",
    "default": True,
}

HELD = "Held in {contacts}: soles slid by {slid}, by {most} at most; now by {slide} and {more}; {moved}{missed}"


def slide_values(context: Context, report: holding.HoldReport) -> dict[str, Any]:
    """The values for a report on feet that are held in contacts."""
    count, scene = sum(map(len, report.missed.values())), scene_of(context)
    lengths = zip(("slid", "most", "slide", "more"), (*report.before, *report.now), strict=True)
    return {
        "contacts": contacts_counted(report.ranges),
        "moved": translated_text(
            "ankles moved by up to {ankles}, knees by {knees}",
            ankles=state.length_text(scene, report.tips),
            knees=state.length_text(scene, report.knees),
        ),
        "missed": translated_text("; out of reach in {frames}", frames=frames_counted(count)) if count else "",
        **{name: state.length_text(scene, length) for name, length in lengths},
    }


class POSE_OT_planar_ik_hold(base.LimbOperator):
    """Plant the tips of the selected limbs in the world over a range of frames, with their feet turned as they are; the
    controls get keys for it, and frames outside stay as they are"""

    bl_idname = "pose.planar_ik_hold"
    bl_label = "Hold"

    range: EnumProperty(
        name="Range",
        description="Over which frames to hold",
        items=[
            (
                "AUTO",
                "Automatic",
                "The preview range if it is on, else from the first to the last selected key, else the marked contacts",
            ),
            ("PREVIEW", "Preview", "The scene's preview range"),
            ("KEYS", "Selected Keys", "From the first to the last selected key of the limbs and their controls"),
            ("CURRENT", "From Current Frame", "From the current frame to the end of the scene"),
            ("GIVEN", "Given", "The range given below"),
            ("CONTACTS", "Contacts", "What Find Contacts has marked on the timeline, each limb in its own"),
        ],
        options={"SKIP_SAVE"},
    )
    frame_start: IntProperty(name="Start", description="First frame of a given range", options={"SKIP_SAVE"})
    frame_end: IntProperty(name="End", description="Last frame of a given range", options={"SKIP_SAVE"})
    ease: IntProperty(**EASE_PROPERTY)
    place: EnumProperty(
        name="Place",
        description="Where tips are planted",
        items=[
            ("AUTO", "Automatic", "The mean for contacts, else where they are now"),
            ("NOW", "Now", "Where they are in the current frame, or in that of the range which is nearest to it"),
            ("MEAN", "Mean", "Where they are in the mean of the range, or as near to that as the limb reaches in it"),
        ],
        options={"SKIP_SAVE"},
    )
    lower_hips: BoolProperty(**LOWER_HIPS_PROPERTY)

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        if properties.range == "CONTACTS":
            return translated_text("Hold the selected limbs where markers say that they are in contact")
        return cls.purpose()

    def invoke(self, context: Context, event: Event) -> Any:
        """Hold where a range is plain; else ask for one, from this frame on."""
        switching.take_given_range(self, "range", "GIVEN")
        if self.properties.is_property_set("range") or selection.range_source(context, finding.selected_limbs(context)):
            return super().invoke(context, event)
        scene = scene_of(context)
        self.range, self.frame_start, self.frame_end = (
            "GIVEN",
            scene.frame_current,
            contact_markers.frame_range(scene)[-1],
        )
        return self.ask(context, "Hold")

    def draw(self, _context: Context) -> None:
        """The settings that count."""
        layout: Any = self.layout
        layout.use_property_split = True
        frames = ("frame_start", "frame_end") if self.range == "GIVEN" else ()
        hips = ("lower_hips",) if self.range == "CONTACTS" else ()
        for name in ("range", *frames, "ease", "place", *hips):
            layout.prop(self, name)

    def act(self, context: Context, limbs: list[PoseBone]) -> Steps[None]:
        """Hold, and say how far feet slid before, and slide now."""
        switching.take_given_range(self, "range", "GIVEN")
        contacts, is_contacts = self._contacts(context, limbs), self.range == "CONTACTS"
        is_mean = self.place == "MEAN" or (self.place == "AUTO" and is_contacts)
        request = holding.HoldOptions(
            ease=self.ease,
            plants=is_contacts,
            is_mean=is_mean,
            lower_hips=is_contacts and self.lower_hips,
        )
        report = yield from holding.hold_tips.steps(context, limbs, contacts, request)
        self.warn(*report.warnings)
        if is_contacts:
            self.inform(HELD, **slide_values(context, report))
        else:
            first, last = contacts[0][0].frames
            slid, slide = (state.length_text(scene_of(context), slip.most) for slip in (report.before, report.now))
            template = "Held from frame {first} to {last}, where tips slid by up to {slid}: now {slide}"
            self.inform(template, first=first, last=last, slid=slid, slide=slide)

    def _contacts(self, context: Context, limbs: list[PoseBone]) -> list[list[contact_markers.Contact]]:
        """The contacts of each limb, or the range."""
        if self.range == "AUTO":
            self.range = selection.range_source(context, limbs) or "AUTO"
        if self.range == "AUTO":
            raise Refused("Nothing says which frames to hold: give frame_start and frame_end, or a Range")
        if self.range == "CONTACTS":
            marked = [contact_markers.marked_contacts(scene_of(context), limb) for limb in limbs]
            if not any(marked):
                raise Refused("No markers say when the selected limbs are in contact: Find Contacts first")
            return marked
        if self.range == "GIVEN":
            switching.start_from_scene(self, context)
            frames = contact_markers.FrameRange(self.frame_start, self.frame_end)
        else:
            frames = selection.range_to_hold(context, limbs, self.range)
        switching.check_range(frames.first, frames.last)
        return [[holding.sole_contact(frames)] for _ in limbs]


class POSE_OT_planar_ik_find_contacts(base.LimbOperator):
    """Mark on the timeline when the feet of the selected limbs stand, on heel, sole or toe, by how high and how fast
    these are. Move, add and delete the markers, then hold"""

    bl_idname = "pose.planar_ik_find_contacts"
    bl_label = "Find Contacts"
    changes_limbs = False

    height: FloatProperty(**HEIGHT_PROPERTY)
    speed: FloatProperty(**SPEED_PROPERTY)

    def act(self, context: Context, limbs: list[PoseBone]) -> Steps[None]:
        """Mark them in place of those that are marked, and say how far tips slide there."""
        scene = scene_of(context)
        listed = yield from contact_markers.find_contacts.steps(
            context, limbs, contact_markers.frame_range(scene), self.height, self.speed
        )
        count = contact_markers.mark_contacts(scene, listed)
        if not count:
            raise Refused(holding.NOT_LOW)
        slide = state.length_text(scene, max(contacts.slip for contacts in listed))
        self.inform(
            "Marked {contacts}, in which feet slide by up to {slide}", contacts=contacts_counted(count), slide=slide
        )


class POSE_OT_planar_ik_plant(base.PoseOperator):
    """Plant the feet of the selected legs where they stand: add IK with Foot Roll where it is missing, find when they
    stand, mark that, and hold them"""

    bl_idname = "pose.planar_ik_plant"
    bl_label = "Plant Feet"

    height: FloatProperty(**HEIGHT_PROPERTY)
    speed: FloatProperty(**SPEED_PROPERTY)
    ease: IntProperty(**EASE_PROPERTY)
    tolerance: FloatProperty(default=FEWER_KEYS, **switching.TOLERANCE)
    lower_hips: BoolProperty(**LOWER_HIPS_PROPERTY)
    ground: StringProperty(
        name="Ground", description="The mesh that feet stand on; without one, each stands as high as it is"
    )

    def draw(self, context: Context) -> None:
        """The settings, with a mesh to pick."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in ("height", "speed", "ease", "tolerance", "lower_hips"):
            layout.prop(self, name)
        layout.prop_search(self, "ground", scene_of(context), "objects")

    def checked(self, context: Context) -> tuple[list[LimbRequest], list[PoseBone]]:
        """The legs that get IK, and those that have it."""
        bones, limbs = [*(context.selected_pose_bones or ())], finding.selected_limbs(context)
        legs = [limb for limb in limbs if is_leg(limb)]
        if not limbs and rigify_ik(context):
            raise Refused("This rig has IK of its own: let Solve Exactly take it over, then plant its feet")
        choice = LimbsToAdd(limbs_without_ik(bones) if bones else [], [], [], {}) if limbs else limbs_to_add(context)
        new = [suggestion for suggestion in choice.limbs if is_leg(*suggestion) and is_arm_or_leg(suggestion[0])]
        if not legs and not new:
            raise Refused("No leg is selected: select bones of legs, or all bones")
        for limb in legs:
            check_complete(limb)
        target, pole = [*choice.followed, None, None][:2]
        return [LimbRequest(limb, segments, target, pole) for limb, segments in new], legs

    def act(self, context: Context, subject: tuple[list[LimbRequest], list[PoseBone]]) -> Steps[None]:
        """Plant, and say how far soles slid before, and slide now."""
        options = holding.PlantOptions(**cast("dict[str, Any]", self.as_keywords()))
        frames = contact_markers.frame_range(scene_of(context))
        planted = yield from holding.plant.steps(context, *subject, frames, options)
        self.warn(*planted.warnings)
        select_if_shown(context, [ref for leg in planted.legs if (ref := description_of(leg.limb).followed[0])])
        self.inform(HELD, **slide_values(context, planted.report))


CLASSES = (POSE_OT_planar_ik_hold, POSE_OT_planar_ik_find_contacts, POSE_OT_planar_ik_plant)
