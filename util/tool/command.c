// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of commands, and messages: one line on standard error without control characters. Must not know
 * options or logs.
 */
#include "util/tool/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "logfmt/base/old_names.h"
#include "util/text/human.h"

static const struct scribe_command *const none[] = {NULL};
static const struct scribe_command *const *all = none;

void scribe_commands_set(const struct scribe_command *const *commands)
{
	all = commands;
}

const struct scribe_command *const *scribe_commands_get(void)
{
	return all;
}

const struct scribe_command *scribe_command_by_name(const char *name)
{
	for (const struct scribe_command *const *c = all; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

const struct scribe_command *scribe_command_by_alias(const char *name)
{
	for (const struct scribe_command *const *c = all; *c; c++)
		if ((*c)->alias && !strcmp((*c)->alias, name))
			return *c;
	return NULL;
}

const char *scribe_program_name(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;

	if (!argv0)
		return "ioscribe";
	return slash ? slash + 1 : argv0;
}

/* "ioscribe COMMAND: ..."; under Darshan's names only that name. */
static void say(const char *argv0, const char *text)
{
	const char *name = scribe_program_name(argv0);
	char shown[4096];

	scribe_human_text(text, shown, sizeof(shown));
	if (scribe_command_by_name(name))
		fprintf(stderr, "ioscribe %s: %s\n", name, shown);
	else
		fprintf(stderr, "%s: %s\n", name, shown);
}

int scribe_complain(const char *argv0, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	say(argv0, text);
	return SCRIBE_EXIT_FAILED;
}

int scribe_complain_err(const char *argv0, const struct scribe_err *err)
{
	say(argv0, err->text[0] ? err->text : "failed, for a reason that was not told");
	return SCRIBE_EXIT_FAILED;
}

void scribe_complain_old_keys(const char *argv0, const char *lines, size_t bytes)
{
	uint32_t set = scribe_old_keys_in(lines, bytes);
	char text[SCRIBE_OLD_KEYS_TEXT_MAX];

	if (set)
		scribe_complain(argv0, "%s", scribe_old_keys_text(SCRIBE_OLD_KEYS_HEAD, set, text, sizeof(text)));
}

int scribe_print_end(const char *argv0)
{
	/* A full disk or closed pipe shows only at the flush. */
	if (!fflush(stdout) && !ferror(stdout))
		return SCRIBE_EXIT_OK;
	return scribe_complain(argv0, "cannot write the output: %s", strerror(errno));
}
