/* SPDX-License-Identifier: BSD-3-Clause */
/* regcomp on expressions of trusted files, and in the user's own process: its time and memory are unbounded. */
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
