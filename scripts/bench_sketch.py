"""The yardstick of the benchmark: the least that poses a limb exactly with Blender's own parts, without settings.

Neither softness nor limits, stretch, ankle, what follows renames, or axes that Blender has not exactly: a limb on the
rig has all that and is to cost less. With G the limb's frame at rest (root, Y to the tip, Z the normal, knee at -X):

    goal     rests in G, copies the target's place      line  (FREE, POLE) turns with the line to the target
    spot     (POLE) hangs on the line, goes to the pole    roll  (FREE, POLE) turns about the line
    size     (three bones) holds the distance and the length of bones 1 and 3 together
    turn k   rests as the bone does, and turns about the normal; one hangs on the other
"""

from __future__ import annotations

from cmath import phase
from itertools import pairwise
from math import copysign
from typing import Any

from mathutils import Matrix, Vector

from .bench_scenes import in_mode, length_of, limbs

SLIDERS = {"IK Influence": 1.0, "IK Flip": False, "IK Swivel": 0.0}


def sketch(plane: str) -> None:
    """Pose the limbs of the file, which are of one rig, by the yardstick."""
    sketches = [Sketch(*limb, plane) for limb in limbs()]
    in_mode("EDIT", sketches[0].ob)
    for one in sketches:
        one.add_bones()
    in_mode("POSE", sketches[0].ob)
    for one in sketches:
        one.finish()


class Sketch:
    """One limb by the yardstick: its geometry at rest, and its helper bones by role."""

    def __init__(self, last: Any, target: Any, pole: Any, plane: str) -> None:
        self.ob, self.last, self.plane = last.id_data, last.name, plane
        self.target, self.pole = target, pole if plane == "POLE" else None
        self.names = [bone.name for bone in (last, *last.parent_recursive)][: length_of(last)][::-1]
        bones = [self.ob.data.bones[name] for name in self.names]
        joints = [*(bone.head_local.copy() for bone in bones), bones[-1].tail_local.copy()]
        segments_along = [b - a for a, b in pairwise(joints)]
        y = (joints[-1] - joints[0]).normalized()
        aside = sum(segments_along[::2], Vector())
        z = y.cross(aside - y * aside.dot(y)).normalized()
        x = y.cross(z)
        self.frame = Matrix((x, y, z)).transposed().to_4x4()
        self.frame.translation = joints[0]
        self.lengths = [along.length for along in segments_along]
        self.directions = [complex(along.normalized().dot(y), -along.normalized().dot(x)) for along in segments_along]
        self.distance = (joints[-1] - joints[0]).length
        self.normals = [bone.matrix_local.to_3x3().inverted() @ z for bone in bones]
        self.roles: dict[str, str] = {}

    def finish(self) -> None:
        """What is made in Pose Mode."""
        last = self.ob.pose.bones[self.last]
        ik: Any = last.constraints.new("IK")
        ik.name, ik.mute, ik.chain_count = "Planar IK", True, len(self.names)
        ik.target, ik.pole_target = self.target, self.pole
        for name, value in SLIDERS.items():
            last[name] = value
        self._constrain("goal", "COPY_LOCATION", self.target)
        if self.pole:
            self._constrain("spot", "COPY_LOCATION", self.pole)
        self._drive_turns()
        if self.plane != "HINGE":
            self._drive_line()
        for k, name in enumerate(self.names):
            kind, space = ("COPY_ROTATION", "LOCAL") if k else ("COPY_TRANSFORMS", "POSE")
            constraint = self._constrain(name, kind, self.ob, self.roles[f"turn{k}"])
            constraint.owner_space = constraint.target_space = space
            curve = self.ob.driver_add(f'pose.bones["{name}"].constraints["{constraint.name}"].influence')
            curve.driver.type = "SUM"
            self._read(curve.driver, "t", "IK Influence")

    def add_bones(self) -> None:
        """What is made in Edit Mode."""
        first = self.ob.data.edit_bones[self.names[0]]
        above = self._add("goal", first.parent).parent
        if self.plane != "HINGE":
            line = self._add("line", first.parent)
            if self.plane == "POLE":
                self._add("spot", line)
            above = self._add("roll", line)
        if len(self.names) > 2:
            self._add("size", first.parent)
        for k, name in enumerate(self.names):
            above = self._add(f"turn{k}", above, name)

    def _add(self, role: str, parent: Any, like: str = "") -> Any:
        bones = self.ob.data.edit_bones
        bone = bones.new(f"MCH-{role}-{self.last}")
        bone.use_deform = False
        bone.head, bone.tail = self.frame.translation, self.frame.translation + Vector((0.0, 0.1, 0.0))
        bone.matrix = bones[like].matrix if like else self.frame
        bone.length, bone.parent = 0.2 * sum(self.lengths), parent
        self.roles[role] = bone.name
        return bone

    def _constrain(self, bone: str, kind: str, target: Any, subtarget: str = "") -> Any:
        constraint: Any = self.ob.pose.bones[self.roles.get(bone, bone)].constraints.new(kind)  # type: ignore[arg-type]
        constraint.name, constraint.target, constraint.subtarget = "Planar IK Pose", target, subtarget
        return constraint

    def _read(self, driver: Any, letter: str, source: str) -> None:
        """A variable of a slider, or of a channel of a helper bone: ``role LOC_X``."""
        variable = driver.variables.new()
        variable.name, target = letter, variable.targets[0]
        target.id = self.ob
        if source in SLIDERS:
            target.data_path = f'pose.bones["{self.last}"]["{source}"]'
        else:
            role, channel = source.split()
            variable.type, target.bone_target = "TRANSFORMS", self.roles[role]
            target.transform_type, target.transform_space = channel, "LOCAL_SPACE"

    def _drive(self, role: str, path: str, index: int, expression: str, **letters: str) -> None:
        driver = self.ob.driver_add(f'pose.bones["{self.roles[role]}"].{path}', index).driver
        for letter, source in letters.items():
            self._read(driver, letter, source)
        driver.expression = expression
        if driver.expression != expression or not driver.is_simple_expression:
            raise RuntimeError(f"Blender does not take {expression}")

    @property
    def _place(self) -> dict[str, str]:
        """The letters that say where the target is."""
        return {axis: f"goal LOC_{axis.upper()}" for axis in ("xy" if self.plane == "HINGE" else "xyz")}

    @property
    def _square(self) -> str:
        return "+".join(f"{axis}*{axis}" for axis in self._place)

    def _drive_turns(self) -> None:
        letters = self._place
        if len(self.names) == 2:
            d, r, q = f"sqrt({self._square})", number(sum(self.lengths)), number(self.lengths[0] - self.lengths[1])
            angles = [off_line(d, r, q), f"-{half(f'({r}+{d})*({r}-{d})', f'({d}+{q})*({d}-{q})')}"]
        else:
            angles, letters = self._turns_of_three(), {"d": "size LOC_X", "a": "size LOC_Y"}
        rest = [phase(self.directions[0]), *(phase(b / a) for a, b in pairwise(self.directions))]
        for k, (angle, zero, normal) in enumerate(zip(angles, rest, self.normals, strict=True)):
            bone = self.ob.pose.bones[self.roles[f"turn{k}"]]
            bone.rotation_mode, bone.rotation_axis_angle = "AXIS_ANGLE", (0.0, *normal)
            line, more = ("+atan2(-x,y)", self._place) if self.plane == "HINGE" and k == 0 else ("", {})
            expression = f"(1-2*f)*({angle})-{number(zero)}{line}"
            self._drive(f"turn{k}", "rotation_axis_angle", 0, expression, f="IK Flip", **(letters | more))

    def _turns_of_three(self) -> list[str]:
        """Of bones that bend to and fro, where the first and third keep together: see `addon.solver.groups`."""
        r1, r2, r3 = self.lengths
        total, one, _, three = sum(self.lengths), *self.directions
        together, room = abs(r1 * one + r3 * three), total**2 - self.distance**2
        self._drive("size", "location", 0, f"sqrt({self._square})", **self._place)
        share = f"max(min({number(total**2)}-({self._square}),{number(room)}),0)"
        length = f"{number((r1 + r3) ** 2)}-{share}*{number(((r1 + r3) ** 2 - together**2) / room)}"
        self._drive("size", "location", 1, f"sqrt(max({length},0))", **self._place)
        b, r, q = number(r2), number(r1 + r3), number(r1 - r3)
        turn = f"{'+' if copysign(1, (three.conjugate() * one).imag) > 0 else '-'}{off_line('a', r, q)}"
        back = f"{'-' if turn[0] == '+' else '+'}{off_line('a', r, q)}"
        third = f"{'-' if turn[0] == '+' else '+'}{half(f'(a+{q})*({r}-a)', f'({r}+a)*(a-{q})')}"
        knee = half(f"(a+{b}+d)*(a+{b}-d)", f"(d+a-{b})*(d-a+{b})")
        main = half(f"(d-a+{b})*(a+{b}-d)", f"(a+{b}+d)*(d+a-{b})")
        return [main + turn, f"-{knee}{back}", knee + third]

    def _drive_line(self) -> None:
        for component, expression in ((0, f"y+sqrt({self._square})"), (1, "z"), (3, "-x")):
            letters = {axis: source for axis, source in self._place.items() if axis in expression.replace("sqrt", "")}
            self._drive("line", "rotation_quaternion", component, expression, **letters)
        self.ob.pose.bones[self.roles["roll"]].rotation_mode = "YXZ"
        if self.plane == "POLE":
            pole = {"x": "spot LOC_X", "z": "spot LOC_Z"}
            self._drive("roll", "rotation_euler", 1, "s+atan2(z,-x)", s="IK Swivel", **pole)
        else:
            self._drive("roll", "rotation_euler", 1, "s", s="IK Swivel")


def number(value: float) -> str:
    return f"{value:.9g}" if value >= 0.0 else f"({value:.9g})"


def half(sine: str, cosine: str) -> str:
    """An angle by the squares of the sine and cosine of its half."""
    return f"2*atan2(sqrt(max({sine},0)),sqrt(max({cosine},0)))"


def off_line(d: str, r: str, q: str) -> str:
    """The first bone off the line, by the sum and the difference of two lengths."""
    return half(f"({d}-{q})*({r}-{d})", f"({r}+{d})*({d}+{q})")
