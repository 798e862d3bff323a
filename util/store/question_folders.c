// SPDX-License-Identifier: BSD-3-Clause
/* Question folders: --questions, IOSCRIBE_QUESTIONS, installation, build tree. */
#include "util/store/question_folders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int too_long(const char *whose, size_t cap, struct scribe_err *err)
{
	return scribe_err_set(err, -E2BIG, "%s: folders of more than %zu bytes", whose, cap - 1);
}

int scribe_question_folder_add(char *folders, size_t cap, const char *folder, struct scribe_err *err)
{
	size_t used = strlen(folders);

	if (used + strlen(folder) + 2 > cap)
		return too_long("--questions", cap, err);
	snprintf(folders + used, cap - used, "%s:", folder);
	return 0;
}

int scribe_question_folders(char *folders, size_t cap, struct scribe_err *err)
{
	const char *site = getenv("IOSCRIBE_QUESTIONS");
	size_t used = strlen(folders);
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int len;

	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	len = snprintf(folders + used, cap - used, "%s%s%s/%s:%s/questions:" SCRIBE_QUESTIONS, site ? site : "",
		       site ? ":" : "", self, SCRIBE_QUESTIONS_FROM_LIBEXEC, self);
	return (size_t)len < cap - used ? 0 : too_long("IOSCRIBE_QUESTIONS", cap, err);
}
