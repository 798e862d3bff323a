/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusion rules as text. Ranks are compared here, expressions in a helper of the user
 * (privsep/exclusion_worker.c), because a hostile one can take any memory and time.
 */
#include "runtime/daemon/config/exclusion_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/regex_check.h"
#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"

#define RULES_MOST  1024
#define RULES_BYTES 65536u /* expressions of a job; one request holds all (BATCH_MAX) */
#define RULE_BYTES  1024u  /* with NUL */

struct scribe_omission {
	enum scribe_rule_kind kind;
	char *text;
	uint64_t modules;
	int64_t from, to; /* of ranks, inclusive */
};

static bool is_rank(enum scribe_rule_kind kind)
{
	return kind == SCRIBE_RULE_RANK_EXCLUDE || kind == SCRIBE_RULE_RANK_INCLUDE;
}

static int check(struct scribe_exclusion_rules *r, const char *text, struct scribe_err *err)
{
	size_t bytes = strlen(text) + 1;

	if (bytes > RULE_BYTES || bytes > RULES_BYTES - r->bytes)
		return scribe_err_set(err, -EINVAL, "'%.40s%s' is too long an expression", text,
				      bytes > 41 ? "..." : "");
	/* A user's expression is compiled only by the worker. */
	if (r->compiles && scribe_regex_check(text, err) < 0)
		return -EINVAL;
	r->bytes += bytes;
	return 0;
}

/* "3", "2:5", ":5", "2:", ":", "*" */
static int read_range(struct scribe_omission *rule, struct scribe_err *err)
{
	const char *text = rule->text, *colon = strchr(text, ':');
	char *end;

	rule->from = 0;
	rule->to = INT64_MAX;
	if (!strcmp(text, "*"))
		return 0;
	if (strspn(text, "0123456789:") != strlen(text) || !strpbrk(text, "0123456789:") ||
	    (colon && strchr(colon + 1, ':')))
		return scribe_err_set(err, -EINVAL, "'%.100s' is no rank or range of ranks", text);
	if (text != colon)
		rule->from = strtoll(text, &end, 10);
	if (!colon)
		rule->to = rule->from;
	else if (colon[1])
		rule->to = strtoll(colon + 1, &end, 10);
	return 0;
}

static int add_one(struct scribe_exclusion_rules *r, enum scribe_rule_kind kind, const char *text, size_t bytes,
		   uint64_t modules, struct scribe_err *err)
{
	struct scribe_omission *more = realloc(r->rule, (r->n + 1) * sizeof(*more)), *rule;
	int rc;

	if (!more)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	r->rule = more;
	rule = &more[r->n];
	*rule = (struct scribe_omission){.kind = kind, .modules = modules, .text = strndup(text, bytes)};
	if (!rule->text)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	rc = is_rank(kind) ? read_range(rule, err) : check(r, rule->text, err);
	if (rc < 0) {
		free(rule->text);
		return rc;
	}
	/* Last: after a failure the array may have grown, but its rules are complete. */
	r->n++;
	r->version++; /* the worker needs the expressions again */
	return 0;
}

/* An expression cannot contain a comma, as in Darshan. */
int scribe_exclusion_rules_add(struct scribe_exclusion_rules *r, enum scribe_rule_kind kind, const char *list,
			       uint64_t modules, struct scribe_err *err)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		int rc = 0;

		if (n && r->n == RULES_MOST)
			return scribe_err_set(err, -EINVAL, "more than %d rules", RULES_MOST);
		if (n)
			rc = add_one(r, kind, list, n, modules, err);
		if (rc < 0)
			return rc;
		list += n + (list[n] == ',');
	}
	return 0;
}

int scribe_exclusion_rules_modules(const char *list, uint64_t *ret_modules, struct scribe_err *err)
{
	uint64_t modules = 0;

	while (*list) {
		size_t n = strcspn(list, ", \t");
		bool known = n == 0;

		if (n == 1 && *list == '*') {
			modules = ~0ull;
			known = true;
		}
		for (int i = 0; i < SCRIBE_MAX_MODULES && !known; i++) {
			const struct scribe_module *m = scribe_module_by_id(i);

			if (!m || strlen(m->name) != n || strncmp(m->name, list, n))
				continue;
			modules |= 1ull << i;
			known = true;
		}
		if (!known)
			return scribe_err_set(err, -EINVAL, "no module '%.*s'", (int)(n < 60 ? n : 60), list);
		list += n + (list[n] != 0);
	}
	*ret_modules = modules;
	return 0;
}

static enum scribe_pattern_of pattern_of(enum scribe_rule_kind kind)
{
	return kind <= SCRIBE_RULE_NAME_INCLUDE ? SCRIBE_PATTERN_NAME : SCRIBE_PATTERN_PROGRAM;
}

bool scribe_exclusion_rules_have(const struct scribe_exclusion_rules *r, enum scribe_pattern_of of)
{
	for (size_t i = 0; i < r->n; i++)
		if (!is_rank(r->rule[i].kind) && pattern_of(r->rule[i].kind) == of)
			return true;
	return false;
}

int scribe_exclusion_rules_write(const struct scribe_exclusion_rules *r, int fd)
{
	int n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct scribe_omission *rule = &r->rule[i];
		struct scribe_rule_text head = {.of = pattern_of(rule->kind),
						.include = rule->kind == SCRIBE_RULE_NAME_INCLUDE ||
							   rule->kind == SCRIBE_RULE_APP_INCLUDE,
						.modules = rule->modules,
						.bytes = (uint32_t)strlen(rule->text) + 1};

		if (is_rank(rule->kind))
			continue;
		if (write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
		    write(fd, rule->text, head.bytes) != (ssize_t)head.bytes)
			return -EIO;
		n++;
	}
	return n;
}

static bool ranks_in(const struct scribe_exclusion_rules *r, enum scribe_rule_kind kind, int64_t rank)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rule[i].kind == kind && rank >= r->rule[i].from && rank <= r->rule[i].to)
			return true;
	return false;
}

/* Inclusion wins regardless of the order. */
bool scribe_exclusion_rules_rank_out(const struct scribe_exclusion_rules *r, int64_t rank)
{
	return ranks_in(r, SCRIBE_RULE_RANK_EXCLUDE, rank) && !ranks_in(r, SCRIBE_RULE_RANK_INCLUDE, rank);
}

int scribe_exclusion_rules_copy(struct scribe_exclusion_rules *to, const struct scribe_exclusion_rules *from)
{
	int rc = 0;

	*to = (struct scribe_exclusion_rules){.modules_off = from->modules_off};
	for (size_t i = 0; i < from->n && rc == 0; i++)
		rc = add_one(to, from->rule[i].kind, from->rule[i].text, strlen(from->rule[i].text),
			     from->rule[i].modules, NULL);
	if (rc < 0)
		scribe_exclusion_rules_clear(to);
	return rc;
}

void scribe_exclusion_rules_clear(struct scribe_exclusion_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->rule[i].text);
	free(r->rule);
	*r = (struct scribe_exclusion_rules){0};
}
