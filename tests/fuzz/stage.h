/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole daemon in this process, with the kernel side, helpers and clock of kernel.h: no BPF, no root, no
 * files. For fuzz_message.c and tests/unit/stage_sessions.c.
 */
#ifndef TESTS_FUZZ_STAGE_H
#define TESTS_FUZZ_STAGE_H

#include <sys/types.h>

#include "runtime/daemon/loop.h"
#include "runtime/daemon/service.h"
#include "runtime/daemon/state/daemon.h"

#define STAGE_PEERS 12

extern struct stage {
	struct scribe_daemon d;
	struct scribe_service service;
	struct scribe_pace pace;
} stage;

/* A daemon as after its start, of a service; stage_end ends it. Whatever fails aborts. */
void stage_begin(void);
/* Connect to its socket as this peer. A descriptor that does not block; -1: it takes no more. */
int stage_connect(uid_t uid, pid_t pid);
/* It is the daemon of one command: the socket of this process, `ioscribe run`. */
int stage_private(pid_t pid);
/* Turns of its event loop. */
void stage_turn(unsigned times);
/* Told to end, with helpers that work, it does; nothing of it is left. All peers have left. */
void stage_end(void);

#endif
