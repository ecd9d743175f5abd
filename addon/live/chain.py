"""One chain as it is posed frame after frame: what was read of it, kept as long as nothing of it was edited."""

from __future__ import annotations

from math import cos
from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix

from ..rig.access import ArmatureObject, Key, chain_settings, path_to_bone, setting_path, upper_of
from ..rig.anatomy import Anatomy, Unposable, anatomy, size_of
from ..rig.dependencies import Carrier, Dependencies
from ..rig.problems import Obstacles, obstacles_of
from ..rig.settings import NUMBERS, ChainSettings, features_of, solver_settings
from ..rig.sides import swing_side
from ..rig.stretching import Stretching, stretching_of
from ..rig.targets import Target
from ..solver import Reach
from ..solver.chain import Features, Own
from ..solver.compiled import Solve, bind
from ..solver.triangle import Settings
from .channels import Channels
from .frame import Frame
from .own_pose import OwnPose
from .parts import Rotation, Scale

NOT_A_PLACE = "The place of the target, or of what carries the limb, is not a number"

ROUNDING = 1e-5
"""The shortfall, as a fraction of the limb's length, that counts as none: single precision leaves as much of a target
within reach and in the plane, some lengths of the limb from the origin."""


class Posing(NamedTuple):
    """What a chain is posed by, as the solver takes it."""

    body: Anatomy
    settings: Settings
    features: Features
    own: Own


class Chain:
    """The chain of one lower bone of one object.

    `prepare` reads everything that only an edit changes, `refresh` what an animation of the chain itself changes, and
    `pose` does what is left for every frame.
    """

    def __init__(self, ob: ArmatureObject, lower: str) -> None:
        self.object = ob
        self.lower = lower
        self.own_pose = OwnPose(ob, lower)
        self.upper = ""
        self.parent = ""
        self.target: Target | None = None
        self.pole: Target | None = None
        """Where the plane is now that of the pole, else None."""
        self.problem = ""
        self.obstacles = Obstacles()
        self.circle = ""
        """What to say if the chain follows, through whatever others, what it moves."""
        self.reach = Reach.INVALID
        self.posing: Posing | None = None
        self.rotations: tuple[Rotation, Rotation] = ()  # type: ignore[assignment]
        self.stretched: list[Scale] = []
        self.swing_side = 1.0
        self.stretching: Stretching | None = None
        self.to_axes = Matrix()
        self.is_carried = False
        self.is_unsettled = False
        self._pole: Target | None = None
        self._is_animated = True
        self._size = 0.0
        self._body: Anatomy | None = None
        self._body_key: tuple[Any, ...] = ()
        self._solve: Solve | None = None
        self._own: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """What to call the chain in a message."""
        return f"{self.object.name}: {self.lower}"

    @property
    def key(self) -> Key:
        """What tells the chain from all others."""
        return (self.object.session_uid, self.lower)

    @property
    def settings(self) -> ChainSettings:
        """The chain's settings on its object (not evaluated)."""
        return chain_settings(self.object.pose.bones[self.lower])

    def read_targets(self, dependencies: Dependencies) -> None:
        """Look up what the chain follows, now or in other frames, and which bones it has."""
        lower = self.object.pose.bones[self.lower]
        settings = chain_settings(lower)
        self.circle = ""
        self.upper = lower.parent.name if lower.parent else ""
        self.target = Target.read(settings.target, settings.subtarget)
        self.swing_side = swing_side(self.lower)
        plane = setting_path(self.lower, "plane")
        has_pole = settings.plane == "POLE" or plane in dependencies.animated_paths(self.object)
        self._pole = Target.read(settings.pole_target, settings.pole_subtarget) if has_pole else None

    def follows(self) -> list[Carrier]:
        """What the chain's pose directly depends on: its target, its pole, and what its root hangs on."""
        upper: PoseBone | None = self.object.pose.bones.get(self.upper)
        root = upper.parent.name if upper and upper.parent else ""
        return [(self.object, root), *((goal.object, goal.bone) for goal in (self.target, self._pole) if goal)]

    def prepare(self, frame: Frame, channels: Channels, index: dict[str, int], dependencies: Dependencies) -> None:
        """Read everything of the chain anew, because something was edited."""
        original = self.object.pose.bones[self.lower]
        self._body_key = ()
        self.obstacles = obstacles_of(original, self.target, self._pole, frame.shows, dependencies)
        if self.circle:
            self.obstacles = self.obstacles._replace(lasting=self.circle)
        is_moved = self._has_curves(dependencies.animated_paths(self.object))
        self._is_animated = is_moved or bool(self.obstacles.hidden)
        if chain_settings(original).enabled and not self.obstacles.lasting:
            self.own_pose.read(channels, index)
            self.own_pose.mark_posed()
        self.refresh(frame, channels)

    def is_outdated(self, frame: Frame) -> bool:
        """Whether `refresh` must run for this frame: the chain is animated, or was set what is evaluated only now, or
        what carries it changed its size."""
        changes = self._is_animated or self.is_unsettled
        return changes or (self.is_carried and not frame.has_size(self.parent, self._size))

    @property
    def is_regular(self) -> bool:
        """Whether the chain can be posed together with others: as long as it is not outdated, by quaternions."""
        is_settled = bool(self.posing and self.posing.body.in_parent) and not self._is_animated
        return is_settled and all(rotation.mode == "QUATERNION" for rotation in self.rotations)

    def refresh(self, frame: Frame, channels: Channels) -> None:
        """Make the function that poses the chain as its settings, its own pose and its bones' shape are now."""
        self._solve = self.posing = None
        if self.is_unsettled:
            self._body_key, self.is_unsettled = (), False
        lower = frame.evaluated.pose.bones.get(self.lower)
        if lower is None:  # renamed in Edit Mode, which the evaluated pose does not know yet
            self.is_unsettled = True
            return
        has_pole = chain_settings(lower).plane == "POLE"
        self.pole = self._pole if has_pole else None
        lack = f"'{self.lower}' has no pole target" if has_pole and not self._pole else ""
        self.problem = lack or self.obstacles.problem(frame.evaluated, frame.depsgraph)
        if self.problem or not chain_settings(lower).enabled:
            self.release(channels)
            return
        self.own_pose.notice(channels)
        try:
            self._bind(lower, channels)
        except Unposable as why:
            self.problem = str(why)
            self._is_animated = True
            self.release(channels)

    def pose(self, frame: Frame, channels: Channels) -> None:
        """Solve the chain for where its target is now."""
        solve = self._solve
        if solve is None:
            return
        solved = solve(*self.places(frame), *self._own)
        if solved[0] != solved[0]:
            self.problem = NOT_A_PLACE
            self.own_pose.restore(channels)
            return
        self.problem = ""
        self.reach = solved[9]
        upper, lower = self.rotations
        upper_turn, lower_turn = solved[0:4], solved[4:8]
        if self.stretching:
            upper_turn, lower_turn, *sizes = self.stretching.turn_and_scale(upper_turn, lower_turn, solved[8])
            for scale, size in zip(self.stretched, sizes, strict=False):
                scale.stretch(channels, size)
        upper.overwrite(channels, upper_turn, frame.has_changed)
        lower.overwrite(channels, lower_turn, frame.has_changed)

    def places(self, frame: Frame) -> tuple[float, ...]:
        """Where the target and, if there is one, the pole are in the axes that the solver takes."""
        to_axes: Any = self.to_axes @ frame.space(self.parent)  # the stubs don't know that vectors are sequences
        place = (to_axes @ self.target.position(frame.depsgraph))[:]  # type: ignore[union-attr]
        return place if self.pole is None else place + (to_axes @ self.pole.position(frame.depsgraph))[:]  # type: ignore[no-any-return]

    def release(self, channels: Channels) -> None:
        """Give the bones their own pose back."""
        self._solve = None
        self.own_pose.release(channels)

    def _has_curves(self, paths: set[str]) -> bool:
        moving = {self.lower, self.upper, *(mover.bone for mover in self.obstacles.movers)} - {""}
        return any(path.startswith(tuple(map(path_to_bone, moving))) for path in paths)

    def _bind(self, lower: PoseBone, channels: Channels) -> None:
        """Make the function that poses the limb of an evaluated lower bone as it is set now."""
        rotations = self.own_pose.rotations
        body = self._read_body(lower)
        values = self._read_settings(lower)
        features = features_of(values, chain_settings(lower).plane)
        self._solve = bind(body.limb, values, features, ROUNDING, body.hinge)
        self.to_axes = body.to_axes(features.plane)
        own = self.own_pose.turns()
        self._own = (*own.upper, *own.lower) if features.blended else ()
        self.posing = Posing(body, values, features, own)
        self.rotations = (rotations["upper"], rotations["lower"])
        self._read_stretch(lower, body, values, channels)

    def _read_body(self, lower: PoseBone) -> Anatomy:
        """The limb's shape, measured again if its bones' own location or scale, or what carries it, changed."""
        upper = upper_of(lower)
        scales = self.own_pose.sizes()
        settings = chain_settings(lower)
        angles = (settings.hinge_angle, settings.lower_twist)
        is_whole = settings.influence == 1.0
        key = (*upper.location, *lower.location, *scales[0], *scales[1], *angles, is_whole)  # type: ignore[misc]
        body = self._body
        if body is None or key != self._body_key or body.in_parent is None or body.carried:
            body = self._body = anatomy(upper, lower, *scales, angles, can_make_up=is_whole)
            self._body_key = key
            self.parent = upper.parent.name if upper.parent and body.in_parent else ""
            self._is_animated = self._is_animated or body.in_parent is None or body.hinge is not None
            self.is_carried = body.carried
            self._size = size_of(upper.parent.matrix) if upper.parent else 1.0
        return body

    def _read_settings(self, lower: PoseBone) -> Settings:
        settings = chain_settings(lower)
        return solver_settings({name: getattr(settings, name) for name in NUMBERS}, self.swing_side, cos)

    def _read_stretch(self, lower: PoseBone, body: Anatomy, values: Settings, channels: Channels) -> None:
        """Find out which bones' scale must lengthen them: both, or the upper one if the lower inherits it."""
        self.stretching, self.stretched = None, []
        if values.stretch > 0.0 or body.uneven:
            stretching = stretching_of(lower, body, values, chain_settings(lower).stretch_volume)
            roles = ("upper", "lower") if stretching.how or any(stretching.lower) else ("upper",)
            for name in (self.upper, self.lower)[: len(roles)]:
                if name in self.obstacles.driven_scales:
                    raise Unposable(f"The scale of '{name}' is driven, so that it can't stretch: remove the driver")
            self.stretching = stretching
            self.stretched = [self.own_pose.scales[role] for role in roles]
        for scale in self.own_pose.scales.values():
            if scale not in self.stretched:
                scale.restore(channels)
