"""Job lists on Ray: `python -m treering.ray LIST`.

Ray decides where a job runs; `treering exec` does the work, and decides alone whether a job is done. Between machines travel the path of the list, ids, exit codes and
reasons; data goes through the file system that holds the list. So whatever dies, worker, node or this process: call it again, and it goes on.

A job that the system failed (exit code 1, a worker or node that died) is tried again; one that is wrong (exit code 2) is not. The levels of a list come one after the other.
"""

import argparse
import heapq
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple

from treering._progress import is_shown

# A new cluster's store for objects, as small as Ray has it: what travels here fits into messages.
STORE_BYTES = 80_000_000
# How often the nodes of the cluster are counted, and how long a job waits for a node that can hold it after one died.
COUNT_SECONDS = 2.0
PATIENCE_SECONDS = 60.0
# How long a node may take to say what it has.
LOOK_SECONDS = 120.0
# Where nobody watches a terminal, a line now and then.
LINE_SECONDS = 30.0
# Of what a job said last, what is kept.
WORDS = 2000
# Jobs take time even where the list says they take none.
LEAST_COST = 0.02

Words = Optional[List[str]]


class Failure(Exception):
    """What ends the command: an exit code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Job(NamedTuple):
    """What Ray has to know about a line of the list."""

    id: str
    level: int
    memory: int
    cost: float


class Answer(NamedTuple):
    """What comes back from a node."""

    code: int
    words: str


class Node(NamedTuple):
    """A node that is alive."""

    id: str
    address: str
    cpus: float
    memory: float

    def holds(self, job: Job, threads: int) -> bool:
        """Whether the job could run here if nothing else did."""
        return self.cpus >= threads and self.memory >= job.memory


def read_list(path: str) -> List[Job]:
    """The jobs of a list, in its order."""
    jobs: Dict[str, Job] = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    said = json.loads(line)
                    job = Job(said["id"], said["level"], said["memory"], max(float(said["cost"]["cpu_seconds"]), LEAST_COST))
                    if not (isinstance(job.id, str) and isinstance(job.level, int) and isinstance(job.memory, int)):
                        raise TypeError
                except (ValueError, KeyError, TypeError) as error:
                    raise Failure(2, f"{path}, line {number}: this is no job. Make the list again with `treering plan`.") from error
                if job.id in jobs:
                    raise Failure(2, f"{path}, line {number}: there are two jobs `{job.id}`. Make the list again with `treering plan`.")
                jobs[job.id] = job
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Failure(2, f"{path}: {reason}. `treering plan` makes lists.") from error
    if not jobs:
        raise Failure(2, f"{path}: there is no job in it. Make the list again with `treering plan`.")
    return list(jobs.values())


def missing(program: Words, path: str) -> Set[str]:
    """The ids of jobs that are not done; `exec` itself says so."""
    try:
        done = subprocess.run([*command(program), "exec", path, "--open"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failure(2, f"{command(program)[0]}: {error.strerror}. `--program` says what runs treering.") from error
    if done.returncode != 0:
        raise Failure(done.returncode if done.returncode in (1, 2) else 1, reason_in(done.stderr) or f"`exec --open` ended with {done.returncode}")
    return {json.loads(line)["id"] for line in done.stdout.splitlines()}


# The four functions from here on also run on the nodes. Ray sends them there as they are, so they name nothing that is not in this module or in Python itself.


def command(program: Words) -> List[str]:
    """What starts Treering here: without a program, the package of this Python."""
    return list(program) if program else [sys.executable, "-m", "treering"]


def reason_in(said: str) -> str:
    """The reason in what a command said: from the last `error: ` on, else its last line."""
    place = said.rfind("error: ")
    words = said[place + len("error: "):] if place >= 0 else said.strip().rpartition("\n")[2]
    return words.strip()[:WORDS]


def execute(program: Words, path: str, job: str, threads: int) -> Tuple[int, str]:
    """Does one job on the node where this runs; its exit code and last words."""
    words = [*command(program), "exec", path, "--quiet", "--threads", str(threads), "--end-with-input", "--job", job]
    try:
        # Ray ends workers with SIGKILL. Their end of the pipe closes then, and the job ends too: it would take memory that Ray believes to be free.
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as error:
        return 1, str(error)
    with child:
        try:
            said = child.stderr.read().decode(errors="replace") if child.stderr else ""
            child.wait()
        except BaseException:
            child.kill()
            raise
    if child.returncode < 0:
        number = -child.returncode
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return 1, f"killed by {name}" + (f" after it said: {reason_in(said)}" if said.strip() else "")
    return child.returncode, reason_in(said)


def look(program: Words, path: str) -> Tuple[Optional[int], str]:
    """What a node has: the size of the list, and the version of Treering or why there is none."""
    try:
        size: Optional[int] = os.stat(path).st_size
    except OSError:
        size = None
    try:
        done = subprocess.run([*command(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        return size, f"error: {error}"
    return size, done.stdout.strip() if done.returncode == 0 else f"error: {reason_in(done.stderr)}"


class Progress:
    """How far it is, on standard error: a line that rewrites itself on a terminal, else a line now and then."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = is_shown(None)
        self._shown = ""
        self._last = time.monotonic()

    def say(self, line: str) -> None:
        """A line that stays."""
        self.clear()
        if not self._quiet:
            print(line, file=sys.stderr, flush=True)

    def show(self, line: str) -> None:
        """A line that the next one replaces."""
        if self._quiet:
            return
        if self._terminal:
            sys.stderr.write("\r" + line.ljust(len(self._shown)))
            sys.stderr.flush()
            self._shown = line
        elif time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""


class Engine:
    """One list on one cluster."""

    def __init__(self, ray: Any, path: str, jobs: Sequence[Job], options: argparse.Namespace) -> None:
        self.ray = ray
        self.path = path
        self.jobs = jobs
        self.threads: int = options.threads
        self.at_once: Optional[int] = options.jobs
        self.retries: int = options.retries
        self.program: Words = options.program
        self.progress = Progress(options.quiet)
        self.nodes: List[Node] = []
        self.counted = 0.0
        self.running: Dict[Any, Job] = {}
        self.done: Set[str] = set()
        self.before: Set[str] = set()
        self.failed: Dict[str, Answer] = {}
        # Why jobs were tried again, and how often each was.
        self.again: List[Tuple[str, str]] = []
        self.tried: Dict[str, int] = {}
        self.began = time.monotonic()
        # What is ahead in all, and what of it is behind, in seconds by the list.
        self.ahead = self.spent = 0.0

    def run(self) -> None:
        """Does what is missing, level by level. A level that ends with failures is the last."""
        left = missing(self.program, self.path)
        self.before = {job.id for job in self.jobs} - left
        self.count_nodes()
        self.check_size(left)
        if left:
            self.check_nodes()
        self.ahead = sum(job.cost for job in self.jobs if job.id in left)
        for level in sorted({job.level for job in self.jobs if job.id in left}):
            self.run_level(level, [job for job in self.jobs if job.level == level and job.id in left])
            if self.failed:
                break

    def count_nodes(self) -> None:
        """Finds out which nodes are alive."""
        self.counted = time.monotonic()
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        self.nodes = [Node(one["NodeID"], one["NodeManagerAddress"], one["Resources"].get("CPU", 0), one["Resources"].get("memory", 0)) for one in alive]

    def check_size(self, left: Set[str]) -> None:
        """Names jobs that no node can hold, before any work is done."""
        cpus, memory = max((node.cpus for node in self.nodes), default=0), max((node.memory for node in self.nodes), default=0)
        large = [job for job in self.jobs if job.id in left and not any(node.holds(job, self.threads) for node in self.nodes)]
        if not large:
            return
        if cpus < self.threads:
            raise Failure(2, f"jobs of {self.threads} threads fit on no node: the largest has {cpus:g} CPUs. Say `--threads {max(int(cpus), 1)}`.")
        most = max(large, key=lambda job: job.memory)
        names = some([job.id for job in large])
        raise Failure(
            2,
            f"no node can hold {names}: `{most.id}` takes {most.memory / 1e9:.2f} GB, and the largest node lends {memory / 1e9:.2f} GB. "
            "Make the list again with a smaller `--memory`, or add a larger node.",
        )

    def check_nodes(self) -> None:
        """Asks every node whether it sees the list and has the same Treering; one that does not would fail every job it gets."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        size, version = look(self.program, self.path)
        task = self.ray.remote(look)
        asked = {}
        for node in self.nodes:
            if node.cpus < self.threads:  # a head that only keeps the books, for instance
                continue
            strategy = NodeAffinitySchedulingStrategy(node.id, soft=False)
            asked[task.options(num_cpus=0, max_retries=1, scheduling_strategy=strategy).remote(self.program, self.path)] = node
        late = self.ray.wait(list(asked), num_returns=len(asked), timeout=LOOK_SECONDS)[1]
        if late:
            raise Failure(1, f"node {asked[late[0]].address} does not answer")
        for answer, node in asked.items():
            try:
                its_size, its_version = self.ray.get(answer)
            except self.ray.exceptions.RayError as error:
                raise Failure(1, f"node {node.address} cannot run anything: {first_line(error)}") from error
            if its_size != size:
                seen = "is not there" if its_size is None else f"has {its_size} bytes and not {size}"
                raise Failure(2, f"{self.path} {seen} on node {node.address}. The folder of a list has to be on a file system that all nodes see under the same path.")
            if its_version != version:
                raise Failure(2, f"node {node.address} has another Treering: `{its_version}`, and here it is `{version}`. Install the same one on all nodes.")

    def run_level(self, level: int, jobs: List[Job]) -> None:
        """Does jobs that do not need each other. Only so many are handed to Ray that no node waits for work."""
        last = max(job.level for job in self.jobs)
        waiting: List[Tuple[float, int, Job]] = [(0.0, place, job) for place, job in enumerate(jobs)]
        task = self.ray.remote(execute)
        stranded: Dict[str, float] = {}
        left = len(jobs)
        self.progress.say(f"level {level} of {last}: {len(jobs)} jobs on {len(self.nodes)} nodes")
        while waiting or self.running:
            now = time.monotonic()
            if now - self.counted > COUNT_SECONDS:
                self.count_nodes()
                self.give_up_stranded(stranded)
            while waiting and waiting[0][0] <= now and len(self.running) < self.window():
                job = heapq.heappop(waiting)[2]
                asked = task.options(name=job.id, num_cpus=self.threads, memory=job.memory, max_retries=0)
                self.running[asked.remote(self.program, self.path, job.id, self.threads)] = job
            ready: List[Any] = []
            if self.running:
                ready = self.ray.wait(list(self.running), num_returns=1, timeout=0.5)[0]
            elif waiting:
                time.sleep(min(max(waiting[0][0] - now, 0), 0.5))
            for one in ready:
                job = self.running.pop(one)
                answer = self.answer(one)
                tried = self.tried.get(job.id, 0)
                if answer.code == 0:
                    self.done.add(job.id)
                    self.spent += job.cost
                elif answer.code == 1 and tried < self.retries and job.id not in self.failed:
                    self.tried[job.id] = tried + 1
                    self.again.append((job.id, answer.words))
                    self.progress.say(f"{job.id}: {answer.words}; trying again")
                    # A disk that is full is not empty at once.
                    heapq.heappush(waiting, (time.monotonic() + min(2.0**tried, 30), len(self.again) + left, job))
                else:
                    self.failed.setdefault(job.id, answer)
                    self.progress.say(f"{job.id}: {self.failed[job.id].words}")
            self.show(level, last, len(jobs), len(waiting))
        self.progress.clear()

    def window(self) -> int:
        """How many jobs Ray has at once: one for every place where one can run, and as many that wait there."""
        if self.at_once is not None:
            return self.at_once
        return max(2 * sum(int(node.cpus // self.threads) for node in self.nodes), 2)

    def answer(self, one: Any) -> Answer:
        """What came back of a job. That its worker or node died is an answer like a failure of the system."""
        try:
            code, words = self.ray.get(one)
            return Answer(code if code in (0, 2) else 1, words or f"exit code {code}")
        except self.ray.exceptions.TaskCancelledError:
            return Answer(1, "stopped")
        except self.ray.exceptions.OutOfMemoryError:
            return Answer(1, "Ray ended it because its node had no memory left")
        except self.ray.exceptions.WorkerCrashedError:
            return Answer(1, "its worker died")
        except self.ray.exceptions.NodeDiedError:
            return Answer(1, "its node died")
        except self.ray.exceptions.RayError as error:
            return Answer(1, f"Ray says: {first_line(error)}")

    def give_up_stranded(self, since: Dict[str, float]) -> None:
        """Fails jobs that no node has been able to hold for a while, since one died: Ray would wait for ever."""
        for one, job in list(self.running.items()):
            if any(node.holds(job, self.threads) for node in self.nodes):
                since.pop(job.id, None)
            elif time.monotonic() - since.setdefault(job.id, time.monotonic()) > PATIENCE_SECONDS:
                self.failed[job.id] = Answer(1, f"no node that is left can hold it ({job.memory / 1e9:.2f} GB, {self.threads} CPUs)")
                self.ray.cancel(one, force=True)

    def show(self, level: int, last: int, count: int, waiting: int) -> None:
        """One line: how much of the level is done, and when all of it will be if costs are as the list says."""
        seconds = time.monotonic() - self.began
        finished = count - waiting - len(self.running)
        line = f"level {level} of {last}: {finished} of {count} jobs, {len(self.running)} on {len(self.nodes)} nodes"
        if self.spent > 0 and seconds > 2:
            line += f", about {duration((self.ahead - self.spent) * seconds / self.spent)} left"
        self.progress.show(line)

    def stop(self) -> None:
        """Ends what runs; jobs die with their workers and leave nothing that counts."""
        self.progress.clear()
        for one in self.running:
            self.ray.cancel(one, force=True)

    def summary(self) -> str:
        """What was done, what failed and why, and what was not tried."""
        finished = self.done | self.before | set(self.failed)
        rest = [job.id for job in self.jobs if job.id not in finished]
        lines = [f"{len(self.jobs)} jobs: {len(self.done)} done in {duration(time.monotonic() - self.began)}, {len(self.before)} were done already, {len(self.failed)} failed, {len(rest)} not run"]
        for title, what in (("tried again", self.again), ("failed", [(job, answer.words) for job, answer in self.failed.items()])):
            why: Dict[str, List[str]] = {}
            for job, words in what:
                why.setdefault(words, []).append(job)
            lines += [f"{title}: {some(list(dict.fromkeys(ids)))}: {words}" for words, ids in why.items()]
        if rest:
            lines.append(f"not run: {some(rest)}" + (", because jobs they need failed" if self.failed else ""))
        return "\n".join(lines)


def some(ids: Sequence[str], most: int = 5) -> str:
    """Names, and how many more there are."""
    return ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    lines = str(error).strip().splitlines()
    return lines[0][:WORDS] if lines else type(error).__name__


def size(text: str) -> int:
    """Bytes, as `--memory` of the command line takes them: 800MB, 2GB, 1.5GiB."""
    units = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
    number = text.strip().upper().rstrip("BIKMGT")
    try:
        bytes_ = int(float(number) * units[text.strip().upper()[len(number):].strip()])
    except (ValueError, KeyError, OverflowError):
        raise argparse.ArgumentTypeError(f"`{text}` is no size; write 800MB or 2GB") from None
    if bytes_ <= 0:
        raise argparse.ArgumentTypeError("it has to be more than nothing")
    return bytes_


def whole(least: int) -> Any:
    """A type of arguments: whole numbers from `least` on."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"`{text}` is not a whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"it has to be {least} or more")
        return value

    return number


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        prog="python -m treering.ray",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a list of jobs on Ray. `treering plan` makes lists; they lie in a folder that all nodes see under the same path.\n"
        "Jobs that are done are not done again: call it once more after whatever happened.",
        epilog="exit codes: 0, all is done; 1, the system failed, and trying again may help; 2, something is wrong, and trying again does not help; 130, it was stopped.\n\n"
        "examples:\n"
        "  python -m treering.ray jobs/                               on this machine\n"
        "  python -m treering.ray jobs/ --address auto                on the cluster that this machine belongs to\n"
        "  python -m treering.ray jobs/ --address HOST:6379 --threads 4",
    )
    parser.add_argument("list", metavar="LIST", help="the list, or the folder where it is list.jsonl")
    parser.add_argument("--address", help="a running cluster, or `auto` for the one this machine belongs to; without it, what RAY_ADDRESS says, else a cluster of this machine alone for this call")
    parser.add_argument("--jobs", metavar="N", type=whole(1), help="how many jobs Ray has at once; without it, as many as all nodes have room for")
    parser.add_argument("--threads", metavar="N", type=whole(1), default=1, help="threads of a job, which are the CPUs that Ray sets aside for it (1)")
    parser.add_argument("--retries", metavar="N", type=whole(0), default=3, help="how often a job is tried again that the system failed (3)")
    parser.add_argument("--memory", metavar="SIZE", type=size, help="what jobs may take together, such as 8GB, where this call starts the cluster; running nodes know it from `ray start --memory`")
    parser.add_argument("--program", metavar="COMMAND", help="what runs treering on all nodes, as a shell reads it; without it, the package in the Python of Ray's workers")
    parser.add_argument("--quiet", action="store_true", help="nothing but the summary and errors")
    return parser


def connect(options: argparse.Namespace) -> Any:
    """Ray, connected to a cluster or to a new one on this machine."""
    # Nothing is told to others about what is done here, unless who runs it says so.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's own behaviour from its next version on; otherwise it says so in every call.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise Failure(2, f"Ray is not installed for {sys.executable}. `pip install \"ray>=2.9\"` brings it.") from error
    import logging

    address = options.address or os.environ.get("RAY_ADDRESS") or "local"
    more: Dict[str, Any] = {}
    if address == "local":
        more = {"include_dashboard": False, "object_store_memory": STORE_BYTES}
        if options.memory is not None:
            more["_memory"] = options.memory
        if options.jobs is not None:
            more["num_cpus"] = max(options.jobs * options.threads, 1)
    elif options.memory is not None:
        raise Failure(2, "`--memory` is for a cluster that this call starts; running nodes are told with `ray start --memory BYTES`.")
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **more)
    except Exception as error:  # Ray raises whatever its parts raise
        raise Failure(1, f"there is no way to the cluster `{address}`: {first_line(error)}") from error
    return ray


def stopped(*_: Any) -> NoReturn:
    """What a signal does."""
    raise KeyboardInterrupt


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command and gives its exit code."""
    options = arguments().parse_args(words)
    options.program = shlex.split(options.program) if options.program else None
    # Ray says things on standard output, which is for the summary.
    out, sys.stdout = sys.stdout, sys.stderr
    ray = engine = None
    try:
        path = os.path.abspath(options.list)
        path = os.path.join(path, "list.jsonl") if os.path.isdir(path) else path
        jobs = read_list(path)
        ray = connect(options)
        # Ray has its own idea of these two.
        signal.signal(signal.SIGINT, stopped)
        signal.signal(signal.SIGTERM, stopped)
        engine = Engine(ray, path, jobs, options)
        try:
            engine.run()
        except ray.exceptions.RayError as error:
            print(engine.summary(), file=out, flush=True)
            raise Failure(1, f"the cluster is gone: {first_line(error)}") from error
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if engine is not None:
            engine.stop()
            print(engine.summary(), file=out, flush=True)
        print("error: stopped; call it again to go on", file=sys.stderr)
        return 130
    finally:
        if ray is not None:
            ray.shutdown()
        sys.stdout = out
    print(engine.summary(), file=out, flush=True)
    if not engine.failed:
        return 0
    print(f"error: {len(engine.failed)} of {len(jobs)} jobs failed; what is done is kept", file=sys.stderr)
    return 1 if any(answer.code == 1 for answer in engine.failed.values()) else 2


if __name__ == "__main__":
    sys.exit(main())
