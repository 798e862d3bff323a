/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of records of variable length, and their form in the file. Private to logfmt/. */
#ifndef LOGFMT_FILE_VARIABLE_BYTES_H
#define LOGFMT_FILE_VARIABLE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_DXT_DISK_SEGMENT 32 /* bytes, without its thread */

/* base + count * each, the count being from a file; 0 when out of range. */
size_t scribe_sized(size_t base, int64_t count, size_t each);
/* Bytes of an MDHIM record; 0 when out of range. */
size_t scribe_mdhim_bytes(int64_t servers);

/*
 * A variable record in memory into its form in the file. As scribe_record_encode.
 */
size_t scribe_variable_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out,
			      size_t cap);

#endif
