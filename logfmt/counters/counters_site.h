/* SPDX-License-Identifier: BSD-3-Clause */
/* BG/Q (version 2), MDHIM (1), the example NULL (1), in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_SITE_H
#define LOGFMT_COUNTERS_COUNTERS_SITE_H

#define SCRIBE_BGQ_COUNTERS(X) \
	X(CSJOBID, KEEP, "control system job id") \
	X(NNODES, KEEP, "nodes") \
	X(RANKSPERNODE, KEEP, "ranks a node") \
	X(DDRPERNODE, KEEP, "memory a node, MiB") \
	X(INODES, KEEP, "I/O nodes") \
	X(ANODES, KEEP, "extent of dimension A") \
	X(BNODES, KEEP, "extent of dimension B") \
	X(CNODES, KEEP, "extent of dimension C") \
	X(DNODES, KEEP, "extent of dimension D") \
	X(ENODES, KEEP, "extent of dimension E") \
	X(TORUSENABLED, KEEP, "bit a dimension: torus, not mesh")

#define SCRIBE_BGQ_F_COUNTERS(X) \
	X(TIMESTAMP, KEEP, "when the record was made")

enum scribe_bgq_id {
#define SCRIBE_X(name, rule, text) SCRIBE_BGQ_##name,
	SCRIBE_BGQ_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_BGQ_COUNT
};

enum scribe_bgq_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_BGQ_F_##name,
	SCRIBE_BGQ_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_BGQ_F_COUNT
};

#define SCRIBE_MDHIM_COUNTERS(X) \
	X(PUTS, SUM, "puts") \
	X(GETS, SUM, "gets") \
	X(PUT_MAX_SIZE, MAX, "largest put, bytes") \
	X(GET_MAX_SIZE, MAX, "largest get, bytes") \
	X(SERVERS, MAX, "servers")

#define SCRIBE_MDHIM_F_COUNTERS(X) \
	X(PUT_TIMESTAMP, FIRST, "first put") \
	X(GET_TIMESTAMP, FIRST, "first get") \
	X(PUT_MAX_DURATION, MAX, "slowest put") \
	X(GET_MAX_DURATION, MAX, "slowest get")

enum scribe_mdhim_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MDHIM_##name,
	SCRIBE_MDHIM_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MDHIM_COUNT
};

enum scribe_mdhim_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MDHIM_F_##name,
	SCRIBE_MDHIM_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MDHIM_F_COUNT
};

#define SCRIBE_NULL_COUNTERS(X) \
	X(FOOS, SUM, "calls of foo") \
	X(FOO_MAX_DAT, CUSTOM, "largest value foo was given")

#define SCRIBE_NULL_F_COUNTERS(X) \
	X(FOO_TIMESTAMP, FIRST, "first call of foo") \
	X(FOO_MAX_DURATION, MAX, "longest call of foo")

enum scribe_null_id {
#define SCRIBE_X(name, rule, text) SCRIBE_NULL_##name,
	SCRIBE_NULL_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_NULL_COUNT
};

enum scribe_null_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_NULL_F_##name,
	SCRIBE_NULL_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_NULL_F_COUNT
};

#endif
