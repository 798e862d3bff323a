/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts of Lustre files: from the bytes of the `lustre.lov` attribute to the
 * LUSTRE record of a log. The attribute's form is that of Lustre's published
 * uapi header lustre_user.h (struct lov_user_md_v1, _v3, lov_comp_md_v1,
 * lov_foreign_md); which components count, and how patterns are numbered, is as
 * in Darshan's version 2 of the module: docs/counters.md. Knows bytes only.
 */
#ifndef RUNTIME_CORE_LOV_H
#define RUNTIME_CORE_LOV_H

#include <stddef.h>

#include "logfmt/counters/records.h"

/*
 * The record of a layout: `lov`, `bytes` long, of any content. With `into` NULL
 * only its size is worked out; else `into` has room for it and is filled, but for
 * its base record. Returns the record's size in bytes, a multiple of 8; 0 where
 * there is nothing to record: no layout, a damaged one, one of an unknown kind,
 * one that no byte has been written to.
 */
size_t scribe_lov_record(const void *lov, size_t bytes, struct scribe_lustre_record *into);

#endif
