# SPDX-License-Identifier: BSD-3-Clause
# Ranks of launchers without MPI, of MPI's others, and of one below another: tests/launchers/launchers.py.

@test "each launcher's ranks are those of its processes, one log a world, whatever stands above it" {
  [ "$(id -u)" -eq 0 ]
  python3 "$BATS_TEST_DIRNAME/launchers.py" "$IOSCRIBE_BUILD"
}
