// SPDX-License-Identifier: BSD-3-Clause
/* Reads command lines by getopt_long from a command's option table, with --help and --version. Must not know logs. */
#include "util/tool/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* Keys above all letters and the commands' own keys. */
#define MAX_OPTIONS 40
#define KEY_HELP    0x10000
#define KEY_VERSION 0x10001

struct getopt_table {
	struct option longs[MAX_OPTIONS + 3];
	char shorts[2 * MAX_OPTIONS + 8];
};

static void table_build(const struct scribe_command *cmd, struct getopt_table *t)
{
	char *s = t->shorts;
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	*s++ = ':'; /* getopt then reports a missing argument as ':', an unknown option as '?' */
	for (const struct scribe_option *o = cmd->options; o && o->name && n < MAX_OPTIONS; o++, n++) {
		t->longs[n] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->key};
		if (!scribe_option_is_short(o))
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
	scribe_complain(argv0, "%s; see %s%s --help", text, scribe_command_by_name(name) ? "ioscribe " : "", name);
	return SCRIBE_EXIT_USAGE;
}

static int print_version(const char *argv0)
{
	/* Darshan's tools print only the number. */
	if (scribe_command_by_alias(scribe_program_name(argv0)))
		printf("%s\n", IOSCRIBE_VERSION);
	else
		printf("ioscribe %s\n", IOSCRIBE_VERSION);
	return scribe_print_end(argv0);
}

/* -1: valid. */
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

/* The option that getopt refused: a letter, perhaps of a group, or the last word. */
static void name_wrong(int key, const char *word, char *to, size_t cap)
{
	int is_long = !strncmp(word, "--", 2) && (key == ':' || strchr(word, '='));

	if (optopt > 0 && optopt < 0x100 && !is_long)
		snprintf(to, cap, "-%c", optopt);
	else
		snprintf(to, cap, "%s", word);
}

/* Long options with this start. True: several, and none is equal. */
static int is_ambiguous(const struct getopt_table *t, const char *word, char *ret_names, size_t cap)
{
	size_t n = strcspn(word, "="), used = 0;
	int fits = 0;

	ret_names[0] = 0;
	if (n < 3 || strncmp(word, "--", 2))
		return 0;
	for (const struct option *o = t->longs; o->name; o++) {
		if (strncmp(word + 2, o->name, n - 2))
			continue;
		if (!o->name[n - 2])
			return 0;
		fits++;
		if (used < cap)
			used += (size_t)snprintf(ret_names + used, cap - used, " --%s", o->name);
	}
	return fits > 1;
}

static int refused(const struct getopt_table *t, const char *argv0, int key, const char *word)
{
	char option[64], names[256], text[400];

	name_wrong(key, word, option, sizeof(option));
	if (key == ':')
		return wrong(argv0, "option '%s' needs an argument", option);
	if (!is_ambiguous(t, word, names, sizeof(names)))
		return wrong(argv0, "unknown option '%s'", option);
	snprintf(text, sizeof(text), "option '%.60s' is ambiguous:%s", word, names);
	return wrong(argv0, "%s", text);
}

int scribe_args_read(const struct scribe_command *cmd, int argc, char **argv,
		     int (*take)(void *ctx, int key, const char *value, struct scribe_err *err), void *ctx,
		     int *ret_first)
{
	struct getopt_table table;
	struct scribe_err err = {0};
	int key;

	table_build(cmd, &table);
	opterr = 0; /* our own messages */
	optind = 0; /* makes glibc start over, also with another table */
	while ((key = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (key == KEY_HELP || key == 'h')
			return scribe_print_help(cmd, argv[0]);
		if (key == KEY_VERSION)
			return print_version(argv[0]);
		if (key == ':' || key == '?')
			return refused(&table, argv[0], key, argv[optind - 1]);
		if (take(ctx, key, optarg, &err) < 0)
			return wrong(argv[0], "%s", err.text);
	}
	*ret_first = optind;
	return check_operands(
		cmd, argv[0], argc - optind,
		cmd->max_operands >= 0 && argc - optind > cmd->max_operands ? argv[optind + cmd->max_operands] : "");
}
