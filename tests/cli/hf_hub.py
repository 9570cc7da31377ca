"""A Hugging Face hub for tests, whose one data set `o/n` is a folder on this machine. Shards are kept by a second server, at
signed URLs, which counts the logins that it is told: there must be none."""

import collections
import hashlib
import json
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATASET = "hf://datasets/o/n"
TOKEN = "hf_s3cr3t"
LARGE = (".tar", ".parquet", ".zip", ".h5", ".npz", ".mdb", ".bin", ".mds", ".rec", ".beton", ".tfrecord", "-of-00002")


def commit_id(number):
    return f"{number:040x}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait for the receipt of its head

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.answer(self)

    do_HEAD = do_GET

    def reply(self, status, fields=(), body=b""):
        self.send_response(status)
        for name, value in dict(fields).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_range(self, content):
        first, last = (int(number) for number in self.headers["Range"].removeprefix("bytes=").split("-"))
        body = content[first:last + 1]
        self.reply(206, {"Content-Range": f"bytes {first}-{first + len(body) - 1}/{len(content)}"}, body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # a loader connects many times at once

    def __init__(self, answer, handler=Handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.answer = answer
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def handle_error(self, *_):
        """A client may close its connection at any time."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*_)


class HfHub:
    """To be used in a `with`. `env`: what a command needs to find it. `token`: a request without it gets nothing."""

    def __init__(self, folder, token="", page=1000):
        self.commits = [self.files_of(folder)]
        self.token, self.page = token, page
        self.counts = collections.Counter()
        self.lock = threading.Lock()
        self.on_file = lambda: None  # called before a file is sent, by one thread at a time

    @staticmethod
    def files_of(folder):
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def push(self, folder):
        self.commits.append(self.files_of(folder))

    def __enter__(self):
        self.hub, self.places = Server(self.answer), Server(self.answer_places)
        self.env = {"HF_ENDPOINT": self.hub.url, "HF_TOKEN": TOKEN, "HF_HUB_OFFLINE": "", "no_proxy": "127.0.0.1",
                    "HF_HUB_DISABLE_IMPLICIT_TOKEN": ""}
        return self

    def __exit__(self, *_):
        for server in (self.hub, self.places):
            server.shutdown()
            server.server_close()

    def answer(self, request):
        self.counts["requests"] += 1
        url = urllib.parse.urlsplit(request.path)
        if self.token and request.headers["Authorization"] != f"Bearer {self.token}":
            return request.reply(401, {"X-Error-Code": "RepoNotFound"})
        _, *parts = (urllib.parse.unquote(part) for part in url.path.split("/"))
        query = dict(urllib.parse.parse_qsl(url.query))
        if parts[:5] == ["api", "datasets", "o", "n", "revision"]:
            self.counts["revisions"] += 1
            if parts[5] != "main":
                return request.reply(404, {"X-Error-Code": "RevisionNotFound"})
            return request.reply(200, {}, json.dumps({"sha": commit_id(len(self.commits) - 1)}).encode())
        if parts[:5] == ["api", "datasets", "o", "n", "tree"]:
            return self.list(request, url.path, parts[5], "/".join(parts[6:]), query)
        if parts[:4] == ["datasets", "o", "n", "resolve"]:
            return self.resolve(request, parts[4], "/".join(parts[5:]))
        return request.reply(404, {"X-Error-Code": "RepoNotFound"})

    def list(self, request, path, commit, folder, query):
        prefix = f"{folder}/" if folder else ""
        entries = {}
        for name, content in sorted(self.commits[int(commit, 16)].items()):
            if not name.startswith(prefix):
                continue
            below = name[len(prefix):].split("/")
            for depth in range(1, len(below) if query["recursive"] == "true" else min(len(below), 2)):
                entries[prefix + "/".join(below[:depth])] = {"type": "directory", "size": 0}
            if query["recursive"] == "true" or len(below) == 1:
                entries[name] = {"type": "file", "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
        if not entries and folder:
            return request.reply(404, {"X-Error-Code": "EntryNotFound"})
        begin = int(query.get("cursor", 0))
        end = begin + self.page
        listed = [{"path": name, **entry} for name, entry in entries.items()]
        fields = {}
        if end < len(listed):
            more = urllib.parse.urlencode({"recursive": query["recursive"], "cursor": end})
            fields["Link"] = f'<https://huggingface.invalid{path}?{more}>; rel="next"'
        return request.reply(200, fields, json.dumps(listed[begin:end]).encode())

    def resolve(self, request, commit, path):
        content = self.commits[int(commit, 16)][path]
        if not path.endswith(LARGE):
            return request.reply_range(content)
        place = f"{self.places.url}/{commit}/{urllib.parse.quote(path)}?Signature=s1gn3d"
        return request.reply(302, {"Location": place, "X-Repo-Commit": commit, "X-Linked-Size": len(content)})

    def answer_places(self, request):
        self.counts["files"] += 1
        self.counts["logins_elsewhere"] += "Authorization" in request.headers
        with self.lock:
            self.on_file()
        _, commit, path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path).split("/", 2)
        request.reply_range(self.commits[int(commit, 16)][path])
