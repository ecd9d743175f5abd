"""Contacts as timeline markers, which people move, add and delete: a pair for each contact of a limb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpy.types import Context, PoseBone, Scene

from ..blender.types import is_evaluated, scene_of, view_layer_of
from ..limb.storage import bones_of_limb, by_rig, limbs_of
from ..limb.tips import foot_of
from ..limb.words import Refused
from ..poses.contacts import HEIGHT, SPEED, Path, Span, contacts_of, floor_of, slide_of
from ..poses.reading import Progress
from ..poses.tip_paths import TipReader, path_of, tips_over


class Contacts(NamedTuple):
    """The contacts of one limb, and how far its tip slides in each."""

    last: PoseBone
    spans: list[Span]
    slides: list[float]

    @property
    def slide(self) -> float:
        """The farthest that it slides in any."""
        return max(self.slides, default=0.0)


def marker_names(last: PoseBone) -> tuple[str, str]:
    """What the markers are called at which a contact of a limb begins and ends."""
    foot = foot_of(last) or last
    return f"{foot.name} down ({last.id_data.name})", f"{foot.name} up ({last.id_data.name})"


def marked_contacts(scene: Scene, last: PoseBone) -> list[Span]:
    """The contacts of a limb by the scene's markers, in order. Raises `Refused` where these do not come in pairs."""
    names = marker_names(last)
    markers = sorted(
        (marker.frame, names.index(marker.name)) for marker in scene.timeline_markers if marker.name in names
    )
    for i, (frame, is_up) in enumerate(markers):
        if is_up != i % 2 or (i == len(markers) - 1 and not is_up):
            raise Refused(
                "At frame {frame}, the contacts of '{bone}' are not pairs of markers: '{down}', then '{up}'",
                frame=frame,
                bone=last.name,
                down=names[0],
                up=names[1],
            )
    return [Span(a, b) for (a, _), (b, _) in zip(markers[::2], markers[1::2], strict=True)]


def mark_contacts(scene: Scene, listed: Sequence[Contacts]) -> int:
    """Have contacts as the markers of limbs, in place of those that they have: none is taken away where there is no
    contact at all. Gives how many contacts there are."""
    count = sum(len(contacts.spans) for contacts in listed)
    for contacts in listed if count else ():
        _mark(scene, contacts.last, contacts.spans)
    return count


def _mark(scene: Scene, last: PoseBone, spans: Sequence[Span]) -> None:
    names = marker_names(last)
    for marker in [other for other in scene.timeline_markers if other.name in names]:
        scene.timeline_markers.remove(marker)
    for span in spans:
        for name, frame in zip(names, span, strict=True):
            scene.timeline_markers.new(name, frame=frame)


def frame_range(scene: Scene) -> range:
    """The frames that are played: those of the preview range, if that is on."""
    if scene.use_preview_range:
        return range(scene.frame_preview_start, scene.frame_preview_end + 1)
    return range(scene.frame_start, scene.frame_end + 1)


def find_contacts(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float],
    height: float = HEIGHT,
    speed: float = SPEED,
    progress: Progress | None = None,
) -> list[Contacts]:
    """When limbs stand, by the height and speed of tip and toe in these frames: see `contacts_of`. The lowest of all
    limbs of a rig stands on the floor. Nothing is changed."""
    limbs = readable_limbs_beside(context, lasts)
    rows = tips_over(context, limbs, frames, progress)
    paths = {last: path_of(row, TipReader(last).size) for last, row in zip(limbs, rows, strict=True)}
    return contacts_in(scene_of(context), lasts, frames, paths, height, speed)


def readable_limbs_beside(context: Context, lasts: Sequence[PoseBone]) -> list[PoseBone]:
    """All limbs of the rigs of these that have all of their bones and are evaluated: the lowest of them shows where the
    floor is."""
    depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
    rigs = [rig for rig in by_rig(lasts) if is_evaluated(rig, depsgraph)]
    return [limb for rig in rigs for limb in limbs_of(rig) if bones_of_limb(limb)]


def contacts_in(
    scene: Scene,
    lasts: Sequence[PoseBone],
    frames: Sequence[float],
    paths: dict[PoseBone, Path],
    height: float = HEIGHT,
    speed: float = SPEED,
) -> list[Contacts]:
    """`find_contacts` where the paths over these frames are known."""
    rate = scene.render.fps / scene.render.fps_base
    floors = {rig: floor_of([paths[last] for last in paths if last.id_data == rig]) for rig in by_rig(lasts)}
    listed = []
    for last in lasts:
        spans = contacts_of(paths[last], frames, rate, floors[last.id_data], height, speed)
        listed.append(Contacts(last, spans, [slide_of(paths[last].tip, frames, span) for span in spans]))
    return listed


def contacts_known(
    scene: Scene, lasts: Sequence[PoseBone], frames: Sequence[float], paths: dict[PoseBone, Path]
) -> list[Contacts]:
    """The contacts of limbs in these frames: those that are marked, else those that are found. Raises `Refused` where
    markers do not come in pairs."""
    known = []
    for contacts in contacts_in(scene, lasts, frames, paths):
        marked = marked_contacts(scene, contacts.last)
        spans = [span for span in marked if span.first <= frames[-1] and span.last >= frames[0]]
        tip = paths[contacts.last].tip
        slides = [slide_of(tip, frames, span) for span in spans]
        known.append(Contacts(contacts.last, spans, slides) if marked else contacts)
    return known
