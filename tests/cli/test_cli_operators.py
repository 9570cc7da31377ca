"""Each operator's page in docs/operators, and its picture: made from the operator table by tools/operators."""

import importlib.machinery
import importlib.util
import shutil
from pathlib import Path

import numpy
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
CELL, PITCH, ROW = 160, 172, 188  # of the contact sheet
STALE = "it is not what the operator table says: run ./dev operators"

loader = importlib.machinery.SourceFileLoader("operators_tool", str(ROOT / "tools/operators"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("operators_tool", loader))
loader.exec_module(tool)
# They may draw what changes little, or nothing.
LEFT_TO_CHANCE = {"auto_augment", "random_apply", "random_choice", "mixup_or_cutmix"}
DRAWN = sorted(path.stem for path in tool.PAGES.glob("*.jpg"))


@pytest.fixture(scope="module")
def table(stoker):
    return {operator["name"]: operator for operator in stoker.json("ops")["operators"]}


def test_the_pages_are_the_tables(table):
    assert tool.INDEX.read_text() == tool.index(table.values()), STALE
    assert {path.name: path.read_text() for path in tool.PAGES.glob("*.md")} == {
        f"{name}.md": tool.page(operator) for name, operator in table.items()}, STALE
    assert DRAWN == sorted(name for name, operator in table.items() if operator["drawn"]), STALE


def test_every_family_has_its_sentence(table):
    assert set(tool.FAMILIES) == {operator["family"] for operator in table.values()}


def test_every_operator_has_examples(table):
    assert [name for name, operator in table.items() if not operator["examples"]] == []
    assert {name for name, operator in table.items() if operator["examples"] == [""]} == {name for name, operator in table.items() if not operator["args"]}


def test_only_operators_that_change_nothing_to_be_seen_have_no_picture(table):
    unseen = {"decode", "normalize", "channel_order", "cast", "layout", "json_number", "digest", "one_hot", "decode_mask", "decode_boxes", "box_labels",
              "decode_keypoints", "decode_instances", "decode_text", "decode_bytes", "pad_to", "decode_tokens", "decode_array", "array_crop",
              "array_flip", "array_clip", "array_normalize", "array_standardize", "array_brightness", "array_noise"}
    assert set(table) - set(DRAWN) == unseen


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_shows_what_each_example_does(stoker, table, tmp_path, name):
    operator = table[name]
    drawn = tool.Stoker(stoker.path).sheet(operator, tmp_path)
    kept = Image.open(tool.PAGES / f"{name}.jpg")
    assert kept.size == drawn.size, STALE
    small, as_drawn = (numpy.asarray(picture.convert("RGB").reduce(4), float) for picture in (kept, drawn))
    assert numpy.abs(small - as_drawn).mean() < 2, STALE  # noise is what JPEG loses

    pixels = numpy.asarray(drawn, float)
    left = [12 + PITCH * column for column in range((drawn.width - 12) // PITCH)]
    cells = [pixels[drawn.height - ROW:drawn.height - ROW + CELL, at:at + CELL] for at in left]
    changed = [numpy.abs(cell - cells[0]).mean() > 0.2 for cell in cells[1:]]
    assert any(changed) if name in LEFT_TO_CHANCE else all(changed), changed


def test_an_operator_is_drawn_on_ones_own_data(stoker, photographs, tmp_path):
    sheet = tmp_path / "sheet.png"
    report = stoker.json("view", photographs.folder, "--operator", "rotate", "--count", 3, "--out", sheet)
    assert report["operator"] == "rotate" and report["samples"] == 3 and len(report["examples"]) == 4
    assert Image.open(sheet).size == (report["width"], report["height"])
    text = stoker.text("view", photographs.folder, "--operator", "rotate", "--count", 3, "--out", sheet)
    assert "rotate by 4 examples" in text


def test_an_operator_is_drawn_on_as_few_samples_as_there_are(stoker, photographs, tmp_path):
    (tmp_path / "few").mkdir()
    shutil.copy(next(photographs.folder.rglob("*.jpg")), tmp_path / "few")
    assert stoker.json("view", tmp_path / "few", "--operator", "rotate", "--out", tmp_path / "sheet.png")["samples"] == 1


@pytest.mark.parametrize("operator, count, samples", [("rotate", (), 1), ("mixup", (), 2), ("rotate", ("--count", 6), 6)])
def test_without_data_an_operator_is_drawn_on_pictures_that_are_removed_again(
        stoker, tmp_path, operator, count, samples):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    report = stoker.json("view", "--operator", operator, *count, "--out", tmp_path / "sheet.png",
                         env={"TMPDIR": str(temporary)})
    assert report["samples"] == samples and not list(temporary.iterdir())


def test_without_data_it_needs_a_folder_for_temporary_files(stoker, tmp_path):
    assert "set TMPDIR" in stoker.refusal(1, "view", "--operator", "rotate", "--out", tmp_path / "sheet.png",
                                          env={"TMPDIR": str(tmp_path / "missing")})


@pytest.mark.parametrize("args, why", [
    (("--operator", "rotat"), "rotate"),
    (("--operator", "cast"), "there is no picture of 'cast'"),
    (("--operator", "rotate", "--count", 13), "the data set has 12 samples, but --count asks for 13"),
    (("--operator", "rotate", "--recipe", "imagenet-train"), "--recipe"),
    ((), "one of --recipe and --operator is required")])
def test_what_cannot_be_drawn_is_said(stoker, photographs, tmp_path, args, why):
    assert why in stoker.refusal(2, "view", photographs.folder, *args, "--out", tmp_path / "sheet.png")


def test_a_recipe_is_drawn_on_data_only(stoker, tmp_path):
    assert "DATA is required" in stoker.refusal(2, "view", "--recipe", "imagenet-train", "--out", tmp_path / "sheet.png")
