"""Batches that actors of Ray make: those of one loader, in its order, however many actors there are and are lost."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from launchers import HANG_S, ROOT, only_full

RAY = Path(os.environ.get("STOKER_TEST_RAY", ROOT / "build/ray-venv/bin/python"))
COMMAND = os.environ.get("STOKER_BIN", str(ROOT / "build/release/stoker"))
KILLS = 40

pytestmark = only_full

BEGIN = """
import json, os, pathlib, random, signal, sys, time
import numpy, ray, stoker, stoker.ray
folder, out = sys.argv[1:]
ray.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
recipe = stoker.recipe().decode().random_resized_crop(32).random_flip().normalize("imagenet")
options = dict(batch=4, seed=5, tail="keep")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "small"
    subprocess.run([COMMAND, "synth", out, "--kind", "tiny", "--count", "150", "--classes", "3", "--seed", "3"], check=True, timeout=HANG_S,
                   capture_output=True)
    return out


def run(program, folder, out):
    """What the program tells, as JSON, in the last line that is not Ray's."""
    done = subprocess.run([RAY, "-c", BEGIN + program, folder, out], timeout=10 * HANG_S, capture_output=True, text=True,
                          env={**os.environ, "RAY_TMPDIR": tempfile.gettempdir()})
    assert done.returncode == 0, done.stderr
    return json.loads(next(line for line in reversed(done.stdout.splitlines()) if line[:1] in "[{0123456789"))


def with_bad_ones(folder, at, count):
    """60 files, so many of which are no images."""
    whole = next(folder.rglob("*.png")).read_bytes()
    at.mkdir()
    for number in range(60):
        (at / f"{number:02}.png").write_bytes(b"none" if number < count else whole)
    return at


@pytest.fixture(scope="module")
def audit(folder, tmp_path_factory):
    """Of three epochs of a loader without Ray."""
    out = tmp_path_factory.mktemp("plain")
    run("""
with stoker.Loader(folder, recipe, audit=out + "/audit", threads=1, **options) as loader:
    for _ in range(3):
        for batch in loader: pass
print(json.dumps({}))
""", folder, out)
    return (out / "audit").read_text()


@pytest.mark.parametrize("actors, here", [((1, 1), False), ((3, 3), False), ((0, 2), False), ((2, 2), True), ((0, 0), True)])
def test_the_audit_is_the_same(folder, audit, tmp_path, actors, here):
    (tmp_path / "audit").write_text("of another run, which was longer\n" * 40_000)
    told = run(f"""
with stoker.ray.Loader(folder, recipe, actors={actors}, here={here}, audit=out + "/audit", **options) as loader:
    for _ in range(3):
        for batch in loader: assert batch.image.shape[1:] == (3, 32, 32)
    print(json.dumps(loader.metrics()))
""", folder, tmp_path)
    assert (tmp_path / "audit").read_text() == audit
    assert (told["batches"], told["samples"], told["epochs"]) == (3 * 38, 3 * 150, 3)
    assert told["decode_ns"] > 0 and told["consumer_wait_ns"] > 0
    assert (told["batches_here"] > 0) == here
    assert told["actors_lost"] == 0
    assert told["bytes_received"] > 0 or here, "this process may be done before any actor has begun"


def test_lost_actors_cost_no_sample(folder, audit, tmp_path):
    """Each is killed in the midst of its work, or before it has begun."""
    told = run(f"""
draw, kills = random.Random(3), 0
with stoker.ray.Loader(folder, recipe, actors=2, here=False, audit=out + "/audit", **options) as loader:
    for epoch in range(3):
        for batch in loader:
            if kills < {KILLS} and draw.random() < 0.5:
                actors = [member.actor for member in [*loader._members, *loader._arriving.values()]]
                ray.kill(draw.choice(actors))
                kills += 1
    print(json.dumps({{**loader.metrics(), "kills": kills}}))
""", folder, tmp_path)
    assert told["kills"] == KILLS
    assert told["actors_lost"] >= KILLS / 2, "the same may have been killed twice"
    assert (tmp_path / "audit").read_text() == audit


def test_a_killed_process_is_a_lost_actor(folder, audit, tmp_path):
    told = run("""
with stoker.ray.Loader(folder, recipe, actors=2, here=False, audit=out + "/audit", **options) as loader:
    for epoch in range(3):
        for number, batch in enumerate(loader):
            if number % 15 == 7 and loader._members:
                try:
                    pid = ray.get(loader._members[0].actor.__ray_call__.remote(lambda self: os.getpid()))
                except ray.exceptions.RayActorError:
                    continue  # that is one that was killed before, which is not known here yet
                os.kill(pid, signal.SIGKILL)
    print(json.dumps(loader.metrics()))
""", folder, tmp_path)
    assert told["actors_lost"] > 0
    assert (tmp_path / "audit").read_text() == audit


def test_the_report_says_what_limits(folder, tmp_path):
    """A consumer whose steps are long; one without steps; and one of batches that take longer to send than to make."""
    told = run("""
def verdict(recipe, step_s=0.0, **options):
    with stoker.ray.Loader(folder, recipe, actors=1, here=False, seed=5, **options) as loader:
        for epoch in range(2):
            for batch in loader: time.sleep(step_s)
        report = loader.report(epoch=1)
        assert loader.report().samples == 2 * report.samples == 300
        assert report.steps == len(loader) and loader.report().steps == 2 * len(loader)
        return report.as_dict()
slow = stoker.recipe().decode().resize([400, 400])
for _ in range(12): slow = slow.gaussian_blur(kernel_size=[23, 23])
large = stoker.recipe().view("coded", field="image").decode_bytes(most=1 << 20).pad_to(1 << 20)
print(json.dumps([verdict(recipe, step_s=0.3, batch=30), verdict(slow, batch=10), verdict(large, batch=10)]))
""", folder, tmp_path)
    fed, making, coming = told
    assert fed["fed"] and fed["bottleneck"] == "step" and fed["step_s"] >= 0.3
    assert making["bottleneck"] == "cpu transform" and making["samples_per_s_needed"] is None
    assert coming["bottleneck"] == "copy", coming
    assert all(abs(sum(report["wait"].values()) - 1) < 1e-6 for report in told)


def test_a_state_goes_from_one_kind_of_loader_to_the_other(folder, audit, tmp_path):
    run("""
def plain(): return stoker.Loader(folder, recipe, threads=1, **options)
def of_ray(): return stoker.ray.Loader(folder, recipe, actors=2, here=False, **options)
state, lines, audit = None, [], stoker._stoker._Audit(out + "/audit")
draw = random.Random(4)
position = 0
for turn in range(9):
    with (plain, of_ray)[turn % 2]() as loader:
        if state: loader.load_state_dict(state)
        take = 13 + turn
        while take and position < 3 * 38:
            for batch in loader:
                audit.write(batch)
                position, take = position + 1, take - 1
                if take == 0 or position == 3 * 38: break
        state = json.loads(json.dumps(loader.state_dict()))
        if turn % 2:
            with plain() as other:
                other.load_state_dict(state)
                assert other.state_dict() == state
print(json.dumps(position))
""", folder, tmp_path)
    assert (tmp_path / "audit").read_text() == audit


def test_leaving_an_epoch_and_naming_another(folder, tmp_path):
    run("""
def keys(batches): return [key for batch in batches for key in batch.key]
with stoker.Loader(folder, recipe, threads=1, **options) as loader:
    expected = [keys(loader.epoch(epoch)) for epoch in range(4)]
with stoker.ray.Loader(folder, recipe, actors=2, **options) as loader:
    for batch in loader.epoch(2): break
    assert keys(loader.epoch(1)) == expected[1]
    batches = loader.epoch(3)
    next(batches)
    assert len(batches) == 37
    assert keys(loader.epoch(0)) == expected[0]
    iter(loader)  # which is not used
    assert keys(loader) == expected[1]
slow = stoker.recipe().decode().random_resized_crop(224).gaussian_blur(kernel_size=[23, 23]).normalize("imagenet")
with stoker.ray.Loader(folder, slow, actors=1, here=False, batch=30, seed=5) as loader:
    for _ in range(4): next(loader.epoch(2))  # the actor is asked again for what it is at work on
    assert len(keys(loader.epoch(2))) == 150
print(json.dumps(0))
""", folder, tmp_path)


def test_mistakes_are_the_members_own_sentences(folder, tmp_path):
    told = run("""
def told(make):
    try:
        with make() as loader:
            for batch in loader: pass
    except stoker.Error as error:
        return [error.kind, str(error)]
broken, whole = pathlib.Path(out, "broken"), next(pathlib.Path(folder).rglob("*.png")).read_bytes()
broken.mkdir()
for number in range(60): (broken / f"{number:02}.png").write_bytes(whole if number % 3 else b"none")
print(json.dumps([
    told(lambda: stoker.ray.Loader(folder, recipe, actors=1, device="cuda", **options)),
    told(lambda: stoker.ray.Loader(folder, recipe, actors=0, here=False, **options)),
    told(lambda: stoker.ray.Loader(folder, recipe, actors=1, here=False, bogus=3, **options)),
    told(lambda: stoker.ray.Loader(broken, recipe, actors=1, here=False, **options)),
    told(lambda: stoker.ray.Loader(broken, recipe, actors=1, here=False, bad_sample="fail", **options)),
]))
""", folder, tmp_path)
    kinds, sentences = zip(*told)
    assert "on the CPU" in sentences[0] and "nothing that makes batches" in sentences[1] and "bogus" in sentences[2]
    assert "bad samples" in sentences[3]
    assert kinds[3] == kinds[4] == "bad_sample"


def test_a_mistake_in_actor_options_is_told_each_time(folder, tmp_path):
    told = run("""
told = []
with stoker.ray.Loader(folder, recipe, actors=1, here=False, actor_options={"bogus": 1}, **options) as loader:
    for _ in range(2):
        try:
            next(iter(loader))
        except ValueError as error:
            told.append(str(error))
print(json.dumps(told))
""", folder, tmp_path)
    assert len(told) == 2 and "bogus" in told[0] and told[0] == told[1]


def test_listed_samples_may_be_many_and_new_ones_count_for_all_members_together(folder, tmp_path):
    broken = with_bad_ones(folder, tmp_path / "broken", 12)
    done = subprocess.run([COMMAND, "verify", broken, "--quarantine", tmp_path / "list"], timeout=HANG_S, capture_output=True)
    assert done.returncode == 1 and len((tmp_path / "list").read_text().splitlines()) == 12
    kind, sentence = run("""
def seen(make, **more):
    with make(folder, recipe, **more, **options) as loader:
        keys = [key for batch in loader for key in batch.key]
        return keys, loader.metrics()["bad_samples"], sorted(bad["key"] for bad in loader.quarantine)
expected = seen(stoker.Loader, threads=1, quarantine=out + "/list")
assert expected[1] == 12
for here in (False, True):
    assert seen(stoker.ray.Loader, actors=2, here=here, quarantine=out + "/list") == expected
try:
    seen(stoker.ray.Loader, actors=2)
except stoker.Error as error:
    print(json.dumps([error.kind, str(error)]))
""", broken, tmp_path)
    assert kind == "bad_sample" and "epoch 0 has met 11 bad samples, more than the 10 that a run tolerates" in sentence
    assert len((tmp_path / "list").read_text().splitlines()) == 12


def test_the_limit_for_bad_samples_is_of_an_epoch(folder, tmp_path):
    """Each epoch has one batch, of the half of the samples that it draws."""
    broken = with_bad_ones(folder, tmp_path / "broken", 12)
    found = run("""
def found(make, **more):
    with make(folder, recipe, batch=31, seed=5, tail="drop", bad_sample="skip", **more) as loader:
        for epoch in range(6):
            for batch in loader: pass
        return sorted(bad["key"] for bad in loader.quarantine)
expected = found(stoker.Loader, threads=1)
assert found(stoker.ray.Loader, actors=1, here=False) == expected
print(json.dumps(expected))
""", broken, tmp_path)
    assert len(found) > 10, "more in all than one epoch may have"


def test_an_error_after_a_batch_was_made_is_the_epochs(folder, tmp_path):
    run("""
def keys(batches): return [key for batch in batches for key in batch.key]
class FullDisk:
    def __init__(self, audit): self.audit, self.left = audit, 2
    def begin(self): self.audit.begin()
    def write(self, batch):
        self.left -= 1
        if self.left == 0: raise OSError("the disk is full")
        self.audit.write(batch)
with stoker.Loader(folder, recipe, threads=1, **options) as loader:
    expected = keys(loader.epoch(1))
with stoker.ray.Loader(folder, recipe, actors=1, audit=out + "/audit", **options) as loader:
    loader._audit = FullDisk(loader._audit)
    batches = loader.epoch(1)
    next(batches)
    state, errors = loader.state_dict(), []
    for _ in range(2):
        try:
            next(batches)
        except OSError as error:
            errors.append(error)
    assert len(errors) == 2 and errors[0] is errors[1]
    assert loader.state_dict() == state
    assert keys(loader.epoch(1)) == expected
print(json.dumps(0))
""", folder, tmp_path)


def test_a_refused_state_changes_nothing(folder, tmp_path):
    told = run("""
def keys(batches): return [key for batch in batches for key in batch.key]
with stoker.Loader(folder, recipe, threads=1, **options) as loader:
    expected = keys(loader.epoch(0))
told = []
with stoker.ray.Loader(folder, recipe, actors=2, **options) as loader:
    batches = loader.epoch(0)
    next(batches)
    state = loader.state_dict()
    for refused in (None, {}, {**state, "recipe": "another"}):
        try:
            loader.load_state_dict(refused)
        except stoker.Error as error:
            told.append(error.kind)
        assert loader.state_dict() == state
    assert keys(batches) == expected[4:]
    assert loader.metrics()["actors_started"] == 2
    loader.load_state_dict(state)
    assert keys(loader) == expected[4:]
print(json.dumps(told))
""", folder, tmp_path)
    assert told == 3 * ["usage"]


def test_actors_come_when_the_consumer_waits_and_go_when_it_does_not(folder, tmp_path):
    told = run("""
stoker._ray_loader._PERIOD_S, stoker._ray_loader._PERIOD_BATCHES = 0.2, 2
slow = stoker.recipe().decode().random_resized_crop(160).rand_augment().gaussian_blur(kernel_size=[23, 23]).normalize("imagenet")
with stoker.ray.Loader(folder, slow, actors=(0, 3), here=True, threads=1, batch=8, seed=5) as loader:
    most, began = 0, time.monotonic()
    for epoch in range(100):
        for batch in loader:
            most = max(most, loader.actors)
        if most > 1 or time.monotonic() - began > 60: break
    least, began = most, time.monotonic()
    for epoch in range(100):
        for batch in loader:
            time.sleep(0.25)  # a step
            least = min(least, loader.actors)
        if least == 0 or time.monotonic() - began > 90: break
print(json.dumps([most, least]))
""", folder, tmp_path)
    assert told[0] >= 2, "a consumer that always waits"
    assert told[1] == 0, "a consumer that never does"
