# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server with a thread for each connection; a request is a millisecond or so of work."""
import threading

import parley

try:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from socketserver import ThreadingMixIn
except ImportError:  # 2.7
    from BaseHTTPServer import BaseHTTPRequestHandler, HTTPServer
    from SocketServer import ThreadingMixIn


class Server(ThreadingMixIn, HTTPServer):
    daemon_threads = True


def total(n):
    result = 0
    for i in range(n):
        result += i
    return result


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = str(total(10000)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.daemon = True
    thread.start()
    parley.ready(port=server.server_address[1])
    parley.wait_over()
    server.shutdown()


if __name__ == "__main__":
    main()
