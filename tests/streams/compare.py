# SPDX-License-Identifier: BSD-3-Clause
"""A stream of messages against the log of the same run.

  compare.py IOSCRIBE STREAM LOG...    exit 1, and a line for each difference

Each read and write must be a segment of the log (DXT) with the same rank, file, offset, length, start and end (the
message's nanoseconds, rounded to the log's 2^-26 s), and the other way round; opens, closes, reads, writes, bytes, highest bytes and switches must add up to the log's counters;
the counters that run on must do so by one, and the stream's last total is the number of messages.
"""
import json
import subprocess
import sys
from collections import Counter, defaultdict

FIELDS = ["schema", "uid", "exe", "job_id", "rank", "ProducerName", "file", "record_id", "module", "type", "max_byte",
          "switches", "flushes", "cnt", "op", "seg"]
SEG = ["pt_sel", "irreg_hslab", "reg_hslab", "ndims", "npoints", "off", "len", "start", "dur", "total", "timestamp"]

GRID = 2.0**26
MODULES = ("POSIX", "STDIO", "MPIIO", "H5F", "H5D", "PNETCDF_VAR")
COUNTERS = {
    "POSIX_OPENS": "open", "POSIX_READS": "read", "POSIX_WRITES": "write", "POSIX_EXT_CLOSES": "close",
    "POSIX_BYTES_READ": "bytes read", "POSIX_BYTES_WRITTEN": "bytes written", "POSIX_RW_SWITCHES": "switches",
    "MPIIO_BYTES_READ": "bytes read", "MPIIO_BYTES_WRITTEN": "bytes written",
    "STDIO_OPENS": "open", "STDIO_READS": "read", "STDIO_WRITES": "write", "STDIO_BYTES_READ": "bytes read",
    "STDIO_BYTES_WRITTEN": "bytes written",
    "H5F_OPENS": "open", "H5F_FLUSHES": "flushes",
    "H5D_OPENS": "open", "H5D_READS": "read", "H5D_WRITES": "write", "H5D_BYTES_READ": "bytes read",
    "H5D_BYTES_WRITTEN": "bytes written", "H5D_RW_SWITCHES": "switches", "H5D_POINT_SELECTS": "pt_sel",
    "H5D_IRREGULAR_HYPERSLAB_SELECTS": "irreg_hslab", "H5D_REGULAR_HYPERSLAB_SELECTS": "reg_hslab",
    "PNETCDF_VAR_OPENS": "open", "PNETCDF_VAR_BYTES_READ": "bytes read", "PNETCDF_VAR_BYTES_WRITTEN": "bytes written",
}
PROPERTIES = {"H5D_DATASPACE_NDIMS": "ndims", "H5D_DATASPACE_NPOINTS": "npoints"}


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def nanoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 9, text
    return int(whole + part)


def grid(ns):
    return int(ns * (GRID / 1e9) + 0.5)


def messages(path, totals):
    with open(path, encoding="utf-8") as file:
        for line in file:
            m = json.loads(line, parse_float=nanoseconds)
            assert list(m) == FIELDS and len(m["seg"]) == 1 and list(m["seg"][0]) == SEG, line
            if m["module"] == "STREAM":
                totals[m["op"]] = m["cnt"]
                continue
            yield m, m["seg"][0]


def segments(ioscribe, logs):
    found = Counter()
    for log in logs:
        rows = [json.loads(line) for line in output(ioscribe, "export", "--json-lines", "--table", "job", "--table",
                                                    "dxt_posix", "--table", "dxt_mpiio", log).splitlines()]
        for r in rows:
            if r["table"].startswith("dxt_"):
                found[(r["table"][4:].upper(), r["rank"], int(r["record_id"]), "write" if r["is_write"] else "read",
                       r["offset"], r["length"], r["start"] * GRID, r["end"] * GRID)] += 1
    return found


def counters(ioscribe, logs):
    found = Counter()
    for log in logs:
        for line in output(ioscribe, "parse", "--show-incomplete", "--escape", log).splitlines():
            words = line.split("\t")
            module = words[0].replace("_EXT", "").replace("MPI-IO", "MPIIO")
            if len(words) > 5 and module in MODULES:
                found[module, int(words[2]), words[3]] += float(words[4])
    return found


def start_of(ioscribe, logs):
    for line in output(ioscribe, "export", "--json-lines", "--table", "job", logs[0]).splitlines():
        return json.loads(line)["start_time"]


def main():
    ioscribe, stream, *logs = sys.argv[1:]
    moved, sums, last, bad = Counter(), Counter(), defaultdict(int), []
    running, seen, bases, totals = {}, {}, set(), {}
    for m, s in messages(stream, totals):
        who = (m["module"], m["rank"], m["record_id"])
        last[who + (m["op"],)] += 1
        if m["cnt"] != last[who + (m["op"],)]:
            bad.append(f"cnt {m['cnt']}, not {last[who + (m['op'],)]}: {m}")
        if m["type"] != ("MET" if m["op"] == "open" else "MOD"):
            bad.append(f"type: {m}")
        if m["op"] == "open":
            if m["exe"] == "N/A" or not m["file"].startswith(("/", "<STD")):
                bad.append(f"an open without exe or file: {m}")
        if m["op"] in ("read", "write"):
            if m["module"] in ("POSIX", "MPIIO"):
                moved[who + (m["op"], s["off"], s["len"], grid(s["start"]), grid(s["start"] + s["dur"]))] += 1
            sums[m["module"], m["record_id"], m["op"]] += s["len"]
            running[who + ("switches",)] = m["switches"]
            seen[m["module"], m["record_id"]] = s
            for word in ("pt_sel", "irreg_hslab", "reg_hslab"):
                running[who + (word,)] = s[word]
        running[who + ("flushes",)] = m["flushes"]
        bases.add((s["timestamp"] - s["start"] - s["dur"]) / 1e9)
    for key in (moved - segments(ioscribe, logs)).items():
        bad.append(f"in the stream alone: {key}")
    for key in (segments(ioscribe, logs) - moved).items():
        bad.append(f"in the log alone: {key}")
    wanted = counters(ioscribe, logs)
    for (module, record, name), value in sorted(wanted.items()):
        said = {op: sum(n for (m, _, r, o), n in last.items() if (m, r, o) == (module, record, op))
                for op in ("open", "read", "write", "close")}
        said["open"] += wanted[module, record, "POSIX_DUPS"]
        said["bytes read"], said["bytes written"] = sums[module, record, "read"], sums[module, record, "write"]
        for word in ("switches", "pt_sel", "irreg_hslab", "reg_hslab", "flushes"):
            said[word] = sum(n for (m, _, r, w), n in running.items() if (m, r, w) == (module, record, word))
        if name == "POSIX_EXT_CLOSES":  # of the file, those by streams included
            said["close"] += sum(n for (m, _, r, o), n in last.items() if (m, r, o) == ("STDIO", record, "close"))
        if name in COUNTERS and sum(said[word] for word in COUNTERS[name].split("+")) != value:
            bad.append(f"{name} of {record}: {said} in the stream, {value:.0f} in the log")
        if name in PROPERTIES and (module, record) in seen and seen[module, record][PROPERTIES[name]] != value:
            bad.append(f"{name} of {record}: {seen[module, record]} in the stream, {value:.0f} in the log")
    if max(bases) - min(bases) > 5 or abs(max(bases) - start_of(ioscribe, logs)) > 5:
        bad.append(f"relative times count from {sorted(bases)}")
    if totals.get("end") != sum(last.values()) or set(totals) - {"sent", "end"}:
        bad.append(f"totals {totals}, {sum(last.values())} messages")
    for line in bad[:20]:
        print(line)
    print(sum(last.values()), "messages")
    sys.exit(bool(bad) or not last)


main()
