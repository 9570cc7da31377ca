"""What is drawn beside what timm's own code draws: policies by their text, erased boxes, crops, mixed batches. A wrong sampler
must be told apart, so each comparison is also made with one that is a little wrong."""

import collections
import math
import random
import types

import numpy as np
import pytest
from PIL import Image

import stoker
from fit import EXCESS_MAX, P_MIN, excess_of_counts, p_of_kolmogorov_smirnov
from stoker import _testing
from timm_source import RecordedPicture, recording_policies, timm_file

DRAWS = 100_000
WIDTH, HEIGHT = 97, 61


@pytest.fixture(autouse=True)
def seeds():
    random.seed(11)
    np.random.seed(11)


def differences(ours, theirs, draws=DRAWS):
    """By what two lists of (what, how much) differ, where each of the draws made one or none: how often each came, and the
    distribution of its numbers."""
    numbers = [collections.defaultdict(list), collections.defaultdict(list)]
    for side, drawn in zip(numbers, (ours, theirs)):
        for what, number in drawn:
            side[what].append(number)
    counts = [collections.Counter({what: len(drawn) for what, drawn in side.items()}) for side in numbers]
    for count in counts:
        count["nothing"] = draws - count.total()
    counts = [+count for count in counts]  # without zeros
    found = []
    if excess_of_counts(*counts) > EXCESS_MAX:
        found.append(f"{counts[0]}, not {counts[1]}")
    for what in set(numbers[0]) & set(numbers[1]):
        p = p_of_kolmogorov_smirnov(*(np.round(side[what], 4) for side in numbers))  # ours are float32
        if p < P_MIN:
            found.append(f"the numbers of {what} are distributed alike with probability {p}")
    return found


# Policies.


def operator_of(step):
    """What timm calls a drawn step, and its number; None for one that changes nothing or belongs to the one before."""
    kind, f, n = step
    if kind == "warp":
        m = f[:9]
        moved = {"ShearX": m[1], "ShearY": m[3], "TranslateX": m[2], "TranslateY": m[5]}
        if m[1] and m[3]:
            return "Rotate", math.degrees(math.atan2(m[3], m[0]))
        return next(((what, number) for what, number in moved.items() if number), None)
    if kind == "blur_across":
        return "Blur", math.sqrt(-0.5 / math.log(f[0])) if f[0] > 0 else 0.0
    if kind == "posterize":
        bits = bin(n[0]).count("1")
        return ("Posterize", bits) if bits < 8 else None
    number = {"brightness": f[0], "contrast": f[0], "saturation": f[0], "sharpness": 1 - f[0], "solarize": n[0],
              "solarize_add": n[0]}.get(kind, 0.0)
    names = {"saturation": "Color", "solarize_add": "SolarizeAdd"}
    return None if kind == "blur_down" else (names.get(kind, kind.capitalize()), number)


def drawn_here(recipe, draws):
    drawn = (operator_of(step) for steps in _testing.draw_steps(recipe, WIDTH, HEIGHT, draws, 3) for step in steps)
    return [operator for operator in drawn if operator]


def of_spec(spec):
    return stoker.recipe().decode().resize((HEIGHT, WIDTH)).timm_augment(spec)


def drawn_by_timm(spec, draws):
    """As timm's create_transform makes it of --aa."""
    policies = recording_policies()
    given = {"translate_const": 100, "img_mean": (124, 116, 104)}
    image = RecordedPicture((WIDTH, HEIGHT))
    if not spec.startswith("rand"):
        transform = policies.auto_augment_transform(spec, given)
        for _ in range(draws):
            transform(image)
        return image.done
    transform = policies.rand_augment_transform(spec, given)
    calls = draws
    if transform.choice_weights is None:  # layers are drawn independently: many at once, which takes less time
        transform.num_layers, calls = transform.num_layers * 1000, draws // 1000
    for _ in range(calls):
        transform(image)
    return image.done


LAYERS = {"rand-m9-mstd0.5-inc1": 2, "rand-m7-mstd0.5": 2, "rand-m15-n3-p0.7-mstd101-mmax20-inc1": 3,
          "rand-m6-n1-p1-mstd1-t3a": 1, "v0": 2, "v0r-mstd0.5": 2, "original": 2, "originalr-mstd1": 2, "3a-mstd0.5": 1}
# Without replacement: timm takes its time.
WEIGHTED = {"rand-m8-mstd1-tweights-inc1": 2, "rand-m6-n3-mstd0.5-t3aw": 3}


@pytest.mark.parametrize("spec, draws", [*((spec, DRAWS) for spec in LAYERS), *((spec, DRAWS // 10) for spec in WEIGHTED)])
def test_policies_draw_as_timms_code_does(spec, draws):
    layers = (LAYERS | WEIGHTED)[spec]
    assert differences(drawn_here(of_spec(spec), draws), drawn_by_timm(spec, draws), layers * draws) == []


@pytest.mark.parametrize("name, spec", [("timm-a2", "rand-m7-mstd0.5-inc1"), ("timm-a3", "rand-m6-mstd0.5-inc1")])
def test_recipes_draw_the_policy_of_their_training(name, spec):
    assert differences(drawn_here(stoker.recipe(name), DRAWS), drawn_by_timm(spec, DRAWS), 2 * DRAWS) == []


@pytest.mark.parametrize("wrong", ["rand-m9-mstd0.6-inc1", "rand-m9-mstd0.4-inc1", "rand-m9-mstd0.5", "rand-m9-inc1",
                                   "rand-m8-mstd0.5-inc1", "rand-m9-mstd0.5-inc1-p0.49", "rand-m9-mstd0.5-inc1-mmax9"])
def test_a_policy_that_is_a_little_wrong_is_told_apart(wrong):
    assert differences(drawn_here(of_spec("rand-m9-mstd0.5-inc1"), DRAWS), drawn_by_timm(wrong, DRAWS), 2 * DRAWS)


# Erased boxes.


class RecordedTensor:
    """Keeps the boxes that are written to."""

    def __init__(self):
        self.boxes = []

    def __setitem__(self, place, value):
        _, rows, columns = place
        self.boxes.append((columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start))


def erased_by_timm(module, **arguments):
    erasing, tensor = module.RandomErasing(device="cpu", **arguments), RecordedTensor()
    module._get_pixels = lambda *_, **__: 0  # what is written is not what is drawn
    counts = collections.Counter()
    for _ in range(DRAWS):
        before = len(tensor.boxes)
        erasing._erase(tensor, 3, HEIGHT, WIDTH, None)
        counts[len(tensor.boxes) - before] += 1
    return counts, np.array(tensor.boxes)


def erased_here(**arguments):
    recipe = stoker.recipe().decode().resize((HEIGHT, WIDTH)).normalize("imagenet").random_erasing(**arguments)
    drawn = _testing.draw_erased(recipe, DRAWS, 4)
    return collections.Counter(len(boxes) for boxes in drawn), np.array([box for boxes in drawn for box in boxes])


def differences_of_boxes(ours, theirs):
    found = ["counts"] if excess_of_counts(ours[0], theirs[0]) > EXCESS_MAX else []
    columns = [[*boxes.T, boxes[:, 2] / boxes[:, 3], boxes[:, 2] * boxes[:, 3]] for boxes in (ours[1], theirs[1])]
    names = ("left", "top", "width", "height", "ratio", "area")
    return found + [name for name, a, b in zip(names, *columns) if p_of_kolmogorov_smirnov(a, b) < P_MIN]


@pytest.mark.parametrize("ours, theirs", [
    ({"p": 0.25}, {"probability": 0.25}),
    ({"p": 0.6, "mode": "pixel", "max_count": 3}, {"probability": 0.6, "mode": "pixel", "max_count": 3}),
    ({"p": 1, "scale": (0.1, 0.9), "ratio": (0.2, 2)},
     {"probability": 1, "min_area": 0.1, "max_area": 0.9, "min_aspect": 0.2, "max_aspect": 2}),
])
def test_boxes_are_erased_as_timms_code_does(ours, theirs):
    assert differences_of_boxes(erased_here(**{"scale": (0.02, 1 / 3), "ratio": (0.3, 1 / 0.3)} | ours),
                                erased_by_timm(timm_file("random_erasing"), **theirs)) == []


def test_boxes_of_a_wrong_sampler_are_told_apart():
    ours = erased_here(p=0.5, scale=(0.02, 1 / 3), ratio=(0.3, 1 / 0.3))
    for wrong in ({"probability": 0.49}, {"max_area": 0.34}, {"min_aspect": 0.31}, {"max_count": 2}):
        assert differences_of_boxes(ours, erased_by_timm(timm_file("random_erasing"), **({"probability": 0.5} | wrong)))
    uniform = timm_file("random_erasing")
    uniform.math = types.SimpleNamespace(log=math.log, sqrt=math.sqrt, exp=lambda _: random.uniform(0.3, 1 / 0.3))
    assert "ratio" in differences_of_boxes(ours, erased_by_timm(uniform, probability=0.5))


# Crops.


def cropped_by_timm(module, width, height):
    image, crop = Image.new("L", (width, height)), module.RandomResizedCropAndInterpolation(224, interpolation="random")
    rows = np.array([crop.get_params(image, crop.scale, crop.ratio) for _ in range(DRAWS)])
    top, left, height, width = rows.T
    return np.array([left, top, width, height, width * height, width / height])


def cropped_here(name, width, height):
    left, top, right, bottom, *_ = _testing.draw_boxes(stoker.recipe(name), width, height, DRAWS, 6).T
    return np.array([left, top, right - left, bottom - top, (right - left) * (bottom - top), (right - left) / (bottom - top)])


@pytest.mark.parametrize("name", ["timm-a1", "timm-a3"])
def test_crops_are_drawn_as_timms_code_does(name):
    module = timm_file("transforms")
    ours, theirs = cropped_here(name, 500, 375), cropped_by_timm(module, 500, 375)
    assert min(p_of_kolmogorov_smirnov(a, b) for a, b in zip(ours, theirs)) > P_MIN
    assert list(map(str, module._RANDOM_INTERPOLATION)) == ["InterpolationMode.BILINEAR", "InterpolationMode.BICUBIC"]
    module.math = types.SimpleNamespace(log=math.log, sqrt=math.sqrt, exp=lambda _: random.uniform(3 / 4, 4 / 3))
    wrong = cropped_by_timm(module, 500, 375)
    assert p_of_kolmogorov_smirnov(ours[5], wrong[5]) < P_MIN, "a uniform ratio is told apart"


# Mixed batches.

# So large that it does not matter how a side is rounded: ours to whole pairs of pixels, as torchvision does.
MIXED_WIDTH, MIXED_HEIGHT = 4000, 3000


def mixed_by_timm(mixup_alpha, cutmix_alpha, prob=1.0, switch_prob=0.5, margin=0.0, boxes=True):
    module = timm_file("mixup")
    mixup = module.Mixup(mixup_alpha, cutmix_alpha, prob=prob, switch_prob=switch_prob, mode="elem")
    shares, pasted = mixup._params_per_elem(DRAWS)
    drawn = {"keep": 0, "blend": [], "paste": []}
    for share, paste in zip(shares, pasted):
        if share == 1:
            drawn["keep"] += 1
        elif not paste:
            drawn["blend"].append(share)
        elif not boxes:  # which take most of the time
            drawn["paste"].append((share, 0, 0, 0, 0))
        else:
            top, bottom, left, right = module.rand_bbox((3, MIXED_HEIGHT, MIXED_WIDTH), share, margin)
            area = (right - left) * (bottom - top)
            drawn["paste"].append((1 - area / (MIXED_WIDTH * MIXED_HEIGHT), left, top, right, bottom))
    return drawn


def mixed_here(**arguments):
    recipe = stoker.recipe().decode().resize((MIXED_HEIGHT, MIXED_WIDTH)).mixup_or_cutmix(labels="pair", **arguments)
    drawn = {"keep": 0, "blend": [], "paste": []}
    for what, share, *box in _testing.draw_mixes(recipe, DRAWS, 8):
        if what == "keep":
            drawn["keep"] += 1
        else:
            drawn[what].append(share if what == "blend" else (share, *box))
    return drawn


def differences_of_mixes(ours, theirs):
    counts = [collections.Counter(keep=drawn["keep"], blend=len(drawn["blend"]), paste=len(drawn["paste"]))
              for drawn in (ours, theirs)]
    counts = [+count for count in counts]
    found = ["counts"] if excess_of_counts(*counts) > EXCESS_MAX else []
    if p_of_kolmogorov_smirnov(np.array(ours["blend"], np.float32), np.array(theirs["blend"], np.float32)) < P_MIN:
        found.append("share of mixup")
    columns = (np.array(drawn["paste"], np.float32).T for drawn in (ours, theirs))
    names = ("share of cutmix", "left", "top", "right", "bottom")
    return found + [name for name, a, b in zip(names, *columns) if p_of_kolmogorov_smirnov(a, b) < P_MIN]


@pytest.mark.parametrize("arguments", [
    {"mixup_alpha": 0.2, "cutmix_alpha": 1.0},  # A1
    {"mixup_alpha": 0.1, "cutmix_alpha": 1.0},  # A2 and A3
    {"mixup_alpha": 0.8, "cutmix_alpha": 1.0},  # DeiT III
    {"mixup_alpha": 1.0, "cutmix_alpha": 0.4, "prob": 0.7, "switch_prob": 0.3},
])
def test_batches_are_mixed_as_timms_code_does(arguments):
    assert differences_of_mixes(mixed_here(**arguments), mixed_by_timm(**arguments)) == []


def test_mixes_of_a_wrong_sampler_are_told_apart():
    right = {"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "prob": 0.9}
    ours = mixed_here(**right)
    for wrong, found in (({"mixup_alpha": 0.96}, "share of mixup"), ({"cutmix_alpha": 1.2}, "share of cutmix"),
                         ({"prob": 0.89}, "counts"), ({"switch_prob": 0.52}, "counts"), ({"margin": 0.05}, "left")):
        theirs = mixed_by_timm(**right | wrong, boxes=found in ("share of cutmix", "left"))
        assert found in differences_of_mixes(ours, theirs), wrong


@pytest.mark.parametrize("name, mixup_alpha", [("timm-a1", 0.2), ("timm-a2", 0.1), ("timm-a3", 0.1), ("deit3", 0.8)])
def test_recipes_mix_as_their_training_says(name, mixup_alpha):
    """Through the recipe, on the pictures of its own size: shares of mixup do not depend on it."""
    drawn = _testing.draw_mixes(stoker.recipe(name), DRAWS, 9)
    ours = np.array([share for what, share, *_ in drawn if what == "blend"], np.float32)
    theirs = np.array(mixed_by_timm(mixup_alpha, 0.0)["blend"], np.float32)
    assert p_of_kolmogorov_smirnov(ours, theirs) > P_MIN
    assert abs(2 * len(ours) / len(theirs) - 1) < 0.02, "cutmix in the other half"
