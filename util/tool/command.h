/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands and their options. One table a command is all there is: getopt,
 * --help, the manual page and the completion are made from it.
 *
 * To add a subcommand, declare it here and add a row to the table in
 * util/commands.c; `name`, `summary` and `main` are enough.
 */
#ifndef UTIL_TOOL_COMMAND_H
#define UTIL_TOOL_COMMAND_H

#include <stddef.h>

#include "logfmt/base/err.h"

enum scribe_exit { SCRIBE_EXIT_OK = 0, SCRIBE_EXIT_FAILED = 1, SCRIBE_EXIT_USAGE = 2 };

struct scribe_option {
	const char *name; /* long option, without dashes */
	int key;          /* what the command is told; a letter (not h) is a short option too */
	const char *arg;  /* name of its argument, NULL: none */
	const char *help; /* one sentence, no full stop */
};

struct scribe_command {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	/* argv[0] is the name it was called by; returns the exit status */
	int (*main)(int argc, char **argv);
	/* The rest is for commands that use scribe_args_read. */
	const char *operands; /* as in the synopsis: "LOG", "LOG...", "IN OUT" */
	int min_operands;
	int max_operands;                    /* -1: any number */
	const struct scribe_option *options; /* ends with a NULL name */
	const char *about;                   /* paragraphs for the manual, blank line between */
	const char *alias;                   /* other program name it answers to, or NULL */
	const char *const *examples;         /* command, explanation, ..., NULL */
	int hidden;                          /* 1: not in the list of commands */
};

/*
 * The program's commands, ending with NULL, borrowed; the program says so before all
 * else. Names in messages, --help and the generated texts come from them.
 */
void scribe_commands_set(const struct scribe_command *const *commands);
const struct scribe_command *const *scribe_commands_get(void);

/* By the word behind "ioscribe"; by another program's name that it answers to. NULL: none. */
const struct scribe_command *scribe_command_by_name(const char *name);
const struct scribe_command *scribe_command_by_alias(const char *name);

/*
 * Read the command line of `cmd`. `take` is told every option (key, argument or
 * NULL); it returns 0, or a negative code with a message when the argument is
 * wrong. --help and --version are answered here. Returns -1 when the command
 * shall go on, operands being argv[*ret_first...argc-1]; else the exit status.
 */
int scribe_args_read(const struct scribe_command *cmd, int argc, char **argv,
		     int (*take)(void *ctx, int key, const char *value, struct scribe_err *err), void *ctx,
		     int *ret_first);

/* The last part of a path: how a command calls itself in messages. */
const char *scribe_program_name(const char *argv0);

/* "ioscribe parse: <text>" on standard error, one line. Returns SCRIBE_EXIT_FAILED. */
int scribe_complain(const char *argv0, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One line, where settings "key = value" have keys by their old names. */
void scribe_complain_old_keys(const char *argv0, const char *lines, size_t bytes);

/* The same for the message of an error. */
int scribe_complain_err(const char *argv0, const struct scribe_err *err);

/* What was printed is written out: SCRIBE_EXIT_OK, or a complaint and SCRIBE_EXIT_FAILED. */
int scribe_print_end(const char *argv0);

/* --help of a command, on standard output (util/tool/help.c). */
int scribe_print_help(const struct scribe_command *cmd, const char *argv0);
/* Is the option a letter, too? */
int scribe_option_is_short(const struct scribe_option *o);

/* The commands, one a file. */
extern const struct scribe_command scribe_command_run;    /* util/cmd/run/run.c */
extern const struct scribe_command scribe_command_job;    /* util/cmd/job/job.c */
extern const struct scribe_command scribe_command_doctor; /* util/cmd/doctor/doctor.c */
extern const struct scribe_command scribe_command_trace;  /* util/cmd/trace/trace.c */
extern const struct scribe_command scribe_command_publish; /* util/cmd/publish/publish_command.c */
extern const struct scribe_command scribe_command_top;    /* util/cmd/top/top_command.c */
extern const struct scribe_command scribe_command_logdir; /* util/cmd/logdir/logdir.c */
extern const struct scribe_command scribe_command_parse;
extern const struct scribe_command scribe_command_dxt;
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

int scribe_cmd_run(int argc, char **argv);    /* util/cmd/run/run.c */
int scribe_cmd_job(int argc, char **argv);    /* util/cmd/job/job.c */
int scribe_cmd_doctor(int argc, char **argv); /* util/cmd/doctor/doctor.c */
int scribe_cmd_trace(int argc, char **argv);  /* util/cmd/trace/trace.c */
int scribe_cmd_logdir(int argc, char **argv); /* util/cmd/logdir/logdir.c */

#endif
