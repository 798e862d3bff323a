/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as text without loss: which print as they are, and an escape for the rest. */
#ifndef LOGFMT_FILE_ESCAPE_H
#define LOGFMT_FILE_ESCAPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1 when the name prints as it is: valid UTF-8, no control characters. 0 for
 * object ids, newlines, tabs and other bytes: escape them.
 */
int scribe_name_printable(const char *bytes, size_t len);
/*
 * Lossless text: backslash, control characters and bytes outside UTF-8 become
 * \\, \n, \t or \xHH. Writes at most `cap` bytes with NUL; returns the length
 * it needs (without NUL), as snprintf does.
 */
size_t scribe_name_escape(const char *bytes, size_t len, char *out, size_t cap);
/* The inverse: returns the bytes written to out (cap >= len suffices), or -1 on a bad escape. */
long scribe_name_unescape(const char *text, size_t len, char *out);

#ifdef __cplusplus
}
#endif

#endif
