# SPDX-License-Identifier: Apache-2.0
"""plumb in web applications: middleware that tags samples, request times, and control of a profiler over HTTP.

WSGIMiddleware, ASGIMiddleware    samples of a request are tagged with route, method and status; django_middleware: in Django
RequestTimes                      how long requests took, by route
control, control_asgi             applications that show and control a Profiler; flask_blueprint: in Flask
"""
from __future__ import annotations

from plumb.web._asgi import ASGIMiddleware
from plumb.web._django import django_middleware
from plumb.web._hosts import control, control_asgi, flask_blueprint
from plumb.web._times import RequestTimes
from plumb.web._wsgi import WSGIMiddleware

__all__ = ["ASGIMiddleware", "RequestTimes", "WSGIMiddleware", "control", "control_asgi", "django_middleware", "flask_blueprint"]
