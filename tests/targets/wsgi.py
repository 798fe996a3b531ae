# SPDX-License-Identifier: Apache-2.0
"""An application for a WSGI server: a page that takes about a tenth of a millisecond of Python."""


def total(n):
    result = 0
    for i in range(n):
        result += i
    return result


def application(environment, start_response):
    page = b"%d" % total(2000)
    start_response("200 OK", [("Content-Length", "%d" % len(page))])
    return [page]
