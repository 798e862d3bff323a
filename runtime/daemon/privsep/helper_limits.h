/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H

#define SCRIBE_HELPER_MEMORY  (1u << 30) /* RLIMIT_DATA, bytes; mapped files may be larger */
#define SCRIBE_HELPER_SECONDS 5u         /* processor time per request */

/*
 * Per request; exceeding a limit ends the process. The first call narrows the system call filter for good, except for
 * uid 0.
 */
int scribe_helper_limits(unsigned bytes, unsigned seconds);

#endif
