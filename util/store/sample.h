/* SPDX-License-Identifier: BSD-3-Clause */
/* Running totals of a node (docs/streams.md). */
#ifndef UTIL_STORE_SAMPLE_H
#define UTIL_STORE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

#define SCRIBE_SAMPLE_MAX_VALUES 256
#define SCRIBE_SAMPLE_MAX_NAME   255

/* Texts are borrowed. */
struct scribe_sample {
	const char *node;
	int64_t time_us; /* since 1970 */
	int n;
	struct scribe_sample_value {
		const char *metric;
		int64_t value;
	} values[SCRIBE_SAMPLE_MAX_VALUES];
};

struct scribe_sample_json;

int scribe_sample_json_new(struct scribe_sample_json **ret_reader, struct scribe_err *err);
struct scribe_sample_json *scribe_sample_json_free(struct scribe_sample_json *reader);

/* 1: a sample, with texts valid until the next call; 0: another schema; -SCRIBE_E_FORMAT or -ENOMEM. */
int scribe_sample_json_read(struct scribe_sample_json *reader, const char *line, size_t len,
			    struct scribe_sample *ret_sample, struct scribe_err *err);

#endif
