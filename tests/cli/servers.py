"""Servers for tests, at free ports of 127.0.0.1, each to be used in a `with`: a fast one of our own that makes mistakes,
nginx, and SeaweedFS as S3. They are ended by their process ids."""

import os
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from web_server import WebServer

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "store_server": [os.environ.get("STOKER_STORE_SERVER", "")],
    "nginx": [shutil.which("nginx"), "/usr/sbin/nginx"],
    "ip": [shutil.which("ip"), "/usr/sbin/ip"],
    "tc": [shutil.which("tc"), "/usr/sbin/tc"],
    "weed": [ROOT / "build/python-tools/bin/weed", shutil.which("weed")],
}
PORT_TRIES = 5


def program(name):
    """Its path. `./dev test`, which says where the store server is, has all of them; elsewhere tests do without."""
    for place in filter(None, PLACES[name]):
        if Path(place).is_file():
            return str(place)
    if "STOKER_STORE_SERVER" in os.environ:
        pytest.fail(f"there is no {name}: ./dev test fetches or builds it")
    pytest.skip(f"there is no {name}")


class StoreServer(WebServer):
    """tests/store_server: `GET /counts` tells what it did."""

    def __init__(self, folder, *options):
        self.command = [program("store_server"), str(folder), *map(str, options)]

    def requests(self):
        """The first thousand, as lines of method, path and range."""
        return self.tell("requests").splitlines()


class NarrowLink:
    """A store server in a network namespace of its own, to which and from which a link leads that carries so many bytes a
    second each way; `url` is where it is from here. It takes the right to make namespaces."""

    BURST_BYTES = 16_000
    QUEUE_MS = 400  # of what waits in front of the link: what exceeds it is dropped

    def __init__(self, folder, bytes_per_s, *options):
        self.ip, self.tc = program("ip"), program("tc")
        self.bytes_per_s = bytes_per_s
        self.name = f"stoker-{os.getpid()}"
        self.near, self.far = (f"stk{os.getpid()}{end}" for end in "nf")
        # Of the range that is set aside for measuring networks.
        self.near_at, self.far_at = (f"198.18.{os.getpid() % 256}.{end}" for end in (1, 2))
        self.server = StoreServer(folder, "--listen", self.far_at, *options)
        self.server.command = [self.ip, "netns", "exec", self.name, *self.server.command]

    def run(self, *command):
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)

    def inside(self, *command):
        return self.run(self.ip, "netns", "exec", self.name, *command)

    def lay(self):
        limit = ("root", "tbf", "rate", f"{8 * self.bytes_per_s}bit", "burst", self.BURST_BYTES, "latency", f"{self.QUEUE_MS}ms")
        self.run(self.ip, "link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.name)
        self.run(self.ip, "address", "add", f"{self.near_at}/30", "dev", self.near)
        self.inside(self.ip, "address", "add", f"{self.far_at}/30", "dev", self.far)
        self.run(self.ip, "link", "set", self.near, "up")
        self.inside(self.ip, "link", "set", self.far, "up")
        self.run(self.tc, "qdisc", "add", "dev", self.near, *limit)
        self.inside(self.tc, "qdisc", "add", "dev", self.far, *limit)

    def __enter__(self):
        try:
            self.run(self.ip, "netns", "add", self.name)
        except subprocess.CalledProcessError as refused:
            pytest.skip(f"network namespaces cannot be made here: {refused.stderr.strip()}")
        try:
            self.lay()
        except subprocess.CalledProcessError as refused:
            self.run(self.ip, "netns", "delete", self.name)
            pytest.skip(f"links cannot be limited here: {refused.stderr.strip()}")
        self.server.__enter__()
        self.server.at = self.server.at.replace("127.0.0.1", self.far_at)
        self.server.url = self.url = f"http://{self.server.at}"
        return self

    def __exit__(self, *_):
        self.server.__exit__()
        self.run(self.ip, "netns", "delete", self.name)  # and with it the link


def free_ports(count):
    """Ports that are free now; another process may take one before it is used."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Server:
    """A program that says on stderr when it is ready. A subclass has its `command(ports)`, what that line is, and how many
    ports it takes."""

    def __enter__(self):
        for _ in range(PORT_TRIES):
            self.ports = free_ports(self.PORTS)
            self.process = subprocess.Popen(self.command(self.ports), stderr=subprocess.PIPE, text=True, errors="replace")
            self.said = []
            for line in self.process.stderr:
                self.said.append(line)
                if self.READY.search(line):
                    self.reader = threading.Thread(target=self.process.stderr.read)  # a full pipe would stop the server
                    self.reader.start()
                    self.at = f"127.0.0.1:{self.ports[0]}"
                    return self
            self.process.wait()
        raise AssertionError(f"{self.process.args} does not start: {''.join(self.said)}")

    def __exit__(self, *_):
        self.process.kill()  # SeaweedFS takes half a minute to end in an orderly way, and nothing here is to be kept
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


class Nginx(Server):
    """Serves `folder`; with a certificate (a folder with the files `certificate` and `key`) over TLS."""

    PORTS = 1
    READY = re.compile('using the "epoll" event method')  # its sockets listen by then

    def __init__(self, folder, scratch, certificate=None):
        self.program, self.folder, self.scratch, self.certificate = program("nginx"), folder, scratch, certificate

    def command(self, ports):
        tls = self.certificate and f"ssl_certificate {self.certificate}/certificate; ssl_certificate_key {self.certificate}/key;"
        temporary = "".join(f"{kind}_temp_path {self.scratch}/{kind};" for kind in "client_body proxy fastcgi uwsgi scgi".split())
        (self.scratch / "nginx.conf").write_text(f"""
            daemon off; master_process off; pid {self.scratch}/nginx.pid; error_log stderr notice;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; sendfile on; tcp_nopush off; keepalive_requests 100000; {temporary}
              server {{ listen 127.0.0.1:{ports[0]}{" ssl" if tls else ""}; root {self.folder}; {tls or ""} }}
            }}""")
        return [self.program, "-c", str(self.scratch / "nginx.conf"), "-e", "stderr"]

    def __enter__(self):
        super().__enter__()
        self.url = f"{'https' if self.certificate else 'http'}://{self.at}"
        return self


class SeaweedFS(Server):
    """An S3 without anything in it, for one key, which serves for gs:// as well; `env` is what a client of it has to know."""

    PORTS = 8
    READY = re.compile("Start Seaweed S3 API Server .* at http port")
    KEY, SECRET = "AKIDSTOKERTEST", "s3cr3tOfTheTestsOwn"

    def __init__(self, scratch):
        self.program, self.scratch = program("weed"), scratch

    def command(self, ports):
        s3, *others = ports
        config = self.scratch / "s3.json"
        config.write_text('{"identities": [{"name": "test", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], '
                          '"actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}' % (self.KEY, self.SECRET))
        names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
                 "s3.port.grpc")
        return [self.program, "-logtostderr=true", "server", f"-dir={self.scratch}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                *(f"-{name}={port}" for name, port in zip(names, others)), "-master.volumeSizeLimitMB=64", "-volume.max=20",
                "-s3", f"-s3.port={s3}", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={config}", "-s3.autoCreateBucket"]

    def __enter__(self):
        super().__enter__()
        self.env = {"AWS_ACCESS_KEY_ID": self.KEY, "AWS_SECRET_ACCESS_KEY": self.SECRET, "AWS_REGION": "us-east-1",
                    "AWS_ENDPOINT_URL": f"http://{self.at}", "no_proxy": "127.0.0.1", "STORAGE_EMULATOR_HOST": self.at,
                    "GS_ACCESS_KEY_ID": self.KEY, "GS_SECRET_ACCESS_KEY": self.SECRET}
        return self

    def upload(self, files, name):
        """By curl: not by what is tested."""
        subprocess.run(["curl", "-sS", "--fail", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                        f"{self.KEY}:{self.SECRET}", "--upload-file", "{%s}" % ",".join(map(str, files)),
                        f"http://{self.at}/{name}/"], check=True, capture_output=True)

    def upload_folder(self, folder, name):
        for at in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            if files := [path for path in sorted(at.iterdir()) if path.is_file()]:
                self.upload(files, f"{name}/{at.relative_to(folder)}".removesuffix("/."))
