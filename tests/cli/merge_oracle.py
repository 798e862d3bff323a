#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What merge --shared-redux must give, said again without its code.

    merge_oracle.py WHOLE REDUCED SPLIT...

Texts of parse --apmpi, then of dxt. REDUCED must be the reduction of the records
of WHOLE; each SPLIT must hold the same records, in any order (variances may
differ in the last digits). Prints the modules whose reductions were compared.
"""
import re
import sys
from collections import Counter, defaultdict

NAMED = re.compile(r"(ACCESS|STRIDE)([1-4])_(\w+)$")


def rows(path):
    """(module, rank, id, counter, value) of every line of a record."""
    for line in open(path):
        if line[0] not in "#\n " and "\t" in line:
            yield tuple(line.rstrip("\n").split("\t")[:5])


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 2e-6


def same(path_a, path_b):
    def load(path):
        exact, loose, traces = Counter(), defaultdict(list), Counter()
        for line in open(path):
            if line.startswith(" "):  # a line of dxt
                traces[line] += 1
            if line[0] in "#\n " or "\t" not in line:
                continue
            f = line.rstrip("\n").split("\t")
            if "VARIANCE" in f[3].upper():
                loose[tuple(f[:4])].append(float(f[4]))
            else:
                exact[line] += 1
        return exact, loose, traces

    a, b = load(path_a), load(path_b)
    assert sum(a[0].values()) > 1000, "hardly any records in " + path_a
    assert a[0] == b[0], list((a[0] - b[0]).items())[:5] + list((b[0] - a[0]).items())[:5]
    assert a[2] == b[2], "traces differ"
    assert a[1].keys() == b[1].keys()
    for key, values in a[1].items():
        for x, y in zip(sorted(values), sorted(b[1][key])):
            assert close(x, y), (key, x, y)


def number(text):
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def records(path):
    """{(module, id): {rank: [record, ...]}}, a record being {counter: value}."""
    found = defaultdict(lambda: defaultdict(list))
    for module, rank, rec, counter, value in rows(path):
        here = found[module, rec][int(rank)]
        if not here or counter in here[-1]:
            here.append({})
        here[-1][counter] = number(value)
    return found


def ranked(per_rank, prefix):
    """Time and bytes of each rank, where the module tells them."""
    times = [prefix + "_F_%s_TIME" % k for k in ("READ", "WRITE", "META")]
    sizes = [prefix + "_BYTES_" + k for k in ("READ", "WRITTEN")]
    joined = lambda values: -1 if min(values) < 0 else sum(values)  # -1: could not be monitored
    total = lambda pieces, names: sum(joined([p[n] for p in pieces]) for n in names)
    return {r: (total(p, times), total(p, sizes)) for r, p in per_rank.items()}


def variance(values):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / len(values)


def common(per_rank, prefix, what):
    """The four most common values over all ranks, each with its count."""
    seen = Counter()
    for pieces in per_rank.values():
        for p in pieces:
            for k in "1234":
                head = "%s_%s%s_" % (prefix, what, k)
                value = tuple(v for n, v in p.items() if n.startswith(head) and n != head + "COUNT")
                if p[head + "COUNT"] > 0:
                    seen[value] += p[head + "COUNT"]
    return sorted(((n, v) for v, n in seen.items()), reverse=True)[:4]


def check_common(got, per_rank, prefix, what):
    for k, (count, value) in enumerate(common(per_rank, prefix, what), 1):
        head = "%s_%s%d_" % (prefix, what, k)
        mine = tuple(v for n, v in got.items() if n.startswith(head) and n != head + "COUNT")
        assert (got[head + "COUNT"], mine) == (count, value), (head, got[head + "COUNT"], mine, count, value)


def check_ranks(got, per_rank, prefix):
    by_rank = ranked(per_rank, prefix)
    fast = min(by_rank, key=lambda r: (by_rank[r][0], r))
    slow = min(by_rank, key=lambda r: (-by_rank[r][0], r))
    for name, rank in (("FASTEST", fast), ("SLOWEST", slow)):
        assert got["%s_%s_RANK" % (prefix, name)] == rank, (prefix, name)
        assert got["%s_%s_RANK_BYTES" % (prefix, name)] == by_rank[rank][1], (prefix, name)
        assert close(got["%s_F_%s_RANK_TIME" % (prefix, name)], by_rank[rank][0]), (prefix, name)
    for name, of in (("TIME", 0), ("BYTES", 1)):
        key = "%s_F_VARIANCE_RANK_%s" % (prefix, name)
        if key in got:
            assert close(got[key], variance([v[of] for v in by_rank.values()])), key


def plain(counter, got, per_rank):
    """Is a value the sum, the largest, the first, or the lowest rank's?"""
    values = [p.get(counter, 0) for r in sorted(per_rank) for p in per_rank[r]]
    kept = next((v for v in values if v), 0)
    positive = [v for v in values if v > 0]
    if min(values) < 0:  # could not be monitored in one rank
        return got == -1
    if counter.endswith(("BYTES_READ", "BYTES_WRITTEN", "_OPENS", "_READS", "_WRITES", "_PUTS", "_GETS", "_TOTAL_TIME",
                         "_CALL_COUNT", "_TOTAL_BYTES", "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")):
        return close(got, sum(values))
    if counter.endswith(("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "_MAX_TIME", "END_TIMESTAMP")):
        return close(got, max(values))
    if counter.endswith(("_MIN_TIME", "START_TIMESTAMP")):
        return close(got, min(positive, default=0))
    return any(close(got, v) for v in (sum(values), max(values), kept, min(positive, default=0)))


def check_layers(got):
    """The ratios are those of the sums; -1 where nothing was moved above."""
    for way, moved in (("READ", "READ"), ("WRITE", "WRITTEN")):
        hdf5, pnetcdf, mpiio, posix = (got["LAYERS_%s_BYTES_%s" % (level, moved)]
                                       for level in ("HDF5", "PNETCDF", "MPIIO", "POSIX"))
        top = hdf5 + pnetcdf if hdf5 + pnetcdf > 0 else mpiio
        for name, below, above in (("POSIX_PER_TOP", posix, top), ("MPIIO_PER_TOP", mpiio, hdf5 + pnetcdf),
                                   ("POSIX_PER_MPIIO", posix, mpiio)):
            value = got["LAYERS_F_%s_%s" % (way, name)]
            assert abs(value - (below / above if above > 0 else -1)) <= 1e-5 * max(1, abs(value)), (way, name, got)


def reduced(path_whole, path_red):
    whole, red = records(path_whole), records(path_red)
    nprocs = int(re.search(r"^# nprocs: (\d+)", open(path_whole).read(), re.M).group(1))
    checked = set()
    for (module, rec), per_rank in whole.items():
        if module == "HEATMAP":
            moved = lambda pieces: sum(v for p in pieces for n, v in p.items() if "BIN_" in n and "WIDTH" not in n)
            for rank, pieces in per_rank.items():
                assert len(red[module, rec][rank]) == 1
                assert moved(red[module, rec][rank]) == moved(pieces) > 0, (module, rec, rank)
            checked.add(module)
            continue
        if module in ("PROCESS", "LEDGER", "MOUNTS") or len(per_rank) < nprocs or -1 in per_rank:
            if module != "APMPI":  # its head is of rank 0 and gets the variances
                assert red[module, rec] == per_rank, (module, rec)
            continue
        assert list(red[module, rec]) == [-1] and len(red[module, rec][-1]) == 1, (module, rec, red[module, rec].keys())
        got = red[module, rec][-1][0]
        checked.add(module)
        if module == "LUSTRE":
            assert got in per_rank[0]
            continue
        if module == "APMPI":
            for head in (v for k, v in red.items() if k[0] == module and 0 in v):
                for of in ("MPI_TOTAL_COMM_TIME", "MPI_TOTAL_COMM_SYNC_TIME"):
                    times = [p[of] for ps in per_rank.values() for p in ps]
                    assert close(head[0][0][of + "_VARIANCE"], variance(times)), of
                    checked.add(of)
        prefix = next((n.split("_BYTES_READ")[0] for n in got if n.endswith("_BYTES_READ") and "VIEW" not in n), "-")
        if module == "LAYERS":
            check_layers(got)
        for counter, value in got.items():
            if "_PER_TOP" in counter or "_PER_MPIIO" in counter:
                continue
            if "MDHIM_SERVERS" in counter:
                assert value == max(p[counter] for ps in per_rank.values() for p in ps)
            elif not re.search(r"_RANK|VARIANCE|MAX_(READ|WRITE)_TIME|FILE_REC_ID|node_name|UUID|OID", counter) \
                    and not NAMED.search(counter) and not isinstance(value, str):
                assert plain(counter, value, per_rank), (module, counter, value)
        if prefix + "_FASTEST_RANK" in got:
            check_ranks(got, per_rank, prefix)
        for what in ("ACCESS", "STRIDE"):
            if "%s_%s1_COUNT" % (prefix, what) in got:
                check_common(got, per_rank, prefix, what)
    return checked


modules = reduced(sys.argv[1], sys.argv[2])
for split in sys.argv[3:]:
    same(sys.argv[2], split)
print(" ".join(sorted(modules)))
