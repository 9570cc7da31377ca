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
    """An S3 without anything in it, for one key; `env` is what a client of it has to know."""

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
                    "AWS_ENDPOINT_URL": f"http://{self.at}", "no_proxy": "127.0.0.1"}
        return self
