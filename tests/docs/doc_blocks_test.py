"""Every block of code in README.md and the documentation. Python runs as it stands, in a folder that has data by the names it
uses; what it needs beyond that stands in PAGES. Commands are given to the parsers that they are for, and C++ to a compiler."""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from doc_blocks import ROOT, blocks, pages

SHIMS = ("stoker", "python", "python3", "torchrun", "pip", "cmake", "scp", "ssh", "tar", "sbatch", "mpirun", "uv", "pipx")
ENDLESS = {"range(90)": "range(2)", "range(39)": "range(2)"}


class Anything:
    """Stands for what a reader has: a model, a tokeniser, a function that takes a step."""

    def __call__(self, *arguments, **named):
        return self

    def __getattr__(self, name):
        return self

    def __getitem__(self, index):
        return self

    def __iter__(self):
        return iter(())


def a_model():
    import torch

    return lambda image: torch.eye(3)[torch.zeros(len(image), dtype=torch.long)]


def a_dataset():
    import stoker

    return stoker.open("imagenet/train")


def a_recipe():
    import stoker

    return stoker.recipe().decode().random_resized_crop(32).layout("nhwc")


def a_loader():
    import stoker

    return stoker.Loader("imagenet/train", "imagenet-train", batch=8)


def a_list_of_keys():
    keys = [sample["key"] for sample in a_dataset()]
    Path("train-keys.txt").write_text("".join(f"{key}\n" for key in keys[:8]))
    Path("labels.csv").write_text("key,label\n" + "".join(f"{key},{number % 2}\n" for number, key in enumerate(keys)))


def a_package():
    Path("mypackage").mkdir()
    Path("mypackage/augment.py").write_text("def speckle(image, rng):\n    return image\n")


def some_tokens():
    from stoker import tokens

    tokens.write("corpus", [list(range(50))] * 200, vocab=50257)
    Path("train").mkdir(exist_ok=True)
    tokens.write("train/tokens", [list(range(50))] * 200, vocab=10000)


def a_tree_of_yolo():
    for folder in ("yolo/images/train", "yolo/labels/train"):
        Path(folder).mkdir(parents=True)
    for number, image in enumerate(sorted(Path("photos").rglob("*.jpg"))):
        shutil.copy(image, f"yolo/images/train/{number:06}.jpg")
        if number % 4:  # the others have no objects
            Path(f"yolo/labels/train/{number:06}.txt").write_text("1 0.5 0.5 0.25 0.25\n")


# What stands in a page's way: names that it takes for granted, and words that this machine has others for.
PAGES = {
    "README.md": dict(names=lambda: {"model": a_model()}, words={"batch=256": "batch=8", **ENDLESS}),
    "docs/arrays.md": dict(names=lambda: {"stoker": __import__("stoker")}),
    "docs/formats.md": dict(names=lambda: a_tree_of_yolo() or {"stoker": __import__("stoker")}),
    "docs/functions.md": dict(names=lambda: a_package() or {"np": __import__("numpy"), "stoker": __import__("stoker"), "recipe": a_recipe(),
                                                              "torch": __import__("torch"), "data": a_dataset()},
                              shared_object="libbrighter.so", words={"batch=256": "batch=8", '"cuda"': '"cpu"'}),
    "docs/gpu.md": dict(names=lambda: {"stoker": __import__("stoker"), "torch": __import__("torch"), "data": a_dataset(),
                                       "recipe": "imagenet-train"},
                        words={"batch=256": "batch=8", "cuda:0": "emulated:execute"}),
    "docs/inference.md": dict(names=lambda: {"model": a_model()}),
    "docs/many-machines.md": dict(names=lambda: {"train": Anything()}),
    "docs/quick-start.md": dict(names=dict),
    "docs/recipes.md": dict(names=lambda: {"stoker": __import__("stoker")}),
    "docs/tokens.md": dict(names=lambda: some_tokens() or {"stoker": __import__("stoker.torch"), "texts": ["a", "b"],
                                                              "tokenizer": types.SimpleNamespace(encode=lambda text: [1, 2, 3])},
                           words={"batch=32": "batch=4", "tokens=1024": "tokens=64", "decode_tokens(1024": "decode_tokens(64", **ENDLESS}),
    "docs/training.md": dict(names=lambda: a_list_of_keys() or {"stoker": __import__("stoker"), "numpy": __import__("numpy"), "loader": a_loader(),
                                            "data": a_dataset(), "synthetic": a_dataset().with_labels("labels.csv")}),
    "docs/tuning.md": dict(names=lambda: {"stoker": __import__("stoker"), "data": a_dataset(), "recipe": "imagenet-train"},
                           words={"batch=256": "batch=8", "cuda:0": "emulated:execute"}),
    "examples/vignette/README.md": dict(names=lambda: {"stoker": __import__("stoker")}, shared_object="build/libvignette.so"),
}
COMING_FROM = dict(names=lambda: {"step": Anything()})
# Members of a class in a stub file, and nothing to be run.
STUBS = {"docs/add-an-operator.md"}


def lacking(text):
    """Packages that the block imports and that are not here, or not in the version that has what it takes of them."""
    names = {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names}
    taken = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    names |= {node.module for node in taken}
    names |= {"ray"} if "stoker.ray" in names else set()
    missing = {name for name in names if importlib.util.find_spec(name.split(".")[0]) is None}
    missing |= {node.module for node in taken if node.module not in missing
                and not all(hasattr(importlib.import_module(node.module), alias.name) or
                            importlib.util.find_spec(f"{node.module}.{alias.name}") for alias in node.names)}
    return sorted(missing)


@pytest.fixture
def at(workplace, tmp_path, monkeypatch):
    """A copy for a page, which may write into it."""
    shutil.copytree(workplace, tmp_path / "at", symlinks=True)
    monkeypatch.chdir(tmp_path / "at")
    monkeypatch.syspath_prepend(str(tmp_path / "at"))
    return tmp_path / "at"


def build_shared_object(name):
    source = {"libbrighter.so": next(block.text for block in blocks("cpp") if "STOKER_FUNCTION(brighter" in block.text),
              "build/libvignette.so": (ROOT / "examples/vignette/vignette.cc").read_text()}[name]
    Path(name).parent.mkdir(exist_ok=True)
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-std=c++17", "-I", ROOT / "stoker/function/library", "-x", "c++", "-", "-o", name],
                   input="#include <cstdint>\n" + source, text=True, check=True)


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("python")} - STUBS))
def test_python_runs(page, at, monkeypatch):
    setting = COMING_FROM if page.startswith("docs/coming-from/") else PAGES[page]
    if "shared_object" in setting:
        build_shared_object(setting["shared_object"])
    module = types.ModuleType("docs_example")  # by which functions are pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    seen = vars(module)
    seen.update(setting["names"]())
    left_out = []
    for block in (block for block in blocks("python") if block.page == page):
        text = block.text
        for old, new in setting.get("words", {}).items():
            text = text.replace(old, new)
        code = compile("\n" * block.line + text, page, "exec")
        if lacking(text):
            left_out.append(f"line {block.line}: {', '.join(lacking(text))}")
            continue
        exec(code, seen)
    if left_out:
        pytest.skip(f"packages that are not here, {'; '.join(left_out)}; the rest ran")


def test_each_setting_is_of_a_page_with_python():
    assert set(PAGES) <= {block.page for block in blocks("python")}


@pytest.mark.parametrize("block", [block for block in blocks("python") if block.page in STUBS], ids=str)
def test_stubs_are_python(block):
    compile(f"class A:\n{block.text}", str(block), "exec")


# What goes along with a view needs that view, which stands further up on the page.
VIEWS = {
    "image": '[[view]]\nname = "image"\noperators = [{ op = "decode" }, { op = "random_resized_crop", size = 224 }]\n',
    "boxes": '[[view]]\nname = "boxes"\nfield = "json"\nlike = "image"\noperators = [{ op = "decode_boxes", source = "coco" }]\n',
}
ACROSS_A_BATCH = tuple(f'{{ op = "{name}"' for name in ("mixup", "cutmix", "mixup_or_cutmix", "mosaic"))


# That of docs/doctor.md is a catalogue, which tests/cli/test_cli_doctor.py reads.
RECIPES = [block for block in blocks("toml") if block.page != "docs/doctor.md"]


@pytest.mark.parametrize("block", RECIPES, ids=str)
def test_toml_is_a_recipe(block, at):
    import stoker

    text = block.text
    if "mypackage" in text:
        a_package()
        text += '[[view]]\nname = "image"\noperators = [{ op = "decode" }]\n'
    if text.startswith("{"):  # an operator's page: calls, one in each line
        calls = ",\n".join(text.splitlines())
        across = text.startswith(ACROSS_A_BATCH)
        text = f"batch = [{calls}]\n{VIEWS['image']}" if across else f'operators = [{{ op = "decode" }},\n{calls}]\n'
    if text.startswith("operators"):
        text = '[[view]]\nname = "image"\n' + text
    for view in ("boxes", "image"):
        if f'like = "{view}"' in text and f'name = "{view}"' not in text:
            text += "\n" + VIEWS[view]
    Path("recipe.toml").write_text(text)
    recipe = stoker.recipe("recipe.toml")
    assert stoker.recipe("recipe.toml").to_toml() == recipe.to_toml()


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_is_json(block):
    json.loads(block.text)


def commands_of(text, tmp_path):
    """What bash calls, as lists of words, when it runs the text with nothing but stand-ins."""
    shims, log = tmp_path / "bin", tmp_path / "calls.jsonl"
    shims.mkdir()
    shim = f"""#!{sys.executable}
import json, os, sys
with open({str(log)!r}, "a") as log:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=log)
print(3)
"""
    work = tmp_path / "work"
    (work / "env/bin").mkdir(parents=True)
    (work / "build/feed").mkdir(parents=True)
    places = [*(shims / name for name in SHIMS), work / "dev", work / "env/bin/pip", work / "build/feed/feed"]
    for place in places:
        place.write_text(shim)
        place.chmod(0o755)
    done = subprocess.run(["bash", "-uc", text], cwd=work, capture_output=True, text=True, timeout=60,
                          env={"PATH": f"{shims}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert not re.search("syntax error|command not found|unbound variable", done.stderr), done.stderr
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def check_stoker(words):
    """Its parser takes all of it: of a word too many it complains last."""
    command = os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")
    done = subprocess.run([command, *words, "--no-such-option"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("stoker: unexpected argument '--no-such-option'"), (words, done.stderr)


def check_dev(words):
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    verb = " ".join(words[:2]) if words[0] == "bench" else words[0]
    entry = re.search(rf"^  {re.escape(verb)}\b.*(?:\n   .*)*", usage, re.MULTILINE)
    assert entry, f"./dev has no verb {verb}"
    of_verb = " ".join(re.findall(rf"^  {re.escape(words[0])}\b.*(?:\n   .*)*", usage, re.MULTILINE))
    for word in words[1:]:
        assert not word.startswith("--") or word in of_verb, f"./dev {verb} has no {word}"


def check_script(words, page):
    """A script of the page's folder: it has these options."""
    script = next((word for word in words if word.endswith(".py")), None)
    if not script:
        assert words[0] == "-c" or words[0] == "-m", words
        return
    text = ((ROOT / page).parent / script).read_text()
    for word in words[words.index(script) + 1:]:
        assert not word.startswith("--") or f'"{word}"' in text, f"{script} has no {word}"


@pytest.mark.parametrize("block", blocks("sh", "bash"), ids=str)
def test_commands_are_known(block, tmp_path):
    called = commands_of(block.text, tmp_path)
    checks = {"stoker": check_stoker, "dev": check_dev, "python": lambda words: check_script(words, block.page),
              "python3": lambda words: check_script(words, block.page), "torchrun": lambda words: check_script(words, block.page)}
    for name, *words in called:
        if name in checks:
            checks[name](words)


def compile_cpp(text, *options, language="c++"):
    flags = ["-std=c++20", "-fsyntax-only", "-I", ROOT, "-I", ROOT / "stoker/function/library"]
    done = subprocess.run(["g++", *flags, *map(str, options), "-x", language, "-"], input=text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", [block for block in blocks("cpp", "c") if block.page not in STUBS], ids=str)
def test_cpp_compiles(block):
    compile_cpp("#include <cstdint>\n" + block.text)


def test_the_operator_that_is_added_compiles(tmp_path):
    """Its files, with the name of a kind that there is."""
    files = [block.text for block in blocks("cpp") if block.page == "docs/add-an-operator.md"]
    meaning = next(text for text in files if "vignette_pixel(const PicturePass& pass, int x, int y) {" in text)
    operator = next(text for text in files if "class Vignette final" in text)
    declared = next(text for text in files if text.startswith("std::unique_ptr<PictureOperator> make_vignette"))
    (tmp_path / "stoker/ops/picture").mkdir(parents=True)
    (tmp_path / "stoker/ops/picture/vignette_meaning.h").write_text(meaning)
    declared = f'#include "stoker/ops/picture/picture_makers.h"\nnamespace stoker {{\n{declared}}}\n'
    compile_cpp(declared + operator, "-I", tmp_path, "-DkVignette=kInvert")


def test_pages_have_blocks():
    """So that nothing above passes because nothing was found."""
    counts = {language: len(blocks(language)) for language in ("python", "sh", "toml", "cpp")}
    assert all(count > 5 for count in counts.values()), counts
    assert len(pages()) > 100
