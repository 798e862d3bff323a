/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of modules that are fed by plain code in the daemon, for one rank. */
#ifndef RUNTIME_DAEMON_SOURCES_H
#define RUNTIME_DAEMON_SOURCES_H

#include "runtime/daemon/bundle.h"
#include "runtime/daemon/daemon.h"

int scribe_sources_rank(struct scribe_daemon *d, struct scribe_unit *u, struct scribe_rank *r,
			struct scribe_bundle *b);

#endif
