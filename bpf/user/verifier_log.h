/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BPF_USER_VERIFIER_LOG_H
#define BPF_USER_VERIFIER_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* The verifier's last line before its statistics; "": none. */
void scribe_verdict(const char *log, char *ret, size_t cap);
/* The text after the last `before`, up to a character of `end`. */
bool scribe_log_word(const char *log, const char *before, const char *end, char *ret, size_t cap);

#endif
