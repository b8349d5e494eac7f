#!/usr/bin/env python3
"""From samples of Linux perf to folded stacks, one line a stack, for inferno-flamegraph.

  perf record -e cpu-clock --call-graph dwarf,32768 -o FILE -- PROGRAM ...
  flames.py FILE PROGRAM [FRAME] > FOLDED

perf's own way up the stack ends in the dense products: their inner loops are assembler that uses the frame pointer for other things. perf keeps a copy of the stack
with every sample, so this goes up by frame pointers itself, and where a product is running it first looks for the place that called it. Stacks are cut at
`machine::sampled`, or below FRAME, and those without are left out; so are frames that only hand work to threads. Standard library, and nm, readelf and addr2line of binutils.
"""
import bisect
import collections
import re
import struct
import subprocess
import sys

MMAP2, SAMPLE = 10, 9
EXECUTABLE = 4
KERNEL = 1 << 63
# Registers in the order of the kernel's list.
BP, SP, IP = 6, 7, 8
# Where a stack begins, and what is left out of it.
ROOT = "treering_benchmarks::machine::sampled"
HANDING = re.compile(r"^<?&?(mut )?(rayon|rayon_core|core|std|alloc|treering_benchmarks)::|^private_gemm_x86::(kernel|milli)|^<\w+ as ")
ASSEMBLER = "gemm_v0_"


class Program:
    """The symbols of the measured program, by address in the file."""

    def __init__(self, path):
        self.path = path
        symbols = []
        for line in subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout.splitlines():
            parts = line.split(" ", 2)
            if len(parts) == 3 and parts[0] and parts[1] in "tTwW":
                symbols.append((int(parts[0], 16), plain(parts[2])))
        symbols.sort()
        self.starts = [start for start, _ in symbols]
        self.names = [name for _, name in symbols]
        self.segments = []
        for line in subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout.splitlines():
            parts = line.split()
            if parts[:1] == ["LOAD"]:
                self.segments.append(tuple(int(parts[at], 16) for at in (1, 2, 4)))
        self.inlined = {}

    def place(self, offset):
        """From a place in the file to an address."""
        for start, address, size in self.segments:
            if start <= offset < start + size:
                return offset - start + address
        return None

    def name(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return self.names[at] if at >= 0 else "?"

    def look_inside(self, addresses):
        """Which function's loop was inlined at each address: the innermost one of this project."""
        listed = sorted(addresses)
        asked = "".join(f"{address:#x}\n" for address in listed)
        command = ["addr2line", "-a", "-f", "-i", "-C", "-e", self.path]
        address = None
        for line in subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout.splitlines():
            if line.startswith("0x"):
                address = int(line, 16)
            elif line.lstrip("<").startswith("treering_") and address not in self.inlined:
                self.inlined[address] = plain(line)


def plain(name):
    """Without hashes, type parameters and closures."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    name = re.sub(r"\[[0-9a-f]{6,}\]", "", name)
    name = re.sub(r"(::\{\{?closure\}?\}|::\{closure#\d+\})+", "", name)
    if not name.startswith("<"):
        while (shorter := re.sub(r"(::)?<[^<>]*>", "", name)) != name:
            name = shorter
    return name


class Samples:
    """The records of a perf.data file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        (magic, _, attr_size, attrs, _, self.start, self.size) = struct.unpack_from("<8sQQQQQQ", self.data)
        if magic != b"PERFILE2":
            sys.exit(f"{path}: not a file of perf record")
        self.type, = struct.unpack_from("<Q", self.data, attrs + 24)
        self.registers, = struct.unpack_from("<Q", self.data, attrs + 80)
        self.attr_size = attr_size

    def records(self):
        at = self.start
        while at < self.start + self.size:
            kind, _, size = struct.unpack_from("<IHH", self.data, at)
            yield kind, at + 8, at + size
            at += size

    def sample(self, at):
        """Address, weight, registers by number, and the stack with the address it begins at."""
        take = lambda form: struct.unpack_from("<" + form, self.data, at)
        ip, weight, chain = 0, 1, 0
        for bit, size in ((16, 8), (0, 8), (1, 8), (2, 8), (3, 8), (6, 8), (9, 8), (7, 8), (8, 8)):
            if self.type >> bit & 1:
                if bit == 0:
                    ip, = take("Q")
                if bit == 8:
                    weight, = take("Q")
                at += size
        if self.type >> 5 & 1:
            chain, = take("Q")
            at += 8 + 8 * chain
        abi, = take("Q")
        at += 8
        registers = {}
        if abi:
            for number in (bit for bit in range(64) if self.registers >> bit & 1):
                registers[number], = take("Q")
                at += 8
        length, = take("Q")
        at += 8
        stack = self.data[at:at + length]
        if length:
            filled, = struct.unpack_from("<Q", self.data, at + length)
            stack = stack[:filled]
        return ip, weight, registers, stack


class Walk:
    """One stack, from the top."""

    def __init__(self, program, maps, registers, stack):
        self.program, self.maps = program, maps
        self.low, self.stack = registers[SP], stack
        self.registers = registers

    def read(self, address):
        at = address - self.low
        if address % 8 or not 0 <= at <= len(self.stack) - 8:
            return None
        return struct.unpack_from("<Q", self.stack, at)[0]

    def find(self, address):
        """A name for a place in the code, and its address in the program; nothing for what is no code."""
        for start, end, offset, name in self.maps:
            if start <= address < end:
                if name != self.program.path.rsplit("/", 1)[-1]:
                    return name, None
                place = self.program.place(address - start + offset)
                return (self.program.name(place), place) if place is not None else None
        return None

    def frames(self):
        """Names from the top down to the root; nothing where the root is not reached."""
        found = self.find(self.registers[IP])
        if not found:
            return None
        frames, frame = [found], self.registers[BP]
        if found[0].startswith(ASSEMBLER):
            frame = self.leave_assembler(frames)
        elif found[1] is None:
            # A function of a library: no frame of its own, so who called it stands on top of the stack.
            caller = self.find(self.read(self.low) or 0)
            frames += [caller] if caller and caller[1] is not None else []
        while frame is not None and frames[-1][0] != ROOT:
            back = self.read(frame + 8)
            found = self.find(back - 1) if back else None
            if not found:
                return None
            frames.append(found)
            above = self.read(frame)
            frame = above if above is not None and above > frame else None
        return frames if frames[-1][0] == ROOT else None

    def leave_assembler(self, frames):
        """Who called the product, and its frame pointer, which the product has put on the stack with other registers."""
        address, saved = self.low, []
        while (word := self.read(address)) is not None:
            found = self.find(word - 1)
            if found and found[0].startswith("private_gemm_x86::"):
                frames.append(found)
                right = [word for word in saved if word > address and self.find((self.read(word + 8) or 0) - 1)]
                return min(right, default=None)
            saved.append(word)
            address += 8
        return None


def code(samples):
    """Where code was mapped: from, to, place in the file, file. Records come processor by processor, so this is found out first."""
    maps = []
    for kind, at, end in samples.records():
        if kind == MMAP2:
            start, length, offset = struct.unpack_from("<QQQ", samples.data, at + 8)
            protection, = struct.unpack_from("<I", samples.data, at + 56)
            name = samples.data[at + 64:end].split(b"\0", 1)[0].decode()
            if protection & EXECUTABLE:
                maps.append((start, start + length, offset, name.rsplit("/", 1)[-1]))
    return maps


def folded(samples, program):
    """Every stack that reaches the root, with its weight."""
    maps, stacks = code(samples), collections.Counter()
    for kind, at, _ in samples.records():
        if kind != SAMPLE:
            continue
        ip, weight, registers, stack = samples.sample(at)
        if len(registers) <= IP or not stack:
            continue
        frames = Walk(program, maps, registers, stack).frames()
        if frames:
            kernel = [("kernel", None)] if ip & KERNEL else []
            stacks[tuple(kernel + frames)] += weight
    return stacks


def line(program, frames):
    """Names from the root up, without those that only hand work on."""
    names = [name for name, _ in frames if not HANDING.search(name)][::-1]
    top, place = next((frame for frame in frames if frame[0] != "kernel"), ("", None))
    if HANDING.search(top) and place in program.inlined:
        names.append(program.inlined[place])
    if frames[0][0] == "kernel" and names[-1:] != ["kernel"]:
        names.append("kernel")
    short = [names[at] for at in range(len(names)) if at == 0 or names[at] != names[at - 1]]
    return ";".join(name.replace(";", ",").replace("treering_", "") for name in short)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    wanted = sys.argv[3] if len(sys.argv) == 4 else ""
    program = Program(sys.argv[2])
    stacks = folded(Samples(sys.argv[1]), program)
    tops = (next((frame for frame in frames if frame[0] != "kernel"), ("", None)) for frames in stacks)
    program.look_inside({place for name, place in tops if place is not None and HANDING.search(name)})
    lines = collections.Counter()
    for frames, weight in stacks.items():
        text = line(program, frames)
        if wanted in text:
            # From the frame that was asked for, whatever its full name is.
            start = text.rfind(";", 0, text.index(wanted)) + 1
            lines[text[start:]] += weight
    for text, weight in sorted(lines.items()):
        # The clock counts nanoseconds.
        if text:
            print(text, round(weight / 1e6))


main()
