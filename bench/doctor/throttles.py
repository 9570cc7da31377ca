"""What holds a process back: cores, quotas, a slow disk, little memory, a link, a neighbour. Each is a context that wraps
commands, and undoes itself."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

GROUPS = pathlib.Path("/sys/fs/cgroup")
UNIFIED = (GROUPS / "cgroup.controllers").exists()
PERIOD_US = 100_000


class Unavailable(Exception):
    """This machine does not let us hold anything back in this way; and why."""


class Throttle:
    """As it is, nothing is held back. `wrap` makes a command one that is; `env` and `data` are for the commands."""

    def __init__(self):
        self.env, self.url = {}, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wrap(self, command):
        return list(map(str, command))


class Cores(Throttle):
    """By affinity."""

    def __init__(self, count):
        super().__init__()
        allowed = sorted(os.sched_getaffinity(0))
        if count > len(allowed):
            raise Unavailable(f"{count} cores were asked for, and there are {len(allowed)}")
        self.cores = ",".join(map(str, allowed[:count]))

    def wrap(self, command):
        return ["taskset", "-c", self.cores, *map(str, command)]


class Group(Throttle):
    """A control group with limits; of version 1 one in each hierarchy."""

    def __init__(self, v1, v2):
        """`v1`: file and value by controller; `v2`: the same of the unified hierarchy, by file."""
        super().__init__()
        name = f"stoker-bench-{os.getpid()}"
        self.files = ({GROUPS / name: v2} if UNIFIED else {GROUPS / controller / name: files for controller, files in v1.items()})

    def __enter__(self):
        try:
            for folder, files in self.files.items():
                folder.mkdir(exist_ok=True)
                for file, value in files.items():
                    (folder / file).write_text(str(value))
        except OSError as reason:
            self.__exit__()
            raise Unavailable(f"a control group's limit: {reason}") from None
        return self

    def __exit__(self, *_):
        for folder in self.files:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def wrap(self, command):
        joins = "; ".join(f"echo $$ > {folder}/cgroup.procs" for folder in self.files)
        return ["sh", "-c", f'{joins}; exec "$@"', "sh", *map(str, command)]


def quota(cores):
    """So much of the cores' time."""
    return Group({"cpu": {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": int(cores * PERIOD_US)}},
                 {"cpu.max": f"{int(cores * PERIOD_US)} {PERIOD_US}"})


def disk_of(path):
    """Major and minor number of the whole disk that has it."""
    device = os.stat(path).st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    block = pathlib.Path("/sys/dev/block") / numbers
    if not block.exists():
        raise Unavailable(f"{path} is not on a disk")
    if (block / "partition").exists():
        numbers = (block.resolve().parent / "dev").read_text().strip()
    return numbers


def disk(path, bytes_per_s=None, reads_per_s=None):
    """What the disk of `path` gives."""
    return Group(*disk_limits(path, bytes_per_s, reads_per_s))


def disk_limits(path, bytes_per_s, reads_per_s):
    """The same as a group's files."""
    of, v1, v2 = disk_of(path), {}, []
    if bytes_per_s:
        v1["blkio.throttle.read_bps_device"] = f"{of} {bytes_per_s}"
        v2.append(f"rbps={bytes_per_s}")
    if reads_per_s:
        v1["blkio.throttle.read_iops_device"] = f"{of} {reads_per_s}"
        v2.append(f"riops={reads_per_s}")
    return {"blkio": v1}, {"io.max": " ".join([of, *v2])}


def memory(limit_bytes, path, bytes_per_s=None, reads_per_s=None):
    """What processes and their page cache may take; with it, the disk of `path`, which matters then."""
    group = disk_limits(path, bytes_per_s, reads_per_s)
    return Group(group[0] | {"memory": {"memory.limit_in_bytes": limit_bytes}}, group[1] | {"memory.max": limit_bytes})


class Store(Throttle):
    """The folder as a bucket of a server that waits before the first byte, and sends no faster than its link."""

    def __init__(self, build, folder, latency_s=0.0, link_bytes_per_s=None):
        super().__init__()
        self.command = [build / "store_server", folder, "--latency", latency_s]
        self.command += ["--link", link_bytes_per_s] if link_bytes_per_s else []
        self.env = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1",
                    "AWS_EC2_METADATA_DISABLED": "true", "no_proxy": "127.0.0.1"}

    def __enter__(self):
        self.server = subprocess.Popen(list(map(str, self.command)), stdout=subprocess.PIPE, text=True)
        self.env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{int(self.server.stdout.readline())}"
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()


class Neighbour(Throttle):
    """Programs that use the cores, too."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __enter__(self):
        self.busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True) for _ in range(self.count)]
        return self

    def __exit__(self, *_):
        for process in self.busy:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run(throttle, command, timeout_s):
    """Status, the JSON object that it printed or None, and what it said."""
    done = subprocess.run(throttle.wrap(command), capture_output=True, text=True, env=os.environ | throttle.env, timeout=timeout_s)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        answer = None
    return done.returncode, answer, done.stderr
