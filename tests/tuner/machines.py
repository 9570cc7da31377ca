"""Machines that train, batch by batch on a virtual clock, for a tuner to be driven on.

Each batch is read, made by worker threads, copied, finished by the device's kernels and taken by the training, and none
of these can begin before what it needs is there. So what limits, what evens out jitter and what a deeper prefetch is good
for come out of the simulation, not out of a formula. All settings of a grid are simulated at once, as arrays.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Stage:
    name: str
    cpu_s: float
    device_s: float | None
    bytes_out: float


@dataclass
class Machine:
    cores: int
    memory_bytes: float
    stages: list[Stage]
    batch: int
    prefetch_max: int
    io_depth_max: int
    step_s: float
    step_jitter: float  # log-normal, of each step
    make_jitter: float  # the same, of what a batch costs
    coded_bytes: float  # of a sample, as it is read
    copy_bytes_per_s: float
    read_latency_s: float
    read_bytes_per_s: float
    read_crowding: float  # by which deep queues slow the store down
    contention: float  # by which a sample gets dearer with every thread
    hyperthreads: float  # what a thread beyond half of the cores is worth
    kernels_in_step: float  # part of the kernels' seconds by which they lengthen the step
    host_share: float  # part of a step that gets slower as threads take the trainer's cores
    overhead_s: float  # of a core, for each sample, outside of all stages
    window_noise: float
    window_batches: int
    stated_off: list[float] = field(default_factory=list)  # what a calibration got wrong: factors of the stages
    taken_cores: float = 0  # by a neighbour

    def workload(self) -> dict:
        return {
            "cores": self.cores,
            "memory_bytes": int(np.ceil(self.memory_bytes)),
            "batch": self.batch,
            "prefetch_max": self.prefetch_max,
            "io_depth_max": self.io_depth_max,
            "stages": [
                {
                    "name": s.name,
                    "cpu_s": s.cpu_s * off,
                    "device_s": None if s.device_s is None else s.device_s * off,
                    "bytes_out": s.bytes_out,
                }
                for s, off in zip(self.stages, self.stated_off or [1] * len(self.stages))
            ],
        }

    def threads_max(self) -> int:
        return max(1, -(-4 * self.cores // 5))

    def indices(self) -> list[int]:
        n = len(self.stages)
        return [k for k in range(n + 1) if all(s.device_s is not None for s in self.stages[k:])]

    def crossing_bytes(self, index):
        return np.array([self.coded_bytes] + [s.bytes_out for s in self.stages])[index]

    def host_bytes(self, index, prefetch):
        return self.crossing_bytes(np.maximum(index, 1)) * self.batch * (np.asarray(prefetch) + 1)

    def grid(self) -> np.ndarray:
        """Rows of threads, index, prefetch, I/O depth: all that memory permits."""

        def doublings(most):
            return sorted({2**i for i in range(12) if 2**i < most} | {most})

        axes = (range(1, self.threads_max() + 1), self.indices(), doublings(self.prefetch_max))
        rows = np.array(np.meshgrid(*axes, doublings(self.io_depth_max), indexing="ij")).reshape(4, -1).T
        return rows[self.host_bytes(rows[:, 1], rows[:, 2]) <= self.memory_bytes]

    def workers(self, threads):
        """What so many threads are worth, in cores, of a machine whose second hyper-threads are worth less."""
        free = max(self.cores - self.taken_cores, 0.5)
        whole = np.minimum(threads, np.maximum(free / 2, 1))
        worth = np.minimum(whole + (threads - whole) * self.hyperthreads, free)
        return worth / (1 + self.contention * (threads - 1))

    def simulate(self, rows, batches: int, random: np.random.Generator) -> dict:
        """Seconds that a number of batches take at each row, and the seconds waited, after some to begin with."""
        threads, index, prefetch, depth = (rows[:, i].astype(float) for i in range(4))
        k = rows[:, 1]
        cpu_s = np.concatenate([[0], np.cumsum([s.cpu_s for s in self.stages])])[k] + self.overhead_s
        kernels = [s.device_s or 0 for s in self.stages]
        device_s = np.concatenate([np.cumsum(kernels[::-1])[::-1], [0]])[k]
        make_s = self.batch * cpu_s / self.workers(threads)
        copy_s = self.batch * self.crossing_bytes(k) / self.copy_bytes_per_s
        kernel_s = self.batch * device_s
        latency = self.read_latency_s * (1 + self.read_crowding * depth)
        read_s = self.batch * np.maximum(latency / depth, self.coded_bytes / self.read_bytes_per_s)
        step_s = self.step_s * (1 + self.host_share * threads / self.cores) + self.kernels_in_step * kernel_s
        warm = 2 * self.prefetch_max + 4
        rows_count, total = len(rows), batches + warm
        free = np.zeros((total + 1, rows_count))  # when the training is done with each batch
        read = made = copied = finished = np.zeros(rows_count)
        wait = np.zeros(rows_count)
        begin = np.zeros(rows_count)
        steps = np.exp(self.step_jitter * random.standard_normal(total) - self.step_jitter**2 / 2)
        costs = np.exp(self.make_jitter * random.standard_normal(total) - self.make_jitter**2 / 2)
        columns = np.arange(rows_count)
        ahead = rows[:, 2].astype(int)
        for b in range(total):
            room = free[np.maximum(b - ahead, 0), columns]
            read = np.maximum(read, free[np.maximum(b - ahead - 2, 0), columns]) + read_s
            made = np.maximum(np.maximum(made, room), read) + make_s * costs[b]
            copied = np.maximum(copied, made) + copy_s
            finished = np.maximum(finished, copied) + kernel_s
            taken = np.maximum(finished, free[b])
            if b == warm:
                begin = free[b].copy()
                wait[:] = 0
            wait += taken - free[b]
            free[b + 1] = taken + step_s * steps[b]
        seconds = free[total] - begin
        return {
            "seconds": seconds,
            "wait_s": wait,
            "rate": batches * self.batch / seconds,
            "cpu_busy_s": make_s * self.workers(threads) * batches,
        }

    def rates(self, rows, seed=0, batches=300) -> np.ndarray:
        return self.simulate(np.asarray(rows), batches, np.random.default_rng(seed))["rate"]

    def window(self, knobs: dict, random: np.random.Generator) -> dict:
        row = np.array([[knobs[name] for name in ("threads", "transfer_index", "prefetch", "io_depth")]])
        run = self.simulate(row, self.window_batches, random)
        noise = float(np.exp(self.window_noise * random.standard_normal()))
        seconds, wait = float(run["seconds"][0]) * noise, float(run["wait_s"][0]) * noise
        samples = self.window_batches * self.batch
        dearer = 1 + self.contention * (knobs["threads"] - 1)
        stages = []
        for i, stage in enumerate(self.stages):
            on_cpu = i < knobs["transfer_index"]
            each = stage.cpu_s * dearer if on_cpu else stage.device_s
            stages.append({"name": stage.name, "side": "cpu" if on_cpu else "device", "seconds": each * samples * noise})
        return {
            "samples": samples,
            "seconds": seconds,
            "wait_s": wait,
            "step_s": (seconds - wait) / self.window_batches,
            "stages": stages,
        }


def change(machine: Machine, random: np.random.Generator) -> str:
    """What happens to a training from one moment to the next; says what it was."""
    factor = float(np.exp(random.uniform(np.log(1.4), np.log(3)) * random.choice([-1, 1])))
    kind = random.choice(["steps", "costs", "link", "store", "steps and costs"])
    if kind == "steps":
        machine.step_s *= factor
    elif kind == "link":
        machine.copy_bytes_per_s *= factor
    elif kind == "store":
        machine.read_bytes_per_s *= factor
        machine.read_latency_s /= factor
    else:  # costs; or steps get shorter and images larger, as when compilation and warm-up end
        if kind == "steps and costs":
            machine.step_s /= max(factor, 1 / factor)
            factor = 1.5
        for stage in machine.stages:
            stage.cpu_s *= factor
            stage.device_s = None if stage.device_s is None else stage.device_s * factor
    return f"{kind} x {factor:.2f}"


def random_machine(seed: int) -> Machine:
    random = np.random.default_rng([seed, 20])

    def log(low, high):
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    def some(share, low, high):
        return log(low, high) if random.random() < share else 0.0

    cores = int(random.choice([1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64]))
    batch = int(2 ** random.integers(5, 11))
    count = int(random.integers(1, 6))
    cpu_total = log(30e-6, 10e-3)
    cpu = random.dirichlet(np.full(count, 0.7)) * cpu_total + 1e-6
    faster = log(3, 300)  # the device than a core
    stages = []
    bytes_out = log(2e4, 5e5)
    coded = bytes_out * log(0.1, 1)
    host_only = int(random.integers(0, count + 1)) if random.random() < 0.2 else 0
    for i in range(count):
        device_s = None if i < host_only else float(cpu[i] / faster * log(0.3, 3))
        stages.append(Stage(f"stage{i}", float(cpu[i]), device_s, bytes_out))
        bytes_out *= log(0.4, 3)
    # The step: from much faster than the cores can feed to much slower.
    step_s = batch * cpu_total / (0.8 * cores) * log(0.1, 6)
    fattest = max(s.bytes_out for s in stages)
    prefetch_max = int(random.choice([2, 4, 8, 16]))
    return Machine(
        cores=cores,
        memory_bytes=fattest * batch * (max(2, (prefetch_max + 1) * log(0.3, 1)) if random.random() < 0.25 else 1000),
        stages=stages,
        batch=batch,
        prefetch_max=prefetch_max,
        io_depth_max=int(random.choice([16, 32, 64, 128])),
        step_s=step_s,
        step_jitter=some(0.7, 0.01, 0.2),
        make_jitter=some(0.7, 0.01, 0.3),
        coded_bytes=coded,
        copy_bytes_per_s=log(1e9, 60e9),
        read_latency_s=batch / (32 * batch / step_s) * log(0.03, 3) / batch if random.random() < 0.5 else 1e-6,
        read_bytes_per_s=coded * batch / step_s * log(0.8, 30),
        read_crowding=some(0.3, 0.001, 0.02),
        contention=some(0.6, 0.001, 0.03),
        hyperthreads=float(random.choice([1.0, 0.3, 0.5])),
        kernels_in_step=float(random.choice([0, 0.5, 1.0])),
        host_share=some(0.3, 0.01, 0.2),
        overhead_s=cpu_total * some(0.5, 0.005, 0.05),
        window_noise=log(0.002, 0.03),
        window_batches=int(random.integers(30, 200)),
        stated_off=[float(np.exp(random.normal(0, random.choice([0.03, 0.2])))) for _ in range(count)],
    )
