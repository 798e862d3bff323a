/* SPDX-License-Identifier: BSD-3-Clause */
/* How a counter of two records becomes one, in any order of joining. */
#ifndef LOGFMT_RULES_RULE_H
#define LOGFMT_RULES_RULE_H

enum scribe_rule {
	SCRIBE_RULE_SUM,      /* a + b */
	SCRIBE_RULE_UNKNOWN,  /* a + b; -1 ("not monitored") if either is negative */
	SCRIBE_RULE_MAX,      /* the greater */
	SCRIBE_RULE_FIRST,    /* the smaller that is not 0 */
	SCRIBE_RULE_KEEP,     /* the lowest rank's value that is not 0 */
	SCRIBE_RULE_SLOWEST,  /* longest operation with its size */
	SCRIBE_RULE_VALUE,    /* common values: by count, then value, descending */
	SCRIBE_RULE_COUNT,    /* their counts */
	SCRIBE_RULE_RANK,     /* fastest and slowest rank of a shared record, otherwise 0 */
	SCRIBE_RULE_VARIANCE, /* population variance over ranks of a shared record, otherwise 0 */
	SCRIBE_RULE_RANKS,    /* number of ranks: over ranks as UNKNOWN; within one rank 1 or 0 */
	SCRIBE_RULE_CUSTOM,   /* struct scribe_join_plan, `own` */
};

#endif
