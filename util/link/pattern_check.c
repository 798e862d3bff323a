// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks a job's regular expressions in the command's own process, because the privileged daemon does not compile
 * them.
 */
#include "util/link/pattern_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/regex_check.h"

/* `list` is modified. */
static int check_list(const char *key, char *list, struct scribe_err *err)
{
	struct scribe_err why = {0};
	char *rest = NULL;
	int rc = 0;

	for (char *ere = strtok_r(list, ",", &rest); ere && rc == 0; ere = strtok_r(NULL, ",", &rest))
		rc = scribe_regex_check(ere, &why);
	return rc < 0 ? scribe_err_set(err, rc, "%s: %s", key, why.text) : 0;
}

/* A line is KEY PATTERNS [MODULES] or KEY=PATTERNS. */
static int check_line(char *line, struct scribe_err *err)
{
	static const char *const keys[] = {"NAME_EXCLUDE", "NAME_INCLUDE", "APP_EXCLUDE", "APP_INCLUDE"};

	line += strspn(line, " \t");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i]);
		char *value;

		if (strncmp(line, keys[i], n) || !strspn(line + n, " \t="))
			continue;
		value = line + n + strspn(line + n, " \t=");
		value[strcspn(value, keys[i][0] == 'N' ? " \t" : "")] = 0;
		return check_list(keys[i], value, err);
	}
	return 0;
}

int scribe_check_patterns(const char *settings, size_t bytes, struct scribe_err *err)
{
	char *copy = strndup(settings, bytes), *rest = NULL;
	int rc = 0;

	if (!copy)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	for (char *line = strtok_r(copy, "\n", &rest); line && rc == 0; line = strtok_r(NULL, "\n", &rest))
		rc = check_line(line, err);
	free(copy);
	return rc;
}
