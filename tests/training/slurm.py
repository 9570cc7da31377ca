"""Slurm on one node, of one user, on the loopback interface: its three daemons, with everything they write in one folder."""

import os
import re
import socket
import subprocess
import time

from launchers import HANG_S, free_port, program

TASKS_MAX = 8
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}

# Tasks are followed by what /proc says, and may be more than the machine has cores. A requeued job waits until what started it
# before has expired.
CONFIGURATION = """
ClusterName=stoker
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdParameters=config_overrides
KillWait=1
SchedulerParameters=sched_min_interval=10000,sched_interval=1,bf_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={tasks_max}
PartitionName=all Nodes={host} Default=YES
"""


class Slurm:
    def __init__(self, at):
        """In an empty folder, whose path is short enough for a socket's."""
        self.at = at
        self.env = {**os.environ, "SLURM_CONF": str(at / "slurm.conf")}
        self.daemons = []
        for name in ("state", "spool"):
            (at / name).mkdir()
        key = at / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        (at / "slurm.conf").write_text(CONFIGURATION.format(
            at=at, host=socket.gethostname().split(".")[0], user=os.geteuid(), tasks_max=TASKS_MAX,
            controller_port=free_port(), daemon_port=free_port()))

    def start(self):
        self._daemon("munged", "--foreground", "--force", f"--socket={self.at}/munge.socket", f"--key-file={self.at}/munge.key",
                     f"--log-file={self.at}/munged.log", f"--pid-file={self.at}/munged.pid", f"--seed-file={self.at}/munge.seed")
        self.until(lambda: (self.at / "munge.socket").exists())
        for name in ("slurmctld", "slurmd"):
            self._daemon(name, "-D", "-f", self.at / "slurm.conf")
        self.until(lambda: self._says("sinfo", "--noheader", "--format=%T").strip() == "idle")

    def stop(self):
        for process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(timeout=HANG_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def submit(self, env, *words):
        """The job's number."""
        env = {**env, "SLURM_CONF": self.env["SLURM_CONF"]}
        done = subprocess.run([program("sbatch"), "--parsable", *map(str, words)], env=env, capture_output=True, text=True,
                              timeout=HANG_S)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def states_at_end(self, number):
        """Of all tasks of a job, once they are over."""
        def states():
            return self._says("squeue", "--jobs", number, "--states", "all", "--array", "--noheader", "--format", "%T").split()

        self.until(lambda: OVER.issuperset(states()))
        return states()

    def restarts(self, number):
        return int(re.search(r" Restarts=(\d+)", self._says("scontrol", "--oneliner", "show", "job", number))[1])

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text()[-3000:]}" for path in sorted(self.at.glob("*.out")))

    def until(self, ready):
        """Waits for that, and that its daemons live."""
        deadline = time.monotonic() + HANG_S
        while not ready():
            assert time.monotonic() < deadline and all(process.poll() is None for process in self.daemons), self.logs()
            time.sleep(0.05)

    def _daemon(self, name, *arguments):
        with open(self.at / f"{name}.out", "wb") as output:
            self.daemons.append(subprocess.Popen([program(name), *map(str, arguments)], env=self.env, stdin=subprocess.DEVNULL,
                                                 stdout=output, stderr=output))

    def _says(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=HANG_S).stdout
