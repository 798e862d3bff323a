/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a counter of two records of one file becomes one: the second argument of
 * every line of the counters_*.h lists. Source: Darshan's reductions, made
 * independent of the order of joining.
 */
#ifndef LOGFMT_RULES_RULE_H
#define LOGFMT_RULES_RULE_H

enum scribe_rule {
	SCRIBE_RULE_SUM,      /* a + b */
	SCRIBE_RULE_UNKNOWN,  /* a + b; -1 ("could not be monitored") if either is negative */
	SCRIBE_RULE_MAX,      /* the greater */
	SCRIBE_RULE_FIRST,    /* the smaller of those that are not 0 */
	SCRIBE_RULE_KEEP,     /* the lowest rank's value that is not 0 */
	SCRIBE_RULE_SLOWEST,  /* longest operation and its size, together */
	SCRIBE_RULE_VALUE,    /* common values: by count, then by value, descending */
	SCRIBE_RULE_COUNT,    /* their counts */
	SCRIBE_RULE_RANK,     /* fastest and slowest rank of a shared record; else 0 */
	SCRIBE_RULE_VARIANCE, /* population variance over ranks of a shared record; else 0 */
	SCRIBE_RULE_RANKS,    /* ranks that did it: a + b over ranks, as UNKNOWN; within one rank 1 or 0 */
	SCRIBE_RULE_CUSTOM,      /* the module's own: struct scribe_join_plan, `own` */
};

#endif
