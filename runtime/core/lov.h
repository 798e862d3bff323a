/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes in the form of Lustre's lustre_user.h; the record as in version 2 of Darshan's module (docs/counters.md).
 */
#ifndef RUNTIME_CORE_LOV_H
#define RUNTIME_CORE_LOV_H

#include <stddef.h>

#include "logfmt/counters/records.h"

/*
 * `lov` may have any content. With `into` NULL only the size is computed; otherwise all but the base record is
 * filled. Returns the size, a multiple of 8; 0: no layout, damaged, unknown, or without data.
 */
size_t scribe_lov_record(const void *lov, size_t bytes, struct scribe_lustre_record *into);

#endif
