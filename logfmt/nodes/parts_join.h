/* SPDX-License-Identifier: BSD-3-Clause */
/* One log from the parts of one MPI world. Private to logfmt/. */
#ifndef LOGFMT_NODES_PARTS_JOIN_H
#define LOGFMT_NODES_PARTS_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/nodes/world.h"

/* The world's log in the file `to`, new; where it belongs, below DIR, in ret_log_path; which nodes
 * are not in it because their part cannot be used in ret_bad. */
int scribe_parts_join(const struct scribe_parts_world *world, const char *to, char *ret_log_path, size_t cap,
		      bool *ret_named, bool *ret_lacks, bool *ret_bad, struct scribe_err *err);

#endif
