"""stoker.torch.Loader where a DataLoader is iterated."""

import ast
import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

import stoker
import stoker.torch


def test_batches_unpack_as_tensors_over_the_loaders_memory(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8, seed=1) as loader, stoker.Loader(folder, recipe, batch=8, seed=1) as plain:
        assert len(loader) == 6 and loader.batch_size == 8
        for batch, expected in zip(loader, plain):
            image, label = batch
            assert image.dtype == torch.float32 and label.dtype == torch.int64
            assert image.shape == (8, 3, 32, 32) and label.shape == (8,)
            np.testing.assert_array_equal(image, np.asarray(expected.image))
            np.testing.assert_array_equal(label, np.asarray(expected.label))
            assert image.data_ptr() == batch.image.data_ptr() == batch[0].data_ptr()
            assert torch.equal(batch.label, label) and len(batch) == 2
            assert batch.key == expected.key and batch.epoch == expected.epoch
            assert batch.valid.dtype == torch.bool and batch.valid.all()
            assert batch.position.tolist() == expected.position.tolist()
    with pytest.raises(AttributeError, match="mask"):
        batch.mask


def test_an_output_whose_name_is_a_keyword_is_an_item(folder):
    recipe = stoker.recipe().decode().random_resized_crop(16).mixup(labels="pair")
    with stoker.torch.Loader(folder, recipe, batch=4) as loader:
        batch = next(iter(loader))
        assert batch["lambda"] is getattr(batch, "lambda") and batch["image"] is batch[0] and len(batch[:2]) == 2
        with pytest.raises(KeyError, match="no output 'mu', only image, label"):
            batch["mu"]


def test_ragged_outputs_have_an_element_for_each_sample(folder):
    recipe = stoker.recipe().view("image").decode().random_resized_crop(16).view("coded", field="image").decode_bytes(most=1 << 20)
    with stoker.torch.Loader(folder, recipe, batch=4) as loader, stoker.Loader(folder, recipe, batch=4) as plain:
        batch, expected = next(iter(loader)), next(iter(plain))
        assert len(batch.coded) == len(expected.coded) == 4
        pairs = list(zip(batch.image, batch.coded, expected.coded))
        assert len(pairs) == 4
        for slot, (_, coded, plain_coded) in enumerate(pairs):
            assert torch.equal(coded, batch.coded[slot]) and torch.equal(coded, batch.coded[slot - 4])
            np.testing.assert_array_equal(coded, plain_coded)
            np.testing.assert_array_equal(expected.coded[slot - 4], plain_coded)
        for output in (batch.coded, expected.coded):
            with pytest.raises(IndexError):
                output[4]
        moved = batch.coded.to("cpu")
        assert type(moved) is stoker.torch.Ragged and torch.equal(moved.values, batch.coded.values)
        again = pickle.loads(pickle.dumps(batch)).coded
        assert again.as_bytes() == batch.coded.as_bytes() and repr(again).startswith("Ragged(values=[")


def test_padded_outputs_have_an_element_for_each_sample(folder):
    sizes = sorted(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    middle = sizes[len(sizes) // 2]
    recipe = stoker.recipe().view("head", field="image").decode_bytes(most=1 << 20).pad_to(middle, longer="cut")
    with stoker.torch.Loader(folder, recipe, batch=16) as loader, stoker.Loader(folder, recipe, batch=16) as plain:
        batch, expected = next(iter(loader)), next(iter(plain))
        lengths = {len(rows) for rows in expected.head}
        assert len(lengths) > 1 and max(lengths) == middle and len(list(batch.head)) == 16
        for slot, (rows, plain_rows) in enumerate(zip(batch.head, expected.head)):
            np.testing.assert_array_equal(rows, plain_rows)
            assert torch.equal(batch.head[slot - 16], rows) and len(rows) == min(middle, batch.head.counts[slot])
        with pytest.raises(IndexError):
            batch.head[16]


def test_each_batch_may_have_another_size(folder):
    sizes = [stoker.op.random_resized_crop(size) for size in (16, 24, (32, 20))]
    recipe = stoker.recipe().decode().random_choice(sizes, mode="batch").normalize("imagenet")
    shapes = []
    with stoker.torch.Loader(folder, recipe, batch=4, seed=1, tail="keep") as loader:
        for epoch in range(2):
            for image, label in loader.epoch(epoch):
                assert image.is_contiguous() and len(image) == len(label)
                shapes.append(tuple(image.shape))
    assert {shape[1:] for shape in shapes} == {(3, 16, 16), (3, 24, 24), (3, 32, 20)}
    assert [shape[0] for shape in shapes] == 2 * ([4] * 12 + [2])
    for rank in range(2):
        with stoker.torch.Loader(folder, recipe, batch=2, rank=rank, world=2, seed=1, tail="pad") as loader:
            assert [tuple(image.shape[1:]) for epoch in range(2) for image, _ in loader.epoch(epoch)] == [s[1:] for s in shapes]


def test_it_answers_what_a_dataloader_is_asked(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8, threads=2, prefetch=3) as loader:
        assert len(loader.dataset) == 50 and loader.dataset[0]["label"] == 0
        assert (loader.batch_size, loader.threads, loader.prefetch) == (8, 2, 3)
        assert repr(loader) == "stoker.torch.Loader(6 batches of 8 per epoch, threads=2, prefetch=3)"
        for start in (lambda: loader.epoch(0), lambda: iter(loader)):
            batches = start()
            assert [len(batches) for _ in batches] == [5, 4, 3, 2, 1, 0] and len(batches) == 0


def test_the_arguments_are_those_of_the_plain_loader():
    ours, plain = (list(inspect.signature(loader).parameters.values()) for loader in (stoker.torch.Loader, stoker.Loader))
    assert len(plain) > 25 and ours[:-1] == plain
    assert (ours[-1].name, ours[-1].default) == ("channels_last", False)


def test_type_checkers_see_the_same_arguments():
    """Which they read in the source."""
    tree = ast.parse(Path(stoker.torch.__file__).read_text())
    loader = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Loader")
    args = next(node for node in ast.walk(loader) if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs).args
    declared = {arg.arg: ast.unparse(arg.annotation).replace("stoker.", "") for arg in args.args[1:] + args.kwonlyargs}
    assert declared == {p.name: p.annotation for p in inspect.signature(stoker.torch.Loader).parameters.values()}
    defaults = [ast.literal_eval(default) for default in args.kw_defaults]
    assert defaults == [p.default for p in list(inspect.signature(stoker.torch.Loader).parameters.values())[2:]]


def test_it_has_all_that_the_plain_loader_has(folder, recipe):
    def public(loader):
        return {name for name in dir(loader) if not name.startswith("_")}

    assert public(stoker.torch.Loader) - public(stoker.Loader) == {"set_epoch"}
    assert public(stoker.Loader) <= public(stoker.torch.Loader)
    with stoker.torch.Loader(folder, recipe, batch=8, device="emulated:execute", transfer_index=2) as loader:
        assert loader.transfer_index == 2


@pytest.mark.parametrize("mistake, message", [
    (dict(batch_size=8), "did you mean 'batch'"),
    (dict(batch=8, num_workers=2), "did you mean 'threads'"),
    (dict(batch=8, shuffel=True), "no argument 'shuffel'"),
    (dict(batch=8, channel_last=True), "did you mean 'channels_last'"),
])
def test_a_misspelt_argument_is_answered_as_the_plain_loader_does(folder, recipe, mistake, message):
    for make in (stoker.Loader, stoker.torch.Loader):
        with pytest.raises(stoker.Error, match=message) as error:
            make(folder, recipe, **mistake)
        assert error.value.kind == "usage"


def test_the_plain_loader_says_where_channels_last_is(folder, recipe):
    with pytest.raises(stoker.Error, match="no argument 'channels_last'; stoker.torch.Loader has this argument"):
        stoker.Loader(folder, recipe, batch=8, channels_last=True)


def test_channels_last_images_are_what_pytorch_calls_so(folder):
    recipe = stoker.recipe().decode().resize([20, 24]).normalize("imagenet")
    nhwc = stoker.recipe().decode().resize([20, 24]).normalize("imagenet").layout("nhwc")
    with stoker.torch.Loader(folder, recipe, batch=8) as plain, \
         stoker.torch.Loader(folder, nhwc, batch=8, channels_last=True) as last:
        for (expected, _), (image, _) in zip(plain, last):
            assert image.shape == (8, 3, 20, 24) and torch.equal(image, expected)
            assert image.is_contiguous(memory_format=torch.channels_last)
        again = pickle.loads(pickle.dumps(last))
        assert next(iter(again))[0].shape == (8, 3, 20, 24)
        again.close()
    with stoker.torch.Loader(folder, recipe, batch=8, channels_last=True) as other, pytest.raises(ValueError, match="layout"):
        next(iter(other))


def test_memory_is_pinned_where_there_is_a_gpu_and_otherwise_plain(folder, recipe, caplog):
    with stoker.torch.Loader(folder, recipe, batch=8, pin_memory=True) as pinned, \
         stoker.torch.Loader(folder, recipe, batch=8) as plain:
        for (image, _), (expected, _) in zip(pinned, plain):
            assert torch.equal(image, expected) and image.device.type == "cpu"
            assert image.is_pinned() == torch.cuda.is_available()
    assert ("not pinned" in caplog.text) == (not torch.cuda.is_available())
    with pytest.raises(stoker.Error, match="there already"):
        stoker.torch.Loader(folder, recipe, batch=8, pin_memory=True, device="emulated:execute")


def test_nvjpeg_is_for_devices(folder, recipe):
    for make in (stoker.Loader, stoker.torch.Loader):
        with pytest.raises(stoker.Error, match="no device that it decodes on") as error:
            make(folder, recipe, batch=8, nvjpeg=True)
        assert error.value.kind == "usage"
        with pytest.raises(stoker.Error, match="nvjpeg"):
            make(folder, recipe, batch=8, nvjpeg="yes", device="emulated:execute")
    with stoker.torch.Loader(folder, recipe, batch=8, device="emulated:execute", nvjpeg=True) as left, \
         stoker.torch.Loader(folder, recipe, batch=8) as plain:
        for (image, _), (expected, _) in zip(left, plain):
            assert torch.equal(image, expected)


@pytest.fixture
def batch(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8) as loader:
        return next(iter(loader))


def test_batches_made_of_a_batchs_tensors_keep_the_names(batch):
    made = type(batch)(tensor.double() for tensor in batch)
    assert made.image.dtype == made.label.dtype == torch.float64
    assert isinstance(made, stoker.torch.Batch) and torch.equal(made.label, batch.label.double())
    with pytest.raises(AttributeError, match="batch.map"):
        made.key
    mapped = batch.map(torch.Tensor.double)
    assert mapped.image.dtype == torch.float64 and mapped.key == batch.key and torch.equal(mapped.valid, batch.valid)
    assert {"image", "label", "key", "valid"} <= set(dir(mapped))


@pytest.mark.parametrize("duplicate", [lambda batch: pickle.loads(pickle.dumps(batch)), copy.copy, copy.deepcopy],
                         ids=["pickle", "copy", "deepcopy"])
def test_batches_can_be_pickled_and_copied(batch, duplicate):
    again = duplicate(batch)
    assert type(again) is type(batch) and torch.equal(again.image, batch.image)
    assert (again.key, again.epoch, again.position.tolist()) == (batch.key, batch.epoch, batch.position.tolist())


def test_a_batch_is_a_tuple_in_every_way(batch):
    image, label = batch
    assert batch.index(image) == 0 and batch + (1,) == (image, label, 1)
    assert repr(batch) == "Batch(image=[8, 3, 32, 32] torch.float32, label=[8] torch.int64)"


def test_batches_have_the_seeds_of_the_plain_loaders(folder, recipe):
    options = {"batch": 8, "seed": 5, "threads": 1}
    with stoker.torch.Loader(folder, recipe, **options) as loader, stoker.Loader(folder, recipe, **options) as plain:
        for ours, expected in zip(loader.epoch(1), plain.epoch(1)):
            seeds = expected.random_seed("noise"), expected.random_seed()
            for batch in (ours, ours.map(torch.Tensor.double), pickle.loads(pickle.dumps(ours))):
                assert (batch.random_seed("noise"), batch.random_seed()) == seeds
    with pytest.raises(AttributeError, match="batch.map"):
        type(ours)(tensor.double() for tensor in ours).random_seed()


def test_padding_is_marked(folder):
    loader = stoker.torch.Loader(folder, "imagenet-val", batch=8)
    assert sum(int(batch.valid.sum()) for batch in loader) == 50


def test_epochs_count_up_or_are_set(folder, recipe):
    loader = stoker.torch.Loader(folder, recipe, batch=8)

    def epoch_of(batches):
        (epoch,) = {batch.epoch for batch in batches}
        return epoch

    assert [epoch_of(loader), epoch_of(loader)] == [0, 1]
    loader.set_epoch(5)
    assert [epoch_of(loader), epoch_of(loader), epoch_of(loader.epoch(2))] == [5, 6, 2]
    loader.set(threads=2, prefetch=3, io_depth=4)
    assert loader.io_depth == 4
    assert loader.metrics()["epochs"] >= 4
    loader.close()
    with pytest.raises(stoker.Error) as caught:
        iter(loader)
    assert caught.value.kind == "closed"


def test_memory_is_used_again_batch_after_batch(folder, recipe):
    loader = stoker.torch.Loader(folder, recipe, batch=4, prefetch=1, threads=1)
    addresses = {image.data_ptr() for _ in range(3) for image, _ in loader}
    assert len(addresses) <= 3  # prefetch, the one that is used, the one that is just taken


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_floats_arrive_as_such(folder, recipe, dtype):
    name = {torch.float16: "f16", torch.bfloat16: "bf16"}[dtype]
    wide = stoker.torch.Loader(folder, recipe, batch=8)
    narrow = stoker.torch.Loader(folder, recipe.cast(name), batch=8)
    for (expected, _), (image, _) in zip(wide, narrow):
        assert image.dtype == dtype and torch.equal(image, expected.to(dtype))


def test_a_network_learns_from_it(folder):
    """Fifty images are few enough for a linear layer to learn by heart."""
    torch.manual_seed(0)
    recipe = stoker.recipe().decode().resize((8, 8)).normalize("imagenet")
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8 * 8 * 3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    with stoker.torch.Loader(folder, recipe, batch=10, seed=1) as loader:
        for epoch in range(40):
            total = 0.0
            for image, label in loader.epoch(epoch):
                loss = torch.nn.functional.cross_entropy(model(image), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            losses.append(total / len(loader))
    assert losses[-1] < losses[0] / 3


def test_a_state_that_is_loaded_takes_the_place_of_an_epoch_that_was_set(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8) as loader:
        next(iter(loader))
        state = loader.state_dict()
        loader.set_epoch(0)
        loader.load_state_dict(state)
        assert [batch.position[0].item() for batch in loader] == [8, 16, 24, 32, 40]
