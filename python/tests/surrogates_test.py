"""Texts that stand for bytes which are not UTF-8: names of what is in a data set survive, other arguments refuse them."""

import copy
import io
import os
import pickle
import tarfile

import pytest

import stoker

WRONG = "\udc80"  # of a single byte
NO_BYTES = "\ud800"  # of none
REFUSED = "but must be a text that UTF-8 can hold"


@pytest.fixture
def classes(tmp_path):
    """A folder with the classes b"cat" and b"d\\xff", of one file each."""
    for name in (b"cat", b"d\xff"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"x.jpg"), "wb") as file:
            file.write(b"no image, and not read")
    return tmp_path


@pytest.mark.parametrize("duplicate", [lambda data: pickle.loads(pickle.dumps(data)), copy.copy, copy.deepcopy],
                         ids=["pickle", "copy", "deepcopy"])
def test_classes_survive_pickle_and_copies(classes, duplicate):
    data = stoker.open(classes).with_labels("folders")
    assert data.classes == ["cat", "d\udcff"]
    again = duplicate(data)
    assert again.classes == data.classes and again.labels.tolist() == [0, 1] and again.keys == data.keys
    assert data.with_labels([1, 0], data.classes[::-1]).classes == ["d\udcff", "cat"]


def test_fields_are_chosen_and_pickled(tmp_path):
    with tarfile.open(tmp_path / "shard.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in ((b"0.ph\xff", b"7"), (b"0.jpg", b"1"), (b"0.cl\xff", b"3")):
            member = tarfile.TarInfo(os.fsdecode(name))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    data = stoker.open(tmp_path / "shard.tar", image_field="ph\udcff", label_field="cl\udcff")
    for each in (data, pickle.loads(pickle.dumps(data))):
        assert each.labels.tolist() == [3] and each[0]["ph\udcff"] == b"7"
    for name in ("image_field", "label_field"):
        with pytest.raises(stoker.Error, match="no field 'ph.xfe' in the data set"):
            stoker.open(tmp_path / "shard.tar", **{name: "ph\udcfe"})
    with pytest.raises(stoker.Error, match="token_field"):
        stoker.open(tmp_path / "shard.tar", token_field=WRONG)


@pytest.mark.parametrize("use, name", [
    (lambda data, recipe: data.with_labels([0] * 50, [NO_BYTES]), "a class"),
    (lambda data, recipe: data.subset([NO_BYTES]), "a sample's key"),
    (lambda data, recipe: stoker.open("x", image_field=NO_BYTES), "image_field"),
    (lambda data, recipe: stoker.open("x", store_region=WRONG), "store_region"),
    (lambda data, recipe: stoker.open("x", io=WRONG), "io"),
    (lambda data, recipe: stoker.open("x", tokens=WRONG), "tokens"),
    (lambda data, recipe: recipe.view(WRONG), "name"),
    (lambda data, recipe: recipe.view("other", field=WRONG), "field"),
    (lambda data, recipe: recipe.set_tail(WRONG), "tail"),
    (lambda data, recipe: recipe.resize(8, filter=WRONG), "resize: filter"),
    (lambda data, recipe: recipe.map(WRONG + ":f", "image", {"image": ("u8", (8,))}), "function"),
    (lambda data, recipe: recipe.map("m:f", WRONG, {"image": ("u8", (8,))}), "takes"),
    (lambda data, recipe: recipe.map("m:f", "image", {WRONG: ("u8", (8,))}), "gives"),
    (lambda data, recipe: recipe.map("m:f", "image", {"image": (WRONG, (8,))}), "a dtype"),
    (lambda data, recipe: stoker.Recipe.from_toml(WRONG), "text"),
    (lambda data, recipe: stoker.Loader(data, recipe, batch=8, order=WRONG), "order"),
    (lambda data, recipe: stoker.Loader(data, recipe, batch=8, threads=WRONG), "threads"),
    (lambda data, recipe: stoker.Loader(data, recipe, batch=8, memory=WRONG), "memory"),
    (lambda data, recipe: stoker.Loader(data, recipe, batch=8, device=WRONG), "device"),
    (lambda data, recipe: stoker.Preprocessor(recipe, store_endpoint=WRONG), "store_endpoint"),
    (lambda data, recipe: stoker.Preprocessor(recipe)(b"", bad_sample=WRONG), "bad_sample"),
    (lambda data, recipe: next(iter(stoker.Loader(data, recipe, batch=8))).random_seed(WRONG), "name"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_other_arguments_are_refused_by_name(folder, recipe, use, name):
    with pytest.raises(stoker.Error, match=f"^{name} is '.*{REFUSED}$") as caught:
        use(stoker.open(folder), recipe)
    assert caught.value.kind == "usage"


def test_names_of_arguments_that_there_are_not_are_shown(folder, recipe):
    for call, given in ((stoker.Loader, (folder, recipe)), (recipe.apply, (b"",)), (recipe.resize, (8,))):
        with pytest.raises(stoker.Error, match=r"\\udc80"):
            call(*given, **{WRONG: 1})


def test_attributes_and_outputs_that_there_are_not_are_missing_as_any(folder, recipe):
    batch = next(iter(stoker.Loader(folder, recipe, batch=8)))
    for thing in (batch, recipe):
        assert not hasattr(thing, WRONG) and getattr(thing, NO_BYTES, None) is None
    with pytest.raises(AttributeError, match=r"no output '\\udc80'; it has image, label"):
        getattr(batch, WRONG)
    with pytest.raises(Exception) as usual:
        batch["nothing"]
    with pytest.raises(type(usual.value), match=r"\\udc80"):
        batch[WRONG]
