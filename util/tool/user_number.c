// SPDX-License-Identifier: BSD-3-Clause
#include "util/tool/user_number.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

int64_t scribe_user_number(const char *name)
{
	struct passwd pw, *found = NULL;
	char text[16384];

	if (*name && strlen(name) <= 10 && strspn(name, "0123456789") == strlen(name))
		return strtoll(name, NULL, 10) < UINT32_MAX ? strtoll(name, NULL, 10) : -1;
	return *name && !getpwnam_r(name, &pw, text, sizeof(text), &found) && found ? (int64_t)found->pw_uid : -1;
}
