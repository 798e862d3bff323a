/* SPDX-License-Identifier: BSD-3-Clause */
/* False: not exactly such a value. */
#ifndef UTIL_STORE_JSON_NUMBERS_H
#define UTIL_STORE_JSON_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* INT64_MIN is refused: SCRIBE_EVENT_NONE. */
bool scribe_json_int(const char *s, size_t len, int64_t *ret);
bool scribe_json_id(const char *s, size_t len, uint64_t *ret);
/* Seconds, rounded to ns; at most 9,000,000,000. */
bool scribe_json_time(const char *s, size_t len, int64_t *ret_ns);

#endif
