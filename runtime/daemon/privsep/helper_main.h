/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper process. */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_MAIN_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_MAIN_H

#include "runtime/daemon/privsep/helper_wire.h"

/* Takes the user's identity for good and serves requests until the socket is closed. */
void scribe_helper_serve(int sock, const struct scribe_helper_wanted *who) __attribute__((noreturn));

#endif
