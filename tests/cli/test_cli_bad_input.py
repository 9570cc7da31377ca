"""Bad input: one sentence that names the thing, the right exit status, never a crash or a hang."""

import json
import os
import random
import resource
import shutil
import subprocess
import tarfile
import threading

import pytest
from PIL import Image

DONE, FAILURE, USAGE = 0, 1, 2
SENTENCE_MAX = 200  # letters that a person will read


def save_image(path, size=(64, 48), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = random.Random(3).randbytes(size[0] * size[1] * 3)
    Image.frombytes("RGB", size, noise).save(path, **options)
    return path


@pytest.fixture
def data(tmp_path):
    """A folder of four good images."""
    for i in range(4):
        save_image(tmp_path / f"data/class/{i}.jpg")
    return tmp_path / "data"


def run(data, *args, recipe="imagenet-train", batch=1):
    return ("run", data, "--recipe", recipe, "--batch", batch, *args)


def refused_everywhere(stoker, data):
    """The sentence with which run, plan and view refuse a data set."""
    sentence = stoker.refusal(FAILURE, *run(data, "--bad-sample", "fail"))
    stoker.refusal(FAILURE, "plan", data, "--recipe", "imagenet-train", "--bad-sample", "fail")
    stoker.refusal(FAILURE, "view", data, "--recipe", "imagenet-train", "--out", f"{data}.png", "--bad-sample", "fail")
    return sentence


def test_a_missing_folder_is_named(stoker, tmp_path):
    assert str(tmp_path / "nowhere") in refused_everywhere(stoker, tmp_path / "nowhere")


def test_an_empty_data_set_is_named(stoker, tmp_path):
    (tmp_path / "empty").mkdir()
    assert str(tmp_path / "empty") in refused_everywhere(stoker, tmp_path / "empty")


def test_json_prints_no_object_where_a_run_failed(stoker, tmp_path):
    stoker.refusal(FAILURE, *run(tmp_path / "nowhere", "--json"))


def truncate(path):
    path.write_bytes(path.read_bytes()[:-200])


BAD_IMAGES = {
    "truncated": truncate,
    "garbage": lambda path: path.write_bytes(random.Random(1).randbytes(5000)),
    "garbage after the header": lambda path: path.write_bytes(path.read_bytes()[:20] + random.Random(1).randbytes(5000)),
    "of no bytes": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("this is not an image\n" * 100),
}


@pytest.mark.parametrize("damage", BAD_IMAGES)
def test_a_bad_image_stops_the_run_and_is_named(stoker, data, damage):
    BAD_IMAGES[damage](data / "class/2.jpg")
    assert "class/2" in refused_everywhere(stoker, data)


@pytest.mark.parametrize("damage", BAD_IMAGES)
def test_a_good_image_stands_in_for_a_bad_one(stoker, data, tmp_path, damage):
    BAD_IMAGES[damage](data / "class/2.jpg")
    done = stoker(*run(data, "--audit", tmp_path / "audit", "--quarantine", tmp_path / "bad", "--json"))
    assert done.returncode == 0 and "class/2" in done.stderr
    report = json.loads(done.stdout)
    assert (report["samples"], report["bad_samples"]) == (4, 1)
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    (stand_in,) = [line for line in lines if "substituted_for" in line]
    assert stand_in["substituted_for"] == "class/2" != stand_in["key"]
    (bad,) = [json.loads(line) for line in (tmp_path / "bad").read_text().splitlines()]
    assert (bad["key"], bad["shard"], bad["offset"]) == ("class/2", str(data), 0) and bad["reason"]
    stoker.text(*run(data, "--quarantine", tmp_path / "bad", "--audit", tmp_path / "again"))
    assert (tmp_path / "again").read_text() == (tmp_path / "audit").read_text()
    skipped = json.loads(stoker(*run(data, "--bad-sample", "skip", "--json")).stdout)
    assert (skipped["samples"], skipped["bad_samples"]) == (3, 1)


def test_keys_that_are_not_utf_8_stay_apart_in_an_audit(stoker, data, tmp_path):
    for name in (b"\xe9.jpg", b"\xe8.jpg"):
        shutil.copy(data / "class/2.jpg", os.path.join(os.fsencode(data), b"class", name))
    stoker.text(*run(data, "--audit", tmp_path / "audit"))
    keys = [json.loads(line)["key"] for line in (tmp_path / "audit").read_text().splitlines()]
    assert {"hex": b"class/\xe9".hex()} in keys and {"hex": b"class/\xe8".hex()} in keys and "class/2" in keys


def test_what_verify_listed_is_replaced_unread(stoker, data, tmp_path):
    truncate(data / "class/2.jpg")
    assert stoker("verify", data, "--quarantine", tmp_path / "list").returncode == 1
    assert "class/2" in stoker(*run(data, "--audit", tmp_path / "met")).stderr
    done = stoker(*run(data, "--quarantine", tmp_path / "list", "--audit", tmp_path / "known"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "known").read_text() == (tmp_path / "met").read_text()
    assert len((tmp_path / "list").read_text().splitlines()) == 1


@pytest.mark.parametrize("suffix", ["png", "webp"])
def test_other_codecs_are_refused_as_well_when_truncated(stoker, data, suffix):
    truncate(save_image(data / f"class/9.{suffix}"))
    assert "class/9" in refused_everywhere(stoker, data)


def test_the_bytes_count_and_not_the_extension(stoker, data):
    save_image(data / "class/4.jpg", format="PNG")
    save_image(data / "class/5.png", format="WEBP")
    assert stoker.json(*run(data))["samples"] == 6


def test_what_is_no_image_that_can_be_read_is_passed_over_and_named(stoker, data):
    (data / "class/9.jpg").symlink_to(data / "gone.jpg")
    (data / "class/8.heic").write_bytes(b"ftyp")
    done = stoker(*run(data))
    assert done.returncode == DONE
    for told in (done.stderr, stoker("verify", data).stdout, stoker("info", data).stdout):
        assert "1 broken link" in told and "'class/9.jpg'" in told
        assert "1 HEIC picture" in told and "'class/8.heic'" in told
    problems = json.loads(stoker("info", data, "--json").stdout)["problems"]
    assert len(problems) == 2
    assert (stoker("verify", data).returncode, stoker("info", data).returncode) == (FAILURE, FAILURE)


def test_a_folder_in_the_place_of_an_image_is_no_crash(stoker, data):
    (data / "class/9.jpg").mkdir()
    done = stoker(*run(data))
    assert done.returncode in (DONE, FAILURE), done
    assert "9.jpg" in done.stderr or done.returncode == DONE


@pytest.mark.parametrize("keep", [700, 512 * 4 + 100])
def test_a_truncated_tar_is_named(stoker, tiny, tmp_path, keep):
    cut = tmp_path / "cut.tar"
    cut.write_bytes(tiny.tar.read_bytes()[:keep])
    assert str(cut) in refused_everywhere(stoker, cut)


def test_what_a_name_holds_does_nothing_to_the_terminal(stoker, tmp_path):
    name = "a\x1b[2J\nb\x9b"
    with tarfile.open(tmp_path / "data.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo(f"{name}.jpg"))
    sentence = stoker.refusal(FAILURE, *run(tmp_path / "data.tar", "--bad-sample", "fail"))
    assert r"a\x1b[2J\nb\x9b" in sentence and "\x1b" not in sentence


def test_a_file_that_is_no_tar_is_named(stoker, tiny, tmp_path):
    text = tmp_path / "not.tar"
    text.write_text("no tar at all\n" * 1000)
    assert str(text) in refused_everywhere(stoker, text)


def test_a_tar_from_a_pipe_is_refused(stoker, tiny, tmp_path):
    fifo = tmp_path / "fifo.tar"
    os.mkfifo(fifo)
    assert str(fifo) in stoker.refusal(USAGE, *run(fifo))
    with open(tiny.tar, "rb") as tar, subprocess.Popen(["cat"], stdin=tar, stdout=subprocess.PIPE) as cat:
        assert "stdin" in stoker.refusal(USAGE, *run("/dev/stdin"), stdin=cat.stdout)


RECIPES = {
    "an unknown operator": ('{ op = "resiez", size = 5 }', "did you mean 'resize'?"),
    "an unknown argument": ('{ op = "resize", siz = 5 }', "did you mean 'size'?"),
    "a missing argument": ('{ op = "resize" }', "size"),
    "an argument of the wrong type": ('{ op = "resize", size = "big" }', "size"),
    "an argument out of its limits": ('{ op = "random_flip", p = 1.5 }', "between 0 and 1"),
    "an unknown choice": ('{ op = "resize", size = 5, filter = "bicubik" }', "did you mean 'bicubic'?"),
    "a wrong order": ('{ op = "normalize", preset = "unit" }, { op = "resize", size = 5 }', "must come before"),
    "an output without a size": ("", "depends on the image"),
    "no TOML": ("{", "line"),
}


@pytest.mark.parametrize("mistake", RECIPES)
def test_a_wrong_recipe_is_bad_usage(stoker, data, tmp_path, mistake):
    operators, hint = RECIPES[mistake]
    path = tmp_path / "wrong.toml"
    path.write_text(f'[[view]]\nname = "image"\noperators = [{{ op = "decode" }}, {operators}]\n')
    assert hint in stoker.refusal(USAGE, *run(data, recipe=path))
    assert hint in stoker.refusal(USAGE, "plan", data, "--recipe", path)


def test_a_recipe_that_is_not_there_is_named(stoker, data, tmp_path):
    assert "did you mean 'imagenet-train'?" in stoker.refusal(USAGE, *run(data, recipe="imagenet-trian"))
    assert str(tmp_path / "no.toml") in stoker.refusal(FAILURE, *run(data, recipe=tmp_path / "no.toml"))


USAGES = {
    "no command": ((), "name a command"),
    "an unknown command": (("rnu",), "did you mean 'run'?"),
    "no data": (("run", "--recipe", "imagenet-train"), "DATA"),
    "no recipe": (("run", "DATA"), "--recipe"),
    "an unknown option": (("run", "DATA", "--recipe", "imagenet-train", "--prefech", "3"), "did you mean '--prefetch'?"),
    "a misspelt option that is required": (("run", "DATA", "--recpie", "imagenet-train"), "did you mean '--recipe'?"),
    "an option that other commands have": (("ops", "--batch", "3"), "--batch"),
    "a batch and a global batch": (
        ("run", "DATA", "--recipe", "imagenet-train", "--batch", "2", "--global-batch", "2"), "--global-batch"),
    "an unknown order": (("run", "DATA", "--recipe", "imagenet-train", "--order", "random"), "'random' is not an order"),
    "a window of another order": (("run", "DATA", "--recipe", "imagenet-train", "--window", "9"), "no window"),
    "lanes of another order": (
        ("run", "DATA", "--recipe", "imagenet-train", "--order", "none", "--lanes", "9"), "no lanes"),
    "lanes that do not divide the batch": (
        ("run", "DATA", "--recipe", "imagenet-train", "--batch", "4", "--order", "windowed", "--lanes", "3"),
        "lanes that divides it"),
    "lanes that do not divide among the ranks": (
        ("run", "DATA", "--recipe", "imagenet-train", "--batch", "1", "--rank", "0", "--world", "4", "--order", "windowed",
         "--lanes", "2"),
        "for example 4"),
    "an unknown tail": (("run", "DATA", "--recipe", "imagenet-train", "--tail", "cut"), "'cut' is not a tail"),
    "a size without sense": (("run", "DATA", "--recipe", "imagenet-train", "--memory", "much"), "'much' is not a size"),
    "an unknown accelerator": (
        ("run", "DATA", "--recipe", "imagenet-train", "--accelerator", "mlperf:resnet50/h10"), "did you mean 'mlperf:"),
    "a step of no time": (("run", "DATA", "--recipe", "imagenet-train", "--accelerator", "0"), "seconds"),
    "a rank outside the world": (
        ("run", "DATA", "--recipe", "imagenet-train", "--batch", "1", "--world", "2", "--rank", "2"), "rank 2"),
    "an indivisible global batch": (
        ("run", "DATA", "--recipe", "imagenet-train", "--global-batch", "3", "--rank", "0", "--world", "2"), "global batch"),
    "a batch larger than the data set": (("run", "DATA", "--recipe", "imagenet-train"), "fewer than one"),
    "an unknown operator": (("ops", "random_flop"), "did you mean 'random_flip'?"),
    "an unknown kind": (("synth", "OUT", "--kind", "mnist"), "--kind"),
    "a view into a file that is no PNG": (("view", "DATA", "--recipe", "imagenet-train", "--out", "x.jpg"), "must end in .png"),
    "a view into a suffix": (("view", "DATA", "--recipe", "imagenet-train", "--out", ".png"), "must end in .png"),
    "a view without a file": (("view", "DATA", "--recipe", "imagenet-train"), "--out"),
}


@pytest.mark.parametrize("mistake", USAGES)
def test_bad_usage_is_told_from_failure(stoker, data, tmp_path, mistake):
    args, hint = USAGES[mistake]
    args = [{"DATA": data, "OUT": tmp_path / "out"}.get(arg, arg) for arg in args]
    sentence = stoker.refusal(USAGE, *args, cwd=tmp_path)
    assert hint in sentence
    assert len(sentence) <= SENTENCE_MAX + len(str(tmp_path))
    assert not (tmp_path / "out").exists()


INT_MAX, INT64_MAX, UINT64_MAX = 2**31 - 1, 2**63 - 1, 2**64 - 1
INTEGERS = {
    "run": (("run", "DATA", "--recipe", "imagenet-train"), {
        "--batch": (1, INT_MAX), "--global-batch": (1, INT64_MAX), "--epochs": (1, 10**9), "--batches": (1, INT64_MAX),
        "--threads": (1, INT_MAX), "--prefetch": (1, INT_MAX), "--seed": (0, UINT64_MAX), "--rank": (0, INT_MAX),
        "--window": (1, INT64_MAX), "--lanes": (1, INT_MAX), "--io-depth": (1, 1024),
        "--world": (1, INT_MAX), "--repeats": (1, INT64_MAX), "--batch-repeats": (1, INT64_MAX), "--transfer-index": (0, 3), "--pixels-max": (1, INT64_MAX)}),
    "plan": (("plan", "DATA", "--recipe", "imagenet-train"), {
        "--batch": (1, INT_MAX), "--prefetch": (1, INT_MAX), "--threads": (1, INT_MAX), "--pixels-max": (1, INT64_MAX)}),
    "view": (("view", "DATA", "--recipe", "imagenet-train", "--out", "x.png"), {
        "--count": (1, 100), "--draws": (0, 20), "--seed": (0, UINT64_MAX)}),
    "synth": (("synth", "OUT"), {
        "--count": (1, INT64_MAX), "--classes": (1, INT64_MAX), "--seed": (0, UINT64_MAX), "--threads": (1, INT_MAX)}),
}


@pytest.mark.parametrize("command, option", [(command, option) for command in INTEGERS for option in INTEGERS[command][1]])
def test_what_is_no_number_within_an_options_range_is_refused_with_the_range(stoker, data, tmp_path, command, option):
    usual, options = INTEGERS[command]
    usual = [{"DATA": data, "OUT": tmp_path / "out"}.get(arg, arg) for arg in usual]
    least, most = options[option]
    for text in (least - 1, most + 1, "-1", "two", "3x", "1.5", "1e2", "0x1", "+1", " 1", "", "9" * 400):
        sentence = stoker.refusal(USAGE, *usual, option, text)
        assert f"a whole number from {least} to {most} " in sentence and f"{option}: '{str(text)[:40]}" in sentence
        assert len(sentence) <= SENTENCE_MAX
    assert not (tmp_path / "out").exists()


def test_numbers_that_are_tuned_may_be_left_to_the_tuner(stoker, tiny):
    tuned = [word for option in ("--threads", "--prefetch", "--transfer-index") for word in (option, "auto")]
    assert stoker.json("run", tiny.folder, "--recipe", "cifar-train", "--batch", 10, *tuned)["samples"] == 30


def test_a_path_in_brackets_is_that_path(stoker, tmp_path):
    save_image(tmp_path / "x" / "a.jpg")
    for name in "ab":
        save_image(tmp_path / "[x]" / f"{name}.jpg")
    samples = [json.loads(subprocess.run([stoker.path, "info", *data, "--json"], cwd=tmp_path, check=True, capture_output=True).stdout)["samples"]
               for data in (["[x]"], ["x"], ["x", "[x]"])]
    assert samples == [2, 1, 3]


def test_an_option_before_its_command_is_told_its_place(stoker, data):
    assert "'--json' comes after 'info'" in stoker.refusal(USAGE, "--json", "info", data)


@pytest.mark.parametrize("option", ["--recipe", "--memory", "--order", "--tail", "--accelerator", "--audit"])
def test_an_empty_value_is_not_the_default(stoker, data, option):
    usual = ("run", data, "--batch", 1) + (() if option == "--recipe" else ("--recipe", "imagenet-train"))
    assert option in stoker.refusal(USAGE, *usual, option, "")
    sentence = stoker.refusal(USAGE, *(("plan", data) if option == "--recipe" else usual), f"{option}=")
    assert len(sentence) <= SENTENCE_MAX


def test_leading_zeros_do_not_make_a_number_octal(stoker, tiny):
    assert stoker.json("run", tiny.folder, "--recipe", "cifar-train", "--batch", "010")["samples"] == 30


def test_the_largest_seed_is_a_seed(stoker, tiny):
    assert stoker.json("run", tiny.folder, "--recipe", "cifar-train", "--batch", 10, "--seed", UINT64_MAX)["samples"] == 30


def test_the_environment_is_checked(stoker):
    assert "'bogus' is not an instruction set" in stoker.refusal(USAGE, "ops", env={"STOKER_ISA": "bogus"})
    assert "STOKER_LOG" in stoker.refusal(USAGE, "ops", env={"STOKER_LOG": "loud"})


@pytest.mark.parametrize("size", ["64KB", "0", "0.4", "0GiB"])
def test_a_memory_budget_that_cannot_work_is_a_failure(stoker, data, size):
    assert "memory budget of" in stoker.refusal(FAILURE, *run(data, "--memory", size))


def test_files_that_cannot_be_written_are_named(stoker, data, tmp_path):
    sheet, audit = tmp_path / "no/sheet.png", tmp_path / "no/audit.jsonl"
    assert str(sheet) in stoker.refusal(FAILURE, "view", data, "--recipe", "imagenet-train", "--out", sheet)
    assert str(audit) in stoker.refusal(FAILURE, *run(data, "--audit", audit))
    assert "audit" in stoker.refusal(FAILURE, *run(data, "--audit", "/dev/full"))


def test_synth_does_not_touch_what_is_already_there(stoker, data):
    assert str(data) in stoker.refusal(USAGE, "synth", data, "--kind", "tiny", "--count", 3)
    assert len(list(data.rglob("*.jpg"))) == 4


def test_a_full_disk_under_the_output_is_a_failure(stoker):
    with open("/dev/full", "w") as full:
        done = stoker("ops", stdout=full)
    assert done.returncode == FAILURE
    assert done.stderr.startswith("stoker: cannot write to standard output") and done.stderr.count("\n") == 1


def test_a_reader_that_is_gone_ends_the_command_quietly(stoker):
    ours, its = os.pipe()
    os.close(ours)
    done = stoker("ops", stdout=its)
    os.close(its)
    assert (done.returncode, done.stderr) == (FAILURE, "")


NO_SUCH_STACK = 2**60  # of a thread: more than there are addresses


def limit(kind, most):
    return lambda: resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


@pytest.mark.parametrize("kind, most", [(resource.RLIMIT_STACK, NO_SUCH_STACK), (resource.RLIMIT_NOFILE, 4)],
                         ids=["thread", "descriptor"])
def test_a_machine_that_cannot_even_watch_for_signals_is_a_failure(stoker, kind, most):
    assert "cannot watch for signals" in stoker.refusal(FAILURE, "ops", preexec_fn=limit(kind, most))


def test_a_folder_that_goes_away_while_it_is_read_is_named(stoker, data, tmp_path):
    """The audit is a pipe: once its first line is there the run is under way, and waits for us to read on."""
    fifo = tmp_path / "audit"
    os.mkfifo(fifo)
    process = stoker.start(*run(data, "--epochs", 100000, "--audit", fifo), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(fifo) as audit:
        audit.readline()
        shutil.rmtree(data)
        drain = threading.Thread(target=audit.read)
        drain.start()
        out, err = process.communicate(timeout=60)
        drain.join()
    assert process.returncode == FAILURE
    assert all(line.startswith("epoch ") for line in out.splitlines()), "epochs of four samples may end before their folder is gone"
    assert "class/" in err and err.count("\n") == 1


@pytest.mark.parametrize("classes", [("--classes", "[br]"), ("--classes=[br]",), ("--classes", "[br],x")])
def test_a_value_in_brackets_is_that_value(stoker, tmp_path, classes):
    for name in ("[br]", "br", "x"):
        save_image(tmp_path / "data" / name / "a.jpg")
    packed = stoker.json("pack", tmp_path / "data", tmp_path / "out", *classes)
    assert packed["samples"] == len("".join(classes).split(","))
    assert "'[x]' is not" in stoker.refusal(USAGE, *run(tmp_path / "data", "--seed", "[x]"))
    assert "unexpected argument '--no=[x]'" in stoker.refusal(USAGE, *run(tmp_path / "data", "--no=[x]"))


def test_an_empty_level_of_the_log_is_the_default(stoker):
    assert stoker.text("ops", env={"STOKER_LOG": ""}) == stoker.text("ops")


@pytest.fixture
def closed_folder(tiny, tmp_path):
    """A tar in each of three folders, and the second of these, which is closed."""
    for name in "abc":
        (tmp_path / "gl" / name).mkdir(parents=True)
        shutil.copy(tiny.tar, tmp_path / "gl" / name / "s.tar")
    closed = tmp_path / "gl" / "b"
    closed.chmod(0)
    yield closed
    closed.chmod(0o700)


@pytest.mark.parametrize("command", ["info", "verify", "pack", "index"])
@pytest.mark.parametrize("pattern", ["*/s.tar", "*/*.tar", "b/s.tar", "{a,b}/s.tar"])
def test_a_folder_on_the_way_that_is_closed_is_named(ordinary_stoker, closed_folder, tmp_path, command, pattern):
    to = [tmp_path / "out"] if command == "pack" else []
    sentence = ordinary_stoker.refusal(FAILURE, command, closed_folder.parent / pattern, *to)
    assert str(closed_folder) in sentence and "Permission denied" in sentence
    assert not list(tmp_path.rglob("*.sidx")) and not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_listed_is_named(ordinary_stoker, closed_folder):
    gl = closed_folder.parent
    gl.chmod(0o111)
    sentence = ordinary_stoker.refusal(FAILURE, "info", gl / "*/s.tar")
    gl.chmod(0o700)
    assert f"'{gl}/'" in sentence and "Permission denied" in sentence


@pytest.mark.parametrize("pattern", ["**/*.tar", "g2/**", "g2/**/s.tar"])
def test_a_pattern_of_any_depth_is_refused(stoker, tiny, tmp_path, pattern):
    for folder in ("g2", "g2/a", "g2/a/b"):
        (tmp_path / folder).mkdir()
        shutil.copy(tiny.tar, tmp_path / folder / "s.tar")
    assert "'**'" in stoker.refusal(USAGE, "info", tmp_path / pattern)
    each = [tmp_path / "g2" / levels / "s.tar" for levels in ("", "*", "*/*")]
    assert stoker.json("info", *each)["shards"] == 3
