# SPDX-License-Identifier: Apache-2.0
"""Running the plumb binary."""
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

from harness.report import Profile
from harness.target import wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds after which a plumb is taken for one that hangs
LONGEST = 20  # seconds that a profile of `until` ever takes

# What a sanitizer writes. It fails any test, whatever the test looks at.
_SANITIZER = re.compile(r"(AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:).*")


@dataclasses.dataclass
class Result:
    status: int
    stdout: str
    stderr: str

    def __str__(self):
        return "status %d\nstdout: %s\nstderr: %s" % (self.status, self.stdout, self.stderr)


def binary():
    return os.environ.get("PLUMB_BIN") or str(TOP / "build" / "plumb")


class Plumb:
    """The binary, with a directory for its recordings."""

    def __init__(self, directory):
        self.binary = binary()
        self.directory = pathlib.Path(directory)
        self.sanitized = "asan" in pathlib.Path(self.binary).parent.name
        self._count = 0
        self._last_look = None, None  # at a recording that grows: its name, size and time, and the profile

    def path(self, suffix=".plumb"):
        """A new name for a recording or another output."""
        self._count += 1
        return self.directory / ("%d%s" % (self._count, suffix))

    def start(self, *arguments, before=(), **popen):
        """A running plumb, as a Popen; the caller waits for it."""
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("cwd", self.directory)
        return subprocess.Popen([*before, self.binary, *map(str, arguments)], **popen)

    def __call__(self, *arguments, timeout=PATIENCE, **popen):
        """Run to the end."""
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        process = self.start(*arguments, **popen)
        return finish(process, timeout)

    def report(self, recording, *options):
        """The recording as a Profile, read through `report --json` with everything in it."""
        result = self("report", "--json", "--idle", *options, recording)
        assert result.status == 0, "report failed: %s" % result
        return Profile(result.stdout)

    def attach(self, pid, *options, timeout=PATIENCE):
        """Attach, record until the end, and read the recording: (Result, Profile)."""
        recording = self.path()
        result = self("attach", "-o", recording, *options, pid, timeout=timeout)
        assert result.status == 0, "attach failed: %s" % result
        return result, self.report(recording)

    def recorded(self, recording, enough):
        """Whether a recording that still grows has enough in it. Nothing of it may be written yet. It is read when it has changed."""
        if not recording.exists():
            return False
        facts = recording.stat()
        now, (looked_at, profile) = (recording, facts.st_size, facts.st_mtime_ns), self._last_look
        if now != looked_at:
            result = self("report", "--json", "--idle", recording)
            profile = Profile(result.stdout) if result.status == 0 else None
            self._last_look = now, profile
        return bool(profile and enough(profile))

    @contextlib.contextmanager
    def attached(self, pid, *options, recording=None):
        """While a process is sampled, from the first samples in the recording until Ctrl-C: the running plumb."""
        recording = recording or self.path()
        with running(self.start("attach", "-o", recording, *options, pid, stderr=subprocess.DEVNULL)) as process:
            wait_until(lambda: self.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            yield process
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0

    def try_sampling(self, enough, pid, *options, **popen):
        """Attach for as long as it takes until the profile has enough, or plumb ends: (Result, recording)."""
        recording, size = self.path(), 0

        def grown():
            nonlocal size
            before, size = size, recording.stat().st_size if recording.exists() else 0
            return size > before

        command = ["attach", "-o", recording, *options, pid]
        with running(self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)) as process:
            wait_until(lambda: process.poll() is not None or (grown() and self.recorded(recording, enough)), "the profile never has enough")
            process.send_signal(signal.SIGINT)
            return finish(process), recording

    def sampled(self, enough, pid, *options, **popen):
        """Attach for as long as it takes until the profile has enough: (Result, Profile)."""
        result, recording = self.try_sampling(enough, pid, *options, **popen)
        assert result.status == 0, "attach failed: %s" % result
        return result, self.report(recording)

    def run_and_end(self, enough, *command, env=None):
        """The recording of a target, started by plumb and ended by it, for as long as it takes until the profile has enough."""
        recording, environment = self.path(), dict(env or os.environ, PLUMB_TEST_SECONDS=str(PATIENCE))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with running(self.start("run", "-o", recording, "--", *command, env=environment, **quiet)) as process:
            wait_until(lambda: process.poll() is not None or self.recorded(recording, enough), "the profile never has enough")
            process.terminate()
            result = finish(process)
        assert result.status == 128 + signal.SIGTERM, result
        return recording

    def attach_until(self, enough, pid, *options, seconds=0.5):
        """The profile of an attach that has enough."""
        return until(lambda seconds: self.attach(pid, "-d", str(seconds), *options)[1], enough, seconds)

    def run_until(self, enough, *command, seconds=0.3, env=None, **popen):
        """The profile of a target, started by plumb, that has enough."""

        def run(seconds):
            recording, environment = self.path(), dict(env or os.environ, PLUMB_TEST_SECONDS=str(seconds))
            result = self("run", "-o", recording, "--", *command, env=environment, **popen)
            assert result.status == 0, result
            return self.report(recording) if recording.exists() else None  # it was over before its first sample

        return until(run, enough, seconds)


def until(profile_of, enough, seconds):
    """profile_of(seconds), or None, for so long, for twice as long, ... until it has enough: how many samples come in a second, and of what,
    is the machine's to decide. The last one, which has not enough only where that hangs."""
    deadline = time.monotonic() + PATIENCE
    while True:
        profile = profile_of(seconds)
        if (profile and enough(profile)) or time.monotonic() > deadline:
            return profile
        seconds = min(2 * seconds, LONGEST)


def finish(process, timeout=PATIENCE):
    """Wait for a plumb started with pipes."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError("plumb did not end within %g s; stderr: %s" % (timeout, (stderr or b"").decode(errors="replace")))
    result = Result(process.returncode, (stdout or b"").decode(errors="replace"), (stderr or b"").decode(errors="replace"))
    found = _SANITIZER.search(result.stderr)
    assert not found, "sanitizer: %s" % result
    assert result.status not in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS), "plumb crashed: %s" % result
    return result


@contextlib.contextmanager
def running(process):
    """Never leave a plumb behind."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()
