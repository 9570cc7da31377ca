"""What the recipes of `./dev bench augment` are, in figures: every library says the same in its own words.

The recipes' sources are those that docs/recipes.md names. Sizes and probabilities are theirs; a library that lacks an
operator takes its nearest.
"""

import dataclasses

KERNEL_SIMCLR, KERNEL_DINO = 23, 13
SIGMA = (0.1, 2.0)
FLIP = 0.5


@dataclasses.dataclass(frozen=True)
class Supervised:
    side: int
    filter: str        # of the resized crop
    policy: str        # "trivial": TrivialAugment (wide); "rand": two operators of RandAugment
    magnitude: float   # of RandAugment, as a part of its largest
    erase: float       # the probability of random erasing
    mixup: float       # Beta's parameters
    cutmix: float


@dataclasses.dataclass(frozen=True)
class View:
    """One of the images that self-supervised training makes of a photograph."""
    side: int
    scale: tuple
    filter: str
    jitter: tuple       # brightness, contrast, saturation, hue; with a probability of 0.8
    kernel: int         # of the blur
    blur: float         # its probability
    solarize: float     # and solarize's
    normalized: bool
    gray: float = 0.2


SIMCLR_JITTER, DINO_JITTER = (0.8, 0.8, 0.8, 0.2), (0.4, 0.4, 0.2, 0.1)
SIMCLR_VIEW = View(224, (0.08, 1), "bilinear", SIMCLR_JITTER, KERNEL_SIMCLR, 0.5, 0, False)
DINO_GLOBALS = [View(224, (0.4, 1), "bicubic", DINO_JITTER, KERNEL_DINO, 1, 0, True),
                View(224, (0.4, 1), "bicubic", DINO_JITTER, KERNEL_DINO, 0.1, 0.2, True)]
DINO_LOCAL = View(96, (0.05, 0.4), "bicubic", DINO_JITTER, KERNEL_DINO, 0.5, 0, True)

RECIPES = {
    "resnet50-v2": Supervised(176, "bilinear", "trivial", 0, 0.1, 0.2, 1.0),
    "timm-a1": Supervised(224, "bicubic", "rand", 0.7, 0, 0.2, 1.0),
    "simclr": [SIMCLR_VIEW] * 2,
    "dino": DINO_GLOBALS + [DINO_LOCAL] * 8,
}
