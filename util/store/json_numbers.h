/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of JSON, without loss. Each takes the text as JSON has it, and is false where it has no such value. */
#ifndef UTIL_STORE_JSON_NUMBERS_H
#define UTIL_STORE_JSON_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits with a sign. The smallest 64-bit number is refused, too: it is SCRIBE_EVENT_NONE. */
bool scribe_json_int(const char *s, size_t len, int64_t *ret);
/* Digits. */
bool scribe_json_id(const char *s, size_t len, uint64_t *ret);
/* Seconds as decimals, to the nearest nanosecond; at most 9,000,000,000. */
bool scribe_json_time(const char *s, size_t len, int64_t *ret_ns);

#endif
