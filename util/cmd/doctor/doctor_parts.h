/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_DOCTOR_DOCTOR_PARTS_H
#define UTIL_CMD_DOCTOR_DOCTOR_PARTS_H

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>

#include "logfmt/base/err.h"

enum scribe_doctor { SCRIBE_DOCTOR_OK, SCRIBE_DOCTOR_NOTE, SCRIBE_DOCTOR_FIX };

void scribe_doctor_line(enum scribe_doctor v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
extern int scribe_doctor_lines_to_fix;

/* doctor_service.c. user: owner of the trial log; NULL: $SUDO_USER, otherwise uid 65534. */
void scribe_doctor_service(const char *user);

/* The settings of hooks.conf; empty: not set (doctor_hooks.c). */
struct scribe_hooks {
	char ioscribe[4096], dir[4096], library[4096], options[4096];
	char seconds[16], deadline[16], streams[8], jobs[8], comment[8], accounting[16];
};
/* false: a line is unusable; with `say` it is printed. */
bool scribe_hooks_read(const char *path, struct scribe_hooks *ret, bool say);
/* As given: %u stands for a user. */
void scribe_site_log_dir(char *ret_dir, size_t cap);
void scribe_doctor_hooks(const char *path, struct scribe_hooks *ret);
/*
 * The daemon writes a log for a job of this user with the hooks' options and removes it. 0 and the directory,
 * or a negative code. Only for root.
 */
int scribe_doctor_try(const struct scribe_hooks *h, const struct passwd *pw, char *ret_dir, size_t cap,
		      struct scribe_err *err);
/* Privileges, programs and probes, as the daemon reports them (doctor_trace.c). */
void scribe_doctor_trace(void);
int scribe_doctor_features(void);
/* A known program, traced and compared (doctor_selftest.c). Returns the exit status. */
int scribe_doctor_selftest(void);

#endif
