/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command's table feeds getopt, --help, manual page and completion. To add one, declare it here and add a row in
 * util/commands.c; `name`, `summary` and `main` are enough.
 */
#ifndef UTIL_TOOL_COMMAND_H
#define UTIL_TOOL_COMMAND_H

#include <stddef.h>

#include "logfmt/base/err.h"

enum scribe_exit { SCRIBE_EXIT_OK = 0, SCRIBE_EXIT_FAILED = 1, SCRIBE_EXIT_USAGE = 2 };

struct scribe_option {
	const char *name; /* long option without dashes */
	int key;          /* passed to the command; a letter (not h) is also a short option */
	const char *arg;  /* name of the argument; NULL: none */
	const char *help;
};

struct scribe_command {
	const char *name;
	const char *summary; /* a line in lower case without full stop */
	/* Returns the exit status. */
	int (*main)(int argc, char **argv);
	const char *operands; /* as in the synopsis: "LOG", "LOG...", "IN OUT" */
	int min_operands;
	int max_operands; /* -1: any number */
	const struct scribe_option *options;
	const char *about;           /* paragraphs of the manual, separated by blank lines */
	const char *alias;           /* another program name, or NULL */
	const char *const *examples; /* command, explanation, ..., NULL */
	int hidden;                  /* 1: not listed */
};

/* Borrowed, ends with NULL. Call first: messages and --help use the names. */
void scribe_commands_set(const struct scribe_command *const *commands);
const struct scribe_command *const *scribe_commands_get(void);

/* NULL: no such command. */
const struct scribe_command *scribe_command_by_name(const char *name);
const struct scribe_command *scribe_command_by_alias(const char *name);

/*
 * `take` receives each option (key, argument or NULL); a negative code with a message is a usage error. Handles
 * --help and --version. -1: continue with operands argv[*ret_first...]; otherwise the exit status.
 */
int scribe_args_read(const struct scribe_command *cmd, int argc, char **argv,
		     int (*take)(void *ctx, int key, const char *value, struct scribe_err *err), void *ctx,
		     int *ret_first);

/* The base name. */
const char *scribe_program_name(const char *argv0);

/* Prints "ioscribe parse: <text>". */
int scribe_complain(const char *argv0, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Warns of renamed keys in "key = value" lines. */
void scribe_complain_old_keys(const char *argv0, const char *lines, size_t bytes);

int scribe_complain_err(const char *argv0, const struct scribe_err *err);

/* Flushes standard output. SCRIBE_EXIT_OK, or a message and SCRIBE_EXIT_FAILED. */
int scribe_print_end(const char *argv0);

int scribe_print_help(const struct scribe_command *cmd, const char *argv0);
int scribe_option_is_short(const struct scribe_option *o);

extern const struct scribe_command scribe_command_run;
extern const struct scribe_command scribe_command_job;
extern const struct scribe_command scribe_command_doctor;
extern const struct scribe_command scribe_command_trace;
extern const struct scribe_command scribe_command_publish;
extern const struct scribe_command scribe_command_top;
extern const struct scribe_command scribe_command_logdir;
extern const struct scribe_command scribe_command_parse;
extern const struct scribe_command scribe_command_dxt;
extern const struct scribe_command scribe_command_advise;
extern const struct scribe_command scribe_command_report;
extern const struct scribe_command scribe_command_summary;
extern const struct scribe_command scribe_command_convert;
extern const struct scribe_command scribe_command_diff;
extern const struct scribe_command scribe_command_merge;
extern const struct scribe_command scribe_command_export;
extern const struct scribe_command scribe_command_store;
extern const struct scribe_command scribe_command_query;
extern const struct scribe_command scribe_command_serve;
extern const struct scribe_command scribe_command_analyze;
extern const struct scribe_command scribe_command_generate;

int scribe_cmd_run(int argc, char **argv);
int scribe_cmd_job(int argc, char **argv);
int scribe_cmd_doctor(int argc, char **argv);
int scribe_cmd_trace(int argc, char **argv);
int scribe_cmd_logdir(int argc, char **argv);

#endif
