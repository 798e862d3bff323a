/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * POSIX extended regular expressions, as glibc reads them in the C locale, in the
 * words of PCRE2: one pass over a bounded text, no memory of its own. Must not know
 * PCRE2 itself.
 */
#ifndef RUNTIME_CORE_ERE_H
#define RUNTIME_CORE_ERE_H

#include <stddef.h>

#define SCRIBE_ERE_BYTES_MAX  1024u  /* of an expression, NUL included */
#define SCRIBE_ERE_DEPTH_MAX  64u    /* of groups in groups */
#define SCRIBE_ERE_REPEAT_MAX 1000u  /* in braces */
#define SCRIBE_PCRE_BYTES_MAX 16384u /* that is enough for what is written of any common one */

/* -EINVAL: no expression; -E2BIG: longer, or deeper, than is taken. */
int scribe_ere_translate(const char *ere, char ret[SCRIBE_PCRE_BYTES_MAX]);

#endif
