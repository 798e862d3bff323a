/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TEXT_HUMAN_H
#define UTIL_TEXT_HUMAN_H

#include <stddef.h>
#include <stdint.h>

/* "12.5 MiB", "100 B". Returns `to`. */
const char *scribe_human_bytes(int64_t bytes, char *to, size_t cap);

/* "1,234,567". Returns `to`. */
const char *scribe_human_count(int64_t n, char *to, size_t cap);

/* Escapes control characters (\x1b, \n) that could steer a terminal; cuts at `cap`. */
const char *scribe_human_text(const char *text, char *to, size_t cap);

#endif
