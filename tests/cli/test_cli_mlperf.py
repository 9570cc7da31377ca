"""Workloads of MLPerf Storage: data by `stoker synth --like`, and what `stoker run` makes of them."""

import json
import shlex
import subprocess

import numpy
import pytest
from PIL import Image

# Few samples of each, and the sizes that they must have about.
WORKLOADS = {
    "resnet50": ("h100", 20, 114_660),
    "cosmoflow": ("a100", 6, 2_828_486),
    "retinanet": ("b200", 6, 322_957),
    "dlrm": ("b200", 300, 761),
    "flux": ("b200", 4, 2_164_832),
    "bert": ("v100", 90, 2500),
    "unet3d": ("h100", 1, 146_600_628),
}
SUMMARY_KEYS = """start num_accelerators num_hosts hostname metric num_files_train num_files_eval num_samples_per_file
    host_cpu_count host_processor_name potential_caching host_cpuinfo host_meminfo host_memory_GB data_size_per_host_GB epochs
    end stoker""".split()


def synth(stoker, out, name, count, *args):
    return stoker.json("synth", out, "--like", name, "--count", count, "--seed", 3, *args)


def train(out, name):
    return out / "train/*.npz" if name == "unet3d" else out / "train"


@pytest.fixture(scope="module")
def bert(stoker, tmp_path_factory):
    out = tmp_path_factory.mktemp("bert")
    synth(stoker, out, "bert", 80)
    return out / "train"


@pytest.mark.parametrize("name", WORKLOADS)
def test_each_workload_is_made_read_and_judged(stoker, tmp_path, name):
    gpu, count, record = WORKLOADS[name]
    made = synth(stoker, tmp_path / "data", name, count)
    assert made["samples"] == count and made["share"] == pytest.approx(count / made["official_samples"])
    report = stoker.json("run", train(tmp_path / "data", name), "--accelerator", f"mlperf:{name}/{gpu}", "--batch", 1)
    assert report["samples"] == count and report["bad_samples"] == 0
    assert made["bytes"] * 0.999 <= report["bytes_read"] <= made["bytes"] * 1.05
    if name not in ("unet3d", "cosmoflow"):  # whose sizes vary
        assert made["bytes"] == pytest.approx(count * record, rel=1e-5)
    mlperf = report["mlperf"]
    assert (mlperf["profile"], mlperf["accelerators"], mlperf["steps_per_epoch"]) == (f"mlperf:{name}/{gpu}", 1, count)
    assert mlperf["valid"] is False
    assert {rule["rule"]: rule["holds"] for rule in mlperf["rules"]}["data"] is False


@pytest.mark.parametrize("name, count", [("bert", 4), ("resnet50", 3), ("dlrm", 5), ("cosmoflow", 1)])
def test_the_command_that_is_said_to_come_next_works(stoker, tmp_path, name, count):
    said = stoker.text("synth", tmp_path / "few samples", "--like", name, "--count", count)
    _, _, command = said.strip().rpartition("Next: ")
    words = shlex.split(command)
    assert words[:2] == ["stoker", "run"]
    assert stoker.json(*words[1:])["samples"] == count


def test_files_are_what_other_readers_take(stoker, tmp_path):
    synth(stoker, tmp_path / "jpeg", "retinanet", 2)
    for path in (tmp_path / "jpeg/train").iterdir():
        assert path.suffix == ".jpeg" and path.stat().st_size == 322_957
        with Image.open(path) as image:
            assert numpy.asarray(image).std() > 50, "it is noise"
    synth(stoker, tmp_path / "npz", "unet3d", 1)
    [path] = (tmp_path / "npz/train").iterdir()
    assert path.name == "img_0_of_1.npz"
    arrays = numpy.load(path)
    assert arrays["x"].dtype == numpy.uint8 and arrays["x"].shape[0] == 1 and arrays["y"].tolist() == [0]


def test_data_do_not_depend_on_the_number_of_threads(stoker, tmp_path):
    for threads in (1, 3):
        synth(stoker, tmp_path / f"{threads}", "dlrm", 100, "--threads", threads)
    one, three = ({path.name: path.read_bytes() for path in (tmp_path / f"{n}/train").iterdir()} for n in (1, 3))
    assert one == three and len(one) == 8


def test_synth_says_which_part_it_made_and_what_comes_next(stoker, tmp_path):
    said = stoker.text("synth", tmp_path / "data", "--like", "dlrm", "--count", 50)
    assert "of dlrm's 4,831,838,208 (3.68 TB)" in said
    assert f"Next: stoker run {tmp_path}/data/train --accelerator mlperf:dlrm/b200" in said
    assert "--like needs --count, since all of unet3d is 24.6 GB" in stoker.refusal(2, "synth", tmp_path / "x", "--like", "unet3d")
    assert "did you mean 'unet3d'?" in stoker.refusal(2, "synth", tmp_path / "x", "--like", "unet3", "--count", 1)
    assert "unet3d has 168 samples" in stoker.refusal(2, "synth", tmp_path / "x", "--like", "unet3d", "--count", 169)
    assert "--kind" in stoker.refusal(2, "synth", tmp_path / "x", "--like", "unet3d", "--count", 1, "--kind", "tiny")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_people_are_told_the_au_and_what_makes_the_result_invalid(stoker, bert):
    said = stoker.text("run", bert, "--accelerator", "mlperf:bert/v100", "--batch", 8)
    assert "of mlperf:bert/v100 with 1 accelerator in 10 steps; 90% are wanted: " in said
    assert "Not a valid result of MLPerf Storage: the data have 200 KB, and must have 5 times the memory of" in said
    assert "the data are enough for 10 steps an epoch, and must be for 500" in said
    assert "an accelerator's batch has 8 samples, and must have 48" in said
    assert "on average" not in said, "the records are as they should be"


def test_another_recipe_means_the_step_alone(stoker, tiny):
    said = stoker.text("run", tiny.folder, "--recipe", "cifar-train", "--batch", 10, "--accelerator", "mlperf:resnet50/h100")
    assert "MLPerf" not in said and "AU" not in said
    assert "--recipe is required" in stoker.refusal(2, "run", tiny.folder, "--accelerator", "0.01")
    assert "--recipe is required" in stoker.refusal(2, "run", tiny.folder)


def test_a_batch_is_the_profiles_unless_one_is_given(stoker, bert):
    report = stoker.json("run", bert, "--accelerator", "mlperf:bert/V100", "--epochs", 1)
    assert report["samples"] == 48, "one batch of 80 samples"
    assert {rule["rule"]: rule["holds"] for rule in report["mlperf"]["rules"]}["batch"] is True


def test_several_accelerators_take_a_batch_each(stoker, bert, tmp_path):
    """80 samples in 16 batches are 6 steps of 3 accelerators, whose steps take 0.968 s / 48 for each sample."""
    audit = tmp_path / "audit"
    report = stoker.json("run", bert, "--accelerator", "mlperf:bert/v100", "--batch", 5, "--accelerators", 3, "--audit", audit,
                         "--summary", tmp_path / "summary.json")
    assert report["samples"] == 80 and report["prefetch"] == 6
    assert report["mlperf"]["accelerators"] == 3 and report["mlperf"]["steps_per_epoch"] == 5
    assert report["seconds"] >= 6 * 5 * 0.968 / 48
    alone = tmp_path / "alone"
    stoker.json("run", bert, "--recipe", "records", "--batch", 5, "--audit", alone)
    assert audit.read_text() == alone.read_text()
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert list(summary) == SUMMARY_KEYS
    assert (summary["num_accelerators"], summary["num_files_train"], summary["num_samples_per_file"]) == (3, 8, 10)
    assert summary["stoker"] == report["mlperf"]
    metric = summary["metric"]
    assert metric["train_au_mean_percentage"] == report["mlperf"]["au_percent"] == metric["train_au_percentage"][0]
    assert 0 < metric["train_au_mean_percentage"] <= 100
    assert metric["train_io_mean_MB_per_second"] == pytest.approx(
        metric["train_throughput_mean_samples_per_second"] * 2500 / 2**20)


def test_several_accelerators_take_each_epoch_once(stoker, tiny, tmp_path):
    """Whatever is left for the last step of an epoch."""
    run = ("run", tiny.folder, "--recipe", tiny.recipe, "--batch", 4, "--epochs", 3, "--accelerator", "0.001", "--seed", 5)
    batches = None
    for count in (1, 2, 3, 5):
        audit = tmp_path / f"audit{count}"
        report = stoker.json(*run, "--accelerators", count, "--audit", audit)
        batches = batches or audit.read_text()
        assert audit.read_text() == batches and report["samples"] == len(batches.splitlines()), count
        assert report["epochs"] == 3


def test_ranks_step_together_and_the_first_writes_the_summary(stoker, bert, tmp_path):
    def rank(number, *args):
        job = {"RANK": number, "WORLD_SIZE": 2, "MASTER_ADDR": "here", "MASTER_PORT": tmp_path.name}
        return stoker.start("run", bert, "--accelerator", "mlperf:bert/v100", "--batch", 10, "--epochs", 2, *args,
                            "--summary", tmp_path / f"{number}.json", "--json",
                            env={name: str(value) for name, value in job.items()},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    ranks = [rank(0, "--accelerators", 2), rank(1, "--accelerators", 2)]
    said = [process.communicate(timeout=60) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], said
    reports = [json.loads(out) for out, _ in said]
    assert [report["mlperf"]["accelerators"] for report in reports] == [4, 4]
    assert not (tmp_path / "1.json").exists()
    summary = json.loads((tmp_path / "0.json").read_text())
    assert summary["num_accelerators"] == 4 and summary["epochs"] == 2
    assert summary["stoker"] == reports[0]["mlperf"]
    ranks = [rank(0, "--accelerators", 2), rank(1)]
    said = [process.communicate(timeout=60)[1] for process in ranks]
    assert [process.returncode for process in ranks] == [2, 2]
    assert all("the same --accelerators" in text for text in said)


def test_accelerators_are_checked(stoker, bert, tiny, tmp_path):
    run = ("run", bert, "--recipe", "records")
    for option in (("--accelerators", 2), ("--barrier",), ("--summary", tmp_path / "s.json")):
        assert "give it, too" in stoker.refusal(2, *run, *option)
    assert "--summary is for a profile" in stoker.refusal(2, *run, "--accelerator", "0.1", "--summary", tmp_path / "s.json")
    assert "from 1" in stoker.refusal(2, *run, "--accelerator", "0.1", "--accelerators", 0)
    kept = ("--accelerator", "0.1", "--barrier", "--tail", "keep", "--rank", 0, "--world", 2)
    assert "use --tail drop, wrap or pad" in stoker.refusal(2, *run, *kept)
    assert list(tmp_path.iterdir()) == []
