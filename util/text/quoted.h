/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as text of JSON or CSV, without loss. */
#ifndef UTIL_TEXT_QUOTED_H
#define UTIL_TEXT_QUOTED_H

#include <stdbool.h>

#include "util/text/outbuf.h"

bool scribe_text_utf8(const char *bytes, size_t len);

/*
 * "KEY":"text" where the bytes are UTF-8, else "KEY_escaped":"text" with the escape that --escape shows.
 * 0 or -ENOMEM, with nothing but the key written.
 */
int scribe_json_text(struct scribe_out *out, const char *key, const char *bytes, size_t len);

/* The bytes, which are UTF-8, as a string of JSON. */
void scribe_json_string(struct scribe_out *out, const char *bytes, size_t len);

/* A finite number, with as many digits as give it back, and a point or an exponent. */
void scribe_json_real(struct scribe_out *out, double v);

/*
 * A field (RFC 4180), in quotes where it needs them; escaped (\n, \t, \\, \xHH) where it does not print or
 * holds a backslash. 0 or -ENOMEM.
 */
int scribe_csv_text(struct scribe_out *out, const char *bytes, size_t len);
/* The same, but UTF-8 stays as it is: for text that was escaped before where it had to be. */
int scribe_csv_utf8(struct scribe_out *out, const char *bytes, size_t len);

#endif
