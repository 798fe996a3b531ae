# SPDX-License-Identifier: Apache-2.0
"""A crawler with threads, of a site on loopback that another process serves, profiled as a whole. Prints the pages it found, how
long fetching and parsing took by its own clock, the samples of each function below each thread's tag, and the share of those that came
too late.

    crawler.py serve    the site; says its port, ends with its standard input"""
import collections
import html.parser
import http.client
import http.server
import json
import queue
import subprocess
import sys
import threading
import time

from trees import by_tag

PAGES, THREADS, ENOUGH = 60, 6, 6000
EACH = 100  # samples of each thread


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path[1:])
        links = ["<a href='/%d'>x</a>" % n for n in (2 * number + 1, 2 * number + 2) if n < PAGES]
        body = ("<html>%s%s</html>" % ("<p>word</p>" * 300, "".join(links))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])


def fetch(connection, path):
    connection.request("GET", path)
    return connection.getresponse().read().decode()


def parse(text):
    parser = Links()
    parser.feed(text)
    return parser.found


def timed(took, function, *arguments):
    begin = time.perf_counter()
    result = function(*arguments)
    took[function.__name__] += time.perf_counter() - begin
    return result


def crawl(port, todo, took):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for path, seen in iter(todo.get, None):
        for link in timed(took, parse, timed(took, fetch, connection, path)):
            todo.put((link, seen))
        seen.append(path)
    connection.close()


def tagged_crawl(number, *arguments):
    with plumb.tag(crawler=number):
        crawl(*arguments)


def whole_site(todo):
    seen = []
    todo.put(("/0", seen))
    while len(seen) < PAGES:
        time.sleep(0.001)
    return sorted(seen)


def enough(p):
    if p.info()["samples"] < ENOUGH:
        return False
    seen = by_tag(p.tree(lines=False))
    return all(seen["[crawler=%d]" % number]["crawl"] >= EACH for number in range(THREADS))


def main(port):
    todo, took = queue.Queue(), [collections.Counter() for _ in range(THREADS)]
    threads = [threading.Thread(target=tagged_crawl, args=(n, port, todo, took[n])) for n in range(THREADS)]
    with plumb.profile() as p:
        for thread in threads:
            thread.start()
        while not enough(p):
            pages = whole_site(todo)
        for _ in threads:
            todo.put(None)
        for thread in threads:
            thread.join()
    info = p.info()
    missed = info["losses"]["missed"] / (info["ticks"] + info["losses"]["missed"])
    print(json.dumps({"pages": pages, "missed": missed, "took": sum(took, collections.Counter()), "seen": by_tag(p.tree(lines=False))}))


if sys.argv[1:] == ["serve"]:
    serve()
else:
    import plumb

    with subprocess.Popen([sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as site:
        main(int(site.stdout.readline()))
        site.stdin.close()
