// SPDX-License-Identifier: BSD-3-Clause
/*
 * Command lines read from an option table by getopt_long, and the one-line
 * messages of every command. Must not know: logs.
 */
#include "util/command.h"
#include "util/human.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_OPTIONS 40
#define KEY_HELP    0x10000
#define KEY_VERSION 0x10001

/* getopt's two descriptions of one table. */
struct getopt_table {
	struct option longs[MAX_OPTIONS + 3];
	char shorts[2 * MAX_OPTIONS + 8];
};

const char *scribe_program_name(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;

	if (!argv0)
		return "ioscribe";
	return slash ? slash + 1 : argv0;
}

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

static int is_letter(int key)
{
	return (key >= 'a' && key <= 'z') || (key >= 'A' && key <= 'Z');
}

static void table_build(const struct scribe_command *cmd, struct getopt_table *t)
{
	char *s = t->shorts;
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	*s++ = ':'; /* tell a missing argument from an unknown option */
	for (const struct scribe_option *o = cmd->options; o && o->name && n < MAX_OPTIONS; o++, n++) {
		t->longs[n] =
			(struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->key};
		if (!is_letter(o->key))
			continue;
		*s++ = (char)o->key;
		if (o->arg)
			*s++ = ':';
	}
	t->longs[n++] = (struct option){"help", no_argument, NULL, KEY_HELP};
	t->longs[n++] = (struct option){"version", no_argument, NULL, KEY_VERSION};
	memcpy(s, "h", 2);
}

static int wrong(const char *argv0, const char *fmt, const char *what)
{
	char text[512];
	const char *name = scribe_program_name(argv0);

	snprintf(text, sizeof(text), fmt, what);
	scribe_complain(argv0, "%s; see %s%s --help", text, scribe_command_by_name(name) ? "ioscribe " : "",
			name);
	return SCRIBE_EXIT_USAGE;
}

int scribe_print_end(const char *argv0)
{
	if (!fflush(stdout) && !ferror(stdout))
		return SCRIBE_EXIT_OK;
	return scribe_complain(argv0, "cannot write the output: %s", strerror(errno));
}

static int print_version(const char *argv0)
{
	/* Under a name of Darshan's tools: the number alone, as they print it. */
	if (scribe_command_by_alias(scribe_program_name(argv0)))
		printf("%s\n", IOSCRIBE_VERSION);
	else
		printf("ioscribe %s\n", IOSCRIBE_VERSION);
	return scribe_print_end(argv0);
}

static int check_operands(const struct scribe_command *cmd, const char *argv0, int have, const char *extra)
{
	if (have < cmd->min_operands) {
		char text[128];

		snprintf(text, sizeof(text), "%s expected", cmd->operands ? cmd->operands : "operand");
		return wrong(argv0, "%s", text);
	}
	if (cmd->max_operands >= 0 && have > cmd->max_operands)
		return wrong(argv0, "unexpected argument '%s'", extra);
	return -1;
}

/* The option that getopt refused: a letter, maybe out of a group, or the word it looked at last. */
static void name_wrong(int key, const char *word, char *to, size_t cap)
{
	int is_long = !strncmp(word, "--", 2) && (key == ':' || strchr(word, '='));

	if (optopt > 0 && optopt < 0x100 && !is_long)
		snprintf(to, cap, "-%c", optopt);
	else
		snprintf(to, cap, "%s", word);
}

int scribe_args_read(const struct scribe_command *cmd, int argc, char **argv,
		     int (*take)(void *ctx, int key, const char *value, struct scribe_err *err), void *ctx,
		     int *ret_first)
{
	struct getopt_table table;
	struct scribe_err err = {0};
	char option[64];
	int key;

	table_build(cmd, &table);
	opterr = 0;
	optind = 0;
	while ((key = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (key == KEY_HELP || key == 'h')
			return scribe_print_help(cmd, argv[0]);
		if (key == KEY_VERSION)
			return print_version(argv[0]);
		if (key == ':' || key == '?') {
			name_wrong(key, argv[optind - 1], option, sizeof(option));
			return wrong(argv[0],
				     key == ':' ? "option '%s' needs an argument" : "unknown option '%s'",
				     option);
		}
		if (take(ctx, key, optarg, &err) < 0)
			return wrong(argv[0], "%s", err.text);
	}
	*ret_first = optind;
	return check_operands(cmd, argv[0], argc - optind,
			      cmd->max_operands >= 0 && argc - optind > cmd->max_operands
				      ? argv[optind + cmd->max_operands]
				      : "");
}
