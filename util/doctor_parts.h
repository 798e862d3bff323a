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

/*
 * Load the smallest program of a kind, or make the smallest map, and drop it.
 * 0, or the negative errno of the kernel.
 */
enum scribe_probe {
	SCRIBE_PROBE_RAW_TP,
	SCRIBE_PROBE_TP_BTF,
	SCRIBE_PROBE_UPROBE,
	SCRIBE_PROBE_FENTRY,
	SCRIBE_PROBE_MMAP_ARRAY,
	SCRIBE_PROBE_RINGBUF,
};
int scribe_probe(enum scribe_probe what);

#endif
