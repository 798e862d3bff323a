/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiles a POSIX extended regular expression with regcomp and discards it, to report a wrong one
 * early and by name. The daemon runs it over expressions of its own configuration file, the
 * `ioscribe` command over those that a user has given, before they are sent. Expressions of other
 * users are never compiled in the daemon: regcomp's time and memory have no useful bound.
 */
#include "logfmt/base/regex_check.h"

#include <errno.h>
#include <regex.h>

int scribe_regex_check(const char *ere, struct scribe_err *err)
{
	regex_t code;
	char why[128];
	int rc = regcomp(&code, ere, REG_EXTENDED | REG_NOSUB);

	if (rc == 0) {
		regfree(&code);
		return 0;
	}
	regerror(rc, &code, why, sizeof(why));
	return scribe_err_set(err, -EINVAL, "'%.100s' is no extended regular expression: %s", ere, why);
}
