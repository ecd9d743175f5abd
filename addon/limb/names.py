"""What bones are called, as a help where shapes alone don't say: the one place that knows words.

Names are read word by word, in any of the usual spellings: ``upper_arm.L``, ``mixamorig:LeftForeArm``,
``L_armUpper0001_bind_JNT``, ``Bip01 R Calf``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..blender.names import other_side

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_JOINED = re.compile(
    "(upper|lower|low|up|fore|mid|front|hind|back|rear|left|right)"
    "(arm|leg|foot|hand|paw|hoof|hip|shoulder|thigh|shin|knee|elbow|toe|limb)(s?)"
)
"""Words that many write as one."""

ARM = frozenset(("arm", "forearm", "humerus", "radius", "ulna", "elbow"))
LEG = frozenset(
    ("leg", "thigh", "shin", "calf", "knee", "femur", "tibia", "fibula", "hock", "pastern", "shank", "limb")
)
HANDS = frozenset(("hand", "palm", "fist", "wrist"))
FEET = HANDS | {"foot", "feet", "ankle", "paw", "hoof", "tarsus", "metatarsus", "claw"}
TOES = frozenset(("toe", "toes", "ball", "heel", "fingers"))
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

MECHANISM = frozenset(("mch", "org", "wgt", "ctrl", "ik", "pole", "target", "control", "ctl"))
MOVES_ALL = ("root", "master", "global", "armature")
"""What the topmost bone of a rig is called where it moves the whole of it, as pelvis and hips do not."""

NO_HOCK = ARM | {"hand", "clavicle", "hip", "neck", "pelvis", "scapula", "shoulder", "spine", "tail", "finger", "thumb"}

_NUMBER = re.compile(r"[._ -]?\d+$")
_WHOLE = re.compile("(upper|lower)[._ -]?(arm|leg)|thigh|shin|calf|fore[._ -]?arm", re.I)


@lru_cache(10_000)
def words(name: str) -> frozenset[str]:
    """The words of a name, in small letters, without numbers and what stands before a colon."""
    words: set[str] = set()
    for word in _WORD.findall(name.rpartition(":")[2]):
        joined = _JOINED.fullmatch(word.lower())
        words.update((word.lower(), joined[2]) if joined else (word.lower(),))
    return frozenset(words)


def says(name: str, *vocabularies: frozenset[str]) -> bool:
    """Whether a name has a word of one of these kinds."""
    return any(words(name) & kind for kind in vocabularies)


def is_trunk(name: str) -> bool:
    """Whether a bone is called as one in the middle that limbs hang on."""
    return says(name, TRUNK) and not says(name, ARM, LEG, FEET) and not side_of(name)


def is_limb_like(name: str) -> bool:
    """Whether a bone is called as one of an arm or a leg."""
    return says(name, ARM, LEG)


def is_other(name: str) -> bool:
    """Whether a bone is called as one of something else."""
    return says(name, OTHERS, TRUNK) and not is_limb_like(name)


def is_girdle(name: str) -> bool:
    """Whether a bone is called as one that carries a limb."""
    return says(name, GIRDLE)


def says_twist(name: str) -> bool:
    """Whether a bone is called a twist bone."""
    return any(word in name.lower() for word in ("twist", "roll"))


def is_piece(name: str, whole: str) -> bool:
    """Whether a bone is called as another piece of a bone: ``thigh.001`` of ``thigh``, ``upperleg02`` of
    ``upperleg01``."""
    stem, whole = stem_of(name), stem_of(whole)
    return stem == whole and name != whole and (whole.lower() == whole or bool(_WHOLE.fullmatch(whole)))


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

_SIDE_AFTER = re.compile(r"[._ -](?:l|r|left|right)(?:[._ -]?\d+)?$", re.I)
_SIDE_BEFORE = re.compile(r"^(?:.*:)?(?:(?:left|right)[._ -]?|[lr][._ -])", re.I)


def target_name(foot: str, last: str) -> str:
    """What the target of a limb is called, after the foot or hand (or last bone) that it moves, with its side or that
    of the last bone, in the rig's own style: ``foot_ik.L``, ``LeftFootIK``."""
    before, stem, after = _split(foot)
    if not before + after:
        before, _, after = _split(last)
    return f"{before}{stem}{_joined(before, stem, 'ik')}{after}"


def pole_name(joint: str, last: str) -> str:
    """What the pole of a limb is called, after its ``knee`` or ``elbow``: ``knee_pole.L``, ``LeftKneePole``."""
    before, stem, after = _split(last)
    joint = joint.capitalize() if before and before[-1].isalpha() and stem[:1].isupper() else joint
    return f"{before}{joint}{_joined(before, joint, 'pole')}{after}"


def _split(name: str) -> tuple[str, str, str]:
    """A name as what says its side, the name itself, and what says its side after that."""
    after = _SIDE_AFTER.search(name)
    if after:
        return "", name[: after.start()], after.group()
    before = _SIDE_BEFORE.match(name)
    return (before.group(), name[before.end() :], "") if before else ("", name, "")


def _joined(before: str, stem: str, word: str) -> str:
    """A word as the words of a name are joined in a rig's style."""
    if before and before[-1].isalpha() and stem[:1].isupper():
        return word.upper() if word == "ik" else word.capitalize()
    return f"_{word}"


def joint_of(names: Sequence[str]) -> str:
    """What the joint of a limb is called by the names of its bones, and of its foot or hand: ``knee`` or ``elbow``."""
    return "elbow" if any(says(name, ARM, HANDS) for name in names) else "knee"
