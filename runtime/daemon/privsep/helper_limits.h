/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a helper that reads what a user wrote.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H

#define SCRIBE_HELPER_MEMORY  (1u << 30) /* bytes of its own: files that it maps may be larger */
#define SCRIBE_HELPER_SECONDS 5u         /* of processor time, for one question */

/*
 * Limits of memory (bytes of its own) and of processor time (seconds, for this question) for a helper that
 * reads what a user wrote; it may do nothing else from then on. A limit that is passed ends the process.
 */
int scribe_helper_limits(unsigned bytes, unsigned seconds);

#endif
