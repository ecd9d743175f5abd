"""Contacts as timeline markers, which people move, add and delete: a pair for each contact of a limb.

In the dope sheet, markers of one frame hide each other: where two feet do the same, one marker says both; where they do
not, one of their markers is a frame further inside its contact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from bpy.types import Context, PoseBone, Scene

from ..blender.stepping import Progress, Steps, Stepwise, finished, rate_of
from ..blender.types import Refused, announce, is_armature, is_evaluated, scene_of, view_layer_of
from ..feet.contacts import (
    HEEL,
    HEIGHT,
    SOLE,
    SPEED,
    TOE,
    Contact,
    FrameRange,
    Path,
    Phase,
    contacts_of,
    floor_of,
    slip_of,
)
from ..feet.soles import paths_of, sole_of
from ..limb import storage, tips
from ..motion.passing import record

__all__ = ["HEIGHT", "SPEED", "Contact", "FrameRange", "Path"]


class Contacts(NamedTuple):
    """The contacts of one limb, and how far its sole slides in each."""

    limb: PoseBone
    contacts: list[Contact]
    slips: list[float]

    @property
    def slip(self) -> float:
        """The farthest that it slides in any."""
        return max(self.slips, default=0.0)


UP = "up"
"""What a marker says where a contact ends; where one begins or goes on, it says heel, sole or toe."""

BOTH = " + "
"""What is between feet where one marker is of several."""

MOST_BYTES = 63
"""The bytes that the name of a marker may have."""

_NAME = re.compile(rf"(.+?) ({HEEL}|{SOLE}|{TOE}|{UP})(?: \((.+)\))?")
"""The name of a marker: feet, what they do, and their rig where another one has such feet."""


def marker_names(limb: PoseBone) -> dict[str, str]:
    """What the markers of a limb's contacts are called, by what they say."""
    bone, rig = (tips.foot_of(limb) or limb).name, limb.id_data
    others = (ob for scene in rig.users_scene for ob in scene.objects if ob != rig and is_armature(ob))
    of_rig = ""
    if any(bone in ob.pose.bones for ob in others):
        room = MOST_BYTES - len(f"{bone} {SOLE} ()".encode())
        of_rig = f" ({rig.name.encode()[: max(room, 1)].decode(errors='ignore')})"
    return {word: f"{bone} {word}{of_rig}" for word in (HEEL, SOLE, TOE, UP)}


def marked_contacts(scene: Scene, limb: PoseBone) -> list[Contact]:
    """The contacts of a limb by the scene's markers, in order. Raises `Refused` if one has no beginning or no end."""
    names = marker_names(limb)
    words = {name: word for word, name in names.items()}
    placed = [(frame, words[name]) for frame, name in names_marked(scene) if name in words]
    contacts: list[Contact] = []
    phases: list[Phase] = []
    for frame, word in sorted(placed, key=lambda place: (place[0], place[1] == UP)):
        if word != UP:
            phases = [*(phase for phase in phases if phase.first < frame), Phase(frame, word)]
        elif phases:
            contacts.append(Contact(tuple(phases), frame))
            phases = []
        else:
            raise _not_in_pairs(limb, frame, names)
    if phases:
        raise _not_in_pairs(limb, phases[0].first, names)
    return contacts


def names_marked(scene: Scene) -> Iterator[tuple[int, str]]:
    """The frame of each marker, once for each foot that it marks, with the part of its name that is for that foot."""
    return ((marker.frame, name) for marker in scene.timeline_markers for name in _names(marker.name))


def _names(name: str) -> list[str]:
    """What a marker says, for each of its feet."""
    match = _NAME.fullmatch(name)
    return [_name(foot, *match.groups()[1:]) for foot in match[1].split(BOTH)] if match else [name]


def _name(feet: str, word: str, rig: str | None) -> str:
    return f"{feet} {word} ({rig})" if rig else f"{feet} {word}"


def _not_in_pairs(limb: PoseBone, frame: int, names: dict[str, str]) -> Refused:
    return Refused(
        "At frame {frame}, the contacts of '{bone}' are not pairs of markers: '{down}', then '{up}'",
        frame=frame,
        bone=limb.name,
        down=names[SOLE],
        up=names[UP],
    )


def mark_contacts(scene: Scene, listed: Sequence[Contacts]) -> int:
    """Mark contacts on the timeline, in place of the limbs' own markers; returns how many there are. Markers stay
    where no contact is found at all."""
    count = sum(len(of_limb.contacts) for of_limb in listed)
    if count:
        announce(scene)
        _clear(scene, {name for of_limb in listed for name in marker_names(of_limb.limb).values()})
        descriptions = [
            description
            for of_limb in listed
            for contact in of_limb.contacts
            for description in _markers_of_contact(of_limb.limb, contact)
        ]
        for _, name, frames in sorted(descriptions, key=lambda description: (description[0], description[2][0])):
            _mark(scene, name, frames)
    return count


def _clear(scene: Scene, names: set[str]) -> None:
    """Take names off markers, and markers away that have no other."""
    for marker in [*scene.timeline_markers]:
        said = _names(marker.name)
        others = [name for name in said if name not in names]
        if not others:
            scene.timeline_markers.remove(marker)
        elif others != said:
            marker.name = reduce(_joined, others)


def _markers_of_contact(limb: PoseBone, contact: Contact) -> Iterator[tuple[bool, str, Sequence[int]]]:
    """The markers of a contact: whether one is within it, what it is called, and the frames in which it may be, the
    best first."""
    names = marker_names(limb)
    for i, (phase, frames) in enumerate(zip(contact.phases, contact.ranges_on(HEEL, SOLE, TOE), strict=True)):
        yield i > 0, names[phase.on], range(frames.first, frames.last + 1)
    yield False, names[UP], range(contact.last, contact.frames.first - 1, -1)


def _mark(scene: Scene, name: str, frames: Sequence[int]) -> None:
    """Mark the first of these frames in which no marker says anything else of a contact; the first if all have such."""
    there = {marker.frame: marker for marker in scene.timeline_markers if _is_of_feet(scene, marker.name)}
    frame = next((at for at in frames if at not in there or _joined(there[at].name, name)), frames[0])
    both = _joined(there[frame].name, name) if frame in there else ""
    if both:
        there[frame].name = both
    else:
        scene.timeline_markers.new(name, frame=frame)


def _is_of_feet(scene: Scene, name: str) -> bool:
    """Whether a marker is one of ours, not one that somebody calls ``wake up``."""
    match, rigs = _NAME.fullmatch(name), [ob for ob in scene.objects if is_armature(ob)]
    return bool(match) and all(any(foot in ob.pose.bones for ob in rigs) for foot in match[1].split(BOTH))  # type: ignore[index]


def _joined(name: str, other: str) -> str:
    """The name of one marker in place of two; nothing where their feet or rigs do not the same."""
    said, also = _NAME.fullmatch(name), _NAME.fullmatch(other)
    if not said or not also or said.groups()[1:] != also.groups()[1:]:
        return ""
    both = _name(f"{said[1]}{BOTH}{also[1]}", *said.groups()[1:])
    return both if len(both.encode()) <= MOST_BYTES else ""


def frame_range(scene: Scene) -> range:
    """The frames that are played: those of the preview range, if that is on."""
    if scene.use_preview_range:
        return range(scene.frame_preview_start, scene.frame_preview_end + 1)
    return range(scene.frame_start, scene.frame_end + 1)


@Stepwise
def find_contacts(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float],
    height: float = HEIGHT,
    speed: float = SPEED,
) -> Steps[list[Contacts]]:
    """Find when feet are on the ground, by height and speed of their soles in these frames: see `contacts_of`. The
    lowest limb of a rig stands on the floor. Nothing is changed."""
    readable = readable_limbs_beside(context, limbs)
    paths = yield from _paths(context, readable, frames)
    return contacts_in(scene_of(context), limbs, frames, paths, height, speed)


def readable_limbs_beside(context: Context, limbs: Sequence[PoseBone]) -> list[PoseBone]:
    """All limbs of these limbs' rigs that can be read, as the lowest of them shows where the floor is. They have all
    of their bones and are evaluated."""
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    rigs = [rig for rig in storage.by_rig(limbs) if is_evaluated(rig, depsgraph)]
    return [limb for rig in rigs for limb in storage.limbs_of(rig) if storage.bones_of_limb(limb)]


def contacts_in(
    scene: Scene,
    limbs: Sequence[PoseBone],
    frames: Sequence[float],
    paths: dict[PoseBone, Path],
    height: float = HEIGHT,
    speed: float = SPEED,
) -> list[Contacts]:
    """The contacts of limbs in frames over which their paths are known: see `find_contacts`."""
    rate = rate_of(scene)
    floors = {rig: floor_of([paths[limb] for limb in paths if limb.id_data == rig]) for rig in storage.by_rig(limbs)}
    listed = []
    for limb in limbs:
        contacts = contacts_of(paths[limb], frames, rate, floors[limb.id_data], height, speed)
        listed.append(contacts_on(limb, contacts, paths[limb], frames))
    return listed


def contacts_known(
    scene: Scene, limbs: Sequence[PoseBone], frames: Sequence[float], paths: dict[PoseBone, Path]
) -> list[Contacts]:
    """The contacts of limbs in these frames: as marked on the timeline, else as found. Raises `Refused` if markers
    don't come in pairs."""
    known = []
    for by_path in contacts_in(scene, limbs, frames, paths):
        marked = marked_contacts(scene, by_path.limb)
        there = [contact for contact in marked if contact.frames.first <= frames[-1] and contact.last >= frames[0]]
        known.append(contacts_on(by_path.limb, there, paths[by_path.limb], frames) if marked else by_path)
    return known


def contacts_on(limb: PoseBone, contacts: list[Contact], path: Path, frames: Sequence[float]) -> Contacts:
    """The contacts of a limb with how far it slides in each, by its path."""
    return Contacts(limb, contacts, [slip_of(path, frames, contact.frames) for contact in contacts])


def contacts_in_range(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], progress: Progress | None = None
) -> list[Contacts]:
    """The contacts in these frames of those limbs that can be read and have some: as marked, else as found."""
    readable = readable_limbs_beside(context, limbs)
    known = [limb for limb in limbs if limb in readable]
    paths = finished(_paths(context, readable, frames), progress)
    listed = contacts_known(scene_of(context), known, frames, paths)
    return [of_limb for of_limb in listed if of_limb.contacts]


def slips_now(
    context: Context, listed: Sequence[Contacts], frames: Sequence[float], progress: Progress | None = None
) -> list[Contacts]:
    """The same contacts, with how far soles slide in them now."""
    paths = finished(_paths(context, [of_limb.limb for of_limb in listed], frames), progress)
    return [contacts_on(of_limb.limb, of_limb.contacts, paths[of_limb.limb], frames) for of_limb in listed]


def _paths(context: Context, limbs: Sequence[PoseBone], frames: Sequence[float]) -> Steps[dict[PoseBone, Path]]:
    recording = yield from record(context, limbs, frames)
    rate = rate_of(scene_of(context))
    return {limb: paths_of(recording, limb, sole_of(recording, limb, rate)) for limb in limbs}
