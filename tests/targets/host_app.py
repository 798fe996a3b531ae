# SPDX-License-Identifier: Apache-2.0
"""An application for uwsgi, whose worker computes in a thread of its own until the test is over and then ends the server."""
import os
import signal
import threading

import calls

FOREIGN = True  # the functions of calls.py
EXPECT = [["compute", "main", "outer", "middle", "inner"]]
THREADS = {"computing": "compute"}


def compute():  # root
    calls.main()
    os.kill(os.getppid(), signal.SIGINT)


def application(environment, start_response):
    start_response("200 OK", [])
    return [b""]


threading.Thread(target=compute, name="computing", daemon=True).start()
