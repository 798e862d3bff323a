#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do README's samples look as the real output does?

  readme.py COMMAND FOLDER OUTPUT   the sample below `COMMAND` in README.md; FOLDER is where OUTPUT was made

Numbers, units, bars and the folder may differ; a line "..." stands for any lines. Of `parse` the
sample's lines are some of the output's, equal but for the record's id and the file system.
"""
import os
import re
import sys


def sample(text, command):
    """The first indented block behind the line with the command, without its indent."""
    at = text.find(command)
    if at < 0:
        sys.exit("README.md has no '%s'" % command)
    lines = []
    for line in text[text.index("\n", at) + 1:].split("\n"):
        if line.startswith("    "):
            lines.append(line[4:])
        elif not line.strip() and lines:
            lines.append("")
        elif lines:
            break
    while lines and not lines[-1]:
        lines.pop()
    return lines


def plain(line, folder):
    line = line.rstrip().replace(folder, "/home/ann/run")
    line = re.sub(r"\d[\d,.]*(e-\d+)?", "N", line)
    line = re.sub(r"N [KMG]?i?B\b", "N B", line)
    line = re.sub(r"\|[^|]*\|", "| |", line)  # activity, a column each
    line = re.sub(r"N-NK?", "N", line)  # a range of sizes
    line = re.sub(r"\b1 (rank|log)\b", r"N \1", line)
    line = line.replace("; of the whole job, N in this log", "")  # where mpiexec touched a file that counts
    return re.sub(r"\s+", " ", re.sub(r"#+", "#", line)).strip()


def joined(lines):
    """Lines that were wrapped are one. What depends on a moment is left out: findings, the slowest file, small shares."""
    whole = []
    for line in lines:
        if whole and line.startswith(" " * 11) and whole[-1].strip():
            whole[-1] += line
        else:
            whole.append(line)
    whole = [line for line in whole if not line.strip().startswith("findings ")]
    whole = [re.sub(r"(slowest .*: ).*", r"\1FILE", line) for line in whole]
    return [re.sub(r",? +(reading|writing|metadata|streams) +\d+ +%", "", line) for line in whole]


def follows(want, got):
    """Is every line of the sample there, in order and without others between, but at an ellipsis?"""
    j = 0
    for i, line in enumerate(want):
        if line == "...":
            rest = want[i + 1:]
            if not rest:
                return True
            return any(follows(rest, got[k:]) for k in range(j, len(got)))
        if j >= len(got) or got[j] != line:
            print("README: %s\nreal:   %s" % (line, got[j] if j < len(got) else "(nothing)"))
            return False
        j += 1
    if j < len(got):
        print("README ends, real: %s" % got[j])
    return j == len(got)


def cells(line, folder):
    cell = line.replace(folder, "/home/ann/run").split("\t")
    return [c for i, c in enumerate(cell) if i not in (2, 7)]


def main():
    command, folder, output = sys.argv[1:]
    with open(os.path.join(os.environ["IOSCRIBE_SOURCE"], "README.md")) as f:
        want = sample(f.read(), command)
    with open(output) as f:
        got = f.read().split("\n")
    while got and not got[-1]:
        got.pop()
    if not want:
        sys.exit("README.md has no sample for '%s'" % command)
    if "parse" in command:
        lines = [cells(g, folder) for g in got]
        missing = [w for w in want if cells(w, folder) not in lines]
        sys.exit("not in the output: " + "\n".join(missing) if missing else 0)
    sys.exit(0 if follows([plain(w, folder) for w in joined(want)], [plain(g, folder) for g in joined(got)]) else 1)


main()
