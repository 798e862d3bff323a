/* SPDX-License-Identifier: BSD-3-Clause */
/* What is slow or wrong, with its evidence and what to do. */
#ifndef UTIL_ADVICE_FINDINGS_H
#define UTIL_ADVICE_FINDINGS_H

#include "util/advice/rules.h"
#include "util/text/outbuf.h"

struct scribe_finding {
	const struct scribe_rule_row *rule;
	enum scribe_severity severity; /* the rule's, or less: see scribe_findings_of */
	double fact, of;               /* of the job, or of the worst file */
	size_t files;                  /* of which the rule holds; 0: a rule of the job */
	uint64_t file;                 /* with the largest part; 0: none */
	double in_file;                /* its part */
	int64_t rank;                  /* that the finding is about; -1: none */
	double seconds;                /* that the finding concerns, over ranks */
};

struct scribe_findings {
	struct scribe_finding at[SCRIBE_RULES_MAX];
	size_t n;
};

/*
 * Most severe first, then by the time that they concern. A finding about less than 1 % of the run time is a note at
 * most.
 */
void scribe_findings_of(const struct scribe_facts *f, const struct scribe_rules *rules, struct scribe_findings *ret);
/* What the finding is, with its numbers. Returns `to`. */
const char *scribe_finding_text(const struct scribe_finding *x, char *to, size_t cap);
/* Lines of at most 80 columns, but for names of files. */
void scribe_findings_print(const struct scribe_facts *f, const struct scribe_findings *found, struct scribe_out *out);
/* A JSON array. */
void scribe_findings_json(const struct scribe_facts *f, const struct scribe_findings *found, struct scribe_out *out);

#endif
