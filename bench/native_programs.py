# SPDX-License-Identifier: Apache-2.0
"""native_programs.py PLUMB PYTHON [NAME...]: how far native stacks of real programs go (--native=all). PYTHON has the packages of
requirements-native.txt. Of each program: samples, those without native frames, those in which frames are missing and where, and the
share that is whole: each frame follows from the one before, from the innermost function to where the thread was started, or its
greenlet. Of those with native frames it tells also how many have a Python function below another one that never called it: the
program is run once more, and notes all its calls (sys.setprofile)."""
import collections
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

BEGUN, SECONDS = 4, 6
ROOTS = "_start", "__clone", "clone", "start_thread"
GREENLETS = "_greenlet."

# What runs for ever.
PROGRAMS = {
    "NumPy, OpenBLAS": """
import numpy as np
a = np.random.default_rng(1).random((300, 300))
def multiply():
    return a @ a
def along():
    return np.apply_along_axis(lambda row: np.sort(row).sum(), 1, a)
while True:
    multiply(), along(), np.linalg.svd(a[:60, :60])
""",
    "pandas": """
import numpy as np, pandas as pd
d = pd.DataFrame({"k": np.arange(20000) % 97, "v": np.arange(20000) * 0.5, "s": ["x%d" % (i % 31) for i in range(20000)]})
while True:
    d.groupby("k").v.apply(lambda v: v.max() - v.min()), d.groupby("s").v.sum(), d.merge(d[:500], on="k").v_x.sum(), d.s.str.upper()
""",
    "lxml": """
from lxml import etree
text = b"<r>" + b"".join(b'<a n="%d"><b>text</b></a>' % i for i in range(3000)) + b"</r>"
class Target:
    def start(self, tag, attrib): pass
    def end(self, tag): pass
    def close(self): return 1
while True:
    etree.tostring(etree.fromstring(text)), etree.fromstring(text).xpath("//a[@n > 10]/b"), etree.XML(text, etree.XMLParser(target=Target()))
""",
    "cryptography (Rust, OpenSSL)": """
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ed25519
f, k = Fernet(Fernet.generate_key()), ed25519.Ed25519PrivateKey.generate()
while True:
    f.decrypt(f.encrypt(b"x" * 2000)), k.public_key().verify(k.sign(b"y"), b"y")
""",
    "polars (Rust, own threads)": """
import polars as pl
d = pl.DataFrame({"k": [i % 97 for i in range(50000)], "v": [i * 0.5 for i in range(50000)]})
while True:
    d.group_by("k").agg(pl.col("v").sum()).sort("v"), d.lazy().filter(pl.col("v") > 3).select(pl.col("v").map_elements(lambda v: v + 1, return_dtype=pl.Float64)).head(500).collect()
""",
    "orjson (Rust)": """
import orjson
class Thing: pass
def default(thing):
    return sorted(range(30), key=lambda i: -i)
d = {"a": [1, 2.5, "text", None] * 300, "t": [Thing()] * 20}
while True:
    orjson.loads(orjson.dumps(d, default=default))
""",
    "gevent (greenlets)": """
import gevent
def leaf(n):
    return sum(i * i for i in range(n))
def worker():
    while True:
        leaf(3000)
        gevent.sleep(0)
gevent.joinall([gevent.spawn(worker) for _ in range(20)])
""",
    "scikit-learn (Cython, OpenMP)": """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeRegressor
x = np.random.default_rng(1).random((3000, 8))
while True:
    KMeans(8, n_init=1).fit(x), DecisionTreeRegressor(max_depth=6).fit(x, x[:, 0])
""",
    "Pillow": """
import io
from PIL import Image, ImageFilter
image = Image.effect_noise((256, 256), 60)
while True:
    image.resize((400, 400), Image.Resampling.LANCZOS).filter(ImageFilter.GaussianBlur(3)).save(io.BytesIO(), "PNG")
""",
    "pydantic-core (Rust)": """
import pydantic
class Model(pydantic.BaseModel):
    name: str
    values: list[int]
    @pydantic.field_validator("name")
    @classmethod
    def check(cls, name):
        return "".join(sorted(name, key=lambda c: -ord(c)))
while True:
    Model.model_validate({"name": "abcdef", "values": list(range(200))}).model_dump_json()
""",
    "numba (JIT)": """
import numba
@numba.njit
def inner(n):
    total = 0.0
    for i in range(n):
        total += (i % 7) ** 0.5
    return total
def key(i):
    return inner(20000 + i)
inner(1)
while True:
    sorted(range(20), key=key)
""",
    "python -X perf": """
import json, re, sys
sys.activate_stack_trampoline("perf")
def replacement(match):
    return str(sorted([3, 1, 2], key=lambda i: -i)[0])
def hook(things):
    return re.sub("a", replacement, "banana")
text = json.dumps([{"a": 1}] * 50)
while True:
    json.loads(text, object_hook=hook)
""",
    "json, re, sorted": """
import json, re
def total(n):
    result = 0
    for i in range(n):
        result += i & 7
    return result
def key(i):
    return total(300) - i
def replacement(match):
    return str(sorted([3, 1, 2], key=key)[0])
def hook(things):
    return re.sub("a", replacement, "banana")
text = json.dumps([{"a": 1}] * 50)
while True:
    json.loads(text, object_hook=hook), total(20000)
""",
    "gunicorn, serving": None,
    "uwsgi, serving": None,
}

# What the program begins with to note who calls whom; it ends so long after it has begun with its work.
NOTED = "\nsignal.alarm(%d)\n" % (BEGUN + SECONDS)
NOTING = """
import json, os, signal, sys, threading
called = set()
def note(frame, event, argument):
    if event == "call" and frame.f_back:
        called.add((frame.f_back.f_code.co_name, frame.f_code.co_name))
def told(*_):
    sys.setprofile(None)
    threading.setprofile(None)
    with open(sys.argv[1], "w") as to:
        json.dump(sorted(called), to)
    os._exit(0)
signal.signal(signal.SIGALRM, told)
threading.setprofile(note)
sys.setprofile(note)
"""

SERVED = """
import json, zlib
def app(environ, start):
    body = zlib.compress(json.dumps([{"a": i} for i in range(300)]).encode())
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


ASK = """
import sys, urllib.request
while True:
    urllib.request.urlopen(sys.argv[1]).read()
"""


def port_of(process):
    for line in process.stderr:
        if "Listening at: http://127.0.0.1:" in line:
            return int(line.split("127.0.0.1:")[1].split()[0])
    raise SystemExit("gunicorn did not start")


def sampled_server(plumb, process, port, where):
    with subprocess.Popen([sys.executable, "-c", ASK, "http://127.0.0.1:%d/" % port]) as client:
        run(plumb, "attach", *OPTIONS, "--duration", str(SECONDS), "-o", where / "it.plumb", str(process.pid))
        client.kill()
    process.kill()


def sampled_gunicorn(plumb, python, where):
    server = [python, "-m", "gunicorn", "-b", "127.0.0.1:0", "-w", "1", "--threads", "2", "served:app"]
    with subprocess.Popen(server, cwd=where, stderr=subprocess.PIPE, text=True) as process:
        sampled_server(plumb, process, port_of(process), where)


def sampled_uwsgi(plumb, python, where):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = [pathlib.Path(python).parent / "uwsgi", "--http-socket", "127.0.0.1:%d" % port, "--wsgi-file", "served.py", "--callable", "app", "--threads", "2"]
    with subprocess.Popen(server, cwd=where, stderr=subprocess.DEVNULL) as process:
        time.sleep(BEGUN)
        sampled_server(plumb, process, port, where)


OPTIONS = ["--native=all", "-r", "200", "--max-overhead", "none", "-q", "--force"]


def run(plumb, *arguments):
    subprocess.run([plumb, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def sampled_script(plumb, python, name, where):
    """Not while it begins: of a library that is loaded just then nothing is known yet."""
    (where / "program.py").write_text(PROGRAMS[name])
    with subprocess.Popen([python, "-W", "ignore", where / "program.py"]) as process:
        time.sleep(BEGUN)
        run(plumb, "attach", *OPTIONS, "--duration", SECONDS, "-o", where / "it.plumb", process.pid)
        process.kill()


def calls(python, name, where):
    """{(caller, called)} of all calls of Python functions; None: not known."""
    if PROGRAMS[name] is None:
        return None
    setup, loop, work = PROGRAMS[name].partition("\nwhile True:")
    (where / "noting.py").write_text(NOTING + setup + NOTED + loop + work if loop else NOTING + NOTED + setup)
    subprocess.run([python, "-W", "ignore", where / "noting.py", where / "calls.json"], check=True)
    return {tuple(pair) for pair in json.loads((where / "calls.json").read_text())}


def sampled(plumb, python, name, where):
    if PROGRAMS[name] is None:
        (where / "served.py").write_text(SERVED)
        (sampled_uwsgi if name.startswith("uwsgi") else sampled_gunicorn)(plumb, python, where)
    else:
        sampled_script(plumb, python, name, where)
    report = subprocess.run([plumb, "report", "--json", where / "it.plumb"], check=True, stdout=subprocess.PIPE)
    return json.loads(report.stdout)


def frames(profile, stack):
    """(name, file, kind) from the root on."""
    found = []
    for location in stack["frames"]:
        function = profile["functions"][profile["locations"][location]["function"]]
        found.append((function["name"], os.path.basename(function["file"]), function["kind"]))
    return found


class Table:
    def __init__(self, profile, called):
        self.all = self.whole = self.without = 0
        self.called = called
        self.outside, self.within, self.disordered = collections.Counter(), collections.Counter(), collections.Counter()
        for stack in profile["stacks"]:
            self.add(frames(profile, stack), stack["samples"])

    def add(self, stack, samples):
        self.all += samples
        if not any(kind == "native" for _, _, kind in stack):
            self.without += samples
            return
        names = [name.rpartition(".")[2] for name, _, kind in stack if kind == "python"]
        if self.called is not None:
            self.disordered.update({"%s calls %s" % pair: samples for pair in set(zip(names, names[1:])) - self.called})
        gaps = [i for i, (name, _, _) in enumerate(stack) if name == "<missing frames>"]
        if not gaps and not stack[0][0].startswith(ROOTS) and not stack[0][1].startswith(GREENLETS):
            gaps = [-1]
        if not gaps:
            self.whole += samples
            return
        python = [i for i, (_, _, kind) in enumerate(stack) if kind == "python"] or [len(stack)]
        inner = stack[gaps[-1] + 1] if gaps[-1] + 1 < len(stack) else ("the innermost", "")
        where = self.outside if gaps[-1] < python[0] else self.within
        where["%s [%s]" % inner[:2]] += samples


def told(counter):
    return "; ".join("%d x %s" % (n, what) for what, n in counter.most_common(5))


def main():
    plumb, python, *names = sys.argv[1:]
    print("| program | samples | without native frames | whole, of the others | Python functions below one that never called them | missing outside of all Python frames, before | missing within, before |")
    print("|---|--:|--:|--:|---|---|---|")
    for name in names or PROGRAMS:
        with tempfile.TemporaryDirectory() as where:
            called = calls(python, name, pathlib.Path(where))
            table = Table(sampled(plumb, python, name, pathlib.Path(where)), called)
        share = 100 * table.whole / max(table.all - table.without, 1)
        order = "not known" if called is None else told(table.disordered) or 0
        row = name, table.all, table.without, share, order, told(table.outside), told(table.within)
        print("| %s | %d | %d | %.1f %% | %s | %s | %s |" % row, flush=True)


main()
