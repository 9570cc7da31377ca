#!/usr/bin/env python3
"""A web server for tests, which serves a folder by range as slowly and as wrongly as it is told. It prints its port, and
runs until it is terminated. `GET /counts` tells what it did, as JSON.

Usage: web_server.py FOLDER [--latency SECONDS] [--share PART --faults KIND,KIND... [--after REQUESTS]]
       [--seed N] [--secret TEXT] [--redirect-to URL] [--certificate FILE]"""

import argparse
import asyncio
import collections
import email.utils
import json
import random
import socket
import ssl
import struct
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

DRIP_BYTES, DRIP_S = 256, 0.25  # one KB a second
CHUNK = 1 << 18
FAILURES_MAX = 2
FAULTS = """500 503 503-retry-after reset silence drip short wrong-length wrong-range changed-tag garbage not-http""".split()


def date_of(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


class Refused(Exception):
    """The connection is closed, whatever was sent."""


class Server:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.counts = collections.Counter()
        self.failed = collections.Counter()  # by path and range: each fails twice at most, so that it comes in the end
        self.redirects = {"/loop.tar": "/loop.tar"}
        if options.redirect_to:
            self.redirects["/moved.tar"] = options.redirect_to

    async def serve(self, reader, writer):
        self.counts["connections"] += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self.answer(head.decode("latin-1"), writer)
                await writer.drain()
        except (Refused, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head, writer):
        line, *lines = head.split("\r\n")
        method, target, _ = line.split(" ")
        fields = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
        path = urllib.parse.unquote(urllib.parse.urlsplit(target).path)
        if path == "/counts":
            return self.send(writer, "200 OK", {}, json.dumps(self.counts).encode())
        self.counts["requests"] += 1
        if "authorization" in fields:
            self.counts["logins"] += 1
        if path in self.redirects:
            return self.send(writer, "302 Found", {"Location": self.redirects[path]})
        if self.options.secret and self.options.secret not in target:
            return self.send(writer, "403 Forbidden", {})
        await asyncio.sleep(self.options.latency)
        await self.send_file(self.options.folder / path.lstrip("/"), method, fields, writer)

    def send(self, writer, status, fields, body=b""):
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
        if "Content-Length" not in fields:
            lines.append(f"Content-Length: {len(body)}")
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    async def send_file(self, path, method, fields, writer):
        if not path.is_file():
            return self.send(writer, "404 Not Found", {})
        facts = path.stat()
        tag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
        known = {"ETag": tag, "Last-Modified": date_of(facts.st_mtime), "Accept-Ranges": "bytes"}
        if fields.get("if-match", tag) != tag:
            return self.send(writer, "412 Precondition Failed", known)
        if method == "HEAD":
            return self.send(writer, "200 OK", {**known, "Content-Length": facts.st_size})
        first, last, status = 0, facts.st_size - 1, "200 OK"
        if wanted := fields.get("range"):
            first, last = (int(number) for number in wanted.removeprefix("bytes=").split("-"))
            if first >= facts.st_size:
                return self.send(writer, "416 Range Not Satisfiable", {"Content-Range": f"bytes */{facts.st_size}"})
            last, status = min(last, facts.st_size - 1), "206 Partial Content"
            known["Content-Range"] = f"bytes {first}-{last}/{facts.st_size}"
        known["Content-Length"] = last + 1 - first
        with path.open("rb") as file:
            file.seek(first)
            body = file.read(last + 1 - first)
        once_more = self.failed[path, first] < FAILURES_MAX
        if once_more and self.counts["requests"] > self.options.after and self.random.random() < self.options.share:
            self.failed[path, first] += 1
            return await self.fail(self.random.choice(self.options.faults), status, known, body, writer)
        self.counts["bytes"] += len(body)
        self.send(writer, status, known)
        for begin in range(0, len(body), CHUNK):
            writer.write(body[begin:begin + CHUNK])
            await writer.drain()

    async def fail(self, kind, status, known, body, writer):
        self.counts[kind] += 1
        self.counts["faults"] += 1
        if kind in ("500", "503"):
            return self.send(writer, f"{kind} Error", {}, b"no luck")
        if kind == "503-retry-after":
            return self.send(writer, "503 Error", {"Retry-After": self.random.choice(["0", date_of(0)])})
        if kind == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise Refused
        if kind == "silence":
            await asyncio.Event().wait()
        if kind == "drip":
            self.send(writer, status, known)
            for begin in range(0, len(body), DRIP_BYTES):
                writer.write(body[begin:begin + DRIP_BYTES])
                await writer.drain()
                await asyncio.sleep(DRIP_S)
            return None
        if kind == "short":
            self.send(writer, status, known, body[:len(body) // 2])
            await writer.drain()
            raise Refused
        if kind == "wrong-length":
            return self.send(writer, status, {**known, "Content-Length": len(body) + 3}, body + b"...")
        if kind == "wrong-range":
            return self.send(writer, status, {**known, "Content-Range": f"bytes 1-{len(body)}/{len(body) + 1}"}, body)
        if kind == "changed-tag":
            return self.send(writer, status, {**known, "ETag": '"another"'}, body)
        if kind == "garbage":  # of a proxy that has something else to say
            return self.send(writer, "200 OK", {"Content-Type": "text/html", "Content-Length": 20}, b"<html>sorry</html>..")
        writer.write(self.random.randbytes(200))
        await writer.drain()
        raise Refused


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--latency", type=float, default=0)
    parser.add_argument("--share", type=float, default=0)
    parser.add_argument("--after", type=int, default=0)
    parser.add_argument("--faults", type=lambda text: text.split(","), default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--secret", default="")
    parser.add_argument("--redirect-to", default="")
    parser.add_argument("--certificate", help="a file with certificate and key: the server speaks TLS")
    server = Server(parser.parse_args())
    encryption = None
    if server.options.certificate:
        encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        encryption.load_cert_chain(server.options.certificate)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=encryption)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


class WebServer:
    """The server as a process of its own; to be used in a `with`."""

    def __init__(self, folder, *options):
        self.command = [sys.executable, __file__, str(folder), *map(str, options)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        port = self.process.stdout.readline().strip()
        assert port, "the server did not start"
        self.at = f"127.0.0.1:{port}"
        self.url = f"{'https' if '--certificate' in self.command else 'http'}://{self.at}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def tell(self, name):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/{name}") as answer:
            return answer.read().decode()

    def counts(self):
        return collections.Counter(json.loads(self.tell("counts")))


if __name__ == "__main__":
    asyncio.run(main())
