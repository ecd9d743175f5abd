"""In which order chains are posed: what a chain follows before the chain itself."""

from __future__ import annotations

from ..rig.access import ArmatureObject, setting_path
from ..rig.dependencies import Carrier, Dependencies
from ..rig.kinds import Kind, Problem
from .chain import Chain, read_targets
from .group import Group


def levels_of(chains: list[Chain], dependencies: Dependencies) -> list[list[Group]]:
    """The chains in the order in which they depend on each other, those of one level grouped by object."""
    needs = _needs(chains, dependencies)
    levels: list[list[Group]] = []
    placed: dict[Chain, Group] = {}
    waiting = chains
    while waiting:
        ready = [chain for chain in waiting if needs[chain] <= placed.keys()] or _untie(waiting, needs)
        level: dict[ArmatureObject, list[Chain]] = {}
        for chain in ready:
            level.setdefault(chain.object, []).append(chain)
        groups = [Group(ob, members) for ob, members in level.items()]
        for group in groups:
            group.needs = {placed[each] for chain in group.chains for each in needs[chain]}
        placed |= {chain: group for group in groups for chain in group.chains}
        levels.append(groups)
        waiting = [chain for chain in waiting if chain not in placed]
    return levels


def _needs(chains: list[Chain], dependencies: Dependencies) -> dict[Chain, set[Chain]]:
    """The chains that must be posed before each."""
    moved_by: dict[Carrier, Chain] = {}
    for chain in chains:
        read_targets(chain, dependencies)
        if _may_act(chain, dependencies):
            moved_by |= {(chain.object, chain.lower): chain, (chain.object, chain.upper): chain}
    return {
        chain: {moved_by[each] for each in dependencies.carriers(chain.follows()) & moved_by.keys()} - {chain}
        for chain in chains
    }


def _may_act(chain: Chain, dependencies: Dependencies) -> bool:
    """Whether a chain is switched on, or may be in another frame."""
    path = setting_path(chain.lower, "enabled")
    return chain.settings.enabled or path in dependencies.animated_paths(chain.object)


def _untie(waiting: list[Chain], needs: dict[Chain, set[Chain]]) -> list[Chain]:
    """Tell the chains that need each other in a circle, which can't be posed then and need nothing any more."""
    reached = {chain: _reached(chain, needs) for chain in waiting}
    tied = [chain for chain in waiting if chain in reached[chain]]
    for chain in tied:
        rival = next(each for each in needs[chain] if chain in reached[each])
        whose = f"'{rival.lower}' ('{rival.object.name}')"
        sentence = f"This chain and that of {whose} move each other's targets: let one follow something else"
        chain.circle = Problem(Kind.CIRCLE, sentence)
    for chain in tied:
        needs[chain] = set()
    return tied


def _reached(chain: Chain, needs: dict[Chain, set[Chain]]) -> set[Chain]:
    """All chains that a chain needs, directly or through others."""
    found: set[Chain] = set()
    waiting = list(needs[chain])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting.extend(needs[each])
    return found
