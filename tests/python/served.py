# SPDX-License-Identifier: Apache-2.0
"""A program that works and serves the control application of its profiler, until its standard input ends; says its port."""
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

import plumb
import plumb.web


class Silent(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def work():
    while True:
        spin()


def spin():
    return sum(range(50000))


application = plumb.web.WSGIMiddleware(plumb.web.control(plumb.Profiler(), allow_loopback=True))
server = make_server("127.0.0.1", 0, application, handler_class=Silent)
for work_on in (work, server.serve_forever):
    threading.Thread(target=work_on, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
