"""Every block of code in README.md and the documentation. Python runs as it stands, in a folder that has data by the names it
uses; what it needs beyond that stands in doc_page.py. C++ is given to a compiler; for commands there is doc_commands_test.py."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from doc_blocks import FENCE, ROOT, blocks, pages
from doc_page import PAGES, STUBS, a_package, run_page

sys.path.append(str(ROOT / "bench/peers"))  # environments

FULL = "STOKER_TEST_FULL" in os.environ
COMMAND = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
RAY = Path(os.environ.get("STOKER_TEST_RAY", ROOT / "build/ray-venv/bin/python"))
# Pages with Python that needs packages which Debian's Python lacks, and the environments that have them.
ELSEWHERE = {"docs/functions.md": ("torchvision", "albumentations"), "docs/many-machines.md": ("ray", "torchvision")}
# All but text are run or checked here or in doc_commands_test.py.
LANGUAGES = {"bash", "c", "cpp", "json", "python", "sh", "text", "toml"}


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A folder for a block, which may write into it."""
    (tmp_path / "at").mkdir()
    monkeypatch.chdir(tmp_path / "at")
    monkeypatch.syspath_prepend(str(tmp_path / "at"))
    return tmp_path / "at"


@pytest.fixture
def at(workplace, empty):
    """The same with the data, which go with the test."""
    yield shutil.copytree(workplace, empty, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(empty)


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("python")} - STUBS))
def test_python_runs(page, at, monkeypatch):
    monkeypatch.setitem(sys.modules, "docs_example", None)
    left_out = run_page(page)
    if left_out:
        assert page in ELSEWHERE or page.startswith("docs/coming-from/"), left_out  # whose peers have coming_from_test.py
        pytest.skip(f"packages that are not here, {'; '.join(left_out)}; the rest ran")


def python_with(environment):
    """The Python of an environment, and the folder of its packages."""
    import environments

    python = RAY if environment == "ray" else environments.make(environment, ROOT / "build/peers")
    return python, next(python.parents[1].glob("lib/python*/site-packages"))


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full, which fetches the packages")
@pytest.mark.parametrize("page", ELSEWHERE)
def test_python_runs_where_its_packages_are(page, at):
    """Every block of the page, in the first environment's Python."""
    import stoker

    (python, _), *others = map(python_with, ELSEWHERE[page])
    folders = [Path(stoker.__file__).parents[1], *(packages for _, packages in others)]
    env = {**os.environ, "PYTHONPATH": ":".join(map(str, folders)), "STOKER_BIN": str(COMMAND),
           "RAY_TMPDIR": tempfile.gettempdir(), "NO_ALBUMENTATIONS_UPDATE": "1"}  # it would ask a server for its newest version
    done = subprocess.run([python, Path(__file__).with_name("doc_page.py"), page], cwd=at, env=env, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []


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
def test_toml_is_a_recipe(block, empty):
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


@pytest.mark.parametrize("page", pages())
def test_each_block_says_its_language(page):
    assert {block.language for block in blocks() if block.page == page} <= LANGUAGES
    rest = FENCE.sub("", (ROOT / page).read_text())
    assert re.findall(r"^ *(?:```|~~~).*", rest, re.MULTILINE) == [], "a fence without a language, or of another kind"
    assert re.findall(r"^[ \t]*\n(?: {4}|\t)(.+)", rest, re.MULTILINE) == [], "an indented block, which says no language"
