"""Seven trainings as people have them: the doctor's diagnosis of each, and the result of following it. Writes docs/stories."""

import dataclasses
import pathlib
import random
import subprocess
from typing import Callable

import throttles
from PIL import Image  # Debian's
from process import evict, warm

SMALL_FILES = 200_000
LARGE_PHOTOS, LARGE_COPIES, LARGE_WIDTH = 16, 8, 4000
ROOM_FOR_SHARDS = "64MiB"


@dataclasses.dataclass
class Situation:
    """What holds the training back, and how it loads its data."""

    throttle: Callable               # of a bench, to a throttles.Throttle
    data: str                        # a data set of the bench
    recipe: str = "imagenet-train"
    options: tuple = ()              # of `run` and `doctor` alike
    warm: bool = True                # the page cache has the data; else it has none at first
    later: bool = False              # the second epoch is measured, once caches have what they can have


@dataclasses.dataclass
class Story:
    name: str
    title: str
    told: str                        # what the training is, in a sentence or two
    before: Situation
    step: float
    followed: str = ""               # what was done about it; empty: nothing had to be
    after: Situation | None = None
    batch: int = 64
    gpus: int = 1
    what_if: tuple = ()              # the change that was made, if the doctor does not propose it by itself


def free(_):
    return throttles.Throttle()


def turning_disk(data, memory_bytes):
    """A disk that turns, in a machine with so much memory: it seeks some hundred times a second."""
    return lambda bench: throttles.memory(memory_bytes, bench.path(data), bytes_per_s=120_000_000, reads_per_s=150)


def stories():
    little = 512_000_000
    return [
        Story("small-files", "200,000 small files on a slow disk",
              "Pictures of two kilobytes are in a folder for each class, on a disk that does 150 reads a second. In memory each would "
              "take a page and an inode, together 1 GB and more; the machine has 512 MB.",
              Situation(turning_disk("small-files", little), "small-files", "cifar-train", warm=False), 0.02,
              "`stoker pack small-files packed`, and the windowed order, which reads a megabyte at a time once its first windows are there: "
              "the second epoch counts.",
              Situation(turning_disk("small-files-packed", little), "small-files-packed", "cifar-train", ("--order", "windowed"), warm=False,
                        later=True),
              what_if=("layout=packed order=windowed",)),
        Story("large-photos", "Large photographs on two cores",
              f"Photographs {LARGE_WIDTH} pixels wide are decoded and cropped for a model that takes 224.",
              Situation(free, "large"), 0.2,
              "This machine has no more cores, so the work was reduced: `stoker pack photos packed --resize-short 512`.",
              Situation(free, "large-resized"), what_if=("cores=8",)),
        Story("object-store", "An object store 30 ms away",
              "Loose photographs are in a bucket; the loader makes eight requests at a time, like other loaders with eight workers.",
              Situation(lambda bench: bench.store(0.03, None), "s3:photos-loose", options=("--io-depth", "8")), 0.1,
              "Without `--io-depth`.",
              Situation(lambda bench: bench.store(0.03, None), "s3:photos-loose")),
        Story("heavy-recipe", "A recipe too heavy for the CPU",
              "Pictures stored as pixels need no decoding, but each gets RandAugment and a blur of 9 x 9.",
              Situation(free, "raw", "aug-heavy"), 0.005,
              "The recipe without both, to measure their cost.",
              Situation(free, "raw", "imagenet-train"), what_if=("without=color",)),
        Story("small-memory", "Memory too small for the cache it wants",
              "A control group has memory for half of the data; the disk gives 20 MB/s, and `--cache ram` is set.",
              Situation(lambda bench: throttles.memory(bench.half_of("photos"), bench.path("photos"), 20_000_000), "photos",
                        options=("--cache", "ram", "--memory", "200MiB"), warm=False, later=True), 0.1,
              "Four times the memory, which holds all data after the first epoch.",
              Situation(lambda bench: throttles.memory(4 * bench.half_of("photos"), bench.path("photos"), 20_000_000), "photos",
                        options=("--cache", "ram", "--memory", "1GiB"), warm=False, later=True)),
        Story("eight-gpus", "Eight GPUs on one NIC",
              "Each of a node's eight GPUs takes a batch from a store behind a link of 60 MB/s.",
              Situation(lambda bench: bench.store(0.005, 60_000_000), "s3:photos", later=True), 0.5,
              "A link with four times the rate.",
              Situation(lambda bench: bench.store(0.005, 240_000_000), "s3:photos", later=True), gpus=8),
        Story("healthy", "A healthy run", "Packed photographs in the page cache, two cores, a step of 0.3 s.",
              Situation(free, "photos"), 0.3),
    ]


def make_data(bench):
    """What the stories need besides what the bench has."""
    small = bench.path("small-files")
    bench.command("synth", small, "--kind", "tiny", "--count", SMALL_FILES, "--classes", 100, "--seed", 2)
    bench.command("pack", small, bench.path("small-files-packed"), "--shard-size", ROOM_FOR_SHARDS)
    large = bench.path("large-loose")
    enlarge(sorted(bench.path("photos-loose").rglob("*.jpg"))[:LARGE_PHOTOS], large / "0")
    bench.command("pack", large, bench.path("large"), "--shard-size", ROOM_FOR_SHARDS)
    bench.command("pack", large, bench.path("large-resized"), "--resize-short", 512, "--shard-size", ROOM_FOR_SHARDS)


def enlarge(photos, folder):
    """With noise, as cameras have it: pictures that were only enlarged would have few bits for their pixels."""
    folder.mkdir(parents=True)
    noise = random.Random(1)
    for number, photo in enumerate(photos):
        image = Image.open(photo).convert("RGB")
        height = LARGE_WIDTH * image.height // image.width
        image = image.resize((LARGE_WIDTH, height), Image.BICUBIC)
        grain = Image.frombytes("L", image.size, noise.randbytes(LARGE_WIDTH * height)).convert("RGB")
        first = folder / f"{number:04}-0.jpg"
        Image.blend(image, grain, 0.04).save(first, quality=92)
        for copy in range(1, LARGE_COPIES):
            first.with_stem(f"{number:04}-{copy}").hardlink_to(first)


def diagnose(bench, story, page):
    """The answer as JSON, and its first part as people see it."""
    situation = story.before
    prepare(bench, situation)
    more = ["--gpus", story.gpus] if story.gpus > 1 else []
    more += [word for changes in story.what_if for word in ("--what-if", changes)]
    with situation.throttle(bench) as throttle:
        return bench.doctor(throttle, situation.data, situation.recipe, story.batch, story.step, *situation.options, *more,
                            "--html", page)


def prepare(bench, situation):
    if not situation.data.startswith("s3:"):
        (warm if situation.warm else evict)(bench.path(situation.data))


def rate(bench, story, situation, expected):
    prepare(bench, situation)
    more = ("--accelerators", story.gpus) if story.gpus > 1 else ()
    with situation.throttle(bench) as throttle:
        return bench.rate(throttle, situation.data, situation.recipe, story.batch, story.step, expected, *situation.options, *more,
                          later=situation.later)


def idle(samples_per_s, story):
    return max(0.0, 1 - samples_per_s * story.step / (story.batch * story.gpus))


def foretold(answer, situation):
    is_first = not situation.warm and not situation.later
    return answer["first_epoch_samples_per_s" if is_first else "samples_per_s"]


def ladder(answer, needed):
    rows = ["| limit | samples/s |", "|---|---|"]
    rows += [f"| {limit['resource']} | {limit['samples_per_s']:,.0f} |" for limit in answer["limits"]]
    return "\n".join([*rows, f"| the GPUs take | {needed:,.0f} |"])


def changes(answer):
    lines = [f"- {change['change']}: {100 * change['gain']:+.0f}%" for change in answer["changes"][:4]]
    if answer["useless"]:
        lines.append(f"- gives nothing: {'; '.join(change['change'] for change in answer['useless'][:3])}")
    return "\n".join(lines) or "- nothing to change, nothing to buy"


def account(story, answer, before, after):
    needed = story.batch * story.gpus / story.step
    situation = story.before
    command = f"stoker doctor {situation.data.replace('s3:', 's3://bucket/')} --recipe {situation.recipe} --batch {story.batch} --step {story.step}"
    command += f" --gpus {story.gpus}" if story.gpus > 1 else ""
    command += "".join(f" {option}" for option in situation.options)
    parts = [f"## {story.title}", story.told, f"```sh\n{command} --html {story.name}.html\n```", f"**{answer['verdict']}**", ladder(answer, needed),
             changes(answer)]
    expected = foretold(answer, story.before)
    measured = (f"Predicted: {expected:,.0f} samples/s, with the GPU idle for {100 * idle(expected, story):.0f}% of the time; "
                f"the run made {before:,.0f}, idle for {100 * idle(before, story):.0f}%.")
    if after is not None:
        measured += f" The change: {story.followed} The run then made {after:,.0f}, idle for {100 * idle(after, story):.0f}%."
    return "\n\n".join([*parts, measured, f"The whole report: [{story.name}.html]({story.name}.html)."])


def tell(bench, folder, attempt):
    """Writes the account and the pages of all stories; returns what was measured, a row each."""
    make_data(bench)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sections, rows = [], []
    for story in stories():
        def measure(story=story):
            page = folder / f"{story.name}.html"
            answer = diagnose(bench, story, page)
            # Where the data were is of no use to a reader.
            page.write_text(page.read_text().replace(f"{bench.bucket}/", "").replace(f"{bench.folder}/", ""))
            before = rate(bench, story, story.before, foretold(answer, story.before))
            after = rate(bench, story, story.after, story.batch * story.gpus / story.step) if story.after else None
            return answer, before, after

        found = attempt(bench, f"story: {story.title}", measure)
        if not found:
            continue
        answer, before, after = found
        sections.append(account(story, answer, before, after))
        rows.append((story.title, answer["verdict"], f"{foretold(answer, story.before):,.0f}", f"{before:,.0f}", f"{after:,.0f}" if after else ""))
        bench.say(f"{story.title}: {answer['verdict']}; measured {before:,.0f}/s, then {after or 0:,.0f}/s")
    date = subprocess.run(["date", "--iso-8601"], capture_output=True, text=True, check=True).stdout.strip()
    head = (f"# Seven stories\n\nThe [doctor](../doctor.md)'s diagnoses of seven trainings, and the results of following them, on an {cpu_name()} with "
            f"{len(throttles.os.sched_getaffinity(0))} cores, {date}. The GPUs are emulated, by their steps; disks and links are throttled. "
            f"`./dev bench doctor --only stories --write docs/stories` writes this page again, with its own data.")
    (folder / "README.md").write_text("\n\n".join([head, *sections]) + "\n")
    return rows


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unnamed CPU"
