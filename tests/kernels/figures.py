# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that tracing adds, counted in guests; compared with those kept in the tree."""

import glob
import json
import os
import re
import subprocess

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = f"{HERE}/figures.json"
GROWTH = 1.10
SHARE = (0.7, 1.2)  # the log's figure of tracing's cost, of the instructions that tracing added
SLACK = 12  # instructions: what the place of code in caches and pages changes
NAMES = {
    "traced": "pread",
    "stat": "stat",
    "open": "openat, close",
    "bystander": "other's pread",
    "getppid": "other's getppid",
    "begun": "job begun",
    "startup": "start-up, M",
    "verified": "verifier, k",
}


def script(levels):
    return "\n".join([". /tests/suite", f'measure "{levels or "$(all_levels)"}"', "exit 0", ""])


def _counts(path):
    found = {}
    for line in cases._read(path).splitlines():
        words = line.split()
        if len(words) == 2 and words[1].isdigit():
            found[words[0]] = found.get(words[0], 0) + int(words[1])
    return found


def of_level(folder):
    """The figures of one level, or None where its programs do not load."""
    base = _counts(f"{os.path.dirname(folder)}/untraced")
    traced, by, begun = (_counts(f"{folder}/{name}") for name in ("traced.out", "bystander", "begun"))
    startup = cases._read(f"{folder}/startup").strip()
    if not base or not traced or not by or not begun:
        return None
    verified = _counts(f"{folder}/verified")
    return {
        "untraced": base["pread"],
        "traced": traced["pread"] - base["pread"],
        "stat": traced["stat"] - base["stat"],
        "open": traced["open"] - base["open"],
        "bystander": by["pread"] - base["pread"],
        "getppid": by["getppid"] - base["getppid"],
        "begun": max(begun["pread"] - base["pread"], begun["getppid"] - base["getppid"]),
        "startup": int(startup) if startup.isdigit() else None,
        "verified": sum(verified.values()),
        "programs": verified,
    }


def tracing_share(folder):
    """Per kind of calls: what the log says tracing cost, of the processor time that it added; 0 without a figure."""
    found = {}
    for bare in sorted(glob.glob(f"{os.path.dirname(folder)}/untraced.*")):
        kind = bare.rsplit(".", 1)[1]
        log = cases._read(f"{folder}/cpu.{kind}.log").strip()
        added = _counts(f"{folder}/cpu.{kind}.out").get("cpu", 0) - _counts(bare).get("cpu", 0)
        found[kind] = float(log) * 1e9 / added if log and added > 0 else 0
    return found


def load():
    if not os.path.exists(KEPT):
        return {}
    with open(KEPT, encoding="utf-8") as file:
        return json.load(file)


def save(kept):
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.write("\n")


def grown(old, new):
    """What has grown by more than a tenth."""
    problems = []
    for name in NAMES:
        before, after = old.get(name), new.get(name)
        if before is not None and after is not None and after > before * GROWTH + SLACK:
            problems.append(f"{NAMES[name]}: {after}, {before} is kept")
    for program, before in old.get("programs", {}).items():
        after = new["programs"].get(program, 0)
        if after > before * GROWTH + SLACK:
            problems.append(f"the verifier's work for {program}: {after} instructions, {before} are kept")
    return problems


def cells(figures):
    if not figures:
        return [""] * len(NAMES)
    texts = []
    for name in NAMES:
        value = figures.get(name)
        texts.append("" if value is None else f"{value / 1000:.0f}" if name == "verified" else str(value))
    return texts


def stacks(tool, build):
    """{object program: bytes} of the deepest chains, as scripts/bpf-objects reads them."""
    done = subprocess.run([tool, build], capture_output=True, text=True)
    found, name = {}, ""
    for line in done.stdout.splitlines():
        match = re.match(r" +(\d+) bytes, \d+ frames  \S+ (\S+)", line)
        if match:
            found[f"{name} {match.group(2)}"] = int(match.group(1))
        elif line.endswith(".o"):
            name = os.path.basename(line).split(".")[0]
    return found


def grown_stacks(old, new):
    return [f"stack of {name}: {new[name]} bytes, {before} are kept" for name, before in old.items()
            if new.get(name, 0) > before * GROWTH]  # fmt: skip
