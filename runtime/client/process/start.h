/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_PROCESS_START_H
#define RUNTIME_CLIENT_PROCESS_START_H

/* At load: waits at most 250 ms for recording or probes, if needed. */
void scribe_client_start(void);

#endif
