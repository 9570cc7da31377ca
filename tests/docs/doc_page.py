"""The Python of a page as it runs: with the names that the page takes for granted, and words that this machine has others for.
As a program, in the environment that has the packages which Debian's Python lacks: `python doc_page.py PAGE` in the folder with
the data prints, as JSON, which blocks were left out."""

import array
import ast
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import types
from pathlib import Path

from doc_blocks import ROOT, blocks

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
    with tarfile.open("tokenised.tar", "w") as tar:
        for number in range(60):
            member = tarfile.TarInfo(f"{number:04}.input_ids.i32")
            member.size = 4 * 50
            tar.addfile(member, io.BytesIO(array.array("i", range(50)).tobytes()))
    subprocess.run([os.environ["STOKER_BIN"], "pack", "tokenised.tar", "tokenised", "--format", "parquet"], check=True)


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
    "docs/many-machines.md": dict(names=lambda: {"train": lambda image, label: None},
                                  words={"s3://bucket/packed": "packed", "batch=256": "batch=8",
                                         "(2, 16), cpus=8": "(1, 2), cpus=1", ".cuda(non_blocking=True)": "", ".cuda()": ""}),
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


def build_shared_object(name):
    source = {"libbrighter.so": next(block.text for block in blocks("cpp") if "STOKER_FUNCTION(brighter" in block.text),
              "build/libvignette.so": (ROOT / "examples/vignette/vignette.cc").read_text()}[name]
    Path(name).parent.mkdir(exist_ok=True)
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-std=c++17", "-I", ROOT / "stoker/function/library", "-x", "c++", "-", "-o", name],
                   input="#include <cstdint>\n" + source, text=True, check=True)


def run_page(page):
    """Runs its blocks, one after the other; says which were left out, for want of which packages."""
    setting = COMING_FROM if page.startswith("docs/coming-from/") else PAGES[page]
    if "shared_object" in setting:
        build_shared_object(setting["shared_object"])
    module = sys.modules["docs_example"] = types.ModuleType("docs_example")  # by which functions are pickled
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
    return left_out


if __name__ == "__main__":
    sys.path.insert(0, "")
    print(json.dumps(run_page(sys.argv[1])))
