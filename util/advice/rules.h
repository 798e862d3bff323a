/* SPDX-License-Identifier: BSD-3-Clause */
/* A site may change and add rules. */
#ifndef UTIL_ADVICE_RULES_H
#define UTIL_ADVICE_RULES_H

#include "util/advice/facts.h"
#include "util/text/outbuf.h"

#define SCRIBE_RULES_MAX 128

enum scribe_severity { SCRIBE_SEVERITY_OFF, SCRIBE_SEVERITY_NOTE, SCRIBE_SEVERITY_WARNING, SCRIBE_SEVERITY_SEVERE };

/* A finding: fact / of > threshold, and guard >= least. */
struct scribe_rule_row {
	const char *name;
	enum scribe_severity severity;
	bool by_file; /* each file is compared; otherwise the job */
	int fact, of; /* enum scribe_fact */
	double threshold;
	int guard; /* enum scribe_fact */
	double least;
	int time; /* seconds that the finding concerns; -1: unknown */
	const char *what, *advice;
};

struct scribe_rules {
	struct scribe_rule_row row[SCRIBE_RULES_MAX];
	size_t n;
	char *text; /* of the site's file: rows point into it */
};

void scribe_rules_default(struct scribe_rules *r);
/* Changes and adds rules. -errno, or -EINVAL with file and line. */
int scribe_rules_file(struct scribe_rules *r, const char *path, struct scribe_err *err);
void scribe_rules_clear(struct scribe_rules *r);
/* All rules in the form that scribe_rules_file reads, after the facts as comments. */
void scribe_rules_print(const struct scribe_rules *r, struct scribe_out *out);
const char *scribe_severity_name(enum scribe_severity severity);

#endif
