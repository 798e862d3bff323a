/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of what is left out. */
#include "runtime/daemon/rules.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/module.h"
#include "logfmt/records.h"

#define RULES_MOST 1024

struct scribe_omission {
	enum scribe_rule_kind kind;
	char *text;
	uint64_t modules;
	regex_t regex;    /* of names and programs */
	int64_t from, to; /* of ranks */
};

static bool is_rank(enum scribe_rule_kind kind)
{
	return kind == SCRIBE_RULE_RANK_EXCLUDE || kind == SCRIBE_RULE_RANK_INCLUDE;
}

/* "3", "2:5", ":5", "2:", "*" */
static int read_range(struct scribe_omission *rule)
{
	const char *text = rule->text, *colon = strchr(text, ':');
	char *end;

	rule->from = 0;
	rule->to = INT64_MAX;
	if (!strcmp(text, "*"))
		return 0;
	if (strspn(text, "0123456789:") != strlen(text) || !strpbrk(text, "0123456789") ||
	    (colon && strchr(colon + 1, ':')))
		return -EINVAL;
	if (text != colon)
		rule->from = strtoll(text, &end, 10);
	if (!colon)
		rule->to = rule->from;
	else if (colon[1])
		rule->to = strtoll(colon + 1, &end, 10);
	return 0;
}

static int add_one(struct scribe_rules *r, enum scribe_rule_kind kind, const char *text, size_t bytes,
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
	rc = is_rank(kind) ? read_range(rule) : regcomp(&rule->regex, rule->text, REG_EXTENDED | REG_NOSUB);
	if (rc) {
		scribe_err_set(err, -EINVAL, "'%.100s' is no %s", rule->text,
			       is_rank(kind) ? "rank or range of ranks" : "extended regular expression");
		free(rule->text);
		return -EINVAL;
	}
	r->n++;
	return 0;
}

int scribe_rules_add(struct scribe_rules *r, enum scribe_rule_kind kind, const char *list, uint64_t modules,
		     struct scribe_err *err)
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

int scribe_rules_modules(const char *list, uint64_t *ret_modules, struct scribe_err *err)
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

static bool any(const struct scribe_rules *r, enum scribe_rule_kind kind, const char *text, int64_t rank,
		uint64_t modules)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct scribe_omission *rule = &r->rule[i];

		if (rule->kind != kind || !(rule->modules & modules))
			continue;
		if (text ? regexec(&rule->regex, text, 0, NULL, 0) == 0
			 : rank >= rule->from && rank <= rule->to)
			return true;
	}
	return false;
}

bool scribe_rules_name_out(const struct scribe_rules *r, const char *name, int module)
{
	uint64_t bit = 1ull << (module & 63);

	return any(r, SCRIBE_RULE_NAME_EXCLUDE, name, 0, bit) &&
	       !any(r, SCRIBE_RULE_NAME_INCLUDE, name, 0, bit);
}

bool scribe_rules_app_out(const struct scribe_rules *r, const char *command)
{
	char *program;
	bool out;

	if (!r->n || !command)
		return false;
	program = strndup(command, strcspn(command, " \n"));
	out = program && any(r, SCRIBE_RULE_APP_EXCLUDE, program, 0, ~0ull) &&
	      !any(r, SCRIBE_RULE_APP_INCLUDE, program, 0, ~0ull);
	free(program);
	return out;
}

bool scribe_rules_rank_out(const struct scribe_rules *r, int64_t rank)
{
	return any(r, SCRIBE_RULE_RANK_EXCLUDE, NULL, rank, ~0ull) &&
	       !any(r, SCRIBE_RULE_RANK_INCLUDE, NULL, rank, ~0ull);
}

int scribe_rules_copy(struct scribe_rules *to, const struct scribe_rules *from)
{
	int rc = 0;

	*to = (struct scribe_rules){.modules_off = from->modules_off};
	for (size_t i = 0; i < from->n && rc == 0; i++)
		rc = add_one(to, from->rule[i].kind, from->rule[i].text, strlen(from->rule[i].text),
			     from->rule[i].modules, NULL);
	if (rc < 0)
		scribe_rules_clear(to);
	return rc;
}

void scribe_rules_clear(struct scribe_rules *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!is_rank(r->rule[i].kind))
			regfree(&r->rule[i].regex);
		free(r->rule[i].text);
	}
	free(r->rule);
	*r = (struct scribe_rules){0};
}
