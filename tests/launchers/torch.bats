# SPDX-License-Identifier: BSD-3-Clause
# Ranks of the real torchrun (python3-torch of Debian), with a restart, and below mpiexec.

@test "torchrun: each attempt's workers are the ranks of a world; below mpiexec they are not its ranks" {
  /usr/bin/python3 -c 'import torch.distributed.run' || { echo "no python3-torch: run scripts/install-deps full"; return 1; }
  python3 "$BATS_TEST_DIRNAME/launchers.py" "$IOSCRIBE_BUILD" --torch
}
