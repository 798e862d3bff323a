/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `ioscribe doctor` share. */
#ifndef UTIL_CMD_DOCTOR_DOCTOR_PARTS_H
#define UTIL_CMD_DOCTOR_DOCTOR_PARTS_H

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>

#include "logfmt/base/err.h"

/* A line's first word: ok, note (works, with what is said), FIX. */
enum scribe_doctor { SCRIBE_DOCTOR_OK, SCRIBE_DOCTOR_NOTE, SCRIBE_DOCTOR_FIX };

/* One line on standard output: verdict, what was looked at, what there is or what to do. */
void scribe_doctor_line(enum scribe_doctor v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* So many of them said FIX. */
extern int scribe_doctor_lines_to_fix;

/*
 * The lines about the service of this node (doctor_service.c). A log is tried as this user's;
 * NULL: of who called sudo, else nobody.
 */
void scribe_doctor_service(const char *user);

/* hooks.conf as the hooks take it; empty: not set (doctor_hooks.c). */
struct scribe_hooks {
	char ioscribe[4096], dir[4096], library[4096], options[4096];
	char seconds[16], deadline[16], streams[8], jobs[8], comment[8];
};
/* Read it; false: a line is of no use to the hooks, which is said with `say`. A missing file leaves defaults.
 */
bool scribe_hooks_read(const char *path, struct scribe_hooks *ret, bool say);
/* The lines about it, what it names, and the switch beside it. */
void scribe_doctor_hooks(const char *path, struct scribe_hooks *ret);
/*
 * The daemon writes a log as of a job of this user with the hooks' options and removes it. 0, and the
 * directory; negative, and why not. Only root is answered.
 */
int scribe_doctor_try(const struct scribe_hooks *h, const struct passwd *pw, char *ret_dir, size_t cap,
		      struct scribe_err *err);
/* The lines about privileges and programs, from the daemon that tries them (doctor_trace.c). */
void scribe_doctor_trace(void);
/* The table of the ways to trace, each tried. An exit code: is there one for system calls? */
int scribe_doctor_features(void);

#endif
