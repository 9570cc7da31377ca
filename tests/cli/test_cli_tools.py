"""`stoker synth`, `plan`, `view`, `ops`, and what the command says about itself."""

import json
import re
import shutil
import tarfile
from pathlib import Path

import numpy
import pytest
from PIL import Image

COMMANDS = ["run", "plan", "view", "pack", "index", "verify", "info", "synth", "ops"]
OPERATORS = {page.stem for page in (Path(__file__).resolve().parents[2] / "docs/operators").glob("*.md")}
FAMILIES = ["decode", "geometry", "picture", "color", "erase", "format", "mask", "boxes", "text", "rows", "tokens", "array", "number", "label",
            "combination", "views", "batch"]
CELL, GAP, CAPTION, DETAIL, HEADER = 160, 12, 16, 12, 40  # of the contact sheet


def test_the_version_is_the_projects(stoker):
    project = (Path(__file__).resolve().parents[2] / "CMakeLists.txt").read_text()
    version, build, here = stoker.text("--version").splitlines()
    assert version == "stoker " + re.search(r"project\(stoker VERSION ([\d.]+)", project)[1]
    assert re.fullmatch(r"built by (g\+\+|clang) \d.*, with(out)? CUDA(, with assertions)?", build)
    used, of, reads = re.fullmatch(r"here: instruction set (\w+) \(of ([\w, ]+)\); (.+)", here).groups()
    assert used in of.split(", ") and reads.startswith(("io_uring", "pread, since "))
    assert "instruction set scalar" in stoker("--version", env={"STOKER_ISA": "scalar"}).stdout


def test_help_names_every_command_and_each_has_an_example(stoker):
    text = stoker.text("--help")
    assert len(text.splitlines()) < 30
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.MULTILINE)
        assert f"Example: stoker {command}" in stoker.text(command, "--help")


def test_ops_lists_every_operator(stoker):
    listed = stoker.json("ops")
    assert list(listed) == ["operators"]
    assert {op["name"] for op in listed["operators"]} == OPERATORS
    assert [op["family"] for op in listed["operators"]] == sorted((op["family"] for op in listed["operators"]), key=FAMILIES.index)
    table = stoker.text("ops")
    for name in OPERATORS:
        assert f" {name} " in table


def test_ops_tells_an_operators_arguments(stoker):
    (flip,) = stoker.json("ops", "random_flip")["operators"]
    p, axis = flip["args"]
    assert (p["name"], p["type"], p["default"], p["min"], p["max"]) == ("p", "number", 0.5, 0, 1)
    assert (axis["default"], axis["choices"]) == ("horizontal", ["horizontal", "vertical"])
    text = stoker.text("ops", "random_flip")
    assert "random_flip(p=0.5, axis='horizontal')" in text and "0 to 1" in text
    assert "1 or 3 integers, 0 to 255" in stoker.text("ops", "pad")


def test_plan_shows_stages_costs_and_outputs(stoker, photographs):
    plan = stoker.json("plan", photographs.folder, "--recipe", "imagenet-train")
    assert {"stages", "memory_bytes_min", "outputs"} <= plan.keys()
    stages = plan["stages"]
    assert [stage["name"] for stage in stages] == ["decode", "geometry", "color"]
    assert all(list(stage) == ["name", "operators", "cpu_us", "device_us", "bytes_out"] for stage in stages)
    assert all(stage["cpu_us"] > 0 and stage["device_us"] is None for stage in stages)
    assert [stage["bytes_out"] for stage in stages[1:]] == [3 * 224 * 224, 12 * 224 * 224]
    assert stages[0]["bytes_out"] > 3 * 32 * 32
    assert "random_resized_crop" in stages[1]["operators"][0] and "normalize" in stages[2]["operators"][0]
    assert plan["outputs"] == [{"name": "image", "dtype": "f32", "shape": [3, 224, 224], "shape_varies": False},
                               {"name": "label", "dtype": "i64", "shape": [], "shape_varies": False}]
    assert plan["memory_bytes_min"] > 3 * 256 * 12 * 224 * 224  # two batches ahead, one in use


def test_plan_view_and_run_take_batches_of_several_sizes(stoker, photographs, tmp_path):
    recipe = tmp_path / "sizes.toml"
    recipe.write_text("""
[[view]]
name = "image"
operators = [
  { op = "decode" },
  { op = "random_choice", mode = "batch", operators = [
    { op = "random_resized_crop", size = [32, 16] },
    { op = "random_resized_crop", size = [24, 40] },
  ] },
]
""")
    given = (photographs.folder, "--recipe", recipe)
    assert stoker.json("plan", *given, "--batch", 4)["outputs"] == [
        {"name": "image", "dtype": "u8", "shape": [3, 32, 40], "shape_varies": True}]
    assert "up to 3 x 32 x 40" in stoker.text("plan", *given, "--batch", 4)
    stoker.text("view", *given, "--count", 2, "--out", tmp_path / "sheet.png")
    audits = []
    for more in (), ("--threads", 3), *[("--device", "emulated:execute", "--transfer-index", index) for index in range(4)]:
        audits.append(tmp_path / f"audit{len(audits)}")
        stoker.text("run", *given, "--batch", 4, "--epochs", 2, "--audit", audits[-1], *more)
    assert len({audit.read_bytes() for audit in audits}) == 1


def test_plan_takes_the_path_that_run_takes_and_tells_its_rate(stoker, photographs, tmp_path):
    packed = tmp_path / "packed"
    stoker.json("pack", photographs.folder, packed)
    usual = ("--recipe", "imagenet-train", "--batch", 4)
    for data, share in ((packed,), 1), ((photographs.folder,), 0), ((packed, "--no-index"), 0):
        plan = stoker.json("plan", *data, *usual)
        assert plan["indexed_share"] == share
        assert plan["samples_per_s"] == pytest.approx(1e6 / plan["cpu_us"])
        assert sum(stage["cpu_us"] for stage in plan["stages"]) <= 1.05 * plan["cpu_us"]
    assert "100% of the images are decoded with an index's entry points; plain files have none" in stoker.text("plan", packed, *usual)
    assert "No image is decoded with an index's entry points" in stoker.text("plan", photographs.folder, *usual)


@pytest.fixture
def some_bad(photographs, tmp_path):
    """The photographs, of which every second one is cut short."""
    folder = tmp_path / "some-bad"
    shutil.copytree(photographs.folder, folder)
    bad = sorted(folder.rglob("*.jpg"))[::2]
    for path in bad:
        path.write_bytes(path.read_bytes()[:-50])
    return folder, sorted(f"{path.parent.name}/{path.stem}" for path in bad)


@pytest.mark.parametrize("command", [("plan",), ("view", "--count", 12, "--out", "sheet.png", "--draws", 1)],
                         ids=["plan", "view"])
def test_plan_and_view_pass_over_bad_samples_and_name_them(stoker, photographs, some_bad, tmp_path, command):
    (name, *rest), (folder, bad) = command, some_bad
    usual = (name, folder, "--recipe", "imagenet-train", *rest)
    report = stoker.json(*usual, cwd=tmp_path)
    assert report["bad_samples"] == len(bad) and sorted(sample["key"] for sample in report["bad"]) == bad
    assert all("end-of-image" in sample["reason"] for sample in report["bad"])
    assert report["samples_measured" if name == "plan" else "samples"] == photographs.count - len(bad)
    said = stoker.text(*usual, "--bad-sample", "skip", cwd=tmp_path)
    assert all(key in said for key in bad) and "Bad samples, skipped" in said
    sentence = stoker.refusal(1, *usual, "--bad-sample", "fail", cwd=tmp_path)
    assert "end-of-image" in sentence and any(key in sentence for key in bad)


@pytest.mark.parametrize("command", [("plan",), ("view", "--out", "sheet.png")], ids=["plan", "view"])
def test_plan_and_view_name_samples_that_are_bad_by_a_number_and_not_by_their_images(stoker, photographs, tmp_path, command):
    name, *rest = command
    folder, recipe = tmp_path / "numbers", tmp_path / "numbers.toml"
    folder.mkdir()
    for key, facts in ("good", '{"age": 3}'), ("bad", '{"size": 3}'):
        shutil.copy(next(photographs.folder.rglob("*.jpg")), folder / f"{key}.jpg")
        (folder / f"{key}.json").write_text(facts)
    recipe.write_text('[[view]]\nname = "image"\noperators = [{ op = "decode" }, { op = "random_resized_crop", size = 24 }]\n'
                      '[[view]]\nname = "age"\nfield = "json"\n'
                      'operators = [{ op = "json_number", key = "age", dtype = "f32" }]\n')
    done = stoker(name, folder, "--recipe", recipe, *rest, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [sample["reason"] for sample in json.loads(done.stdout)["bad"]] == ["its JSON has no 'age'"]


@pytest.mark.parametrize("command", [("plan",), ("view", "--out", "sheet.png")], ids=["plan", "view"])
def test_plan_and_view_fail_where_every_sample_is_bad(stoker, tiny, tmp_path, command):
    name, *rest = command
    folder = tmp_path / "all-bad"
    shutil.copytree(tiny.folder, folder)
    for path in folder.rglob("*.*"):
        path.write_bytes(b"no image")
    sentence = stoker.refusal(1, name, folder, "--recipe", "cifar-train", *rest, cwd=tmp_path)
    assert "none of the samples that were tried" in sentence and "not a JPEG" in sentence
    assert not (tmp_path / "sheet.png").exists()


def test_view_shows_another_sample_in_a_bad_ones_place(stoker, some_bad, tmp_path):
    folder, bad = some_bad
    usual = ("view", folder, "--recipe", "imagenet-train", "--count", 4, "--out", tmp_path / "sheet.png")
    assert stoker.json(*usual)["samples"] == 4
    skipped = stoker.json(*usual, "--bad-sample", "skip")
    assert skipped["samples"] + skipped["bad_samples"] == 4


def test_plan_tells_what_crosses_to_a_device_as_run_then_counts_it(stoker, tmp_path):
    made, packed = tmp_path / "made", tmp_path / "packed"
    stoker.json("synth", made, "--kind", "imagenet", "--format", "folder", "--count", 24, "--classes", 2, "--seed", 4)
    stoker.json("pack", made, packed)
    usual = (packed, "--recipe", "imagenet-train", "--batch", 24)
    plan = stoker.json("plan", *usual, "--device", "emulated:execute")
    assert plan["samples_measured"] == 24 and plan["device"] == "emulated:execute"
    assert [crossing["transfer_index"] for crossing in plan["crossings"]] == [0, 1, 2, 3]
    for index, crossing in enumerate(plan["crossings"]):
        run = stoker.json("run", *usual, "--epochs", 1, "--device", "emulated:execute", "--transfer-index", index)
        assert run["bytes_to_device"] == round(crossing["bytes_to_device"] * 24)
        assert crossing["cpu_us"] > 0
    assert plan["crossings"][3]["bytes_to_device"] == 4 * 3 * 224 * 224 + 8
    assert plan["crossings"][2]["bytes_to_device"] < 1.01 * 3 * 224 * 224 + 8
    assert plan["crossings"][0]["bytes_to_device"] < plan["crossings"][1]["bytes_to_device"]


def test_plan_tells_what_a_modelled_device_takes_of_each_stage(stoker, photographs):
    plan = stoker.json("plan", photographs.folder, "--recipe", "imagenet-train", "--device", "emulated:h100")
    stages, crossings = plan["stages"], plan["crossings"]
    assert all(stage["device_us"] >= 0 for stage in stages)
    assert sum(stage["device_us"] for stage in stages) == pytest.approx(crossings[0]["device_us"])
    assert crossings[3]["device_us"] == 0 and crossings[2]["device_us"] > 0
    assert "emulated:h100 is a model" in stoker.text("plan", photographs.folder, "--recipe", "imagenet-train", "--device", "emulated:h100")


def test_plan_counts_the_memory_that_a_run_then_works_with(stoker, tiny):
    usual = (tiny.folder, "--recipe", "cifar-train", "--batch", 10, "--prefetch", 3)
    least = stoker.json("plan", *usual)["memory_bytes_min"]
    assert stoker.json("run", *usual, "--memory", least)["samples"] == 30
    stoker.refusal(1, "run", *usual, "--memory", least - 1)


def test_plan_counts_the_memory_of_a_device_that_a_run_then_works_with(stoker, tiny):
    usual = (tiny.folder, "--recipe", "cifar-train", "--batch", 10, "--prefetch", 3, "--device", "emulated:execute")
    plan = stoker.json("plan", *usual)
    for index in range(4):
        run = (*usual, "--transfer-index", index)
        least = plan["device_memory_bytes_min"]
        assert stoker.json("run", *run, "--memory", plan["memory_bytes_min"], "--device-memory", least)["samples"] == 30
        assert "device memory" in stoker.refusal(1, "run", *run, "--device-memory", least - 1)


def test_plan_shows_people_a_table(stoker, tiny):
    text = stoker.text("plan", tiny.folder, "--recipe", "cifar-train")
    assert text.startswith("stage ")
    assert "3 x 32 x 32" in text and "samples/s" in text


def test_plan_tells_the_views_of_a_recipe_apart(stoker, tiny, two_views):
    plan = stoker.json("plan", tiny.folder, "--recipe", two_views)
    assert [stage["name"] for stage in plan["stages"]] == [
        f"{view}.{stage}" for view in ("large", "small") for stage in ("decode", "geometry", "color")]
    assert [stage["bytes_out"] for stage in plan["stages"]] == [3072, 48 * 64 * 3, 48 * 64 * 3, 0, 6 * 8 * 3, 6 * 8 * 6]  # small's decode is large's
    assert [output["shape"] for output in plan["outputs"]] == [[48, 64, 3], [3, 6, 8]]


def sheet_of(stoker, tmp_path, *args):
    path = tmp_path / "sheet.png"
    stoker.text("view", *args, "--out", path)
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "RGB")
        return numpy.asarray(image)


def details_of(height, rows):
    """How many lines of details a sheet of this height has."""
    lines, rest = divmod(height - GAP - HEADER - rows * (CELL + CAPTION + GAP), DETAIL)
    assert lines > 0 and rest == 0
    return lines


def cell(sheet, row, column):
    below = CELL + CAPTION + GAP
    top, left = GAP + (sheet.shape[0] - GAP) % below + row * below, GAP + column * (CELL + GAP)
    return sheet[top:top + CELL, left:left + CELL]


def test_view_draws_a_sheet_of_samples_and_draws(stoker, photographs, tmp_path):
    sheet = sheet_of(stoker, tmp_path, photographs.folder, "--recipe", "imagenet-train", "--count", 3, "--draws", 2)
    assert sheet.shape[1:] == (GAP + 3 * (CELL + GAP), 3)
    assert details_of(sheet.shape[0], rows=3) == 2
    for row in range(3):
        for column in range(3):
            assert len(numpy.unique(cell(sheet, row, column))) > 50  # a picture
    assert not numpy.array_equal(cell(sheet, 0, 1), cell(sheet, 0, 2))
    report = stoker.json("view", photographs.tar, "--recipe", "imagenet-train", "--out", tmp_path / "x.png", "--count", 99)
    assert (report["samples"], report["draws"]) == (12, 4)
    assert (details_of(report["height"], rows=12), report["width"]) == (1, GAP + 5 * (CELL + GAP))


@pytest.mark.parametrize("rest", [
    "", '{ op = "normalize", preset = "cifar10" }', '{ op = "channel_order", order = "bgr" }',
    '{ op = "channel_order", order = "bgr" }, { op = "normalize", preset = "imagenet" }, { op = "layout", layout = "nhwc" }',
    '{ op = "normalize", preset = "unit" }, { op = "cast", dtype = "f16" }'])
def test_view_shows_the_pixels_with_their_colours_undone(stoker, tiny, tmp_path, rest):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f'[[view]]\nname = "image"\noperators = [{{ op = "decode" }}, {rest}]\n')
    sheet = sheet_of(stoker, tmp_path, tiny.folder, "--recipe", recipe, "--count", 2, "--draws", 1)
    images = [numpy.asarray(Image.open(path).convert("RGB")) for path in tiny.folder.rglob("*.png")]
    for row in range(2):
        assert numpy.array_equal(cell(sheet, row, 0), cell(sheet, row, 1))
        shown = cell(sheet, row, 0)[::5, ::5]  # 32 pixels, each drawn five times as large
        assert any(numpy.array_equal(shown, image) for image in images)


def test_view_depends_on_the_seed(stoker, tiny, tmp_path):
    usual = (tiny.folder, "--recipe", "cifar-train", "--count", 4)
    first = sheet_of(stoker, tmp_path, *usual)
    assert numpy.array_equal(first, sheet_of(stoker, tmp_path, *usual, "--seed", 0))
    assert not numpy.array_equal(first, sheet_of(stoker, tmp_path, *usual, "--seed", 1))


def test_synth_makes_the_same_samples_as_folder_and_as_tar(tiny, photographs):
    for data, suffix in ((tiny, "png"), (photographs, "jpg")):
        files = {p.relative_to(data.folder).as_posix(): p.read_bytes() for p in data.folder.rglob("*.*")}
        with tarfile.open(data.tar) as tar:
            members = {m.name: tar.extractfile(m).read() for m in tar if m.name.endswith(suffix)}
        assert files == members
        assert len(files) == data.count and len({name.split("/")[0] for name in files}) == 3


def test_synth_reports_what_it_made(stoker, tmp_path):
    report = stoker.json("synth", tmp_path / "out", "--kind", "tiny", "--count", 7, "--classes", 2, "--threads", 3)
    assert (report["samples"], report["classes"], report["kind"], report["format"]) == (7, 2, "tiny", "folder")
    assert len(list((tmp_path / "out").rglob("*.png"))) == 7
    assert stoker.json("synth", tmp_path / "few", "--kind", "tiny", "--count", 2)["classes"] == 2


def test_synth_does_not_depend_on_the_threads(stoker, tmp_path):
    made = []
    for threads in (1, 4):
        out = tmp_path / f"{threads}.tar"
        stoker.text("synth", out, "--kind", "tiny", "--count", 20, "--format", "tar", "--threads", threads)
        made.append(out.read_bytes())
    assert made[0] == made[1]
