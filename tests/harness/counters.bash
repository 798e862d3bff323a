# SPDX-License-Identifier: BSD-3-Clause
# Counters of a log: of $LOG, as text below $T.

# The log's counters as text, in $BASE: parsed once.
base() {
  BASE=${LOG%.darshan}
  BASE=$T/base.${BASE//\//_}
  [ "$BASE" -nt "$LOG" ] || "$IOSCRIBE" parse --base "$LOG" >"$BASE"
}

# Sum of a counter over the records whose name matches a pattern (of awk).
counter() {
  base
  awk -F '\t' -v name="$1" -v file="${2:-}" '
    $4 == name && (file == "" || $6 ~ file) { sum += $5 } END { printf "%.0f\n", sum }' "$BASE"
}
