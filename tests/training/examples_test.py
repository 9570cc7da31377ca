"""The examples that people start from, for some steps on the CPU."""

import json
import os
import pickle
import re
import shutil
import signal
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
WATCH = Path(__file__).with_name("watch_example.py")
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


@only_full
def test_the_average_of_the_weights_has_an_average_of_the_statistics(launch, imagenet, tmp_path):
    options = ["--global-batch", 8, "--steps", 3, "--every", 3, "--checkpoint", tmp_path / "run.pt"]
    train_imagenet(launch, imagenet, 1, tmp_path / "audit", *options)
    saved = torch.load(tmp_path / "run.pt")
    average, now = saved["average"]["module.1.running_mean"], saved["model"]["1.running_mean"]
    assert average.abs().min() > 0 and not torch.equal(average, now)


PREPARED = """
import json, sys
import torch.distributed as distributed

sys.path.insert(0, sys.argv.pop(1))
import train

distributed.init_process_group("gloo")
training = train.Training(train.arguments())
training.epoch(0)
val = training.val.dataset
print(json.dumps([training.loss.label_smoothing, val.classes, dict(zip(val.keys, val.labels.tolist()))]))
distributed.destroy_process_group()
"""


def prepared(launch, imagenet, *options):
    """How the loss smooths labels, and the classes and labels of `val`, once the training has made a step."""
    command = [sys.executable, "-c", PREPARED, ROOT / "examples/imagenet", imagenet, "--model", "tiny", "--steps", 1, *options]
    return json.loads(launch("variables", 1, command).wait())


@only_full
@pytest.mark.parametrize("recipe, smoothing", [("timm-a1", 0), ("resnet50-v2", 0.1), ("imagenet-train", 0.1)])
def test_labels_are_smoothed_once(launch, imagenet, recipe, smoothing):
    """Of three classes, for which recipes with labels as probabilities are not written."""
    assert prepared(launch, imagenet, "--recipe", recipe, "--global-batch", 24)[0] == smoothing


@only_full
def test_images_to_validate_on_have_the_classes_of_the_training(launch, imagenet, tmp_path):
    (tmp_path / "train").symlink_to(imagenet / "train")
    shutil.copytree(imagenet / "val", tmp_path / "val")
    shutil.rmtree(tmp_path / "val/c0000")
    _, classes, labels = prepared(launch, tmp_path, "--global-batch", 8)
    assert classes == ["c0000", "c0001", "c0002"]
    assert set(labels.values()) == {1, 2} and all(classes[label] == key.split("/")[0] for key, label in labels.items())


def watched(python, script, out, runs, kill_before=0):
    """The batches that an example is given in each of these runs, of which the last is killed before it gets batch number
    `kill_before`."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(stoker.__file__).parents[1])}
    words = json.dumps([list(map(str, words)) for words in runs])
    command = [python, WATCH, ROOT / "examples" / script, out / "seen.json", str(kill_before), words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, env=env)
    assert done.returncode == (-signal.SIGKILL if kill_before else 0), done.stderr
    return [[[tuple(sample) for sample in batch] for batch in run] for run in json.loads((out / "seen.json").read_text())]


def check_goes_on(python, script, out, option, *words):
    """The samples of a whole run: one that is stopped after two steps, and goes on, gets the same."""
    whole, first, rest = watched(python, script, out, [
        [*words, option, out / "whole"], [*words, option, out / "parts", "--steps", 2], [*words, option, out / "parts"]])
    assert len(first) == 2 and first + rest == whole
    return sum(whole, [])


def check_goes_on_when_killed(python, script, out, option, epoch, *words):
    """From the last checkpoint, in the midst of an epoch of so many batches and at its end. A run that is over does nothing."""
    words = [*words, option, out / "killed", "--epochs", 2]
    (first,) = watched(python, script, out, [[*words, "--every", 2]], kill_before=4)
    (rest,) = watched(python, script, out, [[*words, "--every", 1000]], kill_before=epoch)
    last, after = watched(python, script, out, [words, words])
    assert (len(first), len(rest)) == (3, epoch - 1)
    assert rest[0] == first[2] and last[0] == rest[epoch - 2] and last[0][0] == (1, 0)
    assert last[-1][0][0] == 1 and after == []


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


OF_FRAMEWORKS = {
    "lightning_train.py": ["--checkpoints", "--every", 2, "--batch", 8],
    "accelerate_train.py": ["--checkpoint", "--model", "test_resnet", "--global-batch", 8],
    "jax_train.py": ["--checkpoint", "--batch", 8],
    "trainer_train.py": ["--output", "--every", 2, "--batch", 8],
}


@only_full
@pytest.mark.parametrize("example", OF_FRAMEWORKS)
def test_frameworks_go_on_in_the_midst_of_an_epoch(imagenet, tmp_path, example):
    option, *more = OF_FRAMEWORKS[example]
    whole = check_goes_on(FRAMEWORKS, f"frameworks/{example}", tmp_path, option, imagenet / "train", *more)
    assert sorted(whole) == [(epoch, position) for epoch in range(2) for position in range(48)]


@only_full
@pytest.mark.parametrize("example", ["accelerate_train.py", "jax_train.py"])
def test_frameworks_go_on_when_they_are_killed(imagenet, tmp_path, example):
    option, *more = OF_FRAMEWORKS[example]
    check_goes_on_when_killed(FRAMEWORKS, f"frameworks/{example}", tmp_path, option, 6, imagenet / "train", *more)


PRETRAINED = """
import sys

import transformers

folder, model, *words = sys.argv[1:]
sys.path.insert(0, folder)
import trainer_train

config = transformers.ViTConfig(
    image_size=32, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
transformers.ViTForImageClassification(config).save_pretrained(model)
processor = transformers.ViTImageProcessor(
    size={"height": 32, "width": 32}, image_mean=[0.5] * 3, image_std=[0.25] * 3)
processor.save_pretrained(model)
trainer_train.main([*words, "--model", model])
print(trainer_train.recipe_for(model).to_toml())
"""


@only_full
def test_a_pretrained_model_gets_images_as_it_was_trained_on(imagenet, tmp_path):
    words = [imagenet / "train", "--output", tmp_path / "runs", "--batch", 8, "--steps", 1, "--every", 1]
    command = [FRAMEWORKS, "-c", PRETRAINED, ROOT / "examples/frameworks", tmp_path / "model", *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=HANG_S,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(stoker.__file__).parents[1])})
    assert done.returncode == 0, done.stderr
    assert re.search(r"mean = \[0.5, 0.5, 0.5\], std = \[0.25, 0.25, 0.25\], scale = 255", done.stdout)
    assert re.search(r'op = "random_resized_crop", size = \[32\]', done.stdout)
    trained = json.loads((tmp_path / "runs/checkpoint-1/config.json").read_text())
    assert trained["id2label"] == {"0": "c0000", "1": "c0001", "2": "c0002"}


@only_full
def test_a_language_model_goes_on_to_the_sequence(tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(f"the {number} of {number % 7} is {number * number}" for number in range(300)))
    subprocess.run([COMMAND, "pack", tmp_path / "corpus.txt", tmp_path / "packed", "--tokens", "words", "--vocab", "100"], check=True,
                   capture_output=True)
    packed = tmp_path / "packed"
    words = [packed / "tokens.bin", "--vocab", packed / "vocab.txt", "--length", 16, "--batch", 4, "--width", 16]
    whole = check_goes_on(sys.executable, "tokens/train.py", tmp_path, "--checkpoint", *words, "--epochs", 2)
    assert len(set(whole)) == len(whole) > 100
    check_goes_on_when_killed(sys.executable, "tokens/train.py", tmp_path, "--checkpoint", len(whole) // 8, *words)


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
    words = [imagenet / "train", "--model", "tiny", "--prototypes", 32, "--batch", 8]
    assert len(check_goes_on(sys.executable, "ssl/train.py", tmp_path, "--checkpoint", *words, "--epochs", 1)) == 48
    check_goes_on_when_killed(sys.executable, "ssl/train.py", tmp_path, "--checkpoint", 6, *words)


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
    words = [coco, "--model", "ssdlite320_mobilenet_v3_large", "--batch", 2]
    assert len(check_goes_on(FRAMEWORKS, "detection/train.py", tmp_path, "--checkpoint", *words, "--epochs", 1)) == 8
    check_goes_on_when_killed(FRAMEWORKS, "detection/train.py", tmp_path, "--checkpoint", 4, *words)


@only_full
def test_cifar_goes_on(tmp_path):
    noise = numpy.random.default_rng(1)
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:  # as the authors' archive has them
        part = {"data": noise.integers(0, 256, (12, 3072), dtype=numpy.uint8), "labels": noise.integers(0, 10, 12).tolist()}
        (tmp_path / name).write_bytes(pickle.dumps(part))
    words = [tmp_path, "--width", 4, "--depth", 1, "--batch", 8, "--epochs", 2]
    whole = check_goes_on(sys.executable, "cifar/train.py", tmp_path, "--checkpoint", *words)
    assert len(whole) == 2 * 56


@only_full
def test_segmentation_goes_on(tmp_path):
    noise, rows = numpy.random.default_rng(1), ["path,file:mask.png"]
    for number in range(8):
        Image.fromarray(noise.integers(0, 256, (120, 160, 3), dtype=numpy.uint8)).save(tmp_path / f"{number}.jpg")
        Image.fromarray(noise.integers(0, 21, (120, 160), dtype=numpy.uint8)).save(tmp_path / f"{number}_mask.png")
        rows.append(f"{number}.jpg,{number}_mask.png")
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n")
    words = [tmp_path / "train.csv", "--model", "lraspp_mobilenet_v3_large", "--batch", 2]
    assert len(check_goes_on(FRAMEWORKS, "segmentation/train.py", tmp_path, "--checkpoint", *words, "--epochs", 1)) == 8
    check_goes_on_when_killed(FRAMEWORKS, "segmentation/train.py", tmp_path, "--checkpoint", 4, *words)


def test_slurm_gives_each_process_its_cores(tmp_path):
    called = tmp_path / "called"
    for name, text in (("srun", f'printf "%s\\n" "$@" > {called}'), ("scontrol", "echo node1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_NTASKS": "3", "SLURM_CPUS_PER_TASK": "8", "SLURM_JOB_ID": "1",
           "SLURM_JOB_NODELIST": "node1", "GLOBAL_BATCH": "16"}
    subprocess.run(["bash", ROOT / "examples/slurm/train.slurm", "data", "run.pt"], env=env, check=True, timeout=HANG_S)
    assert called.read_text().splitlines()[:2] == ["--ntasks=2", "--cpus-per-task=8"]


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
    batch = re.compile(r"epoch \d+, batch \d+: first sample .+")
    whole = batch.findall(run(train, data, tmp_path / "whole.pt", 3))
    first, rest = (batch.findall(run(train, data, tmp_path / "parts.pt", 3, *steps)) for steps in ((4,), ()))
    assert len(whole) == 9 and first + rest == whole
    states = [torch.jit.load(tmp_path / f"{name}.pt").network.state_dict() for name in ("whole", "parts")]
    assert len(states[0]) == 6 and all(torch.equal(states[0][name], states[1][name]) for name in states[0])

    kept_every_two = list(map(str, ("stdbuf", "-oL", train, data, tmp_path / "killed.pt", 3, 9, 2)))
    with subprocess.Popen(kept_every_two, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            assert batch.match(process.stdout.readline())
        process.kill()
    rest = batch.findall(run(train, data, tmp_path / "killed.pt", 3))
    assert len(rest) <= 7 and rest == whole[9 - len(rest):]
