"""What the interpreter, help(), editors and notebooks say of Stoker's objects."""

import inspect
import re

import pytest
import torch

import stoker
import stoker.torch
from stoker import _testing


@pytest.fixture(scope="module")
def objects(folder, recipe):
    """One of every public class."""
    data = stoker.open(folder)
    facts = []
    data.subset(lambda sample: not facts.append(sample))
    coded = recipe.view("coded", field="image").decode_bytes(most=100_000).view("filled", field="image").decode_bytes(most=9, longer="cut").pad_to(9)
    with (stoker.Loader(data, recipe, batch=8) as loader, stoker.torch.Loader(data, recipe, batch=8) as of_torch,
          stoker.Loader(data, coded, batch=8) as of_files):
        batches, tensors = loader.epoch(3), of_torch.epoch(3)
        batch, files = next(batches), next(of_files.epoch(0))
        yield {
            "Batch": batch, "Dataset": data, "EpochIterator": batches, "Loader": loader, "Recipe": recipe,
            "OperatorCall": stoker.op.flip(), "Preprocessor": stoker.Preprocessor(recipe), "Report": loader.report(),
            "Ragged": files.coded, "Padded": files.filled,
            "SampleFacts": facts[0], "Tensor": batch.image, "Error": stoker.Error("a sentence"),
            "torch.Batch": next(tensors), "torch.EpochIterator": tensors, "torch.Loader": of_torch,
        }


def test_every_public_class_says_what_it_is(objects):
    classes = {name for name in stoker.__all__ if inspect.isclass(getattr(stoker, name))}
    assert classes <= set(objects)
    for name, it in objects.items():
        text = repr(it)
        begin = "stoker.op.flip(" if name == "OperatorCall" else name.removeprefix("torch.")  # a call is written as code
        assert text.removeprefix("stoker.torch.").startswith(begin), text
        assert " object at 0x" not in text and "\n" not in text, text


def test_what_is_left_of_an_epoch_and_what_is_known_of_a_sample_are_told(objects):
    assert repr(objects["EpochIterator"]) == "EpochIterator(epoch=3, batches_left=5)"
    assert repr(objects["torch.EpochIterator"]) == "stoker.torch.EpochIterator(epoch=3, batches_left=5)"
    facts = objects["SampleFacts"]
    assert repr(facts) == f"SampleFacts(key={facts.key!r}, label={facts.label}, fields={facts.fields!r}, clean={facts.clean})"


def test_an_index_adds_to_what_is_told_of_a_sample(folder, tmp_path):
    import tarfile

    with tarfile.open(tmp_path / "one.tar", "w") as tar:
        path = next(path for path in sorted(folder.rglob("*")) if path.is_file())
        tar.add(path, f"one{path.suffix}")
    seen = []
    stoker.open(tmp_path / "one.tar").subset(lambda sample: not seen.append(repr(sample)))
    assert re.fullmatch(r"SampleFacts\(key='one', label=-1, fields=\{.*\}(, width=.*)?, clean=\w+\)", seen[0])


def test_counts_agree_with_their_nouns(folder, recipe):
    data = stoker.open(folder)
    assert repr(data.subset([0])) == "Dataset(1 sample, 3 classes)"
    with stoker.Loader(data, recipe, batch=50) as loader:
        assert repr(loader).startswith("Loader(1 batch of 50 per epoch, ")


PUBLIC = [getattr(stoker, name) for name in stoker.__all__ if name != "Error"]
METHODS = [(owner, name) for owner in PUBLIC if inspect.isclass(owner) for name in vars(owner)
           if not name.startswith("_") and callable(getattr(owner, name))]


@pytest.mark.parametrize("owner, name", METHODS, ids=lambda it: getattr(it, "__name__", it))
def test_every_method_has_a_signature_and_help(owner, name):
    assert isinstance(inspect.signature(getattr(owner, name)), inspect.Signature)
    assert len(inspect.getdoc(getattr(owner, name)).splitlines()) > 1, "the signature, and what it does"


def test_classes_that_other_functions_make_say_so():
    assert stoker.Recipe() == stoker.recipe()
    with pytest.raises(stoker.Error, match="stoker.open"):
        stoker.Dataset("imagenet/train")


def test_functions_and_constructors_have_signatures():
    assert list(inspect.signature(stoker.open).parameters) == ["data", "index_dir", "use_index", "io", "direct",
                                                              "store_endpoint", "store_region", "store_anonymous",
                                                              "image_field", "label_field", "tokens", "token_type", "streams",
                                                              "document_seed", "token_field"]
    parameters = inspect.signature(stoker.Loader).parameters
    assert list(parameters)[:3] == ["data", "recipe", "batch"]
    assert parameters["batch"].kind is inspect.Parameter.KEYWORD_ONLY and parameters["batch"].default is None
    assert parameters["threads"].default == "auto" and parameters["threads"].annotation == "int | str"
    assert "threads: int | str = 'auto'" in str(inspect.signature(stoker.Loader))
    inspect.signature(stoker.Loader).bind("data", "recipe", batch=3)
    with pytest.raises(TypeError):
        inspect.signature(stoker.Loader).bind("data", "recipe", 3)
    bound = inspect.signature(stoker.recipe().cast)
    assert list(bound.parameters) == ["dtype"]


def test_a_class_made_from_the_loader_has_the_signature_of_its_own():
    class Mine(stoker.Loader):
        def __init__(self, folder):
            super().__init__(folder, "imagenet-train", batch=8)

    class Same(stoker.Loader):
        pass

    assert list(inspect.signature(Mine).parameters) == ["folder"]
    assert inspect.signature(Same) == inspect.signature(stoker.Loader)


@pytest.mark.parametrize("name", _testing.operators())
def test_the_help_of_an_operator_has_what_may_be_given(name):
    """From the table: the choices, how many numbers, between which limits, and what it is otherwise."""
    lines = inspect.getdoc(getattr(stoker.Recipe, name)).splitlines()
    for arg, required, default, permitted in _testing.operators()[name]:
        (line,) = [line for line in lines if line.startswith(f"{arg}: ")]
        assert all(re.search(rf"\b{choice}\b", line) for choice in permitted["choices"]), line
        if permitted["is_flag"]:
            assert f"true or false; by default {str(default).lower()}" in line
            continue
        if not permitted["is_text"]:
            limits = re.findall(r"(\S+) to ([^\s;]+)", line)[-1]
            assert tuple(map(float, limits)) == permitted["limits"]
            counts = permitted["counts"] if len(permitted["counts"]) < 4 else [f"{permitted['counts'][0]} to {permitted['counts'][-1]}"]
            assert all(str(count) in line for count in counts if counts != [1])
        assert ("by default" in line) == (not required)
        if not required:
            shown = [text for text in line.split("by default ")[1].strip("[]'\"").split(", ") if text]
            values = default if isinstance(default, list) else [default] if default != "" else []
            assert len(shown) == len(values)
            for text, value in zip(shown, values):
                assert text == value if isinstance(value, str) else float(text) == pytest.approx(value, rel=1e-3)


def test_the_help_of_a_recipes_other_methods_has_what_may_be_given():
    with pytest.raises(stoker.Error) as refused:
        stoker.recipe().set_tail("?")
    tails = re.findall(r"\w+", str(refused.value).split("use ")[1].replace(" or ", " "))
    assert "drop" in tails and all(f"'{tail}'" in inspect.getdoc(stoker.Recipe.set_tail) for tail in tails)


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), torch.device("cpu", 0)])
def test_the_cpu_is_a_device_as_pytorch_names_it(folder, recipe, device):
    with stoker.Loader(folder, recipe, batch=8, device=device) as loader:
        assert next(iter(loader)).image.__dlpack_device__() == (1, 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="what a GPU does then is tested in tests/gpu")
@pytest.mark.parametrize("device, name", [
    ("cuda", "cuda:0"), ("cuda:2", "cuda:2"), (torch.device("cuda"), "cuda:0"), (torch.device("cuda", 1), "cuda:1"),
    (torch.device("cuda:0"), "cuda:0"),
])
def test_gpus_are_devices_as_pytorch_names_them(folder, recipe, device, name):
    for make in (stoker.Loader, stoker.torch.Loader):
        with pytest.raises(stoker.Error, match=f"'?{name}'?\\b"):
            make(folder, recipe, batch=8, device=device)


def test_cuda_is_the_gpu_that_pytorch_works_with(folder, recipe, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 999)
    for device in ("cuda", torch.device("cuda")):
        with pytest.raises(stoker.Error, match="cuda:999"):
            stoker.Loader(folder, recipe, batch=8, device=device)


@pytest.mark.parametrize("device, message", [
    (torch.device("meta"), "there is no device 'meta'"),
    (0, "device is 0, but must be a device: 'cpu', 'cuda:0', a torch.device or"),
    (None, "device is None, but must be a device"),
    ("gpu", "there is no device 'gpu'"),
])
def test_what_is_not_a_device_is_refused_with_what_is(folder, recipe, device, message):
    with pytest.raises(stoker.Error, match=message) as error:
        stoker.Loader(folder, recipe, batch=8, device=device)
    assert error.value.kind == "usage"


def test_a_misspelt_operator_is_answered_with_what_there_is():
    with pytest.raises(AttributeError, match=r"there is no operator 'resise' \(did you mean 'resize'\?\); `stoker ops` lists all"):
        stoker.recipe().decode().resise(3)
    assert not hasattr(stoker.Recipe(), "ToTensor") and not hasattr(stoker.Recipe(), "__array__")


def test_a_misspelt_output_is_answered_with_what_there_is(objects):
    with pytest.raises(AttributeError, match=r"no output 'images' \(did you mean 'image'\?\); it has image, label"):
        objects["Batch"].images
