"""A proxy for HTTP that asks for a login, which it must be told and which servers behind it must not."""

import base64
import collections
import http.client
import urllib.parse

from hf_hub import Handler, Server

USER, PASSWORD = "pr0xyuser", "pr0xys3cr3t"
HOP = {"proxy-authorization", "proxy-connection", "connection", "keep-alive", "transfer-encoding"}


class ProxyHandler(Handler):
    def do_GET(self):
        self.server.answer(self)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET


class WebProxy:
    """To be used in a `with`. `env`: what a command needs to use it, with `password` in the URL."""

    def __init__(self):
        self.counts = collections.Counter()
        self.login = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    def __enter__(self):
        self.server = Server(self.answer, ProxyHandler)
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def env(self, password=PASSWORD):
        at = urllib.parse.urlsplit(self.server.url).netloc
        return {"http_proxy": f"http://{USER}:{password}@{at}", "no_proxy": ""}

    def answer(self, request):
        self.counts["requests"] += 1
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if request.headers["Proxy-Authorization"] != self.login:
            return request.reply(407, {"Proxy-Authenticate": "Basic"})
        self.counts["forwarded"] += 1
        url = urllib.parse.urlsplit(request.path)
        fields = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        server = http.client.HTTPConnection(url.netloc)
        server.request(request.command, url._replace(scheme="", netloc="").geturl(), body, fields)
        answer = server.getresponse()
        content = answer.read()
        request.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP:
                request.send_header(name, value)
        request.end_headers()
        request.wfile.write(content)
        server.close()
