/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as text without loss. */
#ifndef LOGFMT_FILE_ESCAPE_H
#define LOGFMT_FILE_ESCAPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1: valid UTF-8 without control characters. 0: must be escaped. */
int scribe_name_printable(const char *bytes, size_t len);
/*
 * Backslash, control characters and bytes outside UTF-8 become \\, \n, \t or \xHH. Writes at most `cap` bytes with
 * NUL; returns the length without NUL that is needed, like snprintf.
 */
size_t scribe_name_escape(const char *bytes, size_t len, char *out, size_t cap);
/* Returns the bytes written to out (cap >= len suffices), or -1: bad escape. */
long scribe_name_unescape(const char *text, size_t len, char *out);

#ifdef __cplusplus
}
#endif

#endif
