/* SPDX-License-Identifier: BSD-3-Clause */
/* Without a NUL; functions return the end. */
#ifndef UTIL_TEXT_NUMBER_H
#define UTIL_TEXT_NUMBER_H

#include <stdint.h>

/* Longest text: "-", 309 digits, ".", 9 digits, and printf's NUL. */
#define SCRIBE_NUMBER_MAX 328

/* "%lu", at most 20 characters. */
char *scribe_put_u64(char *to, uint64_t v);

/* "%ld", at most 20 characters. */
char *scribe_put_i64(char *to, int64_t v);

/* "%.<digits>f" for 1 to 9 digits, in the default rounding mode; needs SCRIBE_NUMBER_MAX characters. */
char *scribe_put_fixed(char *to, double v, int digits);

/* "%f". */
char *scribe_put_f6(char *to, double v);

#endif
