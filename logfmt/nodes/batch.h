/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_BATCH_H
#define LOGFMT_NODES_BATCH_H

#include "logfmt/nodes/survey.h"

/* Of the batch's file, in the directory of parts. */
void scribe_batch_path(const struct scribe_parts_world *world, size_t batch, char *ret, size_t cap);
/* Replaces an existing file. */
int scribe_batch_write(const struct scribe_survey *s, size_t batch, struct scribe_err *err);

#endif
