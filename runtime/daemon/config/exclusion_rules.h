/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job leaves out by name, program, rank or module, as Darshan's users
 * say it: lists of POSIX extended regular expressions and of ranks; what is
 * included wins over what is excluded. Expressions are text here, of a bounded size:
 * they are compiled and matched by a worker with the job user's identity
 * (exclusion_check.h). Must not know of slots or processes.
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
	size_t bytes;         /* of expressions, all together */
	unsigned version;     /* other after each that is added */
	uint64_t modules_off; /* bit i: module i of the log is left out */
	bool compiles;        /* an expression's form is checked, by compiling it: of the site's own file alone */
};

/* An expression as it goes to the worker, text behind it. */
struct scribe_rule_text {
	uint32_t of; /* enum scribe_pattern_of */
	uint32_t include;
	uint64_t modules;
	uint32_t bytes; /* of the text, NUL included */
	uint32_t pad;
};

/*
 * Add a list with commas; `modules`: bits of the modules that a name rule holds
 * for. -EINVAL with a line for what is no expression or no range; -ENOMEM.
 */
int scribe_exclusion_rules_add(struct scribe_exclusion_rules *r, enum scribe_rule_kind kind, const char *list,
			       uint64_t modules, struct scribe_err *err);
/* Bits of modules by Darshan's names, with commas; "*": all. -EINVAL: an unknown one. */
int scribe_exclusion_rules_modules(const char *list, uint64_t *ret_modules, struct scribe_err *err);

/* Are there expressions of this kind? */
bool scribe_exclusion_rules_have(const struct scribe_exclusion_rules *r, enum scribe_pattern_of of);
/* All expressions, as struct scribe_rule_text. Their number, or a negative errno. */
int scribe_exclusion_rules_write(const struct scribe_exclusion_rules *r, int fd);
bool scribe_exclusion_rules_rank_out(const struct scribe_exclusion_rules *r, int64_t rank);

/* `to` is new; -ENOMEM leaves it empty. */
int scribe_exclusion_rules_copy(struct scribe_exclusion_rules *to, const struct scribe_exclusion_rules *from);
void scribe_exclusion_rules_clear(struct scribe_exclusion_rules *r);

#endif
