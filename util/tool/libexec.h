/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that are programs of their own, so that no other command loads their libraries. */
#ifndef UTIL_TOOL_LIBEXEC_H
#define UTIL_TOOL_LIBEXEC_H

/*
 * Go on as `program`, beside this one as it is installed, else beside it as built. Returns where it cannot be
 * started: complains (`does`: what it is for) and returns the exit status.
 */
int scribe_libexec_run(const char *program, const char *does, char **argv);

#endif
