/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper itself.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_MAIN_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_MAIN_H

#include "runtime/daemon/privsep/helper_wire.h"

/* Become the user for good and answer questions until the socket is closed. Does not return. */
void scribe_helper_serve(int sock, const struct scribe_helper_wanted *who) __attribute__((noreturn));

#endif
