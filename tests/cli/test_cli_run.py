"""`stoker run`: what it delivers, and what it says about it."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import pytest
from PIL import Image

RUN_KEYS = """samples seconds samples_per_s cpu_ms_per_sample rss_bytes_max wait_s first_batch_s utilisation mlperf bad_samples
    fallback_samples bytes_read store bytes_to_device cache report epoch_reports epochs batch step_s accelerators threads prefetch
    io_depth transfer_index tuning device io isa machine stages""".split()


def run(data, *args, recipe="cifar-train"):
    return ("run", data, "--recipe", recipe, *args)


def keys_of(audit):
    return [json.loads(line)["key"] for line in audit]


def test_photographs_in_several_scans_are_counted_as_fallbacks(stoker, tmp_path):
    for number in range(6):
        image = Image.effect_noise((40 + number, 30), 60).convert("RGB")
        image.save(tmp_path / f"{number}.jpg", progressive=number % 3 == 0)
    report = stoker.json(*run(tmp_path, "--batch", 3, "--epochs", 2, recipe="imagenet-train"))
    assert report["fallback_samples"] == 4 and report["samples"] == 12


def test_json_is_one_object_with_the_promised_keys(stoker, tiny):
    report = stoker.json(*run(tiny.folder, "--batch", 5, "--epochs", 2, "--threads", 2, "--prefetch", 3))
    assert list(report) == RUN_KEYS
    assert [list(stage) for stage in report["stages"]] == [["name", "side", "seconds", "share"]] * 2
    assert report["samples"] == 60
    assert report["epochs"] == 2
    assert report["threads"] == 2
    assert report["prefetch"] == 3
    assert report["io_depth"] == 1024
    assert report["transfer_index"] == 3 and report["device"] == "cpu"
    assert report["io"] == "pread"
    assert report["utilisation"] is None
    assert report["bad_samples"] == report["fallback_samples"] == report["bytes_to_device"] == 0
    assert report["samples_per_s"] == pytest.approx(60 / report["seconds"])
    assert sum(stage["share"] for stage in report["stages"]) == pytest.approx(1)
    assert report["cpu_ms_per_sample"] > 0
    assert report["rss_bytes_max"] > 1 << 20


def test_how_jpegs_are_decoded_can_be_said_beside_the_recipe(stoker, photographs, tmp_path):
    recipe = tmp_path / "faithful.toml"
    recipe.write_text("""
        [[view]]
        name = "image"
        operators = [
          { op = "decode", mode = "faithful" }, { op = "random_resized_crop", size = 224 }, { op = "random_flip" },
          { op = "normalize", preset = "imagenet" },
        ]
        [[view]]
        name = "label"
        """)
    usual = ("--batch", 3, "--seed", 5)
    planar = stoker.audit(tmp_path, *run(photographs.folder, *usual, recipe="imagenet-train"))
    faithful = stoker.audit(tmp_path, *run(photographs.folder, *usual, recipe=recipe))
    assert planar != faithful
    for mode, expected in ("planar", planar), ("faithful", faithful):
        for named in ("imagenet-train", recipe):
            assert stoker.audit(tmp_path, *run(photographs.folder, *usual, "--decode", mode, recipe=named)) == expected
    sentence = stoker.refusal(2, *run(photographs.folder, "--decode", "exact", recipe="imagenet-train"))
    assert "'exact'" in sentence and "faithful" in sentence


def test_the_instruction_set_can_be_named(stoker, tiny, tmp_path):
    usual = run(tiny.folder, "--batch", 5, recipe=tiny.recipe)
    best = stoker.audit(tmp_path, *usual)
    assert stoker.audit(tmp_path, *usual, "--isa", "scalar") == best
    assert stoker.json(*usual, "--isa", "scalar", env={"STOKER_ISA": "sse4"})["isa"] == "scalar"
    assert "--isa: 'bogus' is not an instruction set" in stoker.refusal(2, *usual, "--isa", "bogus")


def test_stages_are_named_as_those_of_the_plan_that_they_fuse(stoker, tiny, two_views):
    for recipe, views in ((tiny.recipe, [""]), (two_views, ["large.", "small."])):
        ran = [stage["name"] for stage in stoker.json(*run(tiny.folder, "--batch", 5, recipe=recipe))["stages"]]
        planned = [stage["name"] for stage in stoker.json("plan", tiny.folder, "--recipe", recipe)["stages"]]
        assert ran == ["decode", "geometry+color"]
        assert [view + stage for view in views for name in ran for stage in name.split("+")] == planned


def test_bytes_read_are_those_of_the_images(stoker, tiny):
    images = sum(path.stat().st_size for path in tiny.folder.rglob("*.png"))
    assert stoker.json(*run(tiny.folder, "--batch", 30))["bytes_read"] == images


def uring_works(stoker, tar):
    return stoker(*run(tar, "--io", "uring", "--batch", 10)).returncode == 0


@pytest.mark.parametrize("options, io", [
    (["--io", "pread"], "pread"),
    (["--io", "pread", "--direct"], "pread+direct"),
    (["--io", "uring"], "io_uring"),
    (["--io", "uring", "--direct"], "io_uring+direct"),
    ([], "auto"),
    (["--io", "pread", "--no-index"], "pread"),
])
def test_shards_are_read_as_asked_and_the_batches_are_the_same(stoker, tiny, tmp_path, options, io):
    works = uring_works(stoker, tiny.tar)
    if "uring" in options and not works:
        pytest.skip("io_uring does not work here")
    want = stoker.audit(tmp_path, *run(tiny.folder, "--batch", 10))
    audit = tmp_path / "read.jsonl"
    report = stoker.json(*run(tiny.tar, "--batch", 10, *options, "--audit", audit))
    assert report["io"] == (io if io != "auto" else "io_uring" if works else "pread")
    hashes = [json.loads(line)["hash"] for line in audit.read_text().splitlines()]
    assert hashes == [json.loads(line)["hash"] for line in want]


def test_loose_files_are_read_by_pread_whatever_is_asked(stoker, tiny):
    assert stoker.json(*run(tiny.folder, "--batch", 10, "--direct"))["io"] == "pread"


def test_ways_to_read_are_checked(stoker, tiny, tmp_path):
    assert "'mmap' is not a way to read; use auto, uring or pread" in stoker.refusal(2, *run(tiny.tar, "--io", "mmap"))
    assert "--index-dir" in stoker.refusal(2, *run(tiny.tar, "--no-index", "--index-dir", tmp_path))


def test_the_accelerator_is_as_busy_as_its_steps_are_long(stoker, tiny):
    report = stoker.json(*run(tiny.folder, "--batch", 10, "--accelerator", "0.01"))
    assert 0 < report["utilisation"] <= 1
    assert report["seconds"] >= 0.03
    assert report["utilisation"] * report["seconds"] >= 0.019  # the last two of three steps lie within the time counted


def test_a_profiles_step_is_as_long_as_the_batch_is_large(stoker, tiny):
    """mlperf:resnet50/h100 takes 0.224 s for 400 samples: 11.2 ms for 20, 5.6 ms for 10."""
    for batch, step in ((20, "0.0112 s per step of 20 samples"), (10, "0.0056 s per step of 10 samples")):
        assert step in stoker.text(*run(tiny.folder, "--batch", batch, "--accelerator", "mlperf:resnet50/h100"))
    report = stoker.json(*run(tiny.folder, "--batch", 10, "--accelerator", "mlperf:resnet50/h100"))
    assert report["seconds"] >= 3 * 0.0056


def test_people_get_words(stoker, tiny):
    text = stoker.text(*run(tiny.folder, "--batch", 10, "--accelerator", "0.001"))
    assert text.startswith("30 samples in ")
    assert "samples/s" in text and "ms of CPU each" in text
    assert "The accelerator was busy" in text
    assert "worker time" in text and "decode" in text
    assert "accelerator" not in stoker.text(*run(tiny.folder, "--batch", 10))


@pytest.mark.parametrize("prefetch", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_audit_is_the_same_whatever_the_threads_and_the_prefetch(stoker, tiny, tmp_path, threads, prefetch):
    usual = run(tiny.folder, "--batch", 4, "--epochs", 2, "--seed", 7)
    audit = stoker.audit(tmp_path, *usual, "--threads", threads, "--prefetch", prefetch)
    assert audit == stoker.audit(tmp_path, *usual)
    assert len(audit) == 56


@pytest.mark.parametrize("depth", [1, 3, 1024])
def test_the_audit_is_the_same_whatever_the_io_depth(stoker, tiny, tmp_path, depth):
    for data in (tiny.folder, tiny.tar):
        usual = run(data, "--batch", 4, "--epochs", 2, "--seed", 7)
        assert stoker.audit(tmp_path, *usual, "--io-depth", depth) == stoker.audit(tmp_path, *usual)
        assert stoker.json(*usual, "--io-depth", depth)["io_depth"] == depth


def test_the_audit_is_the_same_from_a_folder_and_from_its_tar(stoker, tiny, photographs, tmp_path):
    for data in (tiny, photographs):
        audit = stoker.audit(tmp_path, *run(data.folder, "--batch", 4, "--epochs", 2, recipe=data.recipe))
        assert len(audit) == 2 * (data.count // 4 * 4)
        assert audit == stoker.audit(tmp_path, *run(data.tar, "--batch", 4, "--epochs", 2, recipe=data.recipe))


def test_the_audit_is_the_same_on_every_instruction_set(stoker, photographs, tmp_path):
    usual = run(photographs.folder, "--batch", 4, recipe=photographs.recipe)
    best = stoker.audit(tmp_path, *usual)
    assert best == stoker.audit(tmp_path, *usual, env={"STOKER_ISA": "scalar"})
    assert stoker.json(*usual, env={"STOKER_ISA": "scalar"})["isa"] == "scalar"


def test_seed_and_epoch_change_what_is_delivered(stoker, tiny, tmp_path):
    first = stoker.audit(tmp_path, *run(tiny.folder, "--batch", 30, "--epochs", 2))
    other = stoker.audit(tmp_path, *run(tiny.folder, "--batch", 30, "--epochs", 2, "--seed", 1))
    assert keys_of(first)[:30] != keys_of(other)[:30]
    assert keys_of(first)[:30] != keys_of(first)[30:]
    assert sorted(keys_of(first)[:30]) == sorted(keys_of(other)[30:])


def test_an_audit_line_says_which_sample_stood_where(stoker, tiny, tmp_path):
    audit = stoker.audit(tmp_path, *run(tiny.folder, "--batch", 10, "--order", "none"))
    lines = [json.loads(line) for line in audit]
    assert all(list(line) == ["epoch", "position", "key", "hash"] for line in lines)
    assert [line["position"] for line in lines] == list(range(30))
    assert keys_of(audit) == sorted(p.relative_to(tiny.folder).with_suffix("").as_posix() for p in tiny.folder.rglob("*.png"))
    assert all(len(line["hash"]) == 16 for line in lines)


def test_ranks_share_the_batches(stoker, tiny, tmp_path):
    whole = stoker.audit(tmp_path, *run(tiny.folder, "--global-batch", 6))
    ranks = [stoker.audit(tmp_path, *run(tiny.folder, "--global-batch", 6, "--world", 2, "--rank", r)) for r in (0, 1)]
    batches = [part for at in range(0, 15, 3) for part in (ranks[0][at:at + 3], ranks[1][at:at + 3])]
    assert [line for part in batches for line in part] == whole
    assert ranks[0] == stoker.audit(tmp_path, *run(tiny.folder, "--batch", 3, "--world", 2, "--rank", 0))


def test_the_windowed_order_reads_few_shards_at_a_time(stoker, tiny, tmp_path):
    def keys(*args):
        audit = stoker.audit(tmp_path, "run", tiny.tar, tiny.tar, tiny.tar, "--recipe", "cifar-train",
                             "--order", "windowed", "--batch", 10, *args)
        return keys_of(audit)

    shard = keys_of(stoker.audit(tmp_path, *run(tiny.tar, "--batch", 30, "--order", "none")))
    unshuffled = keys("--window", 1, "--lanes", 1)  # the shards one after another, from the middle of one on
    assert unshuffled == [shard[(shard.index(unshuffled[0]) + i) % 30] for i in range(90)]
    assert sorted(keys("--lanes", 10)) == sorted(keys("--window", 20, "--lanes", 2)) == sorted(3 * shard)
    assert keys("--window", 20, "--lanes", 2) != keys("--window", 21, "--lanes", 2)


def test_ranks_share_the_windowed_order(stoker, tiny, tmp_path):
    windowed = ("--global-batch", 6, "--order", "windowed", "--window", 4, "--lanes", 2)
    whole = stoker.audit(tmp_path, *run(tiny.folder, *windowed))
    ranks = [stoker.audit(tmp_path, *run(tiny.folder, *windowed, "--world", 2, "--rank", r)) for r in (0, 1)]
    batches = [part for at in range(0, 15, 3) for part in (ranks[0][at:at + 3], ranks[1][at:at + 3])]
    assert [line for part in batches for line in part] == whole


def test_the_tail_is_dropped_wrapped_padded_or_kept(stoker, tiny, tmp_path):
    def delivered(*args):
        return keys_of(stoker.audit(tmp_path, *run(tiny.folder, "--batch", 8, *args)))

    assert len(delivered()) == len(delivered("--tail", "drop")) == 24
    assert len(set(delivered("--tail", "pad"))) == len(delivered("--tail", "pad")) == 30
    assert delivered("--tail", "keep") == delivered("--tail", "pad")
    wrapped = delivered("--tail", "wrap")
    assert len(wrapped) == 32 and wrapped[30:] == wrapped[:2]
    assert stoker.json(*run(tiny.folder, "--batch", 8, recipe="imagenet-val"))["samples"] == 30  # pads by itself


def test_each_sample_stands_several_times_in_a_batch(stoker, tiny, tmp_path):
    recipe = tmp_path / "repeated.toml"
    recipe.write_text("""batch_repeats = 4
        [[view]]
        name = "image"
        operators = [{ op = "decode" }, { op = "random_resized_crop", size = 16 }]""")
    common = ("--global-batch", 8, "--seed", 3)
    whole = stoker.audit(tmp_path, *run(tiny.folder, *common, recipe=recipe))
    keys = keys_of(whole)
    assert len(keys) == 24 and all(keys[at:at + 8] == keys[at:at + 2] * 4 for at in (0, 8, 16)) and len(set(keys)) == 6
    assert len({json.loads(line)["hash"] for line in whole}) == 24
    ranks = [stoker.audit(tmp_path, *run(tiny.folder, *common, "--world", 4, "--rank", r, recipe=recipe)) for r in range(4)]
    assert all(len(set(keys_of(lines))) == len(lines) == 6 for lines in ranks)  # each rank has one copy of each
    assert [line for at in (0, 2, 4) for lines in ranks for line in lines[at:at + 2]] == whole
    state = tmp_path / "state.json"
    first = stoker.audit(tmp_path, *run(tiny.folder, *common, "--batches", 1, "--save-state", state, recipe=recipe))
    assert first + stoker.audit(tmp_path, *run(tiny.folder, *common, "--state", state, recipe=recipe)) == whole
    report = stoker.json(*run(tiny.folder, *common, "--epochs", 2, recipe=recipe))
    assert (report["samples"], report["epochs"]) == (48, 2)
    once = keys_of(stoker.audit(tmp_path, *run(tiny.folder, *common, "--batch-repeats", 1, recipe=recipe)))
    assert len(set(once)) == 24


def test_without_a_batch_it_has_whole_samples(stoker, tiny):
    for repeats, batch in ((3, 255), (4, 256), (129, 129)):
        report = stoker.json(*run(tiny.folder, "--tail", "wrap", "--repeats", 10, "--batch-repeats", repeats))
        assert report["samples"] == 300 // batch * batch + batch * (300 % batch > 0), repeats
    for command in ("plan", "doctor"):
        options = ("--step", 0.01, "--quick") if command == "doctor" else ()
        done = stoker(command, tiny.folder, "--recipe", "timm-a1", *options)
        assert "cannot hold each of its samples" not in done.stderr, done.stderr


def test_ranks_share_a_tail_that_is_kept(stoker, tiny, tmp_path):
    common = ("--global-batch", 14, "--world", 2, "--tail", "keep")
    states, ranks = [tmp_path / "0.json", tmp_path / "1.json"], []
    for rank in (0, 1):
        ranks.append(stoker.audit(tmp_path, *run(tiny.folder, *common, "--rank", rank, "--save-state", states[rank])))
    assert [len(lines) for lines in ranks] == [16, 14]  # 30 are two global batches, and 2
    assert len(set(keys_of(ranks[0]) + keys_of(ranks[1]))) == 30
    assert states[0].read_text() == states[1].read_text()
    report = stoker.json(*run(tiny.folder, *common, "--rank", 1, "--state", states[0], "--epochs", 3))
    assert (report["samples"], report["epochs"]) == (28, 2)


@pytest.mark.parametrize("epochs, batches, samples, begun", [
    (100, 8, 40, 2), (100, 6, 30, 1), (100, 7, 35, 2), (1, 100, 30, 1), (3, 100, 90, 3), (3, 1, 5, 1)])
def test_batches_end_a_run_early(stoker, tiny, epochs, batches, samples, begun):
    report = stoker.json(*run(tiny.folder, "--batch", 5, "--epochs", epochs, "--batches", batches))
    assert (report["samples"], report["epochs"]) == (samples, begun)


def test_several_data_sets_are_joined(stoker, tiny):
    assert stoker.json("run", tiny.tar, tiny.tar, "--recipe", "cifar-train", "--batch", 5)["samples"] == 60


def test_a_data_set_may_be_called_like_a_command(stoker, tiny, tmp_path):
    (tmp_path / "plan").symlink_to(tiny.folder)
    assert stoker.json(*run("plan", "--batch", 5), cwd=tmp_path)["samples"] == 30


def read_to_the_end(terminal):
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
    except OSError:  # how Linux says that the other end is closed
        pass
    return text.decode()


# Each sample takes a good while, on any machine: 16 megapixels.
SLOW = """
[[view]]
name = "image"
operators = [{ op = "decode" }, { op = "resize", size = [4000, 4000], filter = "bicubic" }]
"""


def on_a_terminal(stoker, *args, columns=200, **options):
    """What a command shows on a terminal of this width, and what it writes to standard output."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = stoker.start(*args, stdout=subprocess.PIPE, stderr=its, **options)
    os.close(its)
    shown = read_to_the_end(ours)
    os.close(ours)
    report = process.communicate()[0]
    assert process.returncode == 0
    return shown, report


def test_progress_stays_within_the_terminals_width(stoker, tiny):
    shown, _ = on_a_terminal(stoker, *run(tiny.folder, "--batch", 5, "--accelerator", "0.05"), columns=25)
    lines = shown.split("\r\x1b[K")
    assert max(map(len, lines)) == 24
    assert all(line.startswith("run: ") for line in lines if line)


@pytest.mark.parametrize("command", [("view", "--count", 3, "--draws", 2, "--out", "sheet.png"), ("plan",)],
                         ids=["view", "plan"])
def test_other_commands_show_progress_too(stoker, photographs, tmp_path, command):
    name, *rest = command
    recipe = tmp_path / "slow.toml"
    recipe.write_text(SLOW)
    shown, _ = on_a_terminal(stoker, name, photographs.folder, "--recipe", recipe, *rest, cwd=tmp_path)
    assert f"{name}: " in shown and " left" in shown and shown.endswith("\r\x1b[K")


def test_progress_is_shown_on_a_terminal_and_removed_again(stoker, tiny):
    shown, report = on_a_terminal(stoker, *run(tiny.folder, "--batch", 5, "--accelerator", "0.05"))
    assert "of 30 samples (" in shown and "samples/s" in shown and " left" in shown
    assert shown.endswith("\r\x1b[K")
    assert report.startswith("30 samples")


@pytest.mark.parametrize("two", [("--audit", "--save-state"), ("--trace", "--audit"), ("--tune-report", "--save-state")])
def test_two_outputs_are_two_files(stoker, tiny, tmp_path, two):
    path = tmp_path / "out"
    said = stoker.refusal(2, *run(tiny.folder, "--batch", 5, two[0], path, two[1], path))
    assert f"are the same file, '{path}'; give each a file of its own" in said and all(option in said for option in two)
    assert not path.exists()


def test_a_rank_without_a_batch_says_why(stoker, tiny):
    done = stoker(*run(tiny.folder, "--batch", 40, "--tail", "keep", "--rank", 1, "--world", 2))
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to do: rank 1 of 2 has no batch" in done.stderr and "30 samples" in done.stderr
    assert "''" not in done.stderr and "--epochs" not in done.stderr


def test_a_list_that_names_no_sample_is_named(stoker, tiny, tmp_path):
    (tmp_path / "none.txt").write_text("# nothing\n")
    assert "none.txt' names no sample" in stoker.refusal(1, *run(tiny.folder, "--subset", tmp_path / "none.txt"))


@pytest.mark.parametrize("args, says", [
    (("--batch", 16, "--batch", 32), "--batch is given twice; give it once"),
    (("--seed", 1, "--seed", 2, "--seed", 3), "--seed is given 3 times; give it once"),
    (("--batch",), "--batch needs a value"),
    (("--json=5",), "--json takes no value"),
])
def test_how_often_an_option_is_given_is_said_in_a_sentence(stoker, tiny, args, says):
    assert stoker.refusal(2, *run(tiny.folder, *args)) == f"stoker: {says} (see stoker run --help)"


def test_the_address_of_a_dashboard_is_not_called_one_of_metrics(stoker, tiny):
    assert "'nowhere' is not an address to serve at" in stoker.refusal(2, *run(tiny.folder, "--dashboard", "nowhere"))
