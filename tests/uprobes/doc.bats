#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# docs/probes.md is what the tables say.

@test "docs/probes.md is made from the tables" {
  "$IOSCRIBE_BUILD/uprobes/scribe_probes_doc" | diff - "$IOSCRIBE_SOURCE/docs/probes.md"
}
