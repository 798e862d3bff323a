/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_QUESTION_H
#define UTIL_STORE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

#define SCRIBE_QUESTION_PARAMETERS 16
#define SCRIBE_QUESTION_BYTES      65536
#define SCRIBE_QUESTION_NAME       64 /* of a question or parameter, with NUL */

struct scribe_question_parameter {
	char name[SCRIBE_QUESTION_NAME];
	char about[160];
	bool is_number, has_default;
	char value[256]; /* the default, then the given value */
};

struct scribe_question {
	char name[SCRIBE_QUESTION_NAME];
	char about[160];
	struct scribe_question_parameter parameters[SCRIBE_QUESTION_PARAMETERS];
	int nparameters;
	char *sql;    /* with $1, $2, ...; NULL: a Python question */
	char *python; /* path; NULL: an SQL question */
};

/* From the first of the folders (separated by colons) with it. */
int scribe_question_load(struct scribe_question *q, const char *folders, const char *name, struct scribe_err *err);
void scribe_question_clear(struct scribe_question *q);

int scribe_question_set(struct scribe_question *q, const char *assignment, struct scribe_err *err);
/* Values for $1, $2, ..., borrowed from q. Fails if one is missing. */
int scribe_question_values(const struct scribe_question *q, struct scribe_sql_value *ret_values,
			   struct scribe_err *err);

/* Calls `each` for all names, sorted and distinct. */
int scribe_question_each(const char *folders, int (*each)(void *ctx, const char *name, struct scribe_err *err),
			 void *ctx, struct scribe_err *err);

#endif
