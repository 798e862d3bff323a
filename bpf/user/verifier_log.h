/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what libbpf and the verifier print (bpf/user/libbpf_log.h). */
#ifndef BPF_USER_VERIFIER_LOG_H
#define BPF_USER_VERIFIER_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* The verifier's last words on a program before its figures; "": it has not spoken. */
void scribe_verdict(const char *log, char *ret, size_t cap);
/* What stands between the last `before` and a character of `end` behind it. */
bool scribe_log_word(const char *log, const char *before, const char *end, char *ret, size_t cap);

#endif
