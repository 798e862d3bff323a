// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of subcommands. A row needs name, summary and main; a row with an
 * option table of its own (declared in its file) also feeds the generators.
 */
#include "util/command.h"

#include <string.h>

const struct scribe_command *const scribe_commands[] = {
#ifdef SCRIBE_HAVE_RUN
	&scribe_command_run,
#endif
#ifdef SCRIBE_HAVE_JOB
	&scribe_command_job,
#endif
#ifdef SCRIBE_HAVE_DOCTOR
	&scribe_command_doctor,
#endif
#ifdef SCRIBE_HAVE_LOGDIR
	&scribe_command_logdir,
#endif
	&scribe_command_parse,    &scribe_command_dxt,
	&scribe_command_summary,  &scribe_command_convert,
	&scribe_command_diff,     &scribe_command_merge,
	&scribe_command_export,   &scribe_command_analyze,
	&scribe_command_generate, NULL,
};

const struct scribe_command *scribe_command_by_name(const char *name)
{
	for (const struct scribe_command *const *c = scribe_commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

const struct scribe_command *scribe_command_by_alias(const char *name)
{
	for (const struct scribe_command *const *c = scribe_commands; *c; c++)
		if ((*c)->alias && !strcmp((*c)->alias, name))
			return *c;
	return NULL;
}
