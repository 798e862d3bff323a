/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the writer's files. */
#ifndef LOGFMT_FILE_WRITER_PUT_H
#define LOGFMT_FILE_WRITER_PUT_H

#include "logfmt/file/writer_state.h"

int scribe_log_put_failed(struct scribe_writer *w, int code, const char *what);
int scribe_log_put_at(struct scribe_writer *w, const void *bytes, size_t n, uint64_t off);
/* Plain bytes. */
int scribe_log_put(struct scribe_writer *w, const void *bytes, size_t n);
/* A complete compressed stream. */
int scribe_log_put_packed(struct scribe_writer *w, const void *bytes, size_t n);
bool scribe_log_put_is_open(const struct scribe_writer *w);
int scribe_log_put_begin(struct scribe_writer *w, int stage);
/* Also without an open region. */
int scribe_log_put_end(struct scribe_writer *w);
/* `n` bytes in w->scratch. */
int scribe_log_put_scratch(struct scribe_writer *w, size_t n);

#endif
