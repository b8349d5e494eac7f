"""The figure of benchmarks/run_growth: a panel for every measure and everything that grows, both axes logarithmic. One SVG without script or network; colours follow the
reader's scheme where the viewer knows it, and stand on paper of their own everywhere."""

import math
from xml.sax.saxutils import escape

# What a row of panels shows: a title, where it is found, and what makes the unit of it.
ROWS = [
    ("learn: CPU seconds", "learn", "cpu", 1),
    ("predict: CPU seconds", "predict", "cpu", 1),
    ("learn: peak memory, MB", "learn", "peak", 1e-6),
]
# Of Okabe and Ito, told apart by colour-blind readers too; for light paper and for dark.
COLOURS = [("#0072b2", "#56b4e9"), ("#d55e00", "#e69f00"), ("#009e73", "#2fc79a"), ("#a3568a", "#cc79a7")]
# What is drawn beside something that grows, interrupted.
BESIDE = ", no validation"
LEFT, TOP, WIDTH, HEIGHT, GAP, KEY = 52, 66, 214, 150, 22, 14


def svg(lines):
    columns = list(dict.fromkeys(line.grown.removesuffix(BESIDE) for line in lines))
    learners = list(dict.fromkeys(line.learner for line in lines))
    keys = max(sum(line.grown.removesuffix(BESIDE) == grown for line in lines) for grown in columns)
    height = KEY * keys + HEIGHT + 78
    whole = (LEFT + len(columns) * (WIDTH + GAP), TOP + len(ROWS) * height)
    name = "How the cost of learn and predict grows"
    note = "Synthetic graphs, one thread. Behind a name: exponent over all sizes, over the larger half. Thin: exponent 1."
    note += " Dashed: tasks without validation nodes." if any(line.grown.endswith(BESIDE) for line in lines) else ""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" width="{whole[0]}" height="{whole[1]}" role="img" '
        f'aria-label="{name}" font-family="DejaVu Sans,Verdana,Arial,sans-serif" font-size="11" fill="none">',
        style(),
        f'<rect class="paper" width="{whole[0]}" height="{whole[1]}" fill="#ffffff"/>',
        text(8, 20, name, size=14),
        text(8, 38, note),
    ]
    for row, (title, part, what, unit) in enumerate(ROWS):
        top = TOP + row * height
        out.append(text(8, top, title, size=13))
        range_ = decades(unit * value for line in lines for value in line.values(part, what))
        for column, grown in enumerate(columns):
            own = [line for line in lines if line.grown.removesuffix(BESIDE) == grown]
            # Keys stand on the plot.
            place = (LEFT + column * (WIDTH + GAP), top + 14 + KEY * (keys - len(own)))
            out += panel(place, grown, own, learners, (part, what, unit), range_, column == 0)
    return "\n".join([*out, "</svg>"]) + "\n"


def style():
    dark = "".join(f".s{at}{{stroke:{colour}}}.d{at}{{fill:{colour}}}" for at, (_, colour) in enumerate(COLOURS))
    return (
        "<style>@media (prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e8e9eb}.grid{stroke:#3b4048}"
        f".axis,.one{{stroke:#a9afb8}}{dark}}}</style>"
    )


def panel(place, grown, lines, learners, measure, range_, is_first):
    """Keys with exponents on top, the plot below, sizes under it. All panels of a row have one scale, which the first one names."""
    part, what, unit = measure
    left, top = place
    out = []
    upper = top + KEY * len(lines) + 8
    lower = upper + HEIGHT
    sizes = sorted({size for line in lines for size in line.sizes})
    x = log_scale((sizes[0], sizes[-1]), (left + 8, left + WIDTH - 8))
    y = log_scale(range_, (lower, upper))
    at = range_[0]
    while at <= range_[1] * 1.001:
        out.append(stroke(f"M{left} {y(at):.1f}h{WIDTH}", "grid", "#dddddd"))
        out += [text(left - 5, y(at) + 4, f"{at:g}", "end")] if is_first else []
        at *= 10
    out.append(stroke(f"M{left} {lower}h{WIDTH}", "axis", "#666666"))
    out += [text(x(size), lower + 14, short(size), "middle") for size in sizes]
    out.append(text(left + WIDTH / 2, lower + 29, grown, "middle"))
    out.append(linear(x, y, sizes, max(unit * line.values(part, what)[-1] for line in lines), range_))
    for at, line in enumerate(lines):
        colour = learners.index(line.learner) % len(COLOURS)
        dash = ' stroke-dasharray="5 3"' if line.grown.endswith(BESIDE) else ""
        values = [unit * value for value in line.values(part, what)]
        places = [(x(size), y(value)) for size, value in zip(line.sizes, values)]
        way = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        every, half = line.exponents(part, what)
        key = top + 8 + KEY * at
        for shape in (f"M{left} {key - 4}h20", f"M{way}"):
            out.append(stroke(shape, f"s{colour}", COLOURS[colour][0], f' stroke-width="1.8"{dash}'))
        out.append(text(left + 26, key, f"{line.learner}: {every:.2f}, {half:.2f}"))
        for (a, b), size, value in zip(places, line.sizes, values):
            about = escape(f"{line.learner}, {line.grown} {size:,}: {value:.3g}")
            out.append(f'<circle class="d{colour}" cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{COLOURS[colour][0]}"><title>{about}</title></circle>')
    return out


def linear(x, y, sizes, last, range_):
    """What exponent 1 looks like: through the highest end, as far down as there is room."""
    first = max(sizes[0], sizes[-1] * range_[0] / last)
    return stroke(f"M{x(first):.1f} {y(last * first / sizes[-1]):.1f}L{x(sizes[-1]):.1f} {y(last):.1f}", "one", "#666666", ' stroke-width="0.7"')


def decades(values):
    """Whole decades around all values."""
    known = [math.log10(value) for value in values if value > 0]
    low, high = math.floor(min(known)), math.ceil(max(known))
    return 10.0**low, 10.0 ** max(high, low + 1)


def log_scale(values, places):
    low, high = (math.log(value) for value in values)
    share = lambda value: (math.log(max(value, 1e-12)) - low) / (high - low) if high > low else 0.5
    return lambda value: places[0] + (places[1] - places[0]) * min(1.0, max(0.0, share(value)))


def short(size):
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit and size % (unit // 10) == 0:
            return f"{size / unit:g}{letter}"
    return str(size)


def stroke(way, class_, colour, more=""):
    return f'<path class="{class_}" d="{way}" stroke="{colour}"{more}/>'


def text(x, y, words, anchor="start", size=None):
    held = "" if anchor == "start" else f' text-anchor="{anchor}"'
    large = f' font-size="{size}"' if size else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{held}{large} fill="#222222">{escape(words)}</text>'
