/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusion rules of a job by name, program, rank or module, as in Darshan. Inclusion wins. Must not know of slots or
 * processes.
 */
#ifndef RUNTIME_DAEMON_CONFIG_EXCLUSION_RULES_H
#define RUNTIME_DAEMON_CONFIG_EXCLUSION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "runtime/core/patterns.h"

enum scribe_rule_kind {
	SCRIBE_RULE_NAME_EXCLUDE,
	SCRIBE_RULE_NAME_INCLUDE,
	SCRIBE_RULE_APP_EXCLUDE,
	SCRIBE_RULE_APP_INCLUDE,
	SCRIBE_RULE_RANK_EXCLUDE,
	SCRIBE_RULE_RANK_INCLUDE,
};

struct scribe_exclusion_rules {
	struct scribe_omission *rule;
	size_t n;
	size_t bytes;         /* of all expressions */
	unsigned version;     /* changes with each added rule */
	uint64_t modules_off; /* excluded modules, as bits */
	bool compiles;        /* check expressions by compiling them: only of the site's file */
};

/* Precedes each expression sent to the worker. */
struct scribe_rule_text {
	uint32_t of; /* enum scribe_pattern_of */
	uint32_t include;
	uint64_t modules;
	uint32_t bytes; /* with NUL */
	uint32_t pad;
};

/* Adds a comma-separated list; `modules` (bits): to which name rules apply. -EINVAL, -ENOMEM. */
int scribe_exclusion_rules_add(struct scribe_exclusion_rules *r, enum scribe_rule_kind kind, const char *list,
			       uint64_t modules, struct scribe_err *err);
/* Module names separated by commas; "*": all. -EINVAL: unknown. */
int scribe_exclusion_rules_modules(const char *list, uint64_t *ret_modules, struct scribe_err *err);

bool scribe_exclusion_rules_have(const struct scribe_exclusion_rules *r, enum scribe_pattern_of of);
/* Writes all expressions as struct scribe_rule_text. Returns their number or a negative errno. */
int scribe_exclusion_rules_write(const struct scribe_exclusion_rules *r, int fd);
bool scribe_exclusion_rules_rank_out(const struct scribe_exclusion_rules *r, int64_t rank);

/* -ENOMEM: `to` is empty. */
int scribe_exclusion_rules_copy(struct scribe_exclusion_rules *to, const struct scribe_exclusion_rules *from);
void scribe_exclusion_rules_clear(struct scribe_exclusion_rules *r);

#endif
