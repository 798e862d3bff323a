/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `ioscribe doctor` share. */
#ifndef UTIL_DOCTOR_PARTS_H
#define UTIL_DOCTOR_PARTS_H

#include <stddef.h>

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
