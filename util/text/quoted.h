/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TEXT_QUOTED_H
#define UTIL_TEXT_QUOTED_H

#include <stdbool.h>

#include "util/text/outbuf.h"

bool scribe_text_utf8(const char *bytes, size_t len);

/* "KEY":"text", or "KEY_escaped":"text" if not UTF-8. -ENOMEM: only the key is written. */
int scribe_json_text(struct scribe_out *out, const char *key, const char *bytes, size_t len);

/* The bytes must be UTF-8. */
void scribe_json_string(struct scribe_out *out, const char *bytes, size_t len);

/* v must be finite. Reads back exactly; always has a point or an exponent. */
void scribe_json_real(struct scribe_out *out, double v);

/* A field (RFC 4180); escaped (\n, \t, \\, \xHH) if unprintable or with a backslash. 0 or -ENOMEM. */
int scribe_csv_text(struct scribe_out *out, const char *bytes, size_t len);
/* Leaves UTF-8 unescaped, for text that was escaped before. */
int scribe_csv_utf8(struct scribe_out *out, const char *bytes, size_t len);

#endif
