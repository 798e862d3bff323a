#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The judgements of the kernel matrix, without a guest: each can say no.

py() {
  cd "$IOSCRIBE_SOURCE/tests/kernels" || return 1
  PYTHONDONTWRITEBYTECODE=1 python3 -c "$1"
}

@test "a line that no suite offers is refused by name; the newest is the highest by number" {
  run py '
import packages
p = packages.Packages("/nonexistent")
p.__dict__["lines"] = {"6.1": ("a", "1"), "6.12": ("b", "2"), "7.3": ("c", "3")}
assert p.newest("newest") == ("7.3", "c", "3")
assert sorted(["6.12", "7.0", "6.2"], key=packages.line_key) == ["6.2", "6.12", "7.0"]
try:
    p.newest("6.11")
except packages.NoKernel as error:
    print(error)'
  [ "$status" -eq 0 ]
  [ "$output" = "no suite offers a kernel 6.11 for amd64" ]
}

@test "figures: more than a tenth is too much, a program too; less is not" {
  run py '
import figures
old = {"traced": 1000, "bystander": 0, "programs": {"scribe_x": 5000}}
assert figures.grown(old, {"traced": 1090, "bystander": 12, "programs": {"scribe_x": 5400}}) == []
for line in figures.grown(old, {"traced": 1200, "bystander": 40, "programs": {"scribe_x": 6000}}):
    print(line)
print(figures.grown_stacks({"a": 400}, {"a": 448}))'
  [ "$status" -eq 0 ]
  [ "$output" = "pread: 1200, 1000 is kept
other's pread: 40, 0 is kept
the verifier's work for scribe_x: 6000 instructions, 5000 are kept
['stack of a: 448 bytes, 400 are kept']" ]
}

@test "a log with one operation less, a mark of the ledger, and no log at all are found" {
  run py '
import cases
class Log(cases.Log):
    def __init__(self, rows, text=""):
        self.rows, self.text = rows, text
row = lambda counter, value, name: ("POSIX", "0", "1", counter, str(value), name)
full = [row("POSIX_OPENS", 5, "/data/w/m1"), row("POSIX_WRITES", 5, "/data/w/m1")]
less = [full[0], row("POSIX_WRITES", 4, "/data/w/m1")]
assert cases.files(5)(Log(full), "", "") == []
print(cases.files(5)(Log(less), "", ""))
print(Log([("LEDGER", "0", "1", "LEDGER_EVENT_LOST", "3", "ledger:guest"),
    ("LEDGER", "0", "1", "LEDGER_F_PROGRAM_MISSES", "249.0", "ledger:guest")]).incomplete())
assert Log(full).incomplete() == []
assert Log(full).records() != Log(less).records()
print(cases.check(cases.THREADS_8, "/bin/false", "/nonexistent")[0])'
  [ "$status" -eq 0 ]
  [ "$output" = "['POSIX_WRITES of /m\\\\d+\$: 4, expected 5']
['LEDGER_EVENT_LOST 3', 'LEDGER_F_PROGRAM_MISSES 249.0']
['no log (code none)']" ]
}

@test "sources: the machine's archives with every suite, nothing of other owners" {
  run py '
import packages
packages._codename = lambda: "bookworm"
packages._own_sources = lambda: iter([("http://a/debian", "bookworm", "/k"), ("http://a/debian", "bookworm-updates", "/k"),
    ("http://a/security", "bookworm-security", ""), ("http://other", "stable", "")])
text = packages._sources()
assert "deb [signed-by=/k] http://a/debian trixie-backports main" in text, text
assert "deb http://a/security trixie-security main" in text, text
assert "other" not in text and "updates" not in text, text
packages._own_sources = lambda: iter([("http://other", "stable", "")])
try:
    packages._sources()
except packages.NoKernel as error:
    print(error)'
  [ "$status" -eq 0 ]
  [ "$output" = "no source of this machine's apt has the suite bookworm" ]
}
