"""The examples that people start from, for some steps on the CPU."""

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch
from PIL import Image

import stoker

from launchers import HANG_S, ROOT, TORCHRUN, only_full

FRAMEWORKS = TORCHRUN.with_name("python")  # with the frameworks
# Once in one go, and once stopped after two steps; each gives the samples that it saw.
TWICE = """
import json, sys
folder, example, out, option, *words = sys.argv[1:]
sys.path.insert(0, folder)
main = __import__(example).main
seen = [main([*words, option, out + "/whole"]), main([*words, option, out + "/parts", "--steps", "2"]), main([*words, option, out + "/parts"])]
json.dump(seen, open(out + "/seen.json", "w"))
"""
COMMAND = os.environ.get("STOKER_BIN", str(ROOT / "build/release/stoker"))


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imagenet")
    for part, count in (("train", 48), ("val", 21)):
        subprocess.run([COMMAND, "synth", folder / part, "--kind", "tiny", "--count", str(count), "--classes", "3", "--seed", "2"], check=True,
                       capture_output=True)
    return folder


def train_imagenet(launch, imagenet, world, audit, *options):
    """What is printed; each process writes its audit into the folder."""
    audit.mkdir(exist_ok=True)
    command = [sys.executable, ROOT / "examples/imagenet/train.py", imagenet, "--model", "tiny", "--audit", audit, *options]
    return launch("variables", world, command).wait()


def audited(folder):
    """The lines of all processes, by epoch and position. What came after the last checkpoint comes again, and is the same."""
    found = {}
    for line in (line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines(keepends=True)):
        if line.endswith("\n"):  # of a process that was killed the last one may be torn
            sample = json.loads(line)
            assert found.setdefault((sample["epoch"], sample["position"]), sample) == sample
    return found


@only_full
def test_imagenet_is_trained_and_goes_on_with_fewer_processes(launch, imagenet, tmp_path):
    def train(world, epochs):
        command = [sys.executable, ROOT / "examples/imagenet/train.py", imagenet, "--model", "tiny", "--global-batch", 16, "--every", 1,
                   "--checkpoint", tmp_path / "run.pt", "--epochs", epochs]
        printed = launch("variables", world, command).wait()
        return re.findall(r"epoch (\d+): ([\d.]+)% right, ([\d.]+)% by the average of the weights\. .+\.", printed)

    first, more = train(2, 1), train(1, 3)
    assert [epoch for epoch, _, _ in first] == ["0"] and [epoch for epoch, _, _ in more] == ["1", "2"]
    wanted = {f"{100 * right / 21:.2f}" for right in range(22)}  # each of the 21 counted once
    assert all(found in wanted for line in first + more for found in line[1:])


def seen_twice(python, folder, example, out, option, data, *more):
    """The samples of a whole run; of one that was stopped; and of the one that went on."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(stoker.__file__).parents[1])}
    command = [python, "-c", TWICE, ROOT / "examples" / folder, example, out, option, data, *map(str, more)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads((out / "seen.json").read_text())


@only_full
def test_imagenet_goes_on_in_the_midst_of_an_epoch(launch, imagenet, tmp_path):
    options = ["--global-batch", 8, "--epochs", 3]
    train_imagenet(launch, imagenet, 2, tmp_path / "whole", *options)
    whole = audited(tmp_path / "whole")
    assert sorted(whole) == [(epoch, position) for epoch in range(3) for position in range(48)]
    kept = [*options, "--every", 2, "--checkpoint", tmp_path / "run.pt"]
    assert train_imagenet(launch, imagenet, 2, tmp_path / "first", *kept, "--steps", 9).count("% right") == 1
    state = torch.load(tmp_path / "run.pt")["loader"]
    assert (state["epoch"], state["batch"]) == (1, 2)  # of 6 batches; the third is lost
    assert train_imagenet(launch, imagenet, 1, tmp_path / "rest", *kept).count("% right") == 2
    first, rest = audited(tmp_path / "first"), audited(tmp_path / "rest")
    assert (max(first), min(rest)) == ((1, 23), (1, 16))
    assert {**first, **rest} == whole == {**rest, **first}


@only_full
@pytest.mark.parametrize("example, option, more", [
    ("lightning_train", "--checkpoints", ["--every", "2", "--batch", "8"]),
    ("accelerate_train", "--checkpoint", ["--model", "test_resnet", "--global-batch", "8"]),
    ("jax_train", "--checkpoint", ["--batch", "8"]),
    ("trainer_train", "--output", ["--every", "2", "--batch", "8"])])
def test_frameworks_go_on_in_the_midst_of_an_epoch(imagenet, tmp_path, example, option, more):
    whole, first, rest = seen_twice(FRAMEWORKS, "frameworks", example, tmp_path, option, imagenet / "train", *more)
    assert len(first) == 16 and first + rest == whole
    assert sorted(map(tuple, whole)) == [(epoch, position) for epoch in range(2) for position in range(48)]


@only_full
def test_a_language_model_goes_on_to_the_sequence(tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(f"the {number} of {number % 7} is {number * number}" for number in range(300)))
    subprocess.run([COMMAND, "pack", tmp_path / "corpus.txt", tmp_path / "packed", "--tokens", "words", "--vocab", "100"], check=True,
                   capture_output=True)
    whole, first, rest = seen_twice(sys.executable, "tokens", "train", tmp_path, "--checkpoint", tmp_path / "packed/tokens.bin", "--vocab",
                                    tmp_path / "packed/vocab.txt", "--length", 16, "--batch", 4, "--width", 16, "--epochs", 2)
    assert len(first) == 8 and first + rest == whole
    assert len(set(map(tuple, whole))) == len(whole) > 100


def test_a_verdict_says_what_limits_the_training(imagenet, tmp_path):
    command = [sys.executable, ROOT / "examples/verdict/train.py", imagenet / "train", "--epochs", 2, "--batch", 8, "--width", 1,
               "--threads", 1, "--trace", tmp_path / "trace.json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=HANG_S,
                          env={**os.environ, "PYTHONPATH": str(Path(stoker.__file__).parents[1])})
    assert done.returncode == 0, done.stderr
    verdict = r"(?:Fed|GPU idle \d+%): .+\."
    epochs, report = done.stdout.split("\n\n")
    assert re.fullmatch(rf"epoch 0: loss \d+\.\d+\. {verdict}\nepoch 1: loss \d+\.\d+\. {verdict}", epochs)
    assert re.fullmatch(rf"{verdict}\n96 samples in .+ samples/s of .+\n(Waited .+\n)?With its batch ready, a step took .+\n",
                        report)
    assert {event["ph"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]} > {"M"}


@only_full
def test_views_without_labels_go_on(imagenet, tmp_path):
    whole, first, rest = seen_twice(sys.executable, "ssl", "train", tmp_path, "--checkpoint", imagenet / "train", "--model", "tiny",
                                    "--prototypes", 32, "--batch", 8, "--epochs", 1)
    assert len(first) == 16 and first + rest == whole and len(whole) == 48


@pytest.fixture
def coco(tmp_path):
    """COCO's list, with its images beside it."""
    noise = numpy.random.default_rng(1)
    (tmp_path / "annotations").mkdir()
    (tmp_path / "train2017").mkdir()
    images, annotations = [], []
    for number in range(1, 9):
        name = f"{number:012}.jpg"
        Image.fromarray(noise.integers(0, 256, (120, 160, 3), dtype=numpy.uint8)).save(tmp_path / "train2017" / name)
        images.append({"id": number, "file_name": name, "width": 160, "height": 120})
        for category in (1, 90):
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": category, "iscrowd": 0, "area": 2400,
                                "bbox": [10 * number, 5 * number, 60, 40]})
    path = tmp_path / "annotations" / "instances_train2017.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations,
                                "categories": [{"id": number, "name": str(number)} for number in range(1, 91)]}))
    return path


@only_full
def test_a_detector_goes_on(coco, tmp_path):
    whole, first, rest = seen_twice(FRAMEWORKS, "detection", "train", tmp_path, "--checkpoint", coco, "--model",
                                    "ssdlite320_mobilenet_v3_large", "--batch", 2, "--epochs", 1)
    assert len(first) == 4 and first + rest == whole and len(whole) == 8


@only_full
def test_cifar_goes_on(tmp_path):
    noise = numpy.random.default_rng(1)
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:  # as the authors' archive has them
        part = {"data": noise.integers(0, 256, (12, 3072), dtype=numpy.uint8), "labels": noise.integers(0, 10, 12).tolist()}
        (tmp_path / name).write_bytes(pickle.dumps(part))
    whole, first, rest = seen_twice(sys.executable, "cifar", "train", tmp_path, "--checkpoint", tmp_path, "--width", 4, "--depth", 1,
                                    "--batch", 8, "--epochs", 2)
    assert len(first) == 16 and first + rest == whole and len(whole) == 2 * 56


@only_full
def test_segmentation_goes_on(tmp_path):
    noise, rows = numpy.random.default_rng(1), ["path,file:mask.png"]
    for number in range(8):
        Image.fromarray(noise.integers(0, 256, (120, 160, 3), dtype=numpy.uint8)).save(tmp_path / f"{number}.jpg")
        Image.fromarray(noise.integers(0, 21, (120, 160), dtype=numpy.uint8)).save(tmp_path / f"{number}_mask.png")
        rows.append(f"{number}.jpg,{number}_mask.png")
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n")
    whole, first, rest = seen_twice(FRAMEWORKS, "segmentation", "train", tmp_path, "--checkpoint", tmp_path / "train.csv", "--model",
                                    "lraspp_mobilenet_v3_large", "--batch", 2, "--epochs", 1)
    assert len(first) == 4 and first + rest == whole and len(whole) == 8


@only_full
def test_slurm_goes_on_with_fewer_processes(slurm, imagenet, tmp_path):
    def submit(tasks, epochs):
        log = tmp_path / f"{tasks}.out"
        options = f"--model tiny --epochs {epochs} --every 1"
        env = {**slurm.env, "GLOBAL_BATCH": "16", "TRAIN": str(ROOT / "examples/imagenet/train.py"), "OPTIONS": options, "PYTHON": sys.executable,
               "PYTHONPATH": str(Path(stoker.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(["sbatch", "--wait", f"--ntasks={tasks}", f"--ntasks-per-node={tasks}", "--cpus-per-task=1",
                               "--gpus-per-node=0", f"--output={log}", f"--chdir={tmp_path}", ROOT / "examples/slurm/train.slurm",
                               str(imagenet), str(tmp_path / "run.pt")], env=env, capture_output=True, text=True, timeout=HANG_S)
        printed = log.read_text() if log.exists() else ""
        assert done.returncode == 0, (done.stderr, printed, slurm.logs())
        return re.findall(r"epoch (\d+): ", printed)

    assert submit(3, 1) == ["0"]  # by two, since three do not divide the global batch
    assert submit(1, 3) == ["1", "2"]


@only_full
def test_slurm_goes_on_after_the_warning_that_its_time_ends(slurm, launch, imagenet, tmp_path):
    options = ["--global-batch", "8", "--epochs", "40"]
    train_imagenet(launch, imagenet, 1, tmp_path / "whole", *options)
    (tmp_path / "parts").mkdir()
    log = tmp_path / "job.out"
    env = {**os.environ, "GLOBAL_BATCH": "8", "TRAIN": str(ROOT / "examples/imagenet/train.py"), "PYTHON": sys.executable,
           "OPTIONS": f"--model tiny --epochs 40 --every 1 --audit {tmp_path / 'parts'}", "OMP_NUM_THREADS": "1",
           "PYTHONPATH": str(Path(stoker.__file__).parents[1])}
    job = slurm.submit(env, "--ntasks=2", "--ntasks-per-node=2", "--cpus-per-task=1", "--gpus-per-node=0", f"--output={log}",
                       f"--chdir={tmp_path}", ROOT / "examples/slurm/train.slurm", imagenet, tmp_path / "run.pt")
    slurm.until(lambda: len(audited(tmp_path / "parts")) > 100)
    subprocess.run(["scancel", "--signal=USR1", "--batch", job], env=slurm.env, check=True, timeout=HANG_S)
    slurm.until(lambda: slurm.restarts(job) == 1)
    assert slurm.states_at_end(job) == ["COMPLETED"], (log.read_text(), slurm.logs())
    assert len(list((tmp_path / "parts").iterdir())) == 4  # of two processes, twice
    assert audited(tmp_path / "parts") == audited(tmp_path / "whole")


@only_full
def test_libtorch_goes_on(imagenet, tmp_path):
    build, prefix = Path(COMMAND).parent, tmp_path / "prefix"

    def run(*words):
        return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True, timeout=10 * HANG_S).stdout

    run("cmake", "--install", build, "--prefix", prefix)
    run("cmake", "-G", "Ninja", "-S", ROOT / "examples/libtorch", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    train, data = tmp_path / "build/train", imagenet / "train"
    whole = run(train, data, tmp_path / "whole", 3)
    parts = [run(train, data, tmp_path / "parts", 3, *steps) for steps in ((4,), ())]

    def batches(printed):
        return re.findall(r"epoch \d+, batch \d+: first sample .+", printed)

    assert len(batches(whole)) == 9 and batches(parts[0]) + batches(parts[1]) == batches(whole)
    assert (tmp_path / "whole/network.pt").read_bytes() == (tmp_path / "parts/network.pt").read_bytes()
