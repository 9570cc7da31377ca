"""Recipes as values in Python."""

import copy
import pickle

import numpy as np
import pytest

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


def test_every_operator_has_a_method_whose_defaults_are_the_tables():
    values = {"size": 32, "x": 1, "y": 2, "width": 3, "height": 4, "padding": 2, "order": "bgr", "dtype": "f16", "layout": "nhwc"}
    for name, args in _testing.operators().items():
        required = {arg: values[arg] for arg, needed, _ in args if needed}
        defaults = {arg: default for arg, needed, default in args if not needed}
        method = getattr(stoker.recipe(), name)
        assert method(**required) == method(**required, **defaults) == method(*required.values())
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
    (lambda r: r.resize([None]), "resize: size is"),
    (lambda r: r.resize(8, "bilinaer"), "did you mean 'bilinear'"),
    (lambda r: r.resize(8, filtre="box"), "did you mean 'filter'"),
    (lambda r: r.resize(8, size=8), "twice"),
    (lambda r: r.resize(8, "box", 3), "at most 2"),
    (lambda r: stoker.recipe("imagenet-trian"), "did you mean 'imagenet-train'"),
    (lambda r: stoker.recipe(5), "recipe is 5"),
    (lambda r: stoker.Recipe.from_toml("[[view]]\nname = 'image'\noperators = [{ op = 'resise' }]"), "did you mean 'resize'"),
    (lambda r: stoker.Recipe.from_toml("?"), "line 1"),
    (lambda r: r.apply(b""), "decode"),
    (lambda r: r.decode().apply("text"), "data is 'text', but must be bytes"),
    (lambda r: r.decode().view("mask", "png").decode().apply(b""), "fields image, png"),
    (lambda r: r.set_tail("keep"), "keep"),
])
def test_mistakes_are_usage_errors_that_say_what_is_right(call, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        call(stoker.recipe())
    assert caught.value.kind == "usage"


def test_an_unknown_operator_is_an_unknown_attribute():
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


def test_fields_are_given_by_name_where_there_are_several():
    image, mask = encoded(picture(9, 9, seed=1)), encoded(picture(9, 9, seed=2), "PNG")
    recipe = stoker.recipe().decode().view("mask", "png").decode()
    outputs = recipe.apply({"image": image, "png": mask, "cls": b"1"})
    np.testing.assert_array_equal(outputs["image"], stoker.recipe().decode().apply(image)["image"])
    np.testing.assert_array_equal(outputs["mask"], stoker.recipe().decode().apply(mask)["image"])
    with pytest.raises(stoker.Error, match="png"):
        recipe.apply({"image": image})


def test_a_draw_depends_on_seed_epoch_and_position():
    data = encoded(picture(100, 100))
    recipe = stoker.recipe().decode().random_resized_crop(8)
    draws = [recipe.apply(data, **where)["image"].tobytes()
             for where in ({}, {"seed": 1}, {"epoch": 1}, {"position": 1}, {"seed": 2**64 - 1})]
    assert len(set(draws)) == 5
    assert recipe.apply(data)["image"].tobytes() == draws[0]


def test_repr_reads_as_the_chain():
    recipe = stoker.recipe().decode().resize(8)
    assert repr(recipe) == ("Recipe(image: decode(mode='faithful', orientation='ignore') "
                            "resize(size=[8], filter='bilinear'); label:; tail='drop')")


def test_errors_carry_their_kind_and_survive_pickle():
    with pytest.raises(stoker.Error) as caught:
        stoker.recipe("nothing")
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, stoker.Error) and isinstance(error, Exception)
    assert error.kind == "usage" and str(error) == str(caught.value)
