"""Masks go where their images go, and no class is mixed with another. An image whose grey is its mask's class tells where each
pixel came from: resampled by the nearest pixel, it has to come out as the mask does."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

CLASSES = 21
FILL = 200


def saved(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def png(array):
    return saved(Image.fromarray(array), "PNG")


def classes_of(width, height, seed=1):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, CLASSES, (height // 7 + 1, width // 5 + 1), dtype=np.uint8)
    return np.kron(coarse, np.ones((7, 5), dtype=np.uint8))[:height, :width]


def sample(width=190, height=130, seed=1):
    classes = classes_of(width, height, seed)
    return {"image": png(np.repeat(classes[:, :, None], 3, axis=2)), "mask.png": png(classes)}


def with_palette(classes):
    image = Image.fromarray(classes, mode="P")
    image.putpalette(list(range(255, -1, -1)) * 3)
    return image


def paletted(classes):
    return saved(with_palette(classes), "PNG")


def with_mask(recipe, **arguments):
    return recipe.view("mask", field="mask.png").like("image").decode_mask(**arguments)


NEAREST = {"filter": "nearest"}
OPERATORS = {
    "nothing but a crop": lambda r: r.center_crop(100),
    "padded": lambda r: r.center_crop(220, fill=FILL),
    "random_crop": lambda r: r.random_crop(96, padding=20, fill=FILL),
    "random_resized_crop": lambda r: r.random_resized_crop(96, **NEAREST).random_flip(),
    "resize and flip": lambda r: r.resize((60, 90), **NEAREST).flip().flip("vertical"),
    "enlarged": lambda r: r.resize((400, 500), **NEAREST),
    "pad": lambda r: r.resize((60, 90), **NEAREST).pad([3, 4, 5, 6], fill=FILL),
    "zoom_out": lambda r: r.zoom_out(128, p=0.9, fill=FILL, **NEAREST),
    "scale_jitter": lambda r: r.scale_jitter(128, fill=FILL, **NEAREST),
    "rotation": lambda r: r.resize((90, 90), **NEAREST).random_rotation(40, fill=FILL),
    "rotation first": lambda r: r.random_rotation(20, fill=FILL).random_resized_crop(80, **NEAREST),
    "affine": lambda r: r.resize((90, 110), **NEAREST).random_affine(20, [0.1, 0.2], [0.7, 1.4], [10], fill=FILL),
    "perspective": lambda r: r.resize((90, 110), **NEAREST).random_perspective(filter="nearest", fill=FILL),
    "elastic": lambda r: r.resize((90, 110), **NEAREST).elastic(alpha=60, filter="nearest", fill=FILL),
    "a choice": lambda r: r.random_choice([stoker.op.random_resized_crop(64, **NEAREST),
                                           stoker.op.sequence([stoker.op.resize((80, 80), **NEAREST), stoker.op.center_crop(64)])]),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_mask_goes_where_its_image_goes(name):
    recipe = with_mask(OPERATORS[name](stoker.recipe().decode()), fill=FILL)
    for position in range(6):
        out = recipe.apply(sample(190 - 11 * position, 130 + 5 * position, position), seed=3, position=position)
        assert out["mask"].dtype == np.uint8 and out["mask"].shape == out["image"].shape[1:]
        for channel in out["image"]:
            np.testing.assert_array_equal(channel, out["mask"])
        assert set(np.unique(out["mask"])) <= {*range(CLASSES), FILL}


@pytest.mark.parametrize("name", OPERATORS)
def test_both_executors_make_the_same_mask(name):
    recipe = with_mask(OPERATORS[name](stoker.recipe().decode()), fill=FILL, dtype="i64")
    for position in range(3):
        data = sample(seed=position)
        fast, plain = (recipe.apply(data, seed=5, position=position, reference=slow) for slow in (False, True))
        assert fast["mask"].dtype == np.int64
        np.testing.assert_array_equal(fast["mask"], plain["mask"])


@pytest.mark.parametrize("policy", ["rand_augment", "auto_augment", "trivial_augment_wide"])
def test_of_a_policy_a_mask_follows_what_moves_pixels(policy):
    """Colours change the image alone: its background, which no warp of theirs makes, tells where the image is."""
    recipe = with_mask(getattr(stoker.recipe().decode().resize((64, 64), **NEAREST), policy)(), fill=FILL)
    moved = 0
    for position in range(40):
        data = sample(seed=position)
        still = with_mask(stoker.recipe().decode().resize((64, 64), **NEAREST)).apply(data)
        fast, plain = (recipe.apply(data, seed=7, position=position, reference=slow) for slow in (False, True))
        np.testing.assert_array_equal(fast["mask"], plain["mask"])
        moved += not np.array_equal(fast["mask"], still["mask"])
    assert 4 < moved < 40


def test_the_nearest_pixel_is_pillows():
    data = sample(211, 157)
    recipe = with_mask(stoker.recipe().decode().resize((83, 64)))
    expected = Image.open(io.BytesIO(data["mask.png"])).resize((64, 83), Image.NEAREST)
    np.testing.assert_array_equal(recipe.apply(data)["mask"], np.asarray(expected))


def test_the_filter_of_the_image_does_not_matter():
    out = [with_mask(stoker.recipe().decode().random_resized_crop(64, filter=name)).apply(sample(), position=9)["mask"]
           for name in ("nearest", "box", "bilinear", "bicubic")]
    for mask in out[1:]:
        np.testing.assert_array_equal(mask, out[0])


def whole(mask, image_size, **arguments):
    """All pixels of a mask."""
    width, height = image_size
    data = {"image": png(np.zeros((height, width, 3), np.uint8)), "mask.png": mask}
    return with_mask(stoker.recipe().decode().center_crop((height, width)), **arguments).apply(data)["mask"]


def test_numbers_are_read_as_they_are_stored():
    classes = classes_of(45, 37)
    np.testing.assert_array_equal(whole(paletted(classes), (45, 37)), classes)
    for bits in (1, 2, 4):
        small = classes % (1 << bits)
        image = Image.fromarray(small, mode="P")
        image.putpalette([9, 9, 9] * (1 << bits))
        out = io.BytesIO()
        image.save(out, "PNG", bits=bits)
        np.testing.assert_array_equal(whole(out.getvalue(), (45, 37)), small)
    array = io.BytesIO()
    np.save(array, classes)
    np.testing.assert_array_equal(whole(array.getvalue(), (45, 37)), classes)


FILES = {
    "TIFF": lambda classes: saved(Image.fromarray(classes), "TIFF"),
    "TIFF by LZW": lambda classes: saved(Image.fromarray(classes), "TIFF", compression="tiff_lzw"),
    "TIFF of 16 bits": lambda classes: saved(Image.fromarray(classes.astype(np.uint16)), "TIFF", compression="tiff_deflate"),
    "TIFF with a palette": lambda classes: saved(with_palette(classes), "TIFF"),
    "BMP": lambda classes: saved(Image.fromarray(classes), "BMP"),
    "BMP with a palette": lambda classes: saved(with_palette(classes), "BMP"),
    "GIF": lambda classes: saved(Image.fromarray(classes), "GIF", optimize=False),
    "PGM": lambda classes: saved(Image.fromarray(classes), "PPM"),
    "PGM of 16 bits": lambda classes: saved(Image.fromarray(classes.astype(np.int32)), "PPM"),
}


@pytest.mark.parametrize("name", FILES)
def test_numbers_are_those_of_numpy_and_pillow_in_every_format(name):
    classes = classes_of(45, 37)
    file = FILES[name](classes)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(file))), classes)
    np.testing.assert_array_equal(whole(file, (45, 37)), classes)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["?", "u1", "i1", ">u2", "<i2", "u4", "i4", "u8", ">i8"])
def test_an_array_may_be_of_any_whole_numbers_and_negative_ones_are_no_class(dtype, order):
    classes = classes_of(45, 37).astype(np.int64) % (2 if dtype == "?" else 100)
    if np.dtype(dtype).kind == "i":
        classes[3:9, 5:20] = -1
    out = io.BytesIO()
    np.save(out, np.array(classes.astype(dtype), order=order))
    np.testing.assert_array_equal(whole(out.getvalue(), (45, 37), fill=77), np.where(classes < 0, 77, classes))
    expected = np.where(classes < 0, -100, classes)
    np.testing.assert_array_equal(whole(out.getvalue(), (45, 37), fill=-100, dtype="i64"), expected)


def test_wide_numbers_need_a_wide_type():
    ids = classes_of(45, 37).astype(np.uint16) * 1000
    np.testing.assert_array_equal(whole(png(ids), (45, 37), dtype="i64"), ids)
    with pytest.raises(stoker.Error, match="has the class [0-9]+000, which a byte cannot hold: use dtype='i64'"):
        whole(png(ids), (45, 37))
    segments = np.random.default_rng(2).integers(0, 256, (37, 45, 3), dtype=np.uint8)
    expected = segments.astype(np.int64) @ np.array([1, 256, 65536])
    np.testing.assert_array_equal(whole(png(segments), (45, 37), codes="rgb", dtype="i64"), expected)


def test_classes_are_those_that_a_data_set_evaluates():
    ids = np.arange(40, dtype=np.uint8)[None, :].repeat(4, axis=0)
    cityscapes = whole(png(ids), (40, 4), classes="cityscapes")[0]
    assert [cityscapes[i] for i in (7, 8, 11, 17, 23, 26, 28, 31, 33)] == [0, 1, 2, 5, 10, 13, 15, 16, 18]
    assert sorted(set(cityscapes) - {255}) == list(range(19)) and cityscapes[0] == cityscapes[34] == 255
    from_one = whole(png(ids), (40, 4), classes="from_one", fill=-100, dtype="i64")[0]
    assert list(from_one) == [-100, *range(39)]


BAD = {
    "another size": (lambda: png(classes_of(44, 37)), "the mask has 44 x 37 pixels, and its image 45 x 37"),
    "oriented": (lambda: saved(Image.fromarray(classes_of(45, 37)), "TIFF", tiffinfo={274: 3}), "its orientation is 3.: store it"),
    "turned": (lambda: png(classes_of(37, 45)), "its image 45 x 37; .*decode.orientation='apply'. turns it"),
    "colours": (lambda: png(np.zeros((37, 45, 3), np.uint8)), "the mask has colours"),
    "text": (lambda: b"no mask", "it is not a mask"),
    "cut short": (lambda: png(classes_of(45, 37))[:-30], "the PNG data has no end-of-image chunk"),
    "empty": (lambda: b"", "it is not a mask"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_its_mask_is_a_bad_sample(name):
    make, words = BAD[name]
    with pytest.raises(stoker.Error, match=words):
        whole(make(), (45, 37))


def test_what_makes_no_sense_is_refused_at_once():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply(sample())
        return str(error.value)

    image = stoker.recipe().decode().center_crop(64)
    mask = image.view("mask", field="mask.png")
    assert "name the image's view" in refusal(mask.decode_mask())
    assert "did you mean 'image'?" in refusal(mask.like("imag").decode_mask())
    assert "only masks, arrays, boxes and what belongs to boxes can be like" in refusal(mask.like("image").decode().center_crop(64))
    assert "cannot follow decode_mask" in refusal(mask.like("image").decode_mask().center_crop(64))
    assert "aug_mix" in refusal(with_mask(image.aug_mix()))
    assert "masks of objects cannot be mixed" in refusal(with_mask(image).mixup())
    assert "cannot be filled with -1" in refusal(with_mask(image, fill=-1))


def test_a_recipe_with_a_mask_is_read_back_as_it_was_written():
    recipe = with_mask(stoker.recipe().decode().center_crop(64), classes="from_one", fill=-100, dtype="i64")
    assert 'like = "image"' in recipe.to_toml() and stoker.Recipe.from_toml(recipe.to_toml()) == recipe
    copies = stoker.recipe().view("crop", copies=2).decode().random_resized_crop(32, filter="nearest")
    copies = copies.view("crop_mask", field="mask.png", copies=2).like("crop").decode_mask()
    out = copies.apply(sample())
    for number in range(2):
        np.testing.assert_array_equal(out[f"crop_{number}"][0], out[f"crop_mask_{number}"])
    assert not np.array_equal(out["crop_0"], out["crop_1"])


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of 24 samples, one of which has a mask of another size."""
    at = tmp_path_factory.mktemp("masks") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(24):
            data = sample(80 + number, 60, number)
            if number == 13:
                data["mask.png"] = png(classes_of(10, 10))
            for field, content in (("png", data["image"]), ("mask.png", data["mask.png"])):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


@pytest.mark.parametrize("index", [None, 0, 1, 2, 3])
def test_batches_hold_masks_wherever_their_images_are_made(shard, index):
    recipe = stoker.recipe().decode().random_resized_crop(48, filter="nearest").random_flip().rotate(10, fill=FILL)
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    seen = 0
    with stoker.Loader(stoker.open(shard), with_mask(recipe, fill=FILL), batch=6, seed=2, tune="off", **options) as loader:
        for batch in loader:
            image, mask = np.asarray(batch.image), np.asarray(batch.mask)
            assert mask.shape == (6, 48, 48)
            for channel in range(3):
                np.testing.assert_array_equal(image[:, channel], mask)
            seen += 6
    assert seen == 24 and loader.metrics()["bad_samples"] == 1


@pytest.mark.parametrize("index", [None, 0, 3])
def test_slots_without_a_sample_hold_the_fill(shard, index):
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    for fill, dtype in ((FILL, "u8"), (-100, "i64")):
        recipe = with_mask(stoker.recipe().decode().random_resized_crop(32), fill=fill, dtype=dtype)
        with stoker.Loader(stoker.open(shard), recipe, batch=10, tail="pad", tune="off", **options) as loader:
            *_, last = loader
            assert list(last.valid) == [True] * 4 + [False] * 6
            assert (np.asarray(last.mask)[4:] == fill).all() and not (np.asarray(last.mask)[:4] == fill).all()
            assert not np.asarray(last.image)[4:].any()


def test_ranks_and_resuming_give_the_same_masks(shard):
    recipe = with_mask(stoker.recipe().decode().random_resized_crop(32))

    def masks(**options):
        with stoker.Loader(stoker.open(shard), recipe, seed=4, **options) as loader:
            return {key: np.asarray(batch.mask)[slot].tobytes() for batch in loader for slot, key in enumerate(batch.key)}

    alone = masks(batch=8)
    together = masks(global_batch=8, rank=0, world=2) | masks(global_batch=8, rank=1, world=2)
    assert together == alone
