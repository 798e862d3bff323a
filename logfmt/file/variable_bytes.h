/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_VARIABLE_BYTES_H
#define LOGFMT_FILE_VARIABLE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_DXT_DISK_SEGMENT 32 /* bytes, without thread id */

/* base + count * each; 0: `count`, which may be from a file, is out of range. */
size_t scribe_sized(size_t base, int64_t count, size_t each);
/* 0: out of range. */
size_t scribe_mdhim_bytes(int64_t servers);

/* Like scribe_record_encode. */
size_t scribe_variable_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap);

#endif
