"""Puts the results of Treering and of the PyTorch peer side by side: compare.py FOLDER, as benchmarks/run_tpp leaves it."""

import json
import math
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
runs = {}
for path in sorted(folder.glob("*.json")):
    program, name, seed, threads = path.stem.split("-")
    runs[program, name, int(seed), int(threads)] = json.loads(path.read_text())
names = sorted({key[1] for key in runs})


def mean(values):
    return sum(values) / len(values)


def spread(values):
    if len(values) < 2:
        return float("nan")
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


print("| data | seeds | AA Treering | AA PyTorch | difference | twice its standard error | AF | task ID % | misrouted |")
print("|---|---|---|---|---|---|---|---|---|")
for name in names:
    seeds = sorted(s for p, n, s, t in runs if n == name and t == 1 and p == "treering" and ("torch", n, s, 1) in runs)
    if not seeds:
        continue
    ours = [runs["treering", name, s, 1]["AA"] for s in seeds]
    peer = [runs["torch", name, s, 1]["AA"] for s in seeds]
    error = math.sqrt((spread(ours) ** 2 + spread(peer) ** 2) / len(seeds))
    every = [runs[p, name, s, 1] for s in seeds for p in ("treering", "torch")]
    af = sorted({round(run["AF"], 6) + 0.0 for run in every})
    routed = sorted({run["task_id_accuracy"] for run in every})
    wrong = sum(len(run["misrouted"]) for run in every)
    print(
        f"| {name} | {len(seeds)} | {mean(ours):.2f} ± {spread(ours):.2f} | {mean(peer):.2f} ± {spread(peer):.2f} | "
        f"{mean(ours) - mean(peer):+.2f} | {2 * error:.2f} | {', '.join(map(str, af))} | {', '.join(map(str, routed))} | {wrong or 'none'} |"
    )

print()
print("| data | threads | | pre-training | over its flops | prompts | profiles | evaluation | wall | peak MB | 2000^3 product |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for (program, name, seed, threads), run in sorted(runs.items(), key=lambda item: (item[0][1], item[0][3], item[0][0])):
    if seed != 0:
        continue
    cpu = run["cpu_seconds"]
    wall = sum(run["wall_seconds"].values())
    ratio = run.get("pretraining_over_its_flops")
    product = run.get("product_2000_cpu_seconds")
    peak = run.get("peak_bytes") or run.get("peak_rss_bytes") or 0
    print(
        f"| {name} | {threads} | {program} | {cpu['pretraining']:.2f} | {'' if ratio is None else f'{ratio:.2f}'} | {cpu['prompts']:.2f} | "
        f"{cpu['profiles']:.3f} | {cpu['evaluation']:.2f} | {wall:.1f} | {peak / 1e6:.0f} | {'' if product is None else f'{product:.3f}'} |"
    )
