/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_LAYOUT_H
#define LOGFMT_FILE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* The longest fixed record of any module and version. */
#define SCRIBE_FIXED_MAX_BYTES 1120

/* In the file; 0: variable, or version unknown. */
size_t scribe_disk_bytes(int module, unsigned version);

void scribe_swap_words(void *words, size_t n);
/* In place. */
void scribe_disk_swap(int module, unsigned version, void *rec);

/*
 * Native order, in place in a buffer of SCRIBE_FIXED_MAX_BYTES. 0: not convertible (POSIX version 1 with stdio
 * counts).
 */
int scribe_disk_upgrade(int module, unsigned version, void *rec);

#endif
