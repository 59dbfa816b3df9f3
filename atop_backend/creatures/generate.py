"""One seed, one creature that can do several things."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from atop_backend.creatures import animals, bipeds, chains, swayers, walkers
from atop_backend.creatures.anatomy import Creature
from atop_backend.creatures.motion import Animator
from atop_backend.creatures.phrases import sentence
from atop_backend.creatures.repertoire import Acts
from atop_backend.geometry.rigs import Rig, build_rig

# share of the creatures, how they are built, what they do
KINDS: dict[str, tuple[float, Callable[[np.random.Generator], Creature], Acts]] = {
    "biped": (0.34, walkers.biped, bipeds.ACTS),
    "quadruped": (0.28, walkers.quadruped, animals.QUADRUPED_ACTS),
    "bird": (0.12, walkers.bird, animals.BIRD_ACTS),
    "crawler": (0.06, walkers.crawler, animals.CRAWLER_ACTS),
    "snake": (0.07, chains.snake, swayers.SNAKE_ACTS),
    "fish": (0.06, chains.fish, swayers.FISH_ACTS),
    "arm": (0.07, chains.arm, swayers.ARM_ACTS),
}
_FACES_FRONT = 0.7  # share that looks towards -Y as built
_STRENGTHS = {1: (0.55, 0.8), 2: (0.8, 1.15), 3: (1.15, 1.4)}


class Performance(NamedTuple):
    """What a creature does once."""

    act: int  # place in the list of its kind
    sentences: tuple[str, ...]
    matrices: Float[np.ndarray, "frames j 3 4"]  # of the bones, in the normalised frame


class Performer(NamedTuple):
    """A creature, normalised (`geometry.cameras`), and what it does."""

    creature: Creature
    performances: tuple[Performance, ...]


def creature(seed: int, kind: str | None = None, acts: int = 6, phrases: int = 3) -> Performer:
    """The creature of this seed: the same seed always gives the same one.

    Args:
        kind: A name of `KINDS`; by default drawn by weight.
        acts: How many different things it does, if it knows so many.
        phrases: Sentences for each.
    """
    rng = np.random.default_rng(seed)
    names = tuple(KINDS)
    drawn = names[int(rng.choice(len(names), p=[KINDS[name][0] for name in names]))]
    _, build, known = KINDS[kind or drawn]
    built = build(rng)
    shares = np.array([weight for _, weight, _ in known])
    chosen = rng.choice(len(known), min(acts, len(known)), replace=False, p=shares / shares.sum())
    placed, to_placed = _place(built, rng)
    performances = []
    for act in chosen:
        verbs, _, perform = known[int(act)]
        strength = int(rng.choice([1, 2, 2, 3]))
        animator = Animator(built)
        perform(animator, rng, rng.uniform(*_STRENGTHS[strength]))
        sentences = [sentence(built.words, verbs, strength, rng) for _ in range(phrases)]
        performances.append(Performance(int(act), tuple(sentences), to_placed(animator.matrices())))
    return Performer(placed, tuple(performances))


def _place(
    built: Creature, rng: np.random.Generator
) -> tuple[Creature, Callable[[np.ndarray], np.ndarray]]:
    """The creature in the normalised frame, mostly facing the front, and how motions go there."""
    yaw = rng.uniform(-0.25, 0.25)
    if rng.random() > _FACES_FRONT:
        yaw += rng.integers(1, 4) * np.pi / 2
    cosine, sine = np.cos(yaw), np.sin(yaw)
    turn = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1.0]])
    turned = built.vertices @ turn.T
    centre = (turned.min(axis=0) + turned.max(axis=0)) / 2
    size = np.linalg.norm(turned - centre, axis=1).max()

    def place(points: np.ndarray) -> np.ndarray:
        return (points @ turn.T - centre) / size

    def matrices(given: np.ndarray) -> np.ndarray:
        """x -> A x + b becomes y -> T A T' y + ..., where y = (T x - c) / s."""
        linear = turn @ given[..., :3] @ turn.T
        shift = given[..., 3] @ turn.T + linear @ centre - centre
        return np.concatenate([linear, shift[..., None] / size], axis=-1)

    placed = built._replace(
        vertices=place(built.vertices), heads=place(built.heads), tails=place(built.tails)
    )
    return placed, matrices


def rig_of(item: Creature) -> Rig:
    """The creature as an asset that the product reads."""
    rest = np.tile(np.eye(4), (len(item.bones), 1, 1))
    rest[:, :3, 3] = item.heads
    return build_rig(
        item.vertices, item.triangles, item.colours[item.materials], item.bones, item.parents,
        rest, item.tails, item.weights,
    )  # fmt: skip
