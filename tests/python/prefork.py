# SPDX-License-Identifier: Apache-2.0
"""A WSGI application that begins to be profiled before its server forks: each worker has a profiler of its own."""
import os

import plumb
import plumb.web

profiler = plumb.Profiler()
profiler.start()
control = plumb.web.control(profiler, token=os.environ["PLUMB_TEST_TOKEN"])


def work_for_a_request():
    return sum(range(200000))


def application(environ, start_response):
    if environ["PATH_INFO"].startswith("/plumb/"):
        return control({**environ, "SCRIPT_NAME": "/plumb", "PATH_INFO": environ["PATH_INFO"][len("/plumb") :]}, start_response)
    work_for_a_request()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "0")])
    return []


application = plumb.web.WSGIMiddleware(application)
