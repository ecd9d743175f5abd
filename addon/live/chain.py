"""One chain as it is posed frame after frame: what was read of it, kept as long as nothing of it was edited."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos
from operator import mul
from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix

from ..rig.anatomy import Anatomy, Unposable, anatomy, nothing, size_of
from ..rig.chain_settings import ChainSettings
from ..rig.data.access import ArmatureObject, Key, chain_settings, path_to_bone, split_path, upper_of
from ..rig.data.dependencies import Carrier, Dependencies
from ..rig.data.rotation import ROTATIONS, to_channels, to_quaternion
from ..rig.kinds import Kind, Problem
from ..rig.problems import NOT_A_PLACE, Obstacles, obstacles_of
from ..rig.solver_settings import angles_of, features_of, solver_settings
from ..rig.stretching import Stretching, stretching_of
from ..rig.targets import Target
from ..solver import Reach
from ..solver.chain import Features
from ..solver.compiled import Solve, bind
from ..solver.rotation import Quaternion
from ..solver.triangle import Settings
from .channels import Channels, Slot, rotation_slot
from .frame import Frame

ROUNDING = 1e-5
"""The shortfall, as a fraction of the limb's length, that counts as none: single precision leaves as much of a target
within reach and in the plane, some lengths of the limb from the origin."""

NO_OBSTACLES = Obstacles()


class TurnedBone(NamedTuple):
    """A bone that a chain turns: where its rotation is, and in which rotation mode."""

    slot: Slot
    mode: str


class Measured(NamedTuple):
    """The limb's shape, and what it was measured with: location and scale of its bones, and the size of what carries
    it. ``parent`` is the bone in whose pose the limb's axes stand still; without a name, the armature."""

    body: Anatomy
    key: tuple[float, ...]
    size: float
    parent: str


class Posing(NamedTuple):
    """What a chain is posed by: the limb, its settings as the solver takes them, and where its channels are.

    ``to_axes`` takes places in the pose of the limb's parent to the axes that ``solve`` takes."""

    body: Anatomy
    settings: Settings
    features: Features
    solve: Solve
    to_axes: Matrix
    upper: TurnedBone
    lower: TurnedBone
    lengthened: tuple[Slot, ...]
    stretching: Stretching | None


@dataclass(eq=False, slots=True)
class Chain:
    """The chain of one lower bone of one object, and what was read of it.

    `prepare` reads everything that only an edit changes, `refresh` what an animation of the chain itself changes, and
    `pose` does what is left for every frame.
    """

    object: ArmatureObject
    lower: str
    upper: str = ""
    swing_side: float = 1.0
    target: Target | None = None
    pole: Target | None = None  # where the plane is now that of the pole
    possible_pole: Target | None = None
    obstacles: Obstacles = NO_OBSTACLES
    circle: str = ""  # what to say if the chain follows, through whatever others, what it moves
    is_animated: bool = True
    is_unsettled: bool = False  # something was set that is evaluated only with the next update
    measured: Measured | None = None
    posing: Posing | None = None
    read: tuple[Any, Posing] | None = None  # what it was last posed by, and by what that was told
    problem: str = ""
    reach: Reach = Reach.INVALID

    @property
    def name(self) -> str:
        """What to call the chain in a message."""
        return f"{self.object.name}: {self.lower}"

    @property
    def key(self) -> Key:
        """What tells the chain from all others."""
        return (self.object.session_uid, self.lower)

    @property
    def bone(self) -> PoseBone:
        """The lower bone on its object (not evaluated)."""
        return self.object.pose.bones[self.lower]

    @property
    def settings(self) -> ChainSettings:
        """The chain's settings on its object (not evaluated)."""
        return chain_settings(self.bone)

    @property
    def parent(self) -> str:
        """The bone in whose pose the limb's axes stay where they are, if there is one."""
        return self.measured.parent if self.measured else ""

    @property
    def is_carried(self) -> bool:
        """Whether the limb's shape depends on the size of what carries it."""
        return bool(self.measured and self.measured.body.carried)

    @property
    def is_regular(self) -> bool:
        """Whether the chain can be posed together with others: as long as it is not outdated, by quaternions."""
        posing = self.posing
        if posing is None or posing.body.in_parent is None or self.is_animated:
            return False
        return posing.upper.mode == posing.lower.mode == "QUATERNION"

    def follows(self) -> list[Carrier]:
        """What the chain's pose directly depends on: its target, its pole, and what its root hangs on."""
        upper: PoseBone | None = self.object.pose.bones.get(self.upper)
        root = upper.parent.name if upper and upper.parent else ""
        return [(self.object, root), *((goal.object, goal.bone) for goal in (self.target, self.possible_pole) if goal)]

    def swap(self, to: Any) -> None:
        """Put something else in the place of every object, or of what stands for it."""
        self.object = to(self.object)
        for goal in filter(None, (self.target, self.possible_pole)):
            goal.object = to(goal.object)


def prepare(chain: Chain, frame: Frame, channels: Channels, dependencies: Dependencies) -> None:
    """Read everything of a chain anew, because something was edited."""
    chain.measured = None
    chain.obstacles = obstacles_of(chain.bone, chain.target, chain.possible_pole, frame.shows, dependencies)
    if chain.circle:
        chain.obstacles = chain.obstacles._replace(lasting=chain.circle)
    moving = {chain.lower, chain.upper, *(mover.bone for mover in chain.obstacles.movers)} - {""}
    starts = tuple(map(path_to_bone, moving))
    paths = [path for path in dependencies.animated_paths(chain.object) if path.startswith(starts)]
    has_curves = any(split_path(path)[1] not in ROTATIONS for path in paths)  # which every frame takes as they stand
    chain.is_animated = has_curves or bool(chain.obstacles.hidden)
    refresh(chain, frame, channels)


def is_outdated(chain: Chain, frame: Frame) -> bool:
    """Whether `refresh` must run for this frame: the chain is animated, or was set what is evaluated only now, or what
    carries it changed its size."""
    if chain.is_animated or chain.is_unsettled or frame.is_nothing(chain.parent):
        return True
    measured = chain.measured
    return bool(measured and measured.body.carried and not frame.has_size(measured.parent, measured.size))


def refresh(chain: Chain, frame: Frame, channels: Channels) -> None:
    """Read what the chain is posed by as its settings, its own pose and its bones' shape are now."""
    chain.posing, chain.problem = None, ""
    if chain.is_unsettled:
        chain.measured, chain.is_unsettled = None, False
    lower = frame.evaluated.pose.bones.get(chain.lower)
    if lower is None:  # renamed in Edit Mode, which the evaluated pose does not know yet
        chain.is_unsettled = True
        return
    settings = chain_settings(lower)
    if not settings.enabled:
        return
    plane = settings.plane
    has_pole = plane == "POLE"
    chain.pole = chain.possible_pole if has_pole else None
    lack = f"'{chain.lower}' has no pole target" if has_pole and not chain.possible_pole else ""
    chain.problem = lack or chain.obstacles.problem(frame.evaluated, frame.depsgraph)
    if chain.problem:
        return
    if not all(goal.is_known(frame.depsgraph) for goal in (chain.target, chain.pole) if goal):
        chain.is_unsettled = True
        return
    try:
        if frame.is_nothing(chain.parent):
            raise Unposable(nothing(upper_of(lower)))
        chain.posing = _read(chain, lower, plane, channels)
    except Unposable as why:
        chain.problem = why.args[0]
        chain.is_animated = True


def pose(chain: Chain, frame: Frame, channels: Channels) -> None:
    """Solve a chain for where its target is now, and set its solution where the channels hold the animator's pose."""
    posing = chain.posing
    if posing is None:
        return
    upper, lower = posing.upper, posing.lower
    own_upper, own_lower = channels.get(upper.slot), channels.get(lower.slot)
    own: tuple[float, ...] = ()
    if posing.features.blended:
        own = (*to_quaternion(upper.mode, own_upper), *to_quaternion(lower.mode, own_lower))
    solved = posing.solve(*places(chain, frame), *own)
    if solved[0] != solved[0]:
        chain.problem = NOT_A_PLACE
        return
    chain.problem = ""
    chain.reach = solved[9]
    upper_turn, lower_turn = solved[0:4], solved[4:8]
    if posing.stretching:
        upper_turn, lower_turn, *sizes = posing.stretching.turn_and_scale(upper_turn, lower_turn, solved[8])
        for slot, size in zip(posing.lengthened, sizes, strict=False):
            channels.set(slot, [*map(mul, channels.get(slot), size)])
    channels.set(upper.slot, _written(upper.mode, upper_turn, own_upper))
    channels.set(lower.slot, _written(lower.mode, lower_turn, own_lower))


def places(chain: Chain, frame: Frame) -> tuple[float, ...]:
    """Where the target and, if there is one, the pole are in the axes that the solver takes."""
    posing: Any = chain.posing  # the stubs don't know that vectors are sequences
    to_axes = posing.to_axes @ frame.space(chain.parent)
    place = (to_axes @ chain.target.position(frame.depsgraph))[:]  # type: ignore[union-attr]
    return place if chain.pole is None else place + (to_axes @ chain.pole.position(frame.depsgraph))[:]  # type: ignore[no-any-return]


def _written(mode: str, rotation: Quaternion, near: list[float]) -> tuple[float, ...]:
    """A rotation in a rotation mode: of all ways to write it the closest to the animator's, so that it does not matter
    which frame came before."""
    if mode != "QUATERNION":
        return to_channels(mode, rotation, near)
    w, x, y, z = rotation  # as `to_channels` does, but this runs twice for each limb and frame
    a, b, c, d = near
    return (-w, -x, -y, -z) if w * a + x * b + y * c + z * d < 0.0 else rotation


def _read(chain: Chain, lower: PoseBone, plane: str, channels: Channels) -> Posing:
    """What poses the limb of an evaluated lower bone as it is set now, the same as before if that tells nothing else;
    raises `Unposable`."""
    upper = upper_of(lower)
    bones = chain.object.pose.bones
    index = (bones.find(chain.upper), bones.find(chain.lower))
    scales = (Slot("scale", index[0]), Slot("scale", index[1]))
    settings = chain_settings(lower)
    numbers = settings.numbers()
    body = _measure(chain, upper, lower, [*channels.get(scales[0]), *channels.get(scales[1])], numbers)
    volume = settings.stretch_volume if numbers["stretch"] > 0.0 or body.uneven else ""
    modes = (upper.rotation_mode, lower.rotation_mode)
    told = (*index, *modes, plane, volume, *numbers.values())
    if chain.read and chain.read[0] == told and chain.read[1].body is body:
        return chain.read[1]
    values = solver_settings(numbers, chain.swing_side, cos)
    features = features_of(values, plane)
    stretching = stretching_of(lower, body, values, volume) if volume else None
    posing = Posing(
        body,
        values,
        features,
        bind(body.limb, values, features, ROUNDING, body.uninherited),
        body.to_axes(features.plane),
        TurnedBone(rotation_slot(upper, index[0]), modes[0]),
        TurnedBone(rotation_slot(lower, index[1]), modes[1]),
        scales[: _count_of(chain, stretching)],
        stretching,
    )
    chain.read = (told, posing)
    return posing


def _measure(chain: Chain, upper: PoseBone, lower: PoseBone, scales: list[float], numbers: dict[str, float]) -> Anatomy:
    """The limb's shape, measured again if its bones' own location or scale, or what carries it, changed."""
    angles = angles_of(numbers)
    is_whole = numbers["influence"] == 1.0
    key: Any = (*upper.location, *lower.location, *scales, *angles, is_whole)  # type: ignore[misc]
    measured = chain.measured
    if measured and measured.key == key and measured.body.in_parent is not None and not measured.body.carried:
        return measured.body
    body = anatomy(upper, lower, scales[:3], scales[3:], angles, can_make_up=is_whole)
    chain.is_animated = chain.is_animated or body.in_parent is None or body.uninherited is not None
    size = size_of(upper.parent.matrix) if upper.parent else 1.0
    parent = upper.parent.name if upper.parent and body.in_parent else ""
    chain.measured = Measured(body, key, size, parent)
    return body


def _count_of(chain: Chain, stretching: Stretching | None) -> int:
    """How many bones' scales must lengthen a limb: both, or the upper one's if the lower inherits it; raises
    `Unposable`."""
    if stretching is None:
        return 0
    count = 2 if stretching.how or any(stretching.lower) else 1
    for name in (chain.upper, chain.lower)[:count]:
        if name in chain.obstacles.driven_scales:
            sentence = f"The scale of '{name}' is driven, so that it can't stretch: remove the driver"
            raise Unposable(Problem(Kind.DRIVEN, sentence))
    return count
