"""Samples that are mixed across a batch, beside what numpy makes of the unmixed ones."""

import math

import numpy as np
import pytest

import stoker

CLASSES = 3
SIDE = 24


def recipe_of(dtype="f32"):
    recipe = stoker.recipe().decode().random_resized_crop(SIDE).random_flip().normalize("imagenet")
    return recipe if dtype == "f32" else recipe.cast(dtype)


def soft(recipe, smoothing=0.0):
    return recipe.view("label").one_hot(CLASSES, smoothing)


def batches(folder, recipe, **options):
    with stoker.Loader(folder, recipe, batch=8, seed=3, **options) as loader:
        return [{name: np.array(batch[name]) for name in batch.outputs} for epoch in range(2) for batch in loader.epoch(epoch)]


def partners(array):
    """Each sample's partner: the other one of slots 2k and 2k + 1."""
    return array[np.arange(len(array)) ^ 1]


def blended(own, other, share):
    """In float32, every operation rounded."""
    share = share.astype(np.float32).reshape(-1, *[1] * (own.ndim - 1))
    return own.astype(np.float32) * share + other.astype(np.float32) * (np.float32(1) - share)


def test_mixup_is_numpys_weighted_sum_bit_for_bit(folder):
    plain = batches(folder, recipe_of())
    mixed = batches(folder, recipe_of().mixup(0.4, mode="elem", labels="pair"))
    assert len(plain) == len(mixed) == 12
    for before, after in zip(plain, mixed):
        assert list(after) == ["image", "label", "label_b", "lambda"]
        np.testing.assert_array_equal(after["image"], blended(before["image"], partners(before["image"]), after["lambda"]))
        np.testing.assert_array_equal(after["label"], before["label"])
        np.testing.assert_array_equal(after["label_b"], partners(before["label"]))
    assert len({share for after in mixed for share in after["lambda"].tolist()}) > 90


def test_mixed_pixels_are_rounded_to_their_type_once(folder):
    for dtype in ("f16", "u8"):
        recipe = stoker.recipe().decode().random_resized_crop(SIDE) if dtype == "u8" else recipe_of(dtype)
        for before, after in zip(batches(folder, recipe), batches(folder, recipe.mixup(labels="pair"))):
            exact = blended(before["image"], partners(before["image"]), after["lambda"])
            want = np.rint(exact).astype(np.uint8) if dtype == "u8" else exact.astype(np.float16)
            np.testing.assert_array_equal(after["image"], want)


def test_what_shares_a_draw_is_the_mode(folder):
    shares = {mode: np.array([after["lambda"] for after in batches(folder, recipe_of().mixup(mode=mode, labels="pair"))])
              for mode in ("batch", "pair", "elem")}
    assert (shares["batch"] == shares["batch"][:, :1]).all() and len(np.unique(shares["batch"])) == 12
    assert (shares["pair"][:, ::2] == shares["pair"][:, 1::2]).all() and len(np.unique(shares["pair"])) == 48
    assert len(np.unique(shares["elem"])) == 96


def test_one_hot_labels_are_smoothed_and_mixed(folder):
    plain = batches(folder, recipe_of())
    smooth = batches(folder, soft(recipe_of(), 0.1))
    mixed = batches(folder, soft(recipe_of(), 0.1).mixup(0.4))
    shares = batches(folder, recipe_of().mixup(0.4, labels="pair"))
    on, off = np.float32(1 - 0.1 + 0.1 / CLASSES), np.float32(0.1 / CLASSES)
    for number, vector, after, pair in zip(plain, smooth, mixed, shares):
        want = np.where(number["label"][:, None] == np.arange(CLASSES), on, off)
        np.testing.assert_array_equal(vector["label"], want)
        assert after["label"].dtype == np.float32
        np.testing.assert_array_equal(after["label"], blended(want, partners(want), pair["lambda"]))
        np.testing.assert_array_equal(after["image"], pair["image"])


def test_cutmix_pastes_a_box_and_weighs_labels_by_its_pixels(folder):
    pasted = 0
    for before, after in zip(batches(folder, recipe_of()), batches(folder, recipe_of().cutmix(mode="pair", labels="pair"))):
        own, other, got, share = before["image"], partners(before["image"]), after["image"], after["lambda"]
        for slot in range(8):
            from_other = (got[slot] != own[slot]).any(axis=0)
            rows, columns = np.flatnonzero(from_other.any(axis=1)), np.flatnonzero(from_other.any(axis=0))
            assert share[slot] == share[slot ^ 1]
            if not len(rows):
                continue
            box = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
            want = own[slot].copy()
            want[(slice(None), *box)] = other[slot][(slice(None), *box)]
            np.testing.assert_array_equal(got[slot], want)
            pixels = (rows[-1] + 1 - rows[0]) * (columns[-1] + 1 - columns[0])
            assert share[slot] == np.float32(1 - pixels / SIDE**2)
            pasted += 1
    assert pasted > 60


def test_either_of_them_happens_by_chance(folder):
    recipe = recipe_of().mixup_or_cutmix(switch_prob=0.5, prob=0.8, mode="pair", labels="pair")
    kinds = {"kept": 0, "blended": 0, "pasted": 0}
    for before, after in zip(batches(folder, recipe_of()), batches(folder, recipe)):
        for slot in range(0, 8, 2):
            own, other, got = before["image"][slot], before["image"][slot ^ 1], after["image"][slot]
            kept = got == own
            kinds["kept" if kept.all() else "pasted" if (kept | (got == other)).all() else "blended"] += 1
    assert all(count > 4 for count in kinds.values()), kinds


def test_a_mosaic_shows_parts_of_four_around_a_corner(folder):
    plain, mixed = batches(folder, soft(recipe_of())), batches(folder, soft(recipe_of()).mosaic())
    corners = set()
    for before, after in zip(plain, mixed):
        for slot in range(8):
            group = [before["image"][slot ^ k] for k in range(4)]
            got = after["image"][slot]
            fitting = [(x, y) for x in range(SIDE + 1) for y in range(SIDE + 1) if (got == mosaic(group, x, y)).all()]
            assert fitting
            x, y = fitting[0]
            corners.add((slot // 4, x, y))
            areas = np.array([x * y, (SIDE - x) * y, x * (SIDE - y), (SIDE - x) * (SIDE - y)]) / SIDE**2
            labels = np.array([before["label"][slot ^ k] for k in range(4)])
            np.testing.assert_allclose(after["label"][slot], areas.astype(np.float32) @ labels, atol=1e-6)
    assert 15 < len(corners) <= 24


def mosaic(group, x, y):
    top = np.concatenate([group[0][:, :y, :x], group[1][:, :y, x:]], axis=2)
    bottom = np.concatenate([group[2][:, y:, :x], group[3][:, y:, x:]], axis=2)
    return np.concatenate([top, bottom], axis=1)


def test_all_images_of_a_sample_are_mixed_alike_or_those_named(folder):
    both = recipe_of().view("small").decode().resize((6, 6))
    plain, mixed = batches(folder, both), batches(folder, both.mixup(mode="pair", labels="pair"))
    named = batches(folder, both.mixup(mode="pair", labels="pair", views="small"))
    for before, after, alone in zip(plain, mixed, named):
        want = np.rint(blended(before["small"], partners(before["small"]), after["lambda"])).astype(np.uint8)
        np.testing.assert_array_equal(after["small"], want)
        np.testing.assert_array_equal(alone["small"], want)
        np.testing.assert_array_equal(alone["image"], before["image"])
        assert (after["image"] != before["image"]).any()


def test_shares_have_the_beta_distribution(folder):
    alpha = 0.4
    recipe = stoker.recipe().decode().resize((2, 2)).mixup(alpha, mode="elem", labels="pair")
    shares = []
    with stoker.Loader(folder, recipe, batch=256, seed=5, repeats=128, cache="ram") as loader:
        for epoch in range(4):
            shares += [np.array(batch["lambda"]) for batch in loader.epoch(epoch)]
    shares = np.sort(np.concatenate(shares).astype(np.float64))
    assert len(shares) == 25_600
    # The density's poles are integrated in t = x ** alpha, where it has none.
    t = np.linspace(0, 0.5**alpha, 20_001)
    lower = np.concatenate([[0], np.cumsum(np.diff(t) * (density(t[1:], alpha) + density(t[:-1], alpha)) / 2)])
    below = np.interp(np.minimum(shares, 1 - shares) ** alpha, t, lower)
    cdf = np.where(shares <= 0.5, below, 1 - below)
    steps = np.arange(len(shares) + 1) / len(shares)
    distance = max(np.abs(cdf - steps[1:]).max(), np.abs(cdf - steps[:-1]).max())
    assert distance * math.sqrt(len(shares)) < 2.23


def density(t, alpha):
    beta = math.gamma(alpha) ** 2 / math.gamma(2 * alpha)
    return (1 - t ** (1 / alpha)) ** (alpha - 1) / alpha / beta


def test_a_sample_without_a_partner_stays_as_it_is(folder):
    with stoker.Loader(folder, recipe_of().mixup(labels="pair"), batch=8, order="none", tail="keep") as loader:
        keys = [key for batch in loader.epoch(0) for key in batch.key]
    odd = stoker.open(folder).subset(keys[:11])
    plain = batches(odd, recipe_of(), order="none", tail="keep")
    mixed = batches(odd, recipe_of().mixup(labels="pair"), order="none", tail="keep")
    for before, after in zip(plain, mixed):
        lonely = len(after["image"]) % 2
        assert len(after["image"]) == (3 if lonely else 8)
        if lonely:
            np.testing.assert_array_equal(after["image"][2], before["image"][2])
            assert after["lambda"][2] == 1 and after["label_b"][2] == after["label"][2]
        assert (after["image"][:2] != before["image"][:2]).any()


def test_padding_is_not_mixed(folder):
    for batch in batches(folder, soft(recipe_of()).mosaic(), tail="pad")[6::7]:
        np.testing.assert_array_equal(batch["label"][2:], 0)
        np.testing.assert_array_equal(batch["image"][2:], 0)
        assert batch["label"][:2].sum() == 2 and batch["image"][:2].any(), "two of a group of four stay as they are"


def test_a_single_sample_is_its_own_partner(folder):
    data = stoker.open(folder)
    outputs = recipe_of().mixup(labels="pair").apply(data[7])
    assert outputs["label_b"] == outputs["label"] == data[7]["label"] and outputs["lambda"] == 1
    vector = soft(recipe_of()).apply(data[7], reference=True)["label"]
    assert vector.shape == (CLASSES,) and vector.argmax() == data[7]["label"]


def test_recipes_that_mix_are_recipes(folder):
    recipe = soft(recipe_of()).mixup(0.2)
    assert recipe == stoker.Recipe.from_toml(recipe.to_toml()) and recipe != soft(recipe_of())
    assert "batch: mixup(alpha=0.2" in repr(recipe)
    with pytest.raises(stoker.Error, match=r"those of view 'label' are whole numbers: give the view one_hot"):
        stoker.Loader(folder, recipe_of().mixup(), batch=8)
    with pytest.raises(stoker.Error, match=r"a multiple of 2, not 7"):
        stoker.Loader(folder, recipe, batch=7)
    with pytest.raises(stoker.Error, match=r"mixup: mode is 'row'"):
        recipe.mixup(mode="row")


def test_torch_batches_unpack_as_before(folder):
    torch = pytest.importorskip("torch")
    import stoker.torch

    with stoker.torch.Loader(folder, soft(recipe_of()).mixup_or_cutmix(), batch=8) as loader:
        for image, label in loader:
            assert image.shape == (8, 3, SIDE, SIDE) and label.shape == (8, CLASSES) and label.dtype == torch.float32
            torch.testing.assert_close(label.sum(dim=1), torch.ones(8))
            logits = torch.zeros(8, CLASSES, requires_grad=True)
            torch.nn.functional.cross_entropy(logits, label).backward()
