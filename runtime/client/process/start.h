/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preloaded library does when it is loaded. */
#ifndef RUNTIME_CLIENT_PROCESS_START_H
#define RUNTIME_CLIENT_PROCESS_START_H

/* Waits, where the process is the first to be recorded on its node, until it is; 250 ms at most. */
void scribe_client_start(void);

#endif
