// SPDX-License-Identifier: BSD-3-Clause
/* The table of subcommands. Rows in #ifdef need the daemon's side or optional libraries. */
#include "util/commands.h"

#include <stddef.h>

const struct scribe_command *const scribe_all_commands[] = {
#ifdef SCRIBE_HAVE_RUN
	&scribe_command_run,
#endif
#ifdef SCRIBE_HAVE_JOB
	&scribe_command_job,
#endif
#ifdef SCRIBE_HAVE_TRACE
	&scribe_command_trace,
#endif
#ifdef SCRIBE_HAVE_PUBLISH
	&scribe_command_publish,
#endif
#ifdef SCRIBE_HAVE_TOP
	&scribe_command_top,
#endif
#ifdef SCRIBE_HAVE_DOCTOR
	&scribe_command_doctor,
#endif
#ifdef SCRIBE_HAVE_LOGDIR
	&scribe_command_logdir,
#endif
	&scribe_command_parse,    &scribe_command_dxt,
	&scribe_command_summary,  &scribe_command_advise,
	&scribe_command_report,   &scribe_command_convert,
	&scribe_command_diff,     &scribe_command_merge,
	&scribe_command_export,   &scribe_command_analyze,
	&scribe_command_store,    &scribe_command_query,
#ifdef SCRIBE_HAVE_SERVE
	&scribe_command_serve,
#endif
	&scribe_command_generate, NULL,
};
