"""The tables of benchmarks/run_peers, in Markdown."""


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def measurements(runs):
    """A row for every data set, number of threads and program. Seconds and memory are the least of the repeats."""
    groups = {}
    for run in runs:
        groups.setdefault((run["data"], run["threads"]), {}).setdefault(run["program"], []).append(run)
    head = ["data", "program", "threads", "CPU s", "wall s", "peak MB", "AA", "CPU over Treering's", "product yardstick s", "CPU in yardsticks"]
    rows = []
    for (data, threads), programs in sorted(groups.items()):
        ours = min((cpu(run) for run in programs.get("treering", []) if run["result"]), default=None)
        for program, repeats in sorted(programs.items(), key=lambda item: (item[0] != "treering", item[0])):
            rows.append([data, program, threads, *cells(repeats, ours)])
    return table(head, rows) + NOTE


NOTE = """
CPU and wall are the sums over reading, pre-training, prompts, prototypes and evaluation as each program reports them: without starting
Python and importing torch, and without what Treering's benchmark does besides (it learns a second time and evaluates node by node, too;
it cuts the graph into tasks outside these phases, which the peers do while reading). Peak memory is the whole process's, all that
included. The least of the repeats; the yardstick is a 2000 x 2000 x 2000 product in f32 by the program's own means,
at the end of the run whose CPU time is shown. A program that was stopped at the limit had used what is shown by then, imports included.
"""


def cells(repeats, ours):
    """The columns from CPU to the end."""
    done = [run for run in repeats if run["result"]]
    if not done:
        run = repeats[0]
        if not run["stopped"]:
            return [f"failed with {run['exit']}"] + [""] * 6
        spent = run["process_cpu_seconds"]
        over = f"> {spent / ours:.1f}" if ours else ""
        return [f"> {spent:.0f}", f"stopped after {run['process_wall_seconds']:.0f}", f"> {megabytes(run['process_peak_bytes'])}", "", over, "", ""]
    best = min(done, key=cpu)
    product = best["result"]["product_2000_cpu_seconds"]
    accuracies = sorted({f"{run['result']['AA']:.2f}" for run in done})
    return [
        f"{cpu(best):.2f}",
        f"{min(sum(run['result']['wall_seconds'].values()) for run in done):.2f}",
        megabytes(min(run["process_peak_bytes"] for run in done)),
        ", ".join(accuracies),
        f"{cpu(best) / ours:.1f}" if ours else "",
        f"{product:.3f}",
        f"{cpu(best) / product:.0f}",
    ]


def cpu(run):
    return sum(run["result"]["cpu_seconds"].values())


def megabytes(count):
    return f"{count / 1e6:.0f}"


def installs(installed):
    head = ["installed", "download MB", "on disk MB", "install s", "first result s", "from nothing s", "how"]
    return table(head, [row(one) for one in installed]) + installs_note(installed[0]["data"])


def row(one):
    first = one["first"]["process_wall_seconds"]
    result = f"{first:.1f}" if not one["first"]["stopped"] else f"> {first:.0f}"
    if one["program"] == "treering":
        size = f"{megabytes(one['bytes'])}, {megabytes(one['stripped_bytes'])} stripped"
        built = one["build_seconds"]
        how = "a binary that is there" if built is None else "`cargo build --release` from an empty target folder, sources of dependencies on disk"
        seconds = "-" if built is None else f"{built:.0f}"
        return ["Treering", "-", size, seconds, result, f"{first + (built or 0):.0f}", how]
    system, pip = one["system"], one["pip"]
    download, disk, seconds = (system[key] + pip[key] for key in ("download_bytes", "installed_bytes", "seconds"))
    if one["program"] == "pypi":
        how = "pip alone"
    elif system["installed_before"]:
        how = f"{system['packages']} packages of Debian, there before: of their part, unpacking as apt's log has it, without the download"
    else:
        how = f"{system['packages']} packages of Debian that were missing, and pip"
    name = {"debian": "torch and PyG, without GPU libraries", "pypi": "torch and PyG, with GPU libraries"}[one["program"]]
    return [name, megabytes(download), megabytes(disk), f"{seconds:.0f}", result, f"{seconds + first:.0f}", how]


def installs_note(data):
    return f"""
The first result is AA on {data} with one thread, in a process of its own, start and imports included: `treering bench --learner tpp` here,
`tpp_pyg.py` there. Python itself and the Rust toolchain are taken as given. Download and install times are the network's and the machine's of that moment.
"""
