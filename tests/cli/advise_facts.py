#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the facts of `ioscribe advise` with what the text of `ioscribe parse` gives: advise_facts.py IOSCRIBE LOG

Prints the number of facts that are more than 0. Those that need more than counters are left out.
"""
import json
import subprocess
import sys
import tempfile
from collections import defaultdict


def text(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def of_advise():
    """{fact: value}, by a rule for each fact whose finding has the value."""
    names = [line.split()[1] for line in text(sys.argv[1], "advise", "--list").splitlines() if line[0] == "#"]
    with tempfile.NamedTemporaryFile("w") as rules:
        for name in names:
            rules.write(f"rule fact-{name} note job {name} per job over 0 if {name} least 0: x; y\n")
        rules.flush()
        found = json.loads(text(sys.argv[1], "advise", "--json", "--rules", rules.name, sys.argv[2]))["findings"]
    have = {f["fact"]: f["value"] for f in found if f["rule"].startswith("fact-")}
    return {name: value for name, value in have.items() if name not in ("run_time", "partial", "one_stripe")}


def main():
    parsed = text(sys.argv[1], "parse", "--show-incomplete", sys.argv[2]).splitlines()
    records, head = defaultdict(dict), {}
    for line in parsed:
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].split(": ", 1)
            head.setdefault(key, value)
        elif line and line[0] != "#":
            module, rank, record, counter, value = line.split("\t")[:5]
            if module not in ("POSIX", "STDIO", "MPI-IO"):
                continue
            records[(module, record, int(rank))][counter.split("_", 1)[1]] = float(value)
    ranks = max(int(head["nprocs"]), 1)
    facts, files = defaultdict(float), defaultdict(lambda: defaultdict(float))

    def known(value):
        return max(value, 0)

    small = ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"]
    for (module, record, rank), c in records.items():
        f, own = files[record], rank >= 0
        if module == "POSIX":
            for fact, names in {"opens": "OPENS", "reads": "READS", "writes": "WRITES", "accesses": "READS WRITES",
                                "bytes_read": "BYTES_READ", "bytes_written": "BYTES_WRITTEN",
                                "all_bytes": "BYTES_READ BYTES_WRITTEN", "unaligned": "FILE_NOT_ALIGNED",
                                "unaligned_memory": "MEM_NOT_ALIGNED", "switches": "RW_SWITCHES", "seeks": "SEEKS",
                                "path_calls": "STATS", "syncs": "FSYNCS FDSYNCS", "read_time": "F_READ_TIME",
                                "write_time": "F_WRITE_TIME", "meta_time": "F_META_TIME"}.items():
                f[fact] += sum(known(c[name]) for name in names.split())
            for kind, noun in (("READ", "reads"), ("WRITE", "writes")):
                below = sum(known(c[f"SIZE_{kind}_{size}"]) for size in small)
                f["small_" + noun] += below
                f["random_" + noun] += known(c[kind + "S"] - c[f"SEQ_{kind}S"] - own)
                if not own:
                    f["shared_" + noun] += known(c[kind + "S"])
                    f["small_shared_" + noun] += below
            if own:
                f["reread"] += known(c["BYTES_READ"] - c["MAX_BYTE_READ"] - 1)
                f["rewritten"] += known(c["BYTES_WRITTEN"] - c["MAX_BYTE_WRITTEN"] - 1)
            else:
                f["shared_moved"] += known(c["BYTES_READ"]) + known(c["BYTES_WRITTEN"])
            f["mapped"] += known(c["MMAPS"])
            f["top"] = max(f["top"], c["MAX_BYTE_READ"], c["MAX_BYTE_WRITTEN"])
        elif module == "STDIO":
            moved = known(c["BYTES_READ"]) + known(c["BYTES_WRITTEN"])
            f["stream_bytes"] += moved
            f["stream_bytes_read"] += known(c["BYTES_READ"])
            f["all_bytes"] += moved
            f["streams"] += known(c["READS"]) + known(c["WRITES"])
            f["stream_time"] += c["F_READ_TIME"] + c["F_WRITE_TIME"] + c["F_META_TIME"]
            f["top"] = max(f["top"], c["MAX_BYTE_READ"], c["MAX_BYTE_WRITTEN"])
        elif module == "MPI-IO":
            for kind, noun in (("READS", "reads"), ("WRITES", "writes")):
                f["mpi_alone_" + noun] += known(c["INDEP_" + kind])
                f["mpi_blocking_" + noun] += known(c["INDEP_" + kind]) + known(c["COLL_" + kind])
                f["mpi_" + noun] += sum(known(c[way + kind]) for way in ("INDEP_", "COLL_", "SPLIT_", "NB_"))

    for module in ("POSIX", "MPI-IO"):  # the second replaces the first
        for record in {r for m, r, _ in records if m == module}:
            f = files[record]
            shared = records.get((module, record, -1))
            moved = [known(c["BYTES_READ"]) + known(c["BYTES_WRITTEN"])
                     for (m, r, rank), c in records.items() if (m, r) == (module, record) and rank >= 0]
            f["straggle"] = f["shared_time"] = f["imbalance"] = f["shared_bytes"] = 0
            if shared:
                mean = (shared["F_READ_TIME"] + shared["F_WRITE_TIME"] + shared["F_META_TIME"]) / ranks
                f["shared_time"] = shared["F_SLOWEST_RANK_TIME"]
                f["straggle"] = known(shared["F_SLOWEST_RANK_TIME"] - mean)
                pair = known(shared["FASTEST_RANK_BYTES"]), known(shared["SLOWEST_RANK_BYTES"])
                f["imbalance"], f["shared_bytes"] = abs(pair[0] - pair[1]), max(pair)
            if len(moved) > 1:
                f["imbalance"] += max(moved) - min(moved)
                f["shared_bytes"] += max(moved)
    for f in files.values():
        for noun in ("reads", "writes"):
            if f[noun] < 8:
                f["small_" + noun] = f["small_shared_" + noun] = 0
        if f["reads"] + f["writes"] + f["streams"] + f["mapped"] == 0:
            f["unused_opens"] += f["opens"]
        if f["mpi_reads"] + f["mpi_writes"] == 0:
            f["shared_posix"] += f["shared_reads"] + f["shared_writes"]
        if f["all_bytes"]:
            facts["files"] += 1
            facts["small_files"] += f["top"] < 1 << 20
        for name, value in f.items():
            facts[name] += value

    best = (0, 0)
    for modules in (("POSIX", "STDIO"), ("MPI-IO",)):
        own, slow, all_time, meta = defaultdict(float), 0, 0, defaultdict(float)
        for (module, _, rank), c in records.items():
            if module not in modules:
                continue
            time = c["F_READ_TIME"] + c["F_WRITE_TIME"] + c["F_META_TIME"]
            all_time += time
            meta[rank] += c["F_META_TIME"]
            if rank >= 0:
                own[rank] += time
            else:
                slow += c["F_SLOWEST_RANK_TIME"]
        most = slow + max(own.values(), default=0)
        if most > best[0]:
            best = most, known(most - all_time / ranks) if ranks > 1 else 0
        if "POSIX" in modules:
            shared = meta.pop(-1, 0)
            facts["rank_meta_time"] = max(meta.values(), default=0) + shared / ranks
    facts["io_time"], facts["rank_gap"] = best
    facts["ranks"], facts["job"] = ranks, 1
    facts["path_total"] = facts["opens"] + facts["path_calls"]
    for gone in ("mapped", "top"):
        facts.pop(gone, None)
    have = of_advise()
    if "ppc64" in sys.argv[2]:  # the text has Darshan's error: metadata time in the other byte order
        for fact in ("meta_time", "rank_meta_time"):
            have.pop(fact, 0), facts.pop(fact, 0)
    # The text has six decimals.
    near = 1e-6 * (len(records) + 1)
    wrong = [f"{name}: {have.get(name, 0)}, by the text {facts.get(name, 0)}" for name in sorted({*have, *facts})
             if abs(have.get(name, 0) - facts.get(name, 0)) > near + 1e-9 * abs(facts.get(name, 0))]
    if wrong:
        sys.exit("\n".join([sys.argv[2], *wrong]))
    print(len(have))


main()
