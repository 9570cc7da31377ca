"""Policies against torchvision: what they draw, and what the drawn operators do to a picture."""

import collections
import math

import numpy as np
import pytest
import torch
from torchvision import transforms
from torchvision.transforms import functional as F

import stoker
from sample_images import encoded, picture
from stoker import _testing

HEIGHT, WIDTH, DRAWS = 61, 97, 20_000
POLICY = transforms.AutoAugmentPolicy
PAIRS = {
    "rand_augment": (lambda r: r.rand_augment(), lambda: transforms.RandAugment()),
    "rand_augment_strong": (lambda r: r.rand_augment(3, 17, 23), lambda: transforms.RandAugment(3, 17, 23)),
    "trivial_augment_wide": (lambda r: r.trivial_augment_wide(), lambda: transforms.TrivialAugmentWide()),
    "imagenet": (lambda r: r.auto_augment(), lambda: transforms.AutoAugment()),
    "cifar10": (lambda r: r.auto_augment("cifar10"), lambda: transforms.AutoAugment(POLICY.CIFAR10)),
    "svhn": (lambda r: r.auto_augment("svhn"), lambda: transforms.AutoAugment(POLICY.SVHN)),
    "aug_mix": (lambda r: r.aug_mix(severity=7), lambda: transforms.AugMix(severity=7)),
    "aug_mix_plain": (lambda r: r.aug_mix(all_ops=False, chain_depth=2), lambda: transforms.AugMix(all_ops=False, chain_depth=2)),
}


def base():
    return stoker.recipe().decode("faithful").resize((HEIGHT, WIDTH))


def operator_of(step):
    """torchvision's name and argument of a drawn step; None for a warp that moves nothing."""
    kind, f, n = step
    if kind == "warp":
        m = np.array(f[:9])
        if np.allclose(m, np.eye(3).ravel()):
            return None
        if m[3] == 0 and m[1] != 0:
            return "ShearX", m[1]
        if m[1] == 0 and m[3] != 0:
            return "ShearY", m[3]
        if m[1] == 0 and m[0] == 1:
            return ("TranslateX", -m[2]) if m[2] else ("TranslateY", -m[5])
        return "Rotate", math.degrees(math.atan2(m[3], m[0]))
    number = {"brightness": f[0], "contrast": f[0], "saturation": f[0], "sharpness": 1 - f[0], "posterize": n[0],
              "solarize": n[0]}.get(kind, 0)
    return {"autocontrast": "AutoContrast", "saturation": "Color"}.get(kind, kind.capitalize()), number


def rounded(operator):
    """Versions of PyTorch differ in a bit of a magnitude, and so by 1 where a whole number is made of it: 15.999999 pixels,
    the threshold 51.00001."""
    if operator is None:
        return "nothing", 0
    name, number = operator
    if name == "Solarize":
        return name, round((255 - number) / 8.5)
    if name.startswith("Translate") and abs(number) == 16:
        return name, math.copysign(15, number)
    return name, round(float(number), 3) + 0.0


def of_torchvision(name, magnitude):
    """The same of what torchvision applies."""
    if name in ("TranslateX", "TranslateY"):
        magnitude = int(magnitude)
    if name in ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"):
        return (name, magnitude) if magnitude else None
    return name, {"Posterize": lambda: 256 - (1 << (8 - int(magnitude))),
                  "Solarize": lambda: math.ceil(np.float32(magnitude))}.get(
        name, lambda: 1 + magnitude if name in ("Brightness", "Color", "Contrast", "Sharpness") else 0)()


@pytest.mark.parametrize("pair", PAIRS)
def test_operators_and_magnitudes_are_drawn_as_by_torchvision(pair, monkeypatch):
    """The same set of values, and the counts of both as two samples of one distribution (chi-squared)."""
    recorded = []

    def record(image, op_name, magnitude, interpolation, fill):
        if op_name != "Identity":
            recorded.append(rounded(of_torchvision(op_name, magnitude)))
        return image

    monkeypatch.setattr(transforms.autoaugment, "_apply_op", record)
    make, theirs = PAIRS[pair]
    torch.manual_seed(1)
    transform, image = theirs(), torch.zeros(3, HEIGHT, WIDTH, dtype=torch.uint8)
    for _ in range(DRAWS):
        transform(image)
    drawn = [step for steps in _testing.draw_steps(make(base()), WIDTH, HEIGHT, DRAWS, 3) for step in steps]
    ours = collections.Counter(rounded(operator_of(step)) for step in drawn if step[0] not in ("keep", "recall", "weighted_sum"))
    expected = collections.Counter(recorded)
    # What comes about once in some thousand draws may be missing in one of them.
    assert {it for it in ours if it not in expected and ours[it] > 9} == set()
    assert {it for it in expected if it not in ours and expected[it] > 9} == set()
    both = [(ours[it], expected[it]) for it in set(ours) | set(expected)]
    statistic, freedom = sum((a - b) ** 2 / (a + b) for a, b in both), len(both) - 1
    assert (statistic - freedom) / math.sqrt(2 * freedom) < 4.5


def apply_by_torchvision(image, operator):
    """The operator that was drawn, by torchvision's functions on tensors of bytes."""
    if operator is None:
        return image
    name, number = operator
    affine = {"angle": 0.0, "translate": [0, 0], "scale": 1.0, "shear": [0.0, 0.0], "fill": [0.0]}
    shear = math.degrees(math.atan(number))
    return {
        "ShearX": lambda: F.affine(image, **affine | {"shear": [shear, 0.0]}, center=[0, 0]),
        "ShearY": lambda: F.affine(image, **affine | {"shear": [0.0, shear]}, center=[0, 0]),
        "TranslateX": lambda: F.affine(image, **affine | {"translate": [int(number), 0]}),
        "TranslateY": lambda: F.affine(image, **affine | {"translate": [0, int(number)]}),
        "Rotate": lambda: F.rotate(image, number, fill=[0.0]),
        "Brightness": lambda: F.adjust_brightness(image, number),
        "Contrast": lambda: F.adjust_contrast(image, number),
        "Color": lambda: F.adjust_saturation(image, number),
        "Sharpness": lambda: F.adjust_sharpness(image, number),
        "Posterize": lambda: F.posterize(image, bin(number).count("1")),
        "Solarize": lambda: F.solarize(image, number),
        "AutoContrast": lambda: F.autocontrast(image),
        "Equalize": lambda: F.equalize(image),
        "Invert": lambda: F.invert(image),
    }[name]()


def test_every_drawn_operator_does_what_torchvisions_does():
    """Warps may read the neighbour where a place lies halfway; colours differ by 1 where float32 rounds otherwise."""
    data = encoded(picture(130, 90))
    before = torch.from_numpy(base().apply(data)["image"])
    recipe = base().trivial_augment_wide()
    seen = collections.Counter()
    for seed, (steps,) in ((seed, _testing.draw_steps(recipe, WIDTH, HEIGHT, 1, seed)) for seed in range(150)):
        operator = operator_of(steps[0]) if steps else None
        got = recipe.apply(data, seed=seed)["image"].astype(int)
        want = apply_by_torchvision(before, operator).numpy().astype(int)
        name = operator[0] if operator else "nothing"
        seen[name] += 1
        if name in ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"):
            assert (got != want).mean() < 0.01, operator
        else:
            assert abs(got - want).max() <= 1, operator
    assert len(seen) == 14, seen


def test_aug_mix_blends_its_chains_as_torchvision_does():
    data = encoded(picture(130, 90))
    recipe = base().aug_mix(severity=1, mixture_width=3, all_ops=False)
    original = torch.from_numpy(base().apply(data)["image"])
    for seed in range(20):
        (steps,) = _testing.draw_steps(recipe, WIDTH, HEIGHT, 1, seed)
        kept, image = {}, original
        for step in steps:
            kind, f, n = step
            if kind == "keep":
                kept[n[0]] = image
            elif kind == "recall":
                image = kept[n[0]]
            elif kind == "weighted_sum":
                parts = [*(kept[place] for place in range(n[0], n[1])), image]
                image = sum(np.float32(weight) * part for weight, part in zip(f, parts)).to(torch.uint8)
            else:
                image = apply_by_torchvision(image, operator_of(step))
        got = recipe.apply(data, seed=seed)["image"].astype(int)
        assert (abs(got - image.numpy().astype(int)) > 1).mean() < 0.01


@pytest.mark.parametrize("make", [
    lambda r: r.rand_augment(4), lambda r: r.trivial_augment_wide(filter="bilinear"), lambda r: r.auto_augment(),
    lambda r: r.aug_mix(), lambda r: r.timm_augment("rand-m9-mstd0.5-inc1"), lambda r: r.timm_augment("augmix-b1"),
    lambda r: r.random_choice([stoker.op.rand_augment(), stoker.op.aug_mix()], p=[3, 1]).normalize("imagenet"),
])
def test_policies_make_the_references_pixels_and_survive_toml(make):
    recipe, data = make(base()), encoded(picture(130, 90))
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe
    for seed in range(12):
        fast, slow = (recipe.apply(data, seed=seed, reference=reference)["image"] for reference in (False, True))
        assert np.array_equal(fast, slow)


def test_what_is_drawn_depends_on_the_position_alone(tmp_path):
    """Not on threads, ranks, where the run was resumed, or how many stages a device runs."""
    for number in range(24):
        path = tmp_path / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encoded(picture(90, 70, seed=number)))
    op = stoker.op
    recipe = stoker.recipe().decode().random_choice([op.random_resized_crop(48), op.resize((48, 48))])
    recipe = recipe.random_apply([op.rand_augment(), op.aug_mix()], p=0.8).timm_augment("rand-m9-mstd0.5-inc1").normalize("imagenet")

    def pictures(loader):
        return {int(position): image.tobytes() for batch in loader
                for position, image in zip(batch.position, batch.image.numpy())}

    def run(batch=8, **options):
        with stoker.Loader(tmp_path, recipe, seed=7, batch=batch, tune="off", **options) as loader:
            return pictures(loader.epoch(2))

    expected = run(threads=1)
    assert len(expected) == 24 == len(set(expected.values()))
    assert run(threads=3) == expected
    assert run(batch=4, rank=0, world=2) | run(batch=4, rank=1, world=2) == expected
    for index in range(4):
        assert run(device="emulated:execute", transfer_index=index) == expected
    with stoker.Loader(tmp_path, recipe, seed=7, batch=8, tune="off") as loader:
        next(loader.epoch(2))
        state = loader.state_dict()
    with stoker.Loader(tmp_path, recipe, seed=7, batch=8, tune="off") as loader:
        loader.load_state_dict(state)
        rest = pictures(loader)
    assert len(rest) == 16 and rest.items() <= expected.items()


@pytest.mark.parametrize("call, message", [
    (lambda r: r.aug_mix(all_ops=1), "aug_mix: all_ops is 1, but must be true or false"),
    (lambda r: r.aug_mix(all_ops="yes"), "aug_mix: all_ops is 'yes', but must be true or false"),
    (lambda r: r.rand_augment(num_ops=33), "num_ops is 33, but must be between 0 and 32"),
    (lambda r: r.auto_augment("imagenett"), "did you mean 'imagenet'"),
])
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(stoker.Error, match=message):
        call(base())


@pytest.mark.parametrize("call, message", [
    (lambda r: r.timm_augment("ramd-m9"), "'ramd' is not a policy .did you mean 'rand'"),
    (lambda r: r.rand_augment(magnitude=31), "must be below num_magnitude_bins"),
])
def test_what_only_a_plan_knows_is_refused_there(call, message):
    with pytest.raises(stoker.Error, match=message):
        call(base()).apply(encoded(picture(9, 9)))
