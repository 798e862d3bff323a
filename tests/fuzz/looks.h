/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at running jobs, in a play of fuzz_message.c. */
#ifndef TESTS_FUZZ_LOOKS_H
#define TESTS_FUZZ_LOOKS_H

#include "runtime/daemon/state/daemon.h"
#include "tests/fuzz/input.h"

/* A question of the input's: mostly of a job that is there. `to` is all zero. */
void fuzz_looks_ask(struct fuzz_input *in, const struct scribe_daemon *d, struct scribe_msg_live_request *to);
/* What the answer to this user may hold. */
void fuzz_looks_judge(uid_t uid, const char *page, size_t bytes);
/* Is what is told of a job told of one of this user's? */
bool fuzz_looks_own(const char *text, size_t bytes, uid_t uid);

#endif
