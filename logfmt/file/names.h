/* SPDX-License-Identifier: BSD-3-Clause */
/* All names of a log by id. The first name of an id counts, unless it is empty and a later one is not. */
#ifndef LOGFMT_FILE_NAMES_H
#define LOGFMT_FILE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/file/escape.h"
#include "logfmt/file/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_names;

struct scribe_names *scribe_names_new(void);
struct scribe_names *scribe_names_free(struct scribe_names *n); /* returns NULL */

/* Copies the name. 0 or -ENOMEM. */
int scribe_names_add(struct scribe_names *n, uint64_t id, const char *bytes, size_t len);
/* From the reader's first name on. */
int scribe_names_load(struct scribe_names *n, struct scribe_reader *r, struct scribe_err *err);

/* NUL-terminated, borrowed; NULL: not found. */
const char *scribe_names_find(const struct scribe_names *n, uint64_t id, size_t *ret_len /* may be NULL */);

/* The i-th is by first appearance. */
size_t scribe_names_count(const struct scribe_names *n);
struct scribe_name scribe_names_at(const struct scribe_names *n, size_t i);

#ifdef __cplusplus
}
#endif

#endif
