"""Several images of one sample, such as the two of a stereo pair: those of one draw group show the same part of the scene, even
where they are not of one size."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

WIDTH, HEIGHT = 240, 180
NEAREST = {"filter": "nearest"}


def png(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def scene(width, height):
    """Red tells the column and green the row, in fractions; blue is not used."""
    across = (np.arange(width) + 0.5) / width * 255
    down = (np.arange(height) + 0.5) / height * 255
    return np.stack([np.tile(across, (height, 1)), np.tile(down[:, None], (1, width)), np.zeros((height, width))], axis=2).round().astype(np.uint8)


def pair(width=WIDTH, height=HEIGHT, right=None):
    return {"image": png(scene(width, height)), "right.png": png(scene(*(right or (width, height))))}


def with_right(recipe, operators, **group):
    first = operators(recipe.decode())
    return operators(first.view("right", field="right.png").draw_group("image").decode())


OPERATORS = {
    "random_resized_crop": lambda r: r.random_resized_crop(64).random_flip(),
    "random_crop": lambda r: r.random_crop(96).random_flip(p=0.5, axis="vertical"),
    "padded": lambda r: r.random_crop((170, 240), padding=20, fill=[0, 0, 255]),
    "center_crop": lambda r: r.center_crop(100),
    "zoom_out": lambda r: r.zoom_out(128, p=0.9, fill=[0, 0, 255]),
    "scale_jitter": lambda r: r.scale_jitter(128, scale=(0.5, 2), fill=[0, 0, 255]),
    "warped": lambda r: r.resize((90, 120)).random_affine(20, (0.1, 0.1), (0.8, 1.2), filter="bilinear", fill=[0, 0, 255]),
    "warped first": lambda r: r.random_rotation(20, filter="bilinear", fill=[0, 0, 255]).random_resized_crop(64),
    "elastic": lambda r: r.resize((90, 120)).elastic(alpha=60, fill=[0, 0, 255]),
    "a choice": lambda r: r.random_choice([stoker.op.random_resized_crop(64), stoker.op.sequence([stoker.op.resize(80), stoker.op.random_crop(64)])]),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_second_image_goes_where_the_first_one_goes(name):
    recipe = with_right(stoker.recipe(), OPERATORS[name])
    shown = set()
    for position in range(8):
        out = recipe.apply(pair(), seed=1, position=position)
        np.testing.assert_array_equal(out["image"], out["right"])
        shown.add(out["image"].tobytes())
    assert len(shown) == (1 if name == "center_crop" else 8)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("right", [(480, 360), (120, 90), (77, 201)], ids=str)
def test_one_of_another_size_shows_the_same_part(name, right):
    recipe = with_right(stoker.recipe(), OPERATORS[name])
    for position in range(8):
        data = pair(right=right)
        out = recipe.apply(data, seed=1, position=position)
        plain = recipe.apply(data, seed=1, position=position, reference=True)
        np.testing.assert_array_equal(out["right"], plain["right"])
        assert out["right"].shape == out["image"].shape
        both = (out["image"][2] == 0) & (out["right"][2] == 0)  # neither is padding
        assert both.mean() > 0.9 * max((out["image"][2] == 0).mean(), (out["right"][2] == 0).mean()) - 0.01
        apart = np.abs(out["image"].astype(int) - out["right"])[:2, both]
        if apart.size:
            assert np.median(apart) <= 2 and np.percentile(apart, 99) <= 8, position


def test_masks_and_filters_of_a_smaller_depth_map():
    """Depth at half of the size, by the nearest; and a mask that is as large as the depth map."""
    depth = scene(WIDTH // 2, HEIGHT // 2)
    data = {"image": png(scene(WIDTH, HEIGHT)), "depth.png": png(depth), "mask.png": png(depth[:, :, 0])}
    recipe = stoker.recipe().decode().random_resized_crop(64).random_flip()
    recipe = recipe.view("depth", field="depth.png").draw_group("image").decode().random_resized_crop(64, **NEAREST).random_flip()
    recipe = recipe.view("mask", field="mask.png").like("depth").decode_mask()
    for position in range(8):
        for reference in (False, True):
            out = recipe.apply(data, seed=2, position=position, reference=reference)
            np.testing.assert_array_equal(out["mask"], out["depth"][0])
            assert np.abs(out["image"].astype(int) - out["depth"]).mean() < 2


def test_the_group_is_drawn_for_the_view_that_it_is_named_after():
    names = [("before", "a.png"), ("image", "image"), ("after", "b.png")]
    sizes = {"a.png": (100, 90), "image": (240, 180), "b.png": (300, 300)}
    data = {field: png(scene(*size)) for field, size in sizes.items()}
    recipe = stoker.Recipe.from_toml("".join(f"""
        [[view]]
        name = "{name}"
        field = "{field}"
        draw_group = "image"
        operators = [{{ op = "decode" }}, {{ op = "random_crop", size = 60 }}]
        """ for name, field in names))
    alone = stoker.recipe().decode().random_crop(60)
    for position in range(5):
        out = recipe.apply(data, seed=1, position=position)
        np.testing.assert_array_equal(out["image"], alone.apply(data, seed=1, position=position)["image"])
        assert np.abs(out["before"].astype(int) - out["image"]).mean() < 3
        assert np.abs(out["after"].astype(int) - out["image"]).mean() < 3


def test_objects_of_the_first_image_are_looked_at_for_the_second():
    text = b'[{"bbox": [200, 150, 30, 20], "category_id": 1}]'
    recipe = with_right(stoker.recipe(), lambda r: r.iou_crop(64, sampler_options=[0.1], trials=1000))
    recipe = recipe.view("boxes", field="json").like("image").decode_boxes("coco")
    for position in range(10):
        for reference in (False, True):
            out = recipe.apply(pair(right=(120, 90)) | {"json": text}, seed=1, position=position, reference=reference)
            assert np.abs(out["image"].astype(int) - out["right"]).mean() < 3


@pytest.mark.parametrize("index", [None, 0, 3])
def test_batches_hold_pairs(tmp_path, index):
    """Half of the samples have a smaller second image."""
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number in range(12):
            data = pair(right=(120, 90) if number % 2 else None)
            for field, content in (("left.png", data["image"]), ("right.png", data["right.png"])):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    recipe = stoker.recipe().view("left", field="left.png").decode().random_resized_crop(48).random_flip()
    recipe = recipe.view("right", field="right.png").draw_group("left").decode().random_resized_crop(48).random_flip()
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    seen = 0
    with stoker.Loader(stoker.open(tmp_path / "a.tar"), recipe, batch=4, seed=3, tune="off", **options) as loader:
        for batch in loader:
            left, right = np.asarray(batch.left).astype(int), np.asarray(batch.right)
            assert np.abs(left - right).mean() < 3
            seen += 4
    assert seen == 12
