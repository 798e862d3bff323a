/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TEXT_ROWS_H
#define UTIL_TEXT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "util/text/outbuf.h"

struct scribe_row_label {
	char text[47];
	unsigned char len;
};

#define SCRIBE_LABEL(name) \
	{ \
		name "\t", sizeof(name) \
	}

struct scribe_rows {
	struct scribe_out *out;
	char *tie; /* end of one row and start of the next */
	size_t tie_len;
	size_t tail_len; /* bytes of `tie` that end a row */
	size_t cap;
};

struct scribe_row_place {
	const char *module;
	int64_t rank;
	uint64_t id;
	const char *name; /* any bytes; NULL prints "(null)" */
	size_t name_len;
	const char *mount;
	const char *fs;
};

int scribe_rows_begin(struct scribe_rows *r, const struct scribe_row_place *at, struct scribe_err *err);
void scribe_rows_end(struct scribe_rows *r);
void scribe_rows_free(struct scribe_rows *r);

/* n rows; labels[i] belongs to values[i]. */
void scribe_rows_ints(struct scribe_rows *r, const struct scribe_row_label *labels, const int64_t *values, size_t n);
void scribe_rows_reals(struct scribe_rows *r, const struct scribe_row_label *labels, const double *values, size_t n);

/* One row; the name has at most 200 bytes. */
void scribe_rows_int(struct scribe_rows *r, const char *name, int64_t v);
void scribe_rows_unsigned(struct scribe_rows *r, const char *name, uint64_t v);
void scribe_rows_real(struct scribe_rows *r, const char *name, double v);
void scribe_rows_text(struct scribe_rows *r, const char *name, const char *v); /* v: at most 1 KiB */

#endif
