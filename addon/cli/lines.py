"""The lines of JSON that the program answers with: docs/json.md describes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Scene
from numpy.typing import NDArray

from ..bake import Report
from ..bake.samples import OFF, Sampled
from ..solver import Reach

Line = dict[str, Any]

REACH = {OFF: "OFF", **{reach.value: reach.name for reach in Reach}}


class Told(NamedTuple):
    """What the lines of one scene of a file have in common."""

    command: str
    source: Path
    scene: Scene
    frames: NDArray[Any]
    seconds: float
    warnings: list[str]
    max_miss: float

    def chain(self, chain: Sampled) -> Line:
        """What one chain does."""
        line = {
            "command": self.command,
            "file": str(self.source),
            "scene": self.scene.name,
            "object": chain.object.name,
            "chain": chain.lower,
            "first": float(self.frames[0]),
            "last": float(self.frames[-1]),
            "frames": len(self.frames),
            "way": chain.way,
            "unreached": chain.unreached_beyond(self.max_miss),
            "max_error": chain.worst_residual() if chain.is_posed else None,
            "reach": self._runs(chain),
            "seconds": round(self.seconds, 4),
        }
        if chain.problem:
            line["problem"] = chain.problem
        return line | _warnings(self.warnings)

    def baked(self, report: Report, output: Path) -> list[Line]:
        """What became of a bake's chains."""
        keyed = [
            {
                **self.chain(chain),
                "max_error": played.residual,
                "output": str(output),
                "action": chain.object.animation_data.action.name,  # type: ignore[union-attr]  # it has been baked into
                "keys_before": report.frames,
                "keys_after": played.keys,
                "key_error": played.error,
            }
            for chain, played in zip(report.chains, report.played, strict=True)
        ]
        return keyed + [{**self.chain(chain), "output": str(output)} for chain in report.skipped]

    def _runs(self, chain: Sampled) -> list[Line]:
        """The reach on every frame, as runs of frames of the same."""
        starts = np.flatnonzero(np.diff(chain.reach, prepend=chain.reach[0] + 1))
        ends = np.append(starts[1:], len(self.frames)) - 1
        return [
            {"from": float(self.frames[a]), "to": float(self.frames[b]), "is": REACH[int(chain.reach[a])]}
            for a, b in zip(starts, ends, strict=True)
        ]


def without_chains(source: Path, output: Path, warnings: list[str]) -> Line:
    """What is told of a file to bake that has no chain, where that is no failure."""
    line: Line = {"command": "bake", "file": str(source), "chain": None, "frames": 0, "unreached": 0}
    return line | {"output": str(output)} | _warnings(warnings)


def _warnings(warnings: list[str]) -> Line:
    return {"warnings": warnings} if warnings else {}
