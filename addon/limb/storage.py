"""Where a limb is kept: the muted IK constraint of its last bone, its sliders and its group of choices.

Blender itself renames, symmetrizes, joins, duplicates, appends, overrides and saves all of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpy.types import PoseBone

from ..blender.types import ArmatureObject, path_to_custom, tag
from .settings import CHOICES, GROUP, HOME, LINK, MADE_BY_US, PART, SLIDER, SLIDERS, WAS, Slider
from .tips import mark_tip, unmark_tip
from .words import Refused


def group_of(bone: PoseBone) -> Any:
    """The group of choices of a limb, or None."""
    owner: Any = bone  # the stubs say that custom properties are nothing
    return owner.get(GROUP)


def home_of(bone: PoseBone) -> Any:
    """The muted IK constraint that makes a bone the last of a limb, or None."""
    group = group_of(bone)
    if group is None or not has_slider(bone, "influence"):
        return None
    found = bone.constraints.get(group.get("constraint", HOME)) or bone.constraints.get(HOME)
    return found if found and found.type == "IK" else next((each for each in bone.constraints if _is_home(each)), None)


def _is_home(constraint: Any) -> bool:
    return bool(constraint.type == "IK" and constraint.mute)


def is_limb(bone: PoseBone) -> bool:
    """Whether a bone is the last of a limb."""
    return home_of(bone) is not None


def is_converted(bone: PoseBone) -> bool:
    """Whether a limb was a constraint of Blender's own before."""
    return WAS in (group_of(bone) or {})


def limbs_of(ob: ArmatureObject) -> list[PoseBone]:
    """The last bones of all limbs of a rig, in the order of its bones."""
    return [bone for bone in ob.pose.bones if GROUP in bone and is_limb(bone)]  # type: ignore[operator]


def is_left(bone: PoseBone) -> bool:
    """Whether a bone was the last of a limb whose IK constraint is gone, as Blender's *Remove IK* deletes it."""
    return group_of(bone) is not None and not is_limb(bone)


def make_home(bone: PoseBone, links: tuple[int, ...] = (1, 1), constraint: Any = None) -> Any:
    """Make a bone the last of a limb, which it may be already; ``constraint`` is the IK constraint to take for it, else
    one of ours is made."""
    check_parents(bone, sum(links))
    home: Any = constraint or home_of(bone) or bone.constraints.get(HOME)
    if home is None:
        home = bone.constraints.new("IK")
        home.name = HOME
    home.mute = True
    home.chain_count = sum(links)
    group = group_of(bone)
    if group is None:
        bone[GROUP] = {}  # whatever is in it, Blender copies each time that it evaluates a rig anew
        group = bone[GROUP]
        mark_tip(bone)
    _mark_links(bone, links)
    for name, value, default in (("links", list(links), [1, 1]), ("constraint", home.name, HOME)):
        if value != default or name in group:
            group[name] = value
    for slider in SLIDERS:
        if (not slider.is_feature or (slider.name == "ankle" and len(links) > 2)) and not has_slider(bone, slider.name):
            make_slider(bone, slider)
    return home


def align(bone: PoseBone) -> None:
    """Let the bones of a limb that get longer but not as much wider have that each along itself, also while the knee is
    bent: all but the first inherit scale along their own axes. `drop_home` takes that back."""
    if not has_slider(bone, "stretch") or choices_of(bone)["stretch_volume"] == "UNIFORM":
        return
    group: Any = bone[GROUP]
    line = line_of(bone)
    changed = [i for i, each in enumerate(line) if i and each.bone.inherit_scale == "FULL"]
    for i in changed:
        line[i].bone.inherit_scale = "ALIGNED"
    if changed:
        group["aligned"] = sorted({*changed, *group.get("aligned", ())})


def drop_home(bone: PoseBone) -> None:
    """Take the sliders and the group away, and the constraint if it is ours; another's stays as it is, muted."""
    home = home_of(bone)
    group = group_of(bone) or {}
    line = line_of(bone)
    for i in group.get("aligned", ()):
        if i < len(line) and line[i].bone.inherit_scale == "ALIGNED":
            line[i].bone.inherit_scale = "FULL"
    if group:
        unmark_tip(bone)
        _unmark_links(line)
    if home is not None and home.name.startswith(HOME):
        bone.constraints.remove(home)
    for key in (*(slider.key for slider in SLIDERS), GROUP):
        if key in bone:  # type: ignore[operator]
            del bone[key]


def make_slider(bone: PoseBone, slider: Slider) -> None:
    """Give a bone the custom property of a setting that animates."""
    bone[slider.key] = slider.default
    shown: dict[str, Any] = {"description": slider.description, "default": slider.default}
    if slider.limits:
        shown |= {"min": slider.limits[0], "max": slider.limits[1], "subtype": slider.subtype}
    owner: Any = bone  # the stubs say that this gives nothing
    owner.id_properties_ui(slider.key).update(**shown)
    bone.property_overridable_library_set(f'["{slider.key}"]', True)


def has_slider(bone: Any, name: str) -> bool:
    """Whether a bone has the custom property of a setting that animates; of a feature, whether a limb has that."""
    return SLIDER[name].key in bone


def read_slider(bone: PoseBone, name: str) -> Any:
    """The value of a setting that animates; its default where the limb lacks the feature."""
    slider, owner = SLIDER[name], bone  # type: Any, Any
    return type(slider.default)(owner.get(slider.key, slider.default))


def write_slider(bone: PoseBone, name: str, value: Any) -> None:
    """Set a setting that animates, of a limb that has it."""
    slider = SLIDER[name]
    bone[slider.key] = type(slider.default)(value)
    tag(bone)


def path_to_influence(last: str) -> str:
    """The data path, from its rig, of what blends the limb of this last bone between FK and IK."""
    return path_to_custom(last, SLIDER["influence"].key)


def choices_of(bone: PoseBone) -> dict[str, Any]:
    """The settings of a limb that do not animate, by name."""
    group = group_of(bone) or {}
    return {name: group.get(name, default) for name, default in CHOICES.items()}


def links_of(bone: PoseBone) -> tuple[int, ...]:
    """How many bones of the hierarchy each link of a limb has, from the root down; more than one where twist bones lie
    in line. Marks on the bones say so, or what was when the limb was made where one of those is gone."""
    return tuple(map(len, _marked(bone))) or _links_made(bone)


def line_of(last: PoseBone, links: tuple[int, ...] | None = None) -> list[PoseBone]:
    """All bones of a limb, twist bones in line included, from the root down; of what is a limb, only its last bone
    where some are missing."""
    if links is None and group_of(last) is not None:
        return [bone for link in _marked(last) for bone in link] or [last]
    return hierarchy(last, sum(links or links_of(last)))


def bones_of_limb(bone: PoseBone, links: tuple[int, ...] | None = None) -> list[PoseBone]:
    """The first bone of each link of a limb, from the root down; none where some are missing."""
    if links is None and group_of(bone) is not None:
        return [link[0] for link in _marked(bone)]
    links = links or links_of(bone)
    line = line_of(bone, links)
    starts = [sum(links[:i]) for i in range(len(links))]
    return [line[start] for start in starts] if len(line) == sum(links) else []


def _marked(last: PoseBone) -> list[list[PoseBone]]:
    """The links of a limb as they are marked on its bones, from the root down; none where some are missing."""
    found = _links_there(last)
    return found if len(found) == len(_links_made(last)) else []


def _links_made(last: PoseBone) -> tuple[int, ...]:
    """How many bones the links of a limb had when it was made."""
    return tuple(int(count) for count in (group_of(last) or {}).get("links", (1, 1)))


def _links_there(last: PoseBone) -> list[list[PoseBone]]:
    """The links of a limb as they are marked on its bones, from the root down: the lower ones, up to one that is
    missing."""
    links: list[list[PoseBone]] = [[]]
    count = len(_links_made(last))
    bone: Any = last
    while bone is not None and len(links) <= count:
        if GROUP in bone and bone != last:  # of another limb, from which this one hangs
            break
        links[0].insert(0, bone)
        if LINK in bone:
            if bone[LINK] != count - len(links) + 1:
                break
            links.insert(0, [])
        bone = bone.parent
    return links[1:]


def _mark_links(last: PoseBone, links: tuple[int, ...]) -> None:
    """Mark the bones at which the links of a limb begin, by their places in it."""
    _unmark_links([*line_of(last), *hierarchy(last, sum(links))])  # a copy of a marked bone may be among them
    for place, start in enumerate(bones_of_limb(last, links), 1):
        start[LINK] = place


def _unmark_links(line: list[PoseBone]) -> None:
    for bone in line:
        if LINK in bone:  # type: ignore[operator]
            del bone[LINK]


def hierarchy(bone: PoseBone, count: int) -> list[PoseBone]:
    """A bone and those above it, so many in all or as many as there are, from the root down."""
    line = [bone]
    while len(line) < count and line[0].parent:
        line.insert(0, line[0].parent)
    return line


def check_parents(bone: PoseBone, count: int) -> None:
    """Refuse a bone that has not enough bones above it."""
    if len(hierarchy(bone, count)) < count:
        raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=bone.name)


def check_whole(last: PoseBone, links: tuple[int, ...] | None = None) -> None:
    """Refuse a limb some bones of which are not there any more."""
    first = _below_missing(last, links)
    if first is not None:
        raise Refused(
            "The bone above '{first}' is missing: parent '{first}' to it again, or remove the limb of '{bone}'",
            first=first.name,
            bone=last.name,
        )


def _below_missing(last: PoseBone, links: tuple[int, ...] | None) -> PoseBone | None:
    """The bone above which one of a limb is missing; None where all are there."""
    if links is not None or group_of(last) is None:
        links = links or links_of(last)
        line = line_of(last, links)
        return line[0] if len(line) < sum(links) else None
    made, there = _links_made(last), _links_there(last)
    if len(there) == len(made):
        return None
    count = made[-len(there) - 1]  # of the link that is missing, whose upper bones may be
    return hierarchy(there[0][0], count)[0] if there else hierarchy(last, count - 1)[0]


def by_rig(lasts: Iterable[PoseBone]) -> dict[ArmatureObject, list[PoseBone]]:
    """Limbs by their rigs."""
    found: dict[ArmatureObject, list[PoseBone]] = {}
    for last in lasts:
        found.setdefault(last.id_data, []).append(last)
    return found


def is_ours(constraint: Any) -> bool:
    """Whether a constraint of a limb's bone belongs to its mechanism."""
    return bool(constraint.name.startswith(MADE_BY_US))


def is_on_rig(last: PoseBone) -> bool:
    """Whether a limb has a mechanism, whole or not."""
    return any(is_ours(each) for bone in line_of(last) for each in bone.constraints)


def mode_of(last: PoseBone) -> str:
    """What poses a limb: ``RIG`` or ``LIVE``."""
    return "RIG" if is_on_rig(last) else "LIVE"


def is_part(bone: Any) -> bool:
    """Whether a bone was made for a limb, or is of another mechanism."""
    return PART in bone or bone.name.startswith("MCH-")
