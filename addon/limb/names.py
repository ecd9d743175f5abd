"""What bones are called, as a help where shapes alone don't say: the one place that knows words.

Names are read word by word, in any of the usual spellings: ``upper_arm.L``, ``mixamorig:LeftForeArm``,
``L_armUpper0001_bind_JNT``, ``Bip01 R Calf``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import normalize

import bpy

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_JOINED = re.compile(
    "(upper|lower|low|up|fore|mid|front|hind|back|rear|left|right)"
    "(arm|leg|foot|hand|paw|hoof|hip|shoulder|thigh|shin|knee|elbow|toe|limb)(s?)"
)
"""Words that many write as one."""

JAPANESE = {
    "手首": "hand", "足首": "foot", "つま先": "toe", "ひじ": "elbow", "ひざ": "knee", "肩": "shoulder", "捩": "twist",
    "指": "finger", "腕": "arm", "足": "leg", "上半身": "spine", "下半身": "pelvis", "センター": "root", "頭": "head",
    "首": "neck", "髪": "hair", "スカート": "skirt", "目": "eye", "胸": "breast",
}  # fmt: skip
"""The words of MikuMikuDance's skeletons: the first that stands in a name counts."""

ARM = frozenset(("arm", "forearm", "humerus", "radius", "ulna", "elbow"))
LEG = frozenset(
    ("leg", "thigh", "shin", "calf", "knee", "femur", "tibia", "fibula", "hock", "pastern", "shank", "limb")
)
HANDS = frozenset(("hand", "palm", "fist", "wrist"))
FEET = HANDS | {"foot", "feet", "ankle", "paw", "hoof", "tarsus", "metatarsus", "claw"}
AT_END = frozenset(("foot", "feet", "hand", "paw", "hoof", "toe", "toes"))
"""What is selected along with a limb and left off."""

LEAVES = frozenset(("end", "nub", "leaf"))
"""What importers call the bones that they put at the tails of last ones."""

TOES = frozenset(("toe", "toes", "ball", "heel", "fingers"))
PARTS = ARM | LEG | FEET | {"upper", "lower", "up", "low", "fore", "shoulder", "hip"}
"""What tells one bone of a limb from another."""

BY_JOINT = frozenset(("elbow", "knee"))
"""What bones are called after the joint at which they begin: there, a hip is a thigh and a shoulder an upper arm."""

GIRDLE = frozenset(("shoulder", "clavicle", "collar", "collarbone", "scapula", "hip", "pelvis", "coxa", "palm"))
"""What carries a limb; by itself it is not its first bone."""

TRUNK = frozenset(("spine", "chest", "hips", "torso", "body", "root", "pelvis", "belly", "abdomen", "waist", "cog"))
"""What a limb hangs on, if it is in the middle."""

FACE = frozenset(("nose", "jaw", "eye"))
"""What points to the front besides feet."""

HEAD = frozenset(("head", "face", "skull"))
"""What ears and horns hang on, whatever these are called."""

OTHERS = frozenset(("neck", "head", "tail", "ear", "ears", "eye", "eyes", "brow", "eyebrow", "jaw", "tongue", "lip"))
OTHERS |= {"nose", "face", "hair", "beard", "mane", "whisker", "ponytail", "pigtail", "wing", "feather", "fin", "horn"}
OTHERS |= {"finger", "thumb", "index", "middle", "ring", "pinky", "skirt", "cape", "cloth", "breast", "antenna"}
OTHERS |= {"temple", "cheek", "chin", "lid", "teeth", "tentacle", "trunk", "weapon", "gun", "strap", "rope", "chain"}
"""What bends and hangs on a body, and is neither arm nor leg."""

DRIVES = frozenset(("crank", "drive", "driver", "motor", "engine", "handle", "wheel"))
"""What turns a machine."""

MECHANISM = frozenset(("mch", "org", "wgt", "ctrl", "ik", "pole", "target", "control", "ctl"))
MOVES_ALL = ("root", "master", "global", "armature")
"""What the topmost bone of a rig is called where it moves the whole of it, as pelvis and hips do not."""

NO_HOCK = ARM | {"hand", "clavicle", "hip", "neck", "pelvis", "scapula", "shoulder", "spine", "tail", "finger", "thumb"}

_NUMBER = re.compile(r"[._ -]?\d+$")
_WHOLE = re.compile("(upper|lower)[._ -]?(arm|leg)|thigh|shin|calf|fore[._ -]?arm")
"""What only one bone of a limb is called: a second one is a piece of it. ``arm2`` may well bend against ``arm1``."""


@lru_cache(10_000)
def words(name: str) -> frozenset[str]:
    """The words of a name, in small letters, without numbers and what stands before a colon."""
    words: set[str] = set()
    own = normalize("NFKC", name.rpartition(":")[2])  # Letters of double width, as in Japan
    if not own.isascii():
        words.update([word for japanese, word in JAPANESE.items() if japanese in own][:1])
    for word in _WORD.findall(own):
        joined = _JOINED.fullmatch(word.lower())
        words.update((word.lower(), joined[1], joined[2]) if joined else (word.lower(),))
    return frozenset(words)


def has_word(name: str, *vocabularies: frozenset[str]) -> bool:
    """Whether a name has a word of one of these kinds."""
    return any(words(name) & kind for kind in vocabularies)


def is_trunk(name: str) -> bool:
    """Whether a bone is called as one in the middle that limbs hang on."""
    return has_word(name, TRUNK) and not has_word(name, ARM, LEG, FEET) and not side_of(name)


def is_limb_like(name: str) -> bool:
    """Whether a bone is called as one of an arm or a leg, and not as the end of one."""
    return has_word(name, ARM, LEG) and not has_word(name, LEAVES)


def tell_apart(upper: str, lower: str, foot: str) -> bool:
    """Whether the names of two bones, and of what is below them, are those of an arm's or a leg's and say which is
    which: ``thigh`` and ``shin`` do, ``arm1`` and ``arm2`` don't, unless a ``hand`` follows."""
    parts = [words(name) & PARTS for name in (upper, lower)]
    is_limb = any(map(is_limb_like, (upper, lower)))
    return is_limb and (has_word(foot, FEET) or (all(parts) and parts[0] != parts[1]))


def says_drive(name: str) -> bool:
    """Whether a bone is called as one that drives a machine."""
    return has_word(name, DRIVES)


def is_other(name: str) -> bool:
    """Whether a bone is called as one of something else."""
    return has_word(name, OTHERS, TRUNK) and not is_limb_like(name)


def is_girdle(name: str) -> bool:
    """Whether a bone is called as one that carries a limb."""
    return has_word(name, GIRDLE)


def says_twist(name: str) -> bool:
    """Whether a bone is called a twist bone."""
    return any(word in name.lower() for word in ("twist", "roll", "捩"))


def is_called(name: str) -> bool:
    """Whether a name says which bone of a body it is."""
    return has_word(name, PARTS, GIRDLE, TRUNK, TOES, OTHERS)


def is_piece(name: str, whole: str) -> bool:
    """Whether a bone is called as another piece of a bone: ``thigh.001`` of ``thigh``, ``upperleg02`` of
    ``upperleg01``."""
    stem = stem_of(name)
    return stem == stem_of(whole) and name.lower() != stem and bool(_WHOLE.search(stem))


def stem_of(name: str) -> str:
    """A name without the number at its end, in small letters."""
    return _NUMBER.sub("", name.lower())


def moves_all(name: str) -> bool:
    """Whether the topmost bone of a rig is called as one that moves the whole of it."""
    return any(word in name.lower() for word in MOVES_ALL)


@lru_cache(10_000)
def side_of(name: str) -> str:
    """On which side a bone is called to be: the name on the other side if that comes later in the alphabet, in short
    'L', 'R' or nothing."""
    other = other_side(name)
    return "" if other == name else "L" if name < other else "R"


# names of controls

_SIDE_AFTER = re.compile(r"(?:[._ -](?:l|r|left|right)|(?-i:(?<=[a-z\d])(?:Left|Right)))(?:[._ -]?\d+)?$", re.I)
_SIDE_BEFORE = re.compile(r"(?:left|right)[._ -]?|[lr][._ -]", re.I)
_SIDE_WITHIN = re.compile(r"[._ -](?:(l|left)|r|right)[._ -]", re.I)
_UPPER_OR_LOWER = frozenset(("upper", "lower", "up", "low", "fore"))


def target_name(last_bone: str, foot: str) -> str:
    """What the target of a limb with this last bone is called, after the foot or hand that it moves (or the last bone,
    if there is none): ``foot_ik.L``, ``LeftFootIK``, ``tibia_ik.1.R``."""
    before, stem, after = _parts(last_bone, foot)
    return _with_word(before, stem, "ik", after)


def pole_name(last_bone: str, foot: str, joint: str) -> str:
    """What its pole is called, after its ``knee`` or ``elbow`` in place of the foot: ``knee_pole.L``, ``LeftKneePole``,
    ``front_knee_pole.R``."""
    before, stem, after = _parts(last_bone, foot)
    if (own := _with_joint(stem, joint)) == stem:  # no word for a foot or hand that we know
        own = _with_joint(_split(last_bone)[1], joint)
        own = stem if own == _split(last_bone)[1] else own
    return _with_word(before, own, "pole", after)


def drawn_side(name: str) -> int:
    """On which side a control of this bone is drawn: 1 left, -1 right, else 0. Where Blender reads no side, as of
    ``J_Bip_L_Foot``, one that stands within the name counts."""
    within = _SIDE_WITHIN.search(name)
    return side_sign(name) or (0 if within is None else 1 if within[1] else -1)


def joint_of(names: Sequence[str]) -> str:
    """What the joint of a limb is called by the names of its bones, and of its foot or hand: ``knee`` or ``elbow``."""
    return "elbow" if any(has_word(name, ARM, HANDS) for name in names) else "knee"


def _parts(last_bone: str, foot: str) -> tuple[str, str, str]:
    """What a limb's controls are named after: what says the side before that, the name itself, and what says it after
    that, in the rig's own style. Below a hock, the foot is the last bone, and what hangs on that are toes. A name in a
    namespace would tell Blender no side, so that Paste Flipped would pass it over."""
    hangs_on_toes = has_word(foot, TOES) and not has_word(foot, FEET) and has_word(last_bone, FEET)
    parts = _split(last_bone if hangs_on_toes or not foot else foot)
    if parts[0] + parts[2]:
        return parts
    before, _, after = _split(last_bone)
    return before, parts[1], after


def _split(name: str) -> tuple[str, str, str]:
    own = name.rpartition(":")[2]
    if after := _SIDE_AFTER.search(own):
        return "", own[: after.start()], after.group()
    if (before := _SIDE_BEFORE.match(own)) and before.end() < len(own):
        return before.group(), own[before.end() :], ""
    return "", own, ""


def _with_joint(stem: str, joint: str) -> str:
    """A name with its first word for a foot, hand, leg or arm replaced by that for the joint in the middle."""
    before = None
    for word in _WORD.finditer(stem):
        if has_word(word.group(), FEET, LEG, ARM):
            start = before.start() if before and before.group().lower() in _UPPER_OR_LOWER else word.start()
            joined = _JOINED.fullmatch(word.group().lower())
            end = "" if not joined or joined[1] in _UPPER_OR_LOWER else f"{word.group()[: len(joined[1])]}_"
            capital = word.group()[0].isupper() and not end
            return f"{stem[:start]}{end}{joint.capitalize() if capital else joint}{stem[word.end() :]}"
        before = word
    return stem


def _with_word(before: str, stem: str, word: str, after: str) -> str:
    """A name with a word at its end, but before its side, joined as the rig's own words are, and before a number that
    stands before the side."""
    number = _NUMBER.search(stem) if after else None
    if number and number.group()[0] in "._ -":
        stem, after = stem[: number.start()], number.group() + after
    is_camel = stem[:1].isupper() and (before[-1:].isalpha() or after[:1].isalpha())
    end = f"_{word}" if not is_camel else "IK" if word == "ik" else word.capitalize()
    return f"{before}{stem}{end}{after}"


def other_side(name: str) -> str:
    """The name on the other side, or the same if it tells no side. Of a name in a namespace, like Mixamo's
    'mixamorig:LeftArm', Blender would read no side: what comes after it counts."""
    space, mark, own = name.rpartition(":")
    return space + mark + bpy.utils.flip_name(own)


def side_sign(name: str) -> int:
    """1 of a name on the left, -1 of one on the right, 0 of one that tells no side."""
    letter = next((ours for ours, theirs in zip(name, other_side(name), strict=False) if ours != theirs), "")
    return {"l": 1, "r": -1}.get(letter.lower(), 0)
