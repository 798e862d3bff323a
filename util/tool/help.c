// SPDX-License-Identifier: BSD-3-Clause
/* --help, from the option table that also feeds getopt (args.c) and manual pages (generate.c). 100 columns. */
#include <stdio.h>
#include <string.h>

#include "util/tool/command.h"

int scribe_option_is_short(const struct scribe_option *o)
{
	return (o->key >= 'a' && o->key <= 'z') || (o->key >= 'A' && o->key <= 'Z');
}

static void put_flags(const struct scribe_option *o, char *to, size_t cap)
{
	size_t n = 0;

	if (scribe_option_is_short(o))
		n += (size_t)snprintf(to, cap, "-%c, ", o->key);
	n += (size_t)snprintf(to + n, cap - n, "--%s", o->name);
	if (o->arg && n < cap)
		snprintf(to + n, cap - n, " %s", o->arg);
}

/* Wraps text that starts in column `at`; continuation lines have `indent` spaces. A blank line ends a paragraph. */
static void put_wrapped(const char *text, int at, int indent, int width)
{
	int blank = 0; /* before the next word */

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (at + blank + (int)word > width && at > indent) {
			printf("\n%*s", indent, "");
			at = indent;
			blank = 0;
		}
		printf("%*s%.*s", blank, "", (int)word, text);
		at += blank + (int)word;
		blank = 1;
		text += word;
		if (*text == '\n' && text[1] == '\n') {
			text += strspn(text, "\n");
			printf("\n\n%*s", indent, "");
			at = indent;
			blank = 0;
		} else if (*text) {
			text++;
		}
	}
	putchar('\n');
}

static void put_option(const char *flags, const char *help)
{
	printf("  %-24s ", flags);
	put_wrapped(help, strlen(flags) > 24 ? (int)strlen(flags) + 3 : 27, 27, 100);
}

int scribe_print_help(const struct scribe_command *cmd, const char *argv0)
{
	const char *name = scribe_program_name(argv0);
	char flags[128];

	printf("usage: %s%s [options] %s\n\n", scribe_command_by_alias(name) ? "" : "ioscribe ", name,
	       cmd->operands ? cmd->operands : "");
	put_wrapped(cmd->about ? cmd->about : cmd->summary, 0, 0, 100);
	puts("\noptions:");
	for (const struct scribe_option *o = cmd->options; o && o->name; o++) {
		put_flags(o, flags, sizeof(flags));
		put_option(flags, o->help);
	}
	put_option("-h, --help", "print this and exit");
	put_option("--version", "print the version and exit");
	if (cmd->examples)
		puts("\nexamples:");
	for (const char *const *e = cmd->examples; e && *e; e += 2)
		printf("  %s\n      %s\n", e[0], e[1]);
	return scribe_print_end(argv0);
}
