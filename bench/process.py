"""What benchmarks share: processes of contestants that are told when to run, the images, and the names of --only."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys


def chosen(options, known):
    """Of the names that a benchmark knows, those that --only gives; all without it."""
    names = options.only.split(",") if options.only else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"dev bench: {options.name} knows no {', '.join(unknown)}; it knows {', '.join(known)}")
    return names


class Ended(Exception):
    """A contestant ended before it had answered."""


class Process:
    """A contestant: answers each command line with one line of JSON."""

    def __init__(self, cores, *command, variables=None, errors=None):
        """`variables` are added to the environment's; stderr goes to the file `errors`, if there is one."""
        pinned = ["taskset", "-c", cores, *map(str, command)]
        self.process = subprocess.Popen(pinned, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                        env=os.environ | (variables or {}), process_group=0)

    def start(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() tells

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Ended(f"{self.process.args} ended early with status {self.process.wait()}")
        return json.loads(line)

    def run(self, command):
        self.start(command)
        return self.answer()

    def rate(self, command):
        answer = self.run(command)
        return answer["samples"] / answer["seconds"], answer["cpu_seconds"] / answer["samples"]

    def memory_peak(self):
        """Bytes of memory that it held at most."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    def pause(self):
        """Until resume() neither its threads run nor its children: what they fetch ahead would cost the others' time."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def resume(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):  # which has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def rounds(contestants, count, prepare):
    """Each contestant's answer, by its name, for each round. They run one after the other, in each round another one first, and
    prepare() comes before each; while one runs, the others are paused. They are closed at the end."""
    names = [*contestants]
    for contestant in contestants.values():
        contestant.pause()
    for number in range(count):
        answers = {}
        for name in names[number % len(names):] + names[:number % len(names)]:
            prepare()
            contestants[name].resume()
            answers[name] = contestants[name].run("run")
            contestants[name].pause()
        yield answers
    for contestant in contestants.values():
        contestant.resume()
        contestant.close()


def synthetic_images(build):
    data = build / "bench-data" / "imagenet"
    if not data.exists():
        partial = data.with_suffix(".unfinished")
        subprocess.run([build / "stoker", "synth", partial, "--kind", "imagenet", "--format", "folder", "--count", "300",
                        "--classes", "10", "--seed", "1"], check=True)
        partial.rename(data)
    return data


def evict(data):
    """Takes the files of a folder out of the page cache, and if that is allowed what the system knows of files."""
    for path in pathlib.Path(data).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")


def warm(data):
    """Brings the files of a folder into the page cache."""
    for path in pathlib.Path(data).rglob("*"):
        if path.is_file():
            path.read_bytes()
