/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of the descriptions, with their range of versions. */
#ifndef UTIL_TEXT_DESCRIBE_TEXTS_H
#define UTIL_TEXT_DESCRIBE_TEXTS_H

#include <stddef.h>

#define SCRIBE_ANY_VERSION 0x7fffffff

struct scribe_text_block {
	int from, to;     /* record versions */
	const char *text; /* NULL ends a list */
};

extern const struct scribe_text_block scribe_describe_posix[];
extern const struct scribe_text_block scribe_describe_mpiio[];
extern const struct scribe_text_block scribe_describe_h5f[];
extern const struct scribe_text_block scribe_describe_h5d[];
extern const struct scribe_text_block scribe_describe_pnetcdf_file[];
extern const struct scribe_text_block scribe_describe_pnetcdf_var[];
extern const struct scribe_text_block scribe_describe_bgq[];
extern const struct scribe_text_block scribe_describe_lustre[];
extern const struct scribe_text_block scribe_describe_stdio[];
extern const struct scribe_text_block scribe_describe_mdhim[];
extern const struct scribe_text_block scribe_describe_heatmap[];
extern const struct scribe_text_block scribe_describe_dfs[];
extern const struct scribe_text_block scribe_describe_daos[];
extern const struct scribe_text_block scribe_describe_apmpi[];

#endif
