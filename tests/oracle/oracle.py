#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the log of `ioscribe run` with what strace saw of the same command.

  oracle.py list                 names of the workloads
  oracle.py run NAME...          run and compare; exit 1 on any difference
  oracle.py model NAME           what strace alone says (no tracer needed)
  oracle.py command CMD          compare for a command line of your own; it finds
                                 the folder of the tree in $SOURCE
Options: --keep leaves the scratch folder, --together runs strace inside ioscribe.

Counters are compared, and each single read and write (dxt = yes): how many, where, how
long, and in what order where one thread of one process made them, or each rank, or each thread.

The command runs twice in equal fresh folders of the same path: once traced by
ioscribe, once by strace. A workload whose calls vary from run to run runs once,
with strace inside ioscribe. Files outside the folder are not compared.
Environment: IOSCRIBE (the program), IOSCRIBE_BUILD (holds tests/prog).
"""
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model import Model  # noqa: E402
from strace_log import CALLS, read_log  # noqa: E402
from workloads import WORKLOADS, Workload  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("IOSCRIBE_BUILD", os.path.join(SOURCE, "build", "dev"))
IOSCRIBE = os.environ.get("IOSCRIBE", os.path.join(BUILD, "util", "ioscribe"))
# Further settings of the run, e.g. "bpf_attach_mode=tp_btf_probe" to force the weaker way into the kernel.
# Calls that programs count inside themselves are no system calls.
SETTINGS = [word for s in ("stdio_wrap=no dxt_threads=yes " + os.environ.get("IOSCRIBE_ORACLE_SET", "")).split() for word in ("--set", s)]
# strace writes here when it runs inside ioscribe: below an excluded prefix.
UNSEEN = "/var/tmp"
MAX_ROWS = 60

COUNTED = ["POSIX_OPENS", "POSIX_DUPS", "POSIX_READS", "POSIX_WRITES", "POSIX_SEEKS", "POSIX_STATS",
           "POSIX_MMAPS", "POSIX_FSYNCS", "POSIX_FDSYNCS", "POSIX_RENAME_SOURCES", "POSIX_RENAME_TARGETS",
           "POSIX_BYTES_READ", "POSIX_BYTES_WRITTEN"]
PLACED = ["POSIX_MAX_BYTE_READ", "POSIX_MAX_BYTE_WRITTEN", "POSIX_CONSEC_READS", "POSIX_CONSEC_WRITES",
          "POSIX_SEQ_READS", "POSIX_SEQ_WRITES", "POSIX_RW_SWITCHES", "POSIX_FILE_NOT_ALIGNED"]
NOT_COMPARED = re.compile(r"^POSIX_EXT_(.*_NS|F_.*|.*_TIME.*)$")


class Trouble(Exception):
    pass


def environment(root):
    home = os.path.join(root, "home")
    os.makedirs(home, exist_ok=True)
    keep = {k: v for k, v in os.environ.items() if k in ("TERM", "ASAN_OPTIONS")}
    return dict(keep, PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME=home, LC_ALL="C",
                TZ="UTC", PROG=os.path.join(BUILD, "tests", "prog"), TMPDIR=os.path.join(root, "w"), SOURCE=SOURCE,
                GIT_AUTHOR_DATE="2024-01-01T00:00:00Z", GIT_COMMITTER_DATE="2024-01-01T00:00:00Z",
                GIT_CONFIG_NOSYSTEM="1", PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")


def fresh(root, workload, env):
    """The folder the command works in, as the workload wants it."""
    folder = os.path.join(root, "w")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if workload.setup:
        done = subprocess.run(["/bin/sh", "-ec", workload.setup], cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode:
            raise Trouble(f"setup of {workload.name} failed: {done.stderr.strip()[-300:]}")
    return folder


def strace_words(out):
    return ["strace", "-f", "-y", "-s", "64", "-e", "abbrev=!io_submit", "-e", "signal=none",
            "-e", "trace=" + ",".join(CALLS), "-o", out]


def execute(words, folder, env, workload, what):
    done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=workload.timeout)
    if done.returncode != workload.code:
        raise Trouble(f"{what} ended with {done.returncode}, expected {workload.code}: {done.stderr.strip()[-600:]}")
    return done


def read_ours(log):
    """{file name: Counter} of the POSIX and POSIX_EXT records of a log; values summed over records."""
    done = subprocess.run([IOSCRIBE, "parse", "--base", log], capture_output=True, text=True, errors="surrogateescape")
    if done.returncode:
        raise Trouble(f"ioscribe parse {log}: exit {done.returncode}: {done.stderr.strip()}")
    out, partial = {}, "incomplete" in done.stdout or "partial" in done.stderr
    for line in done.stdout.splitlines():
        words = line.split("\t")
        if line.startswith("#") or len(words) < 6 or words[0] not in ("POSIX", "POSIX_EXT"):
            continue
        name, value = words[3], words[4]
        if name.startswith(("POSIX_F_", "POSIX_EXT_F_")) or NOT_COMPARED.match(name):
            continue
        counters = out.setdefault(words[5], Counter())
        if name.startswith("POSIX_MAX_BYTE"):
            counters[name] = max(counters[name], int(value))
        else:
            counters[name] += int(value)
    return out, partial


def read_segments(log):
    """{file name: [(write, offset, bytes, whose), ...]}, writes in order, then reads in order."""
    done = subprocess.run([IOSCRIBE, "export", "--json-lines", "--table", "dxt_posix", log], capture_output=True,
                          text=True, errors="surrogateescape")
    if done.returncode:
        raise Trouble(f"ioscribe export {log}: exit {done.returncode}: {done.stderr.strip()}")
    out, last = {}, {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        key = (row["record_id"], row["rank"], row["is_write"])
        if not last.get(key, 0) <= row["start"] <= row["end"]:
            raise Trouble(f"a segment at {row['start']} s, behind one at {last.get(key)} s")
        last[key] = row["start"]
        out.setdefault(row["name"], []).append((bool(row["is_write"]), row["offset"], row["length"],
                                                  {"process": row["rank"], "thread": row["thread"]}))
    return out


def compare_segments(name, want, have, in_order):
    """Rows that differ of one file."""
    rows = []
    for write, what in ((False, "reads one by one"), (True, "writes one by one")):
        one, other = ([s[1:3] for s in side if s[0] == write] for side in (want, have))
        if not in_order:
            one, other = sorted(one), sorted(other)
        if one != other:
            at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            rows.append((name, what, f"{len(one)}, [{at}] {one[at:at + 1]}", f"{len(other)}, [{at}] {other[at:at + 1]}"))
    return rows


def compare_each(name, want, have, each):
    """Rows that differ of one file: what each process or thread did, in its order, whatever number that has."""
    def each_one(side):
        lists = {}
        for s in side:
            lists.setdefault((s[3][each], s[0]), []).append(s[1:3])
        return Counter((key[1], tuple(ones)) for key, ones in lists.items())

    want, have = each_one(want), each_one(have)
    rows = []
    for write, ones in sorted((want - have) + (have - want)):
        key = (write, ones)
        rows.append((name, f"{'writes' if write else 'reads'} of a {each}, {len(ones)}: {ones[:3]}", want[key], have[key]))
    return rows


def top_values(counters, kind):
    out = {}
    for i in range(1, 5):
        value, count = counters[f"POSIX_{kind}{i}_{kind}"], counters[f"POSIX_{kind}{i}_COUNT"]
        if count:
            out[value] = count
    return out


def top_expected(values):
    if len(values) > 32:
        return None
    best = sorted(values.items(), key=lambda item: (item[1], item[0]), reverse=True)[:4]
    return dict(best)


def compare(workload, book, ours, segments, root):
    """Rows (file, counter, strace, ioscribe) that differ, and the number of values compared."""
    folder = os.path.join(root, "w")

    def short(name):
        name = os.path.relpath(name, folder)
        for pattern, text in workload.names:
            name = re.sub(pattern, text, name)
        return name

    expected = book.by_name(short, ranks=workload.each == "process")
    values = book.values(short)
    got = {}
    for name, counters in ours.items():
        if not (name == folder or name.startswith(folder + "/")):
            continue
        into = got.setdefault(short(name), Counter())
        for key, value in counters.items():
            into[key] = max(into[key], value) if key.startswith("POSIX_MAX_BYTE") else into[key] + value
    said, had = book.segments(short), {}
    for name, ones in segments.items():
        if name == folder or name.startswith(folder + "/"):
            had.setdefault(short(name), []).extend(ones)
    rows, compared = [], 0
    for name in sorted(set(expected) | set(got) | set(said) | set(had)):
        if any(fnmatch.fnmatch(name, pattern) for pattern in workload.skip_names):
            continue
        want, processes = expected.get(name, (Counter(), set()))
        have = got.get(name, Counter())
        keys = list(COUNTED)
        keys += sorted(k for k in set(want) | set(have) if k.startswith(("POSIX_SIZE_", "POSIX_EXT_")))
        if workload.offsets:
            keys += PLACED
        for key in keys:
            if key in workload.skip or NOT_COMPARED.match(key):
                continue
            compared += 1
            if want[key] != max(have[key], 0):
                rows.append((name, key, want[key], have[key]))
        # where counters of sequence are not determined, places are not either
        if workload.each:
            compared += 2
            rows += compare_each(name, said.get(name, []), had.get(name, []), workload.each)
        elif workload.offsets:
            compared += 2
            rows += compare_segments(name, said.get(name, []), had.get(name, []),
                                     len(processes) == 1 and not want["POSIX_EXT_AIO_OPS"])
        else:
            compared += 1
            if len(said.get(name, [])) != len(had.get(name, [])):
                rows.append((name, "reads and writes", len(said.get(name, [])), len(had.get(name, []))))
        if workload.offsets and len(processes) == 1 and name in values:
            for kind, table in (("ACCESS", values[name][0]), ("STRIDE", values[name][1])):
                top = top_expected(table)
                compared += 1
                if top is not None and top != top_values(have, kind):
                    rows.append((name, kind + " top 4", top, top_values(have, kind)))
    return rows, compared, len(set(expected) | set(got)), expected


def table(rows):
    head = ("file", "counter", "strace", "ioscribe")
    shown = [tuple(str(c) for c in row) for row in rows[:MAX_ROWS]]
    width = [max(len(r[i]) for r in [head] + shown) for i in range(4)]
    for row in [head] + shown:
        print("  " + "  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, width))))
    if len(rows) > MAX_ROWS:
        print(f"  ... and {len(rows) - MAX_ROWS} more")


def run_strace(workload, root, env):
    folder = fresh(root, workload, env)
    model = Model(folder, folder)
    out = os.path.join(root, "strace.out")
    execute(strace_words(out) + ["/bin/sh", "-c", workload.command], folder, env, workload, "strace")
    return model.run(read_log(out))


def run_ours(workload, root, env):
    log = os.path.join(root, "run.darshan")
    if os.path.exists(log):
        os.unlink(log)
    run = [IOSCRIBE, "run", "--quiet", "--dxt", "--force", "--log", log, *SETTINGS, "--"]
    folder = fresh(root, workload, env)
    book = None
    if workload.together:
        model = Model(folder, folder)
        unseen = tempfile.mkdtemp(prefix="ioscribe-oracle.", dir=UNSEEN)
        try:
            out = os.path.join(unseen, "strace.out")
            # what strace itself looks up behind descriptors is not the workload's
            env = dict(env, DARSHAN_APP_EXCLUDE="strace")
            execute(run + strace_words(out) + ["/bin/sh", "-c", workload.command], folder, env, workload, "ioscribe run")
            book = model.run(read_log(out))
        finally:
            shutil.rmtree(unseen)
    else:
        execute(run + ["/bin/sh", "-c", workload.command], folder, env, workload, "ioscribe run")
    if not os.path.exists(log):
        raise Trouble(f"ioscribe run wrote no log {log}")
    ours, partial = read_ours(log)
    if partial:
        raise Trouble("the log is marked partial")
    return book, ours, read_segments(log)


def fio_log(folder):
    """Counter of (write, offset, bytes) of each operation, as fio has written them down."""
    out = Counter()
    for path in glob.glob(os.path.join(folder, "fio_lat.*.log")):
        with open(path, encoding="utf-8") as f:
            for line in f:
                _, _, write, length, offset = (int(word) for word in line.split(",")[:5])
                out[bool(write), offset, length] += 1
    return out


def check_fio(workload, root, ours, segments):
    """fio's own totals and log against ours: for io_uring, which strace cannot see."""
    with open(os.path.join(root, "w", "fio.json"), encoding="utf-8") as f:
        text = f.read()
    jobs = json.loads(text[text.index("{"):])["jobs"]
    want = {"POSIX_READS": sum(j["read"]["total_ios"] for j in jobs),
            "POSIX_WRITES": sum(j["write"]["total_ios"] for j in jobs),
            "POSIX_BYTES_READ": sum(j["read"]["io_bytes"] for j in jobs),
            "POSIX_BYTES_WRITTEN": sum(j["write"]["io_bytes"] for j in jobs)}
    want["POSIX_EXT_URING_OPS"] = want["POSIX_READS"] + want["POSIX_WRITES"]
    have = Counter()
    for name, counters in ours.items():
        if os.path.basename(name).startswith("data"):
            have.update(counters)
    print(f"  fio: {want['POSIX_READS']} reads, {want['POSIX_WRITES']} writes")
    if not want["POSIX_EXT_URING_OPS"]:
        raise Trouble("fio did no I/O")
    ones = Counter(s[:3] for name, of in segments.items() if os.path.basename(name).startswith("data") for s in of)
    said = fio_log(os.path.join(root, "w"))
    want["operations, one by one"], have["operations, one by one"] = said.total(), (said & ones).total()
    want["further ones"], have["further ones"] = 0, (ones - said).total()
    if said.total() != want["POSIX_EXT_URING_OPS"]:
        raise Trouble(f"fio's log has {said.total()} operations, its totals {want['POSIX_EXT_URING_OPS']}")
    return [("data*", key, value, have[key]) for key, value in want.items() if value != have[key]]


def run_one(workload, keep=False):
    root = tempfile.mkdtemp(prefix="ioscribe-oracle.")
    try:
        env = environment(root)
        book, ours, segments = run_ours(workload, root, env)
        if workload.fio:
            rows, compared, files = check_fio(workload, root, ours, segments), 7, 1
        else:
            if book is None:
                book = run_strace(workload, root, env)
            rows, compared, files, expected = compare(workload, book, ours, segments, root)
            totals = Counter()
            for counters, _ in expected.values():
                totals.update(counters)
            if not totals["POSIX_OPENS"] + totals["POSIX_EXT_MKDIRS"]:
                raise Trouble("strace saw no file of the workload")
            print("  " + ", ".join(f"{totals['POSIX_' + k]} {k.lower()}" for k in
                                   ("OPENS", "READS", "WRITES", "SEEKS", "STATS", "BYTES_READ", "BYTES_WRITTEN")))
        how = "one run" if workload.together else "two runs"
        print(f"{workload.name}: {files} files, {compared} values compared ({how}), {len(rows)} differ")
        if rows:
            table(rows)
        return not rows
    except (Trouble, subprocess.TimeoutExpired) as trouble:
        print(f"{workload.name}: {trouble}")
        return False
    finally:
        if keep:
            print(f"  kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)


def model_one(workload):
    root = tempfile.mkdtemp(prefix="ioscribe-oracle.")
    try:
        env = environment(root)
        book = run_strace(workload, root, env)
        for name, (counters, processes) in sorted(book.by_name().items()):
            words = " ".join(f"{k.replace('POSIX_', '')}={v}" for k, v in sorted(counters.items()) if v)
            print(f"{os.path.relpath(name, os.path.join(root, 'w'))} [{len(processes)}]: {words}")
        return True
    except (Trouble, subprocess.TimeoutExpired) as trouble:
        print(f"{workload.name}: {trouble}")
        return False
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(argv):
    keep = "--keep" in argv
    together = "--together" in argv
    argv = [a for a in argv if a not in ("--keep", "--together")]
    known = {w.name: w for w in WORKLOADS}
    if argv[:1] == ["list"]:
        print("\n".join(known))
        return 0
    if argv[:1] == ["command"] and len(argv) == 2:
        return 0 if run_one(Workload("command", argv[1], together=together), keep) else 1
    if len(argv) < 2 or argv[0] not in ("run", "model"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    names = list(known) if argv[1:] == ["all"] else argv[1:]
    for name in names:
        if name not in known:
            print(f"oracle.py: no workload {name}: see oracle.py list", file=sys.stderr)
            return 2
    results = [run_one(known[n], keep) if argv[0] == "run" else model_one(known[n]) for n in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
