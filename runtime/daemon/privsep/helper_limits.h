/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a helper that reads what a user wrote.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_LIMITS_H

/* Limits of memory and processor time for whoever reads what a user wrote; it may do nothing else then. */
int scribe_helper_limits(void);

#endif
