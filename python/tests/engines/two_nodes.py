"""Two Ray nodes on this machine, lists of jobs for them, and ways to hurt both."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

NODE = ["--num-cpus", "1", "--memory", "2000000000", "--object-store-memory", "80000000"]
# The folders of sockets: their names have to be short.
SOCKETS = "/tmp"


def until(what, seconds=60.0, every=0.02):
    """Waits for something; fails where it does not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"waited {seconds:.0f} s for {what.__doc__ or what}")


def processes():
    """Every process: number, parent, words."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = Path("/proc", entry, "cmdline").read_bytes().decode(errors="replace").split("\0")
            parent = int(Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        found.append((int(entry), parent, words))
    return found


def family(root):
    """A process and all that it started, itself or through others."""
    members = {root}
    everyone = processes()
    grown = True
    while grown:
        more = {number for number, parent, _ in everyone if parent in members} - members
        members |= more
        grown = bool(more)
    return members


def kill_family(root):
    """The end of a process and of all that it started, without a word to any of them."""
    for member in family(root):
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Cluster:
    """A head and one more node. They have one CPU each, so a job that runs tells where."""

    def __init__(self, place):
        self.place = place
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        # Nodes know each other by a secret of this cluster alone. Ray runs workers at a low priority, which on a busy machine would test patience.
        self.environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        # A node that cannot be reached is asked every second, and dead after five; one that is only slow has time.
        self.environment.update(RAY_health_check_period_ms="1000")
        self.head = self.node = None

    def open(self):
        self.head = self.start("head", ["--head", "--port", self.address.rpartition(":")[2], "--include-dashboard", "false", "--temp-dir", str(self.place / "ray")])
        self.ensure_node()

    def start(self, name, words, tries=3):
        """A node. On a machine that is busy Ray may give up on its own parts; then once more."""
        log = self.place / f"{name}.log"
        with open(log, "wb") as said:
            command = [str(Path(sys.executable).with_name("ray")), "start", *words, *NODE, "--node-ip-address", "127.0.0.1", "--block"]
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=self.environment, start_new_session=True)

        def started():
            """a node of Ray"""
            return child.poll() is not None or "Ray runtime started" in log.read_text()

        try:
            until(started, 90, 0.1)
        except BaseException:
            kill_family(child.pid)
            raise
        if child.poll() is None:
            return child
        assert tries > 1, log.read_text()
        return self.start(name, words, tries - 1)

    def ensure_node(self):
        """Puts the second node in place where there is none."""
        if self.node is None or self.node.poll() is not None:
            self.node = self.start("node", ["--address", self.address])

    def kill_node(self):
        kill_family(self.node.pid)
        self.node.wait()

    def close(self):
        for one in (self.node, self.head):
            if one is not None:
                kill_family(one.pid)
                one.wait()

    def begin(self, jobs, *words):
        """The engine at work on a list, to be waited for with `end`."""
        command = [sys.executable, "-m", "treering.ray", str(jobs.list), "--address", self.address, *words]
        if "TREERING" in os.environ:
            command += ["--program", os.environ["TREERING"]]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)

    def run(self, jobs, *words):
        """The engine on a list: exit code, summary, and what it said meanwhile."""
        return end(self.begin(jobs, *words))


def end(engine, seconds=100):
    """The exit code of an engine, its summary, and what it said meanwhile."""
    try:
        out, said = engine.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        engine.kill()
        raise AssertionError("the engine does not end: " + "".join(map(str, engine.communicate())))
    return engine.returncode, out, said


class Jobs:
    """Answers about a graph as a list of jobs: columns and heads, then rows, then the table."""

    def __init__(self, place, material):
        self.folder = place / "jobs"
        self.list = self.folder / "list.jsonl"
        self.answers = place / "answers.csv"
        treering("plan", self.folder, "--pieces", 14, "predict", material / "model", material / "graph.treering", "-o", self.answers)
        self.count = len(self.list.read_text().splitlines())

    def seals(self):
        return sorted(path.stem for path in (self.folder / "done").glob("[!.]*.json"))

    def missing(self):
        return treering("exec", self.list, "--open").splitlines()

    def output(self):
        """What the last job wrote."""
        return self.answers.read_bytes()

    def at_work(self):
        """Processes of jobs of this list: number and parent."""
        return [(number, parent) for number, parent, words in processes() if "exec" in words and "--job" in words and str(self.list) in words]

    def until_done(self, count):
        def enough():
            """seals"""
            return len(self.seals()) >= count

        until(enough)

    def hold(self, under=None):
        """Stops a job in the middle: what is killed next is killed while this one runs. Its process and that of its worker; `go_on` wakes it."""

        def held():
            """a job at work"""
            members = family(under) if under else None
            for job, worker in self.at_work():
                if members is None or job in members:
                    try:
                        os.kill(job, signal.SIGSTOP)
                    except ProcessLookupError:
                        continue
                    if any(number == job for number, _ in self.at_work()):
                        return job, worker
            return None

        return until(held)


def go_on(job):
    """Wakes a job, if it is still there."""
    try:
        os.kill(job, signal.SIGCONT)
    except ProcessLookupError:
        pass


def treering(*words):
    """The command line."""
    program = [os.environ["TREERING"]] if "TREERING" in os.environ else [sys.executable, "-m", "treering"]
    done = subprocess.run([*program, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout
