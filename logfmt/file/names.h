/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All names of a log in one table, id to name. Of several names with one id the
 * first counts, unless it is empty and a later one is not.
 */
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

struct scribe_names *scribe_names_new(void); /* NULL when out of memory */
struct scribe_names *scribe_names_free(struct scribe_names *n); /* NULL allowed; returns NULL */

/* Add a name (copied). 0, or -ENOMEM. */
int scribe_names_add(struct scribe_names *n, uint64_t id, const char *bytes, size_t len);
/* Rewind the reader's names and add all. */
int scribe_names_load(struct scribe_names *n, struct scribe_reader *r, struct scribe_err *err);

/* The name of an id, NUL-terminated, borrowed; NULL when there is none. */
const char *scribe_names_find(const struct scribe_names *n, uint64_t id, size_t *ret_len /* may be NULL */);

/* Number of ids, and the i-th in order of first appearance. */
size_t scribe_names_count(const struct scribe_names *n);
struct scribe_name scribe_names_at(const struct scribe_names *n, size_t i);

#ifdef __cplusplus
}
#endif

#endif
