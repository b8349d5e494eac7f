"""The two Python environments of the peers, and what installing them takes.

  debian   Debian's torch, which is for the CPU alone, and PyTorch Geometric from PyPI: no GPU libraries;
  pypi     a current torch as pip installs it on Linux, GPU libraries and all; it runs on the CPU here.

Both are pinned (requirements-*.txt; Debian pins its own), made once, and what making them took is kept beside them.
"""

import datetime
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).parent
NAMES = ("debian", "pypi")
DEBIAN_PACKAGES = ("python3-torch", "python3-numpy", "python3-scipy", "python3-venv")


def make(name, folder, python):
    """What the environment took: seconds, bytes downloaded and on disk. Its interpreter is `interpreter(name, folder)`."""
    record = folder / f"{name}.json"
    if record.exists():
        return json.loads(record.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    system = debian_packages(python) if name == "debian" else dict(seconds=0, download_bytes=0, installed_bytes=0)
    place, wheels = folder / name, folder / f"{name}-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    start = time.perf_counter()
    options = ["--system-site-packages"] if name == "debian" else []
    run(python, "-m", "venv", "--clear", *options, place)
    empty = size(place)
    pip = (place / "bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    wanted = ("--no-deps", "--requirement", HERE / f"requirements-{name}.txt")
    # In two steps, so that what was downloaded can be weighed.
    run(*pip, "download", "--no-cache-dir", "--only-binary", ":all:", "--dest", wheels, *wanted)
    run(*pip, "install", "--no-index", "--find-links", wheels, *wanted)
    seconds = time.perf_counter() - start
    run(place / "bin/python", "-c", "import torch_geometric, scipy")
    made = {
        "pip": dict(seconds=seconds, download_bytes=size(wheels), installed_bytes=size(place) - empty),
        "system": system,
    }
    shutil.rmtree(wheels)
    record.write_text(json.dumps(made, indent=1) + "\n")
    return made


def interpreter(name, folder):
    return folder / name / "bin/python"


def debian_packages(python):
    """Installs Debian's torch where it is missing. What came with it is read from apt's own log, so it is known afterwards, too."""
    there = subprocess.run([python, "-c", "import torch, scipy, venv"], stderr=subprocess.DEVNULL).returncode == 0
    start = time.perf_counter()
    if not there:
        run("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *DEBIAN_PACKAGES)
    seconds = time.perf_counter() - start
    packages, unpacking = installed_with("python3-torch")
    weights = subprocess.run(["dpkg-query", "--show", "--showformat", "${Installed-Size}\n", *packages], **TEXT).stdout
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", *packages], **TEXT).stdout if packages else ""
    return {
        "seconds": unpacking if there else seconds,
        "installed_before": there,
        "packages": len(packages),
        "download_bytes": sum(map(int, re.findall(r"^Size: (\d+)$", shown, re.MULTILINE))),
        "installed_bytes": 1024 * sum(map(int, weights.split())) if packages else 0,
    }


TEXT = dict(stdout=subprocess.PIPE, text=True, check=True)


def installed_with(name):
    """The packages that apt installed in one go with this one, and the seconds that unpacking them took."""
    packages, seconds = set(), 0.0
    for path in sorted(pathlib.Path("/var/log/apt").glob("history.log*")):
        text = (gzip.open if path.suffix == ".gz" else open)(path, "rt").read()
        for entry in text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line)
            came = re.findall(r"([a-z0-9.+-]+):\w+ \(", fields.get("Install", ""))
            if name in came:
                packages.update(came)
                first, last = (datetime.datetime.fromisoformat(fields[f"{end}-Date"].replace("  ", " ")) for end in ("Start", "End"))
                seconds += (last - first).total_seconds()
    return sorted(packages), seconds


def size(folder):
    """Bytes of all files below, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def run(*command):
    command = [str(part) for part in command]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
