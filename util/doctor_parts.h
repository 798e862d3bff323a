/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `ioscribe doctor` share. */
#ifndef UTIL_DOCTOR_PARTS_H
#define UTIL_DOCTOR_PARTS_H

#include <stddef.h>

/* A line's first word: ok, note (works, with what is said), FIX. */
enum scribe_doctor { SCRIBE_DOCTOR_OK, SCRIBE_DOCTOR_NOTE, SCRIBE_DOCTOR_FIX };

/* One line on standard output: verdict, what was looked at, what there is or what to do. */
void scribe_doctor_line(enum scribe_doctor v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The lines about the service of this node (doctor_service.c). */
void scribe_doctor_service(void);
/*
 * Look at a directory of logs as `ioscribe logdir --check` does; layout: dated, flat
 * or users. How much is wrong; the first of it in ret_text (util/logdir.c).
 */
unsigned scribe_logdir_look(const char *dir, const char *layout, char *ret_text, size_t cap);

/* The lines about privileges and programs, from the daemon that tries them (doctor_trace.c). */
void scribe_doctor_trace(void);
/* The table of the ways to trace, each tried. An exit code: is there one for system calls? */
int scribe_doctor_features(void);

#endif
