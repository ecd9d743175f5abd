"""What `pose_bone.planar_ik` has, for type checkers: `limb: PlanarIK = bone.planar_ik`."""

from typing import Literal

from bpy.types import Object, PoseBone

from .tasks.status import Status

Reach = Literal["REACHED", "TOO_FAR", "TOO_NEAR", "LIMITED", "INVALID"]

class PlanarIK:
    """The limb of which a pose bone is the last bone, if it is one."""

    bone: PoseBone
    enabled: bool
    target: Object | None
    subtarget: str
    pole_target: Object | None
    pole_subtarget: str
    chain_count: int
    plane: Literal["HINGE", "FREE", "POLE", "SLIDE"]
    tip: Literal["FOOT", "TAIL"]
    mode: Literal["RIG", "LIVE"]
    influence: float
    flip: bool
    pole: bool
    swivel: float
    softness: float
    stretch: float
    ankle: float
    roll: float
    bank: float
    pole_follow: float
    stretch_max: float
    stretch_volume: Literal["LENGTH", "UNIFORM", "VOLUME"]
    min_angle: float
    max_angle: float
    root_min_angle: float
    root_max_angle: float
    break_angle: float

    def __init__(self, bone: PoseBone) -> None: ...
    @property
    def twist(self) -> tuple[float, ...]: ...
    @twist.setter
    def twist(self, value: tuple[float, ...] | list[float]) -> None: ...
    @property
    def side(self) -> int: ...
    @property
    def reach(self) -> Reach: ...
    @property
    def residual(self) -> float: ...
    @property
    def message(self) -> str: ...
    @property
    def status(self) -> Status: ...

def register() -> None: ...
def unregister() -> None: ...
