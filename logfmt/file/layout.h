/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as they stand in files: lengths by version, byte order, and old
 * versions brought up to the newest. Private to logfmt/.
 */
#ifndef LOGFMT_FILE_LAYOUT_H
#define LOGFMT_FILE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Longest record of a module with fixed records, any version. */
#define SCRIBE_FIXED_MAX_BYTES 1120

/* Bytes of a record of that version in the file; 0: variable, or no such version. */
size_t scribe_disk_bytes(int module, unsigned version);

void scribe_swap_words(void *words, size_t n);
/* Turn a fixed record of a file of the other byte order, in place. */
void scribe_disk_swap(int module, unsigned version, void *rec);

/*
 * Bring a fixed record (native order) to the newest layout. `rec` has room for
 * SCRIBE_FIXED_MAX_BYTES. 1: done; 0: the record has no newest form (POSIX
 * version 1 with stdio counts in it) and is left out, as in Darshan's reader.
 */
int scribe_disk_upgrade(int module, unsigned version, void *rec);

#endif
