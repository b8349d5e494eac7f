#!/usr/bin/env python3
"""The tables of docs/past-one-machine.md: ogbn-papers100M, from what kernels were measured to take.

  cargo run --release -p treering-benchmarks --bin machine -- --clock processor --json FILE
  python3 benchmarks/past_one_machine.py FILE                                  # prints the tables
  python3 benchmarks/past_one_machine.py FILE --page docs/past-one-machine.md  # puts them into the page

What is measured comes from FILE and is called so; what is assumed stands in ASSUMED. Standard library only.
"""
import argparse
import json
import math
import re
import sys

# As the OGB page and the data set's own files have it.
NODES, EDGES, COLUMNS, CLASSES = 111_059_956, 1_615_685_872, 128, 172
LABELLED = {"train": 1_207_179, "validation": 125_265, "test": 214_338}
# Of the program: defaults of `treering` and of `tpp`.
HOPS, TPP_HOPS, TOKENS, HIDDEN, EPOCHS, CONTRASTED = 3, 2, 3, 256, 200, 4096
TASKS = CLASSES // 2
# The machine that kernels were measured on, and what the program takes of it unless it is told.
MEMORY = 24e9
LIMIT = 0.75 * MEMORY
# Nothing of this was measured here.
ASSUMED = {
    "a disk that is read in order": ("1 GB/s", 1e9),
    "a network between machines": ("1.25 GB/s, 10 Gbit/s", 1.25e9),
}
DISK, NETWORK = (value for _, value in ASSUMED.values())

N, ARCS, C = float(NODES), 2.0 * EDGES, float(COLUMNS)


class Measured:
    """What the bin `machine` found out with one thread, by processor time."""

    def __init__(self, report):
        if report["clock"] != "processor":
            sys.exit("measured by the clock on the wall: run with --clock processor")
        self.scale = report["scale"]
        self.rows = [row for row in report["rows"] if row["threads"] == 1]
        self.told = report["papers"]

    def row(self, what, shape=""):
        for row in self.rows:
            if row["what"] == what and shape in row["shape"]:
                return row
        sys.exit(f"the file has no line `{what}` with `{shape}`: run all kernels")

    def bytes(self, what, shape=""):
        row = self.row(what, shape)
        return row["bytes"] / row["seconds"]

    def flops(self, what, shape=""):
        row = self.row(what, shape)
        return row["flops"] / row["seconds"]

    def fastest(self, number):
        rates = [row["flops"] / row["seconds"] for row in self.rows if row["what"] == f"{number} product"]
        return max(rates)


def size(value):
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value / 1e3:.3g} kB"


def time(seconds):
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def rate(value, unit):
    return f"{value / 1e9:.3g} G{unit}/s"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def strip():
    """Columns that are smoothed at a time: two strips of all nodes in a quarter of the limit, as `strip_columns` has it."""
    columns = int(LIMIT / 4 / (8 * N))
    return max(1, columns // 16 * 16 if columns >= 16 else columns)


def outputs_at_once():
    """Outputs of heads at a time: four arrays of f64 in a quarter of the limit."""
    return max(1, int(LIMIT / 4 / (32 * N)))


def sizes():
    parts = [
        ("ends of edges, as the archive has them", "8 bytes an edge, in 32 bits", 8.0 * EDGES),
        ("arcs, one direction", "4 bytes an arc", 4.0 * EDGES),
        ("arcs, both directions", "4 bytes an arc, twice", 4 * ARCS),
        ("where rows of arcs start", "8 bytes a node", 8 * N),
        ("features", "4 bytes x 128 columns a node", 4 * N * C),
        ("degrees and their powers", "16 bytes a node", 16 * N),
        ("lengths of feature rows", "8 bytes a node", 8 * N),
        ("labels and split", "5 bytes a node", 5 * N),
        ("one column of features", "4 bytes a node", 4 * N),
        (f"strips of {strip()} columns in smoothing", f"2 buffers x 4 bytes x {strip()} a node", 8 * N * strip()),
        ("all columns in smoothing", "2 buffers x 4 bytes x 128 a node", 8 * N * C),
        ("every hop of all labelled nodes", f"4 bytes x {HOPS + 1} x 128 a node", 4.0 * (HOPS + 1) * C * sum(LABELLED.values())),
    ]
    return table(["what", "how it is counted", "bytes", "of 24 GB"], [(*row[:2], size(row[2]), f"{100 * row[2] / MEMORY:.0f} %") for row in parts])


def told(m):
    """What the program itself would say before it began."""
    rows = []
    for one in m.told:
        cells = [f"{size(one[what])}{'' if one[what] <= one['limit'] else ', **refused**'}" for what in ("learn", "predict")]
        rows.append((f"`{one['learner']}`", "one" if one["directions"] == 1 else "both", size(one["machine"]), size(one["limit"]), *cells))
    head = ["learner", "directions of edges", "machine", "limit", "learning the first task", "answering about all nodes"]
    return table(head, rows)


def rates(m):
    narrow, line = far(m, 4), far(m, 16)
    rows = [
        ("triad, in order", rate(m.bytes("triad"), "B")),
        ("gather of 4 columns out of as many rows as this graph has", f"{rate(narrow, 'B')}, {1e9 * 20 / narrow:.3g} ns an arc"),
        ("gather of 16 columns, the same", f"{rate(line, 'B')}, {1e9 * 68 / line:.3g} ns an arc"),
        ("S x, 100 columns, products-like", rate(m.bytes("smoothing S x", "products-like, 100"), "B")),
        ("S x, 3 columns, products-like", rate(m.bytes("smoothing S x", "products-like, 3"), "B")),
        ("product in f32", rate(m.fastest("f32"), "FLOP")),
        ("product in f64", rate(m.fastest("f64"), "FLOP")),
        ("profile", rate(m.flops("profile"), "FLOP")),
        ("head by normal equations", rate(m.flops("head, normal equations"), "FLOP")),
        ("router, rows scored", rate(m.flops("router, rows scored"), "FLOP")),
        ("pre-training epoch", f"{m.row('pre-training epoch')['seconds']:.2g} s"),
    ]
    return table(["measured, one thread", "rate"], rows)


def far(m, columns):
    return m.bytes("gather of random rows", f"{columns} columns out of {round(NODES * min(m.scale, 1))} rows")


def assumed():
    rows = [(name, text) for name, (text, _) in ASSUMED.items()]
    rows.append((f"an arc to {strip()} or to 3 columns, or to one in f64", "takes as long as one to 4"))
    rows.append(("all columns at once, out of 57 GB", "at the rate of products-like, out of 1 GB"))
    rows.append(("two cores", "take half the time of one at best; they share one memory"))
    return table(["assumed", "value"], rows)


def smoothing(columns, steps, number=4):
    """Bytes of some steps on some columns, arcs and their rows first."""
    return steps * (ARCS * (4 + number * columns) + N * (2 * number * columns + 12))


def seconds_an_arc(m, columns=4):
    """Of S x on rows of up to 64 bytes, out of memory far larger than any cache: the gather at this size, times what S x was slower than the gather on
    products-like."""
    row = m.row("smoothing S x", "products-like, 3")
    gather = m.row("gather of random rows", f"3 columns out of {row['counts']['nodes']} rows")
    bare = row["counts"]["arcs"] * 16 / (gather["bytes"] / gather["seconds"])
    return 4 * (columns + 1) / far(m, columns) * max(1.0, row["seconds"] / bare)


def parts(m):
    """Name, bytes moved in memory, bytes from disk, seconds."""
    wide = m.bytes("smoothing S x", "products-like, 100")
    arc = seconds_an_arc(m)
    width, features = strip(), 4 * N * C
    strips = math.ceil(C / width)
    lines = math.ceil(C / 16)
    train, hop_columns = float(LABELLED["train"]), (HOPS + 1) * C + 1
    groups, head_steps = TASKS / outputs_at_once(), HOPS * (HOPS + 1) / 2
    prompt = smoothing(TOKENS, 2 * TPP_HOPS)
    rows = [
        ("opening the native file: one pass of checks", 0, 4 * ARCS + 8 * N + features, 0),
        ("a prototype: one column three steps, then X once", HOPS * (ARCS * 12 + N * 28), features, HOPS * ARCS * arc),
        (f"S^{HOPS} X in {strips} strips of {width} columns, X read for each", strips * smoothing(width, HOPS), strips * features, strips * HOPS * ARCS * arc),
        (f"the same for {TASKS} tasks, each on its own", TASKS * strips * smoothing(width, HOPS), TASKS * strips * features, TASKS * strips * HOPS * ARCS * arc),
        (f"if it were {lines} strips of 16 columns, each lying on its own in the file", lines * smoothing(16, HOPS), features, lines * HOPS * ARCS * seconds_an_arc(m, 16)),
        (f"if memory had room for all columns ({size(8 * N * C + 4 * ARCS)})", smoothing(C, HOPS), features, smoothing(C, HOPS) / wide),
        ("profiles of 1.2 million train rows", 0, 0, 18 * train * C * C / m.flops("profile")),
        (f"heads by {hop_columns:.0f} columns, the same rows", 0, 0, train * hop_columns**2 / m.flops("head, normal equations")),
        ("router: scores of all nodes", 8 * N * C, features, 2 * N * C * (CLASSES + C) / m.flops("router, rows scored")),
        (
            f"heads of {TASKS} tasks for all nodes, {outputs_at_once()} output at a time in f64",
            groups * smoothing(1, head_steps, 8),
            groups * (HOPS + 1) * features,
            groups * head_steps * ARCS * arc,
        ),
        (f"`tpp`: {EPOCHS} epochs of pre-training, {CONTRASTED} nodes contrasted, smoothing left out", 0, 0, EPOCHS * m.row("pre-training epoch")["seconds"]),
        ("`tpp`: one epoch of prompts over all nodes", prompt, 2 * features, 2 * TPP_HOPS * ARCS * arc),
        (f"`tpp`: {EPOCHS} of them, for one task", EPOCHS * prompt, EPOCHS * 2 * features, EPOCHS * 2 * TPP_HOPS * ARCS * arc),
    ]
    return rows


def times(m):
    rows = []
    for name, moved, read, seconds in parts(m):
        disk = read / DISK
        cells = [size(moved) if moved else "-", size(read) if read else "-", time(seconds) if seconds else "-"]
        rows.append((name, *cells, time(disk) if disk else "-"))
    head = ["part, whole graph, both directions", "moved in memory", "read from disk", "time of one core, from measured rates", "time of the disk, assumed"]
    return table(head, rows)


def machines(m):
    """S^3 X by columns, and by nodes, over several machines: arithmetic by measured rates, exchange by the assumed network."""
    arc, width = seconds_an_arc(m), strip()
    rows = []
    for count in (1, 2, 4, 8):
        columns = C / count
        by_columns = math.ceil(columns / width) * HOPS * ARCS * arc
        held = 4 * ARCS + 24 * N + 8 * N * width
        received = 4 * ARCS + 8 * N + 4 * N * columns
        rows_of_others = HOPS * 4 * N * C * (count - 1) / count
        network = [time(received / NETWORK), size(rows_of_others) if count > 1 else "-", time(rows_of_others / NETWORK) if count > 1 else "-"]
        rows.append((str(count), f"{columns:.0f}", size(held), time(by_columns), size(received), *network))
    head = [
        "machines",
        "columns each",
        f"memory each, strips of {strip()}",
        "time of one core each, from measured rates",
        "received once: arcs and own columns",
        "network, assumed",
        "by nodes instead: rows of others in three steps, each machine",
        "network, assumed",
    ]
    return table(head, rows)


def tables(m):
    note = "" if m.scale == 1 else f"\n\n**Measured at {m.scale} of the size of the presets, so only to show the form: to be measured at full size.**"
    return {
        "sizes": sizes(),
        "told": told(m),
        "rates": rates(m) + note,
        "assumed": assumed(),
        "times": times(m),
        "machines": machines(m),
    }


def put(page, found):
    """The page with every table between its two marks exchanged."""
    for name, text in found.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(page):
            sys.exit(f"the page has no place for `{name}`")
        page = mark.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page, count=1)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="JSON of the bin `machine`")
    parser.add_argument("--page", help="a page to put the tables into")
    arguments = parser.parse_args()
    with open(arguments.measured, encoding="utf-8") as file:
        found = tables(Measured(json.load(file)))
    if not arguments.page:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in found.items()))
        return
    with open(arguments.page, encoding="utf-8") as file:
        page = put(file.read(), found)
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(page)


main()
