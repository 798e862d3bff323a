/* SPDX-License-Identifier: BSD-3-Clause */
/* The second reading of many parts: what a batch of nodes gives for the log. Private to logfmt/. */
#ifndef LOGFMT_NODES_BATCH_H
#define LOGFMT_NODES_BATCH_H

#include "logfmt/nodes/survey.h"

/* The file of a batch, in a directory of parts. */
void scribe_batch_path(const struct scribe_parts_world *world, size_t batch, char *ret, size_t cap);
/* Makes it (spool.h), in place of one that is there. 0, or a failure that `err` tells. */
int scribe_batch_write(const struct scribe_survey *s, size_t batch, struct scribe_err *err);

#endif
