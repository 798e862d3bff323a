/* SPDX-License-Identifier: BSD-3-Clause */
/* Called after the checks in writer.c. Private to the writer's files. */
#ifndef LOGFMT_FILE_WRITER_UNIFIED_H
#define LOGFMT_FILE_WRITER_UNIFIED_H

#include "logfmt/file/writer_state.h"

int scribe_unified_put_stage(struct scribe_writer *w, int stage);
int scribe_unified_put_name(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len);
int scribe_unified_put_record(struct scribe_writer *w, int module, const void *rec, size_t len);
int scribe_unified_put_raw(struct scribe_writer *w, const void *bytes, size_t len);
int scribe_unified_put_finish(struct scribe_writer *w);

#endif
