"""Recipes as values in Python."""

import copy
import io
import pickle

import numpy as np
import pytest
from PIL import Image

import stoker
from sample_images import encoded, picture
from stoker import _testing

NAMES = ["imagenet-train", "imagenet-val", "cifar-train", "alexnet-caffe"]


def test_each_call_of_the_chain_gives_a_new_recipe():
    start = stoker.recipe().decode()
    one, other = start.resize(256), start.resize((256, 200))
    assert start == stoker.recipe().decode()
    assert one != other and one != start
    assert one == stoker.recipe().decode().resize(size=256, filter="bilinear")
    assert hash(one) == hash(stoker.recipe().decode().resize(256))
    assert one != "a text"


@pytest.mark.parametrize("name", NAMES)
def test_toml_and_pickle_bring_a_recipe_back(name):
    recipe = stoker.recipe(name)
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == recipe == copy.copy(recipe)


def test_a_recipe_is_read_from_a_file(tmp_path):
    (tmp_path / "mine.toml").write_text(stoker.recipe("cifar-train").to_toml())
    assert stoker.recipe(tmp_path / "mine.toml") == stoker.recipe("cifar-train") == stoker.recipe(str(tmp_path / "mine.toml"))
    with pytest.raises(stoker.Error, match="other.toml") as caught:
        stoker.recipe(tmp_path / "other.toml")
    assert caught.value.kind == "not_found"


def test_the_chain_says_what_the_named_recipe_says():
    chain = stoker.recipe().decode().random_resized_crop(224).random_flip().normalize("imagenet")
    assert chain == stoker.recipe("imagenet-train")
    assert chain.resize(3) != chain
    assert stoker.recipe("imagenet-val").tail == "pad" and chain.tail == "drop"
    assert chain.set_tail("pad").tail == "pad"
    assert chain.batch_repeats == 1 and chain.set_batch_repeats(4).batch_repeats == 4
    assert stoker.Recipe.from_toml(chain.set_batch_repeats(4).to_toml()) == chain.set_batch_repeats(4) != chain


def test_a_resize_by_nearest_mixes_no_values():
    """Though the size is there already: a draw group's, or that of an image that was warped."""
    def two_values(width, height):
        return encoded(Image.fromarray(np.random.default_rng(1).choice([0, 200], (height, width)).astype("u1")), "PNG")

    group = stoker.recipe().decode().resize([48, 64]).view("depth", field="depth.png").draw_group("image")
    group = group.decode().resize([48, 64], filter="nearest")
    depth = group.apply({"image": encoded(picture(64, 48), "PNG"), "depth.png": two_values(32, 24)})["depth"]
    assert set(np.unique(depth)) == {0, 200}
    warped = stoker.recipe().decode().random_affine(degrees=30, scale=[0.5, 1.5], filter="nearest")
    for position in range(5):
        image = warped.resize([40, 50], filter="nearest").apply({"image": two_values(50, 40)}, position=position)["image"]
        assert set(np.unique(image)) <= {0, 200}


def test_an_image_too_small_for_a_crop_before_a_resize_is_a_bad_sample(tmp_path):
    """What its own size brings ends no training."""
    folder = tmp_path / "images" / "one"
    folder.mkdir(parents=True)
    for number in range(12):
        side = 30 if number == 5 else 50
        (folder / f"{number:02d}.png").write_bytes(encoded(picture(side, 50, seed=number), "PNG"))
    recipe = stoker.recipe().decode().center_crop(40).resize((20, 20))
    with stoker.Loader(tmp_path / "images", recipe, batch=4, bad_sample="skip", tune="off") as loader:
        assert sum(int(np.sum(batch.valid)) for batch in loader) == 11
    assert loader.metrics()["bad_samples"] >= 1
    with pytest.raises(stoker.Error, match="padding cannot be resized") as caught:
        list(stoker.Loader(tmp_path / "images", recipe, batch=4, bad_sample="fail", tune="off"))
    assert caught.value.kind == "bad_sample"


def permitted_value(arg, permitted):
    """One that the operator takes for this argument."""
    if arg == "operators":
        return [stoker.op.flip()]
    if permitted["is_text"]:
        return (permitted["choices"] or ["a"])[0]
    least, counts = permitted["limits"][0], permitted["counts"]
    return least if 1 in counts else [least] * counts[0]


def test_every_operator_has_a_method_whose_defaults_are_the_tables():
    for name, args in _testing.operators().items():
        required = {arg: permitted_value(arg, permitted) for arg, needed, _, permitted in args if needed}
        defaults = {arg: default for arg, needed, default, _ in args if not needed}
        method = getattr(stoker.recipe(), name)
        assert method(**required) == method(**required, **defaults) == method(*required.values())
        assert method(**required) == stoker.recipe().add(getattr(stoker.op, name)(**required))
        assert method(**required) != stoker.recipe()
        assert name in method.__doc__


@pytest.mark.parametrize("call, message", [
    (lambda r: r.resize(), "resize needs size"),
    (lambda r: r.resize("big"), "resize: size is 'big'"),
    (lambda r: r.resize((1, 2, 3)), "1 or 2"),
    (lambda r: r.resize(0), "between 1"),
    (lambda r: r.resize(2.5), "whole number"),
    (lambda r: r.resize(True), "resize: size is true"),
    (lambda r: r.resize(None), "resize: size is None"),
    (lambda r: r.resize([None]), r"resize: size is \[None\], but must be a whole number or a list of whole numbers$"),
    (lambda r: r.resize({1: 2}), "resize: size is {1: 2}, but must be a whole number or a list"),
    (lambda r: r.decode().resize(8).normalize("imagenet", std=9).apply(b""), "preset='imagenet' says what mean, std and scale are"),
    (lambda r: r.normalize(mean=[0, None, 1]), "normalize: mean is .*, but must be a number or a list of numbers$"),
    (lambda r: r.random_flip(p=[None]), "random_flip: p is .*, but must be a number$"),
    (lambda r: r.resize(8, filter=None), "resize: filter is None, but must be one of nearest, box, bilinear, bicubic$"),
    (lambda r: r.resize(8, filtre=None), "did you mean 'filter'"),
    (lambda r: r.resize(8, "bilinaer"), "did you mean 'bilinear'"),
    (lambda r: r.resize(8, filtre="box"), "did you mean 'filter'"),
    (lambda r: r.resize(8, size=8), "twice"),
    (lambda r: r.resize(8, "box", 3), "at most 2"),
    (lambda r: r.random_apply(), "random_apply needs operators"),
    (lambda r: r.random_apply(stoker.op.flip()), "random_apply: operators is stoker.op.flip.*, but must be a list of operators, such as"),
    (lambda r: r.random_apply(["flip"]), r"random_apply: operators is \['flip'\], but must be a list of operators"),
    (lambda r: r.random_apply([stoker.op.flip(), 3]), "but must be a list of operators"),
    (lambda r: r.random_apply([]), "has 0 operators, but must have 1 to 31"),
    (lambda r: r.random_apply([stoker.op.decode()]), r"decode \(decode\) cannot be one of its operators"),
    (lambda r: r.random_choice([stoker.op.flip()], p=[1, 2]), "p has 2 numbers for 1 operators"),
    (lambda r: r.random_choice([stoker.op.flip()], mode="pair"), "mode is 'pair'"),
    (lambda r: stoker.op.flip(axis="diagonal"), "flip: axis is 'diagonal'"),
    (lambda r: stoker.op.random_flip(p=True), "random_flip: p is true"),
    (lambda r: stoker.op.flip("vertical", "horizontal"), "flip takes at most 1 argument, not 2"),
    (lambda r: r.add("flip"), "call is 'flip', but must be an operator, such as stoker.op.flip"),
    (lambda r: r.add(None), "call is None, but must be an operator"),
    (lambda r: stoker.recipe("imagenet-trian"), "did you mean 'imagenet-train'"),
    (lambda r: stoker.recipe(5), "recipe is 5, but must be a Recipe, the name of one .alexnet-caffe, .* a TOML file"),
    (lambda r: stoker.Recipe.from_toml(3), "text is 3, but must be a text"),
    (lambda r: r.view(3), "name is 3, but must be a text"),
    (lambda r: r.view("local", copies=0), "copies"),
    (lambda r: r.view("local", copies="two"), "copies"),
    (lambda r: r.draw_group(3), "group is 3, but must be a text"),
    (lambda r: r.set_tail(None), "tail is None, but must be a text"),
    (lambda r: stoker.Recipe.from_toml("[[view]]\nname = 'image'\noperators = [{ op = 'resise' }]"), "did you mean 'resize'"),
    (lambda r: stoker.Recipe.from_toml("?"), "line 1"),
    (lambda r: r.apply(b""), "decode"),
    (lambda r: r.decode().apply("text"), "data is 'text', but must be bytes"),
    (lambda r: r.decode().view("mask", "png").decode().apply(b""), "fields image, png"),
    (lambda r: r.set_tail("kept"), "kept"),
    (lambda r: r.set_batch_repeats(0), "repeats is 0, but must be at least 1"),
    (lambda r: r.set_batch_repeats(2.5), "repeats is 2.5, but must be a whole number"),
    (lambda r: r.set_batch_repeats(None), "repeats is None, but must be a whole number"),
    (lambda r: r.decode().apply(), "Recipe.apply needs data"),
    (lambda r: r.decode().apply(b"", label="x"), "label is 'x', but must be a whole number"),
    (lambda r: r.decode().apply(b"", epoch=-1), "epoch is -1, but must be at least 0"),
    (lambda r: r.decode().apply(b"", position=1.5), "position is 1.5, but must be a whole number"),
    (lambda r: r.decode().apply(b"", reference=1), "reference is 1, but must be True or False"),
    (lambda r: r.decode().apply(b"", lable=3), "no argument 'lable' .did you mean 'label'"),
    (lambda r: r.decode().apply(b"", 3), "takes data in order; give the others by name: seed"),
    (lambda r: r.decode().apply(np.zeros(3, np.float32)), "data is .*, but must be bytes or an array of uint8"),
])
def test_mistakes_are_usage_errors_that_say_what_is_right(call, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        call(stoker.recipe())
    assert caught.value.kind == "usage" and "\n" not in str(caught.value)


def nested():
    op = stoker.op
    either = op.random_choice([op.random_resized_crop(24), op.sequence([op.resize([30, 28]), op.random_crop(24)])], p=[1, 2])
    return stoker.recipe().decode().add(either).random_apply([op.random_order([op.flip(), op.flip("vertical")])], p=0.8)


def test_operators_hold_operators():
    op, recipe = stoker.op, nested()
    assert recipe.to_toml().count("op = ") == 10
    for same in (stoker.Recipe.from_toml(recipe.to_toml()), pickle.loads(pickle.dumps(recipe)), copy.deepcopy(recipe)):
        assert same == recipe and hash(same) == hash(recipe)
    assert recipe == nested() != recipe.random_order([op.flip()])
    assert stoker.recipe().decode().add(op.flip()) == stoker.recipe().decode().flip()


def test_calls_are_values_written_as_python_code():
    call = stoker.op.random_choice([stoker.op.pad(3, fill=[1, 2, 3]), stoker.op.random_flip(p=0.25)], p=[1, 0.5])
    assert call.name == "random_choice" and call.args["p"] == [1, 0.5] and call.args["operators"][1].args["p"] == 0.25
    for same in (eval(repr(call)), pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        assert same == call and hash(same) == hash(call) and not same != call
    assert call != stoker.op.random_flip() and call != "a text"


def test_nested_operators_draw_by_their_place_alone():
    """The same pixels as the reference; and what stands beside a member changes nothing of what it draws."""
    op, data = stoker.op, encoded(picture(60, 50))
    recipe = nested()
    kinds = set()
    for position in range(40):
        (fast, _), (slow, _) = (recipe.apply(data, position=position, reference=reference).values() for reference in (False, True))
        assert np.array_equal(fast, slow)
        kinds.add(fast.tobytes())
        alone = stoker.recipe().decode().sequence([op.random_crop(24)]).apply(data, position=position)["image"]
        beside = stoker.recipe().decode().sequence([op.random_flip(p=0), op.random_crop(24)]).flip().flip()
        assert np.array_equal(alone, beside.apply(data, position=position)["image"])
    assert len(kinds) > 25
    first = stoker.recipe().decode().random_apply([op.center_crop(24)], p=0).center_crop(24).apply(data)["image"]
    assert np.array_equal(first, stoker.recipe().decode().center_crop(24).apply(data)["image"])


def test_an_unknown_operator_is_an_unknown_attribute():
    with pytest.raises(AttributeError):
        stoker.op.resise(8)
    with pytest.raises(AttributeError):
        stoker.recipe().resise(8)


def test_several_views_are_several_outputs():
    recipe = stoker.recipe().decode().resize((8, 8)).view("small").decode().resize((4, 4)).layout("nhwc")
    data = encoded(picture(30, 20))
    outputs = recipe.apply(data, label=2)
    assert list(outputs) == ["image", "label", "small"]
    assert outputs["image"].shape == (3, 8, 8) and outputs["small"].shape == (4, 4, 3)
    assert recipe.view("image").flip() == recipe.view("image").flip()
    assert recipe.view("image").flip().apply(data)["image"].tolist() == outputs["image"][:, :, ::-1].tolist()


def test_copies_of_a_view_are_numbered_outputs_with_draws_of_their_own():
    recipe = stoker.recipe().view("whole", copies=2).decode().random_resized_crop(16).random_flip()
    recipe = recipe.view("local", copies=3).decode().random_resized_crop(8, scale=(0.05, 0.4))
    data = encoded(picture(60, 40))
    outputs = recipe.apply(data, seed=3)
    assert list(outputs) == ["label", "whole_0", "whole_1", "local_0", "local_1", "local_2"]
    assert outputs["whole_1"].shape == (3, 16, 16) and outputs["local_2"].shape == (3, 8, 8)
    assert len({pixels.tobytes() for pixels in outputs.values()}) == 6
    reference = recipe.apply(data, seed=3, reference=True)
    assert all(np.array_equal(outputs[name], reference[name]) for name in outputs)
    more = recipe.view("local", copies=4)
    assert more != recipe and more.view("local_3").decode().resize((8, 8)).apply(data, seed=3)["local_1"].tolist() == outputs["local_1"].tolist()
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe


def test_copies_of_a_mask_are_cropped_as_those_of_the_image():
    recipe = stoker.recipe().view("image", copies=2).decode("faithful").random_resized_crop(16)
    recipe = recipe.view("mask", "png", copies=2).draw_group("image").decode("faithful").random_resized_crop(16)
    pixels = encoded(picture(40, 30), "PNG")
    outputs = recipe.apply({"image": pixels, "png": pixels, "cls": b"1"})
    np.testing.assert_array_equal(outputs["mask_0"], outputs["image_0"])
    np.testing.assert_array_equal(outputs["mask_1"], outputs["image_1"])
    assert outputs["image_0"].tolist() != outputs["image_1"].tolist()


@pytest.mark.parametrize("make", ["five_crop", "ten_crop"])
def test_several_crops_are_those_of_torchvision(make):
    functional = pytest.importorskip("torchvision.transforms.functional")
    torch = pytest.importorskip("torch")
    pixels = picture(51, 38)
    recipe = getattr(stoker.recipe().decode("faithful"), make)((20, 31))
    outputs = recipe.apply(encoded(pixels, "PNG"))
    chw = torch.from_numpy(np.ascontiguousarray(np.asarray(pixels).transpose(2, 0, 1)))
    crops = getattr(functional, make)(chw, [20, 31])
    assert list(outputs) == [f"image_{i}" for i in range(len(crops))] + ["label"]
    for i, crop in enumerate(crops):
        np.testing.assert_array_equal(outputs[f"image_{i}"], crop.numpy())


def test_fields_are_given_by_name_where_there_are_several():
    image, mask = encoded(picture(9, 9, seed=1)), encoded(picture(9, 9, seed=2), "PNG")
    recipe = stoker.recipe().decode().view("mask", "png").decode()
    outputs = recipe.apply({"image": image, "png": mask, "cls": b"1"})
    np.testing.assert_array_equal(outputs["image"], stoker.recipe().decode().apply(image)["image"])
    np.testing.assert_array_equal(outputs["mask"], stoker.recipe().decode().apply(mask)["image"])
    with pytest.raises(stoker.Error, match="png"):
        recipe.apply({"image": image})


def test_a_sample_of_a_data_set_is_what_apply_takes(folder, tmp_path):
    recipe = stoker.recipe().decode().resize((8, 8))
    sample = stoker.open(folder)[20]
    outputs = recipe.apply(sample)
    np.testing.assert_array_equal(outputs["image"], recipe.apply(sample["jpg"])["image"])
    assert outputs["label"] == sample["label"] > 0
    assert recipe.apply(sample, label=7)["label"] == 7
    assert recipe.apply(sample["jpg"])["label"] == -1


def test_the_image_is_the_field_that_a_data_set_takes():
    one, other = encoded(picture(9, 9, seed=1)), encoded(picture(9, 9, seed=2), "PNG")
    recipe = stoker.recipe().decode()
    for sample in ({"json": b"{}", "left.jpg": one, "right.png": other}, {"mask.png": other, "JPEG": one}, {"png": other, "image": one}, {"cls": b"1", "JPEG": one}):
        np.testing.assert_array_equal(recipe.apply(sample)["image"], recipe.apply(one)["image"])
    raw = io.BytesIO()
    np.save(raw, np.arange(9 * 9 * 3, dtype=np.uint8).reshape(9, 9, 3))
    raw = raw.getvalue()
    np.testing.assert_array_equal(recipe.apply({"cls": b"1", "npy": raw})["image"], recipe.apply(raw)["image"])
    with pytest.raises(stoker.Error, match="neither a field 'image' or 'npy' nor one that ends in jpg, ") as caught:
        recipe.apply({"cls": b"1", "label": 3})
    assert caught.value.kind == "not_found"


@pytest.mark.parametrize("convert", [
    bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8), lambda data: memoryview(data).cast("c"),
    lambda data: np.repeat(np.frombuffer(data, np.uint8), 2)[::2]], ids=["bytearray", "memoryview", "array", "chars", "strided"])
def test_what_holds_bytes_is_as_good_as_bytes(convert):
    data = encoded(picture(20, 10))
    recipe = stoker.recipe().decode()
    for value in (convert(data), {"jpg": convert(data)}):
        np.testing.assert_array_equal(recipe.apply(value)["image"], recipe.apply(data)["image"])


def test_a_draw_depends_on_seed_epoch_and_position():
    data = encoded(picture(100, 100))
    recipe = stoker.recipe().decode().random_resized_crop(8)
    draws = [recipe.apply(data, **where)["image"].tobytes()
             for where in ({}, {"seed": 1}, {"epoch": 1}, {"position": 1}, {"seed": 2**64 - 1})]
    assert len(set(draws)) == 5
    assert recipe.apply(data)["image"].tobytes() == draws[0]


def test_a_choice_for_batches_depends_on_the_batch():
    data = encoded(picture(100, 100))
    recipe = stoker.recipe().decode().random_choice([stoker.op.random_resized_crop(size) for size in (8, 12)], mode="batch")
    shapes = {recipe.apply(data, batch=batch)["image"].shape for batch in range(20)}
    assert shapes == {(3, 8, 8), (3, 12, 12)}
    for batch in range(4):
        at = [recipe.apply(data, batch=batch, position=position)["image"] for position in (0, 1)]
        assert at[0].shape == at[1].shape and at[0].tobytes() != at[1].tobytes()
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe


def test_calls_continue_the_image_of_a_recipe_with_a_name():
    longer = stoker.recipe("imagenet-train").layout("nhwc")
    assert longer == stoker.recipe("imagenet-train").view("image").layout("nhwc")
    assert longer.apply(encoded(picture(60, 60)))["image"].shape == (224, 224, 3)


def test_repr_reads_as_the_chain():
    recipe = stoker.recipe().decode().resize(8)
    assert repr(recipe) == ("Recipe(image: decode(mode='planar', orientation='ignore', scale='full') "
                            "resize(size=[8], filter='bilinear'); label:; tail='drop')")
    assert repr(recipe.set_batch_repeats(4)).endswith("; tail='drop'; batch_repeats=4)")


def test_errors_carry_their_kind_and_survive_pickle():
    with pytest.raises(stoker.Error) as caught:
        stoker.recipe("nothing")
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, stoker.Error) and isinstance(error, Exception)
    assert error.kind == "usage" and str(error) == str(caught.value)
