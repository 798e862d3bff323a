/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_PARTS_JOIN_H
#define LOGFMT_NODES_PARTS_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/nodes/world.h"

/* Writes the new file `to`. ret_log_path: its path below DIR; ret_bad: per node, the part cannot be used. */
int scribe_parts_join(const struct scribe_parts_world *world, const char *to, char *ret_log_path, size_t cap,
		      bool *ret_named, bool *ret_lacks, bool *ret_bad, struct scribe_err *err);

#endif
