# SPDX-License-Identifier: Apache-2.0
"""A server that mostly waits: each request asks a slow database and makes JSON of what comes. Clients in another process ask it
for about three seconds.

    build/plumb run --no-subprocesses -- python3 examples/server.py
"""
import http.client
import http.server
import json
import subprocess
import sys
import threading
import time

CLIENTS = 4


class Database:
    """In the place of a real one: 20 milliseconds for each query."""

    def query(self, user):
        time.sleep(0.02)
        return [{"user": user, "order": number, "items": list(range(20))} for number in range(100)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    database = Database()

    def do_GET(self):
        body = self.render(self.database.query(self.path))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def render(self, rows):
        return json.dumps(rows, indent=1).encode()

    def log_message(self, *_):
        pass


def ask(port, until):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.monotonic() < until:
        connection.request("GET", "/orders")
        connection.getresponse().read()
    connection.close()


def clients(port, seconds):
    """What the other process does."""
    threads = [threading.Thread(target=ask, args=(port, time.monotonic() + seconds)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(seconds=3.0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    subprocess.run([sys.executable, __file__, "--ask", str(server.server_port), str(seconds)], check=True)
    server.shutdown()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        clients(int(sys.argv[2]), float(sys.argv[3]))
    else:
        main(*map(float, sys.argv[1:]))
