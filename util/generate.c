// SPDX-License-Identifier: BSD-3-Clause
/* The hidden command `ioscribe generate`: manual pages and bash completion from the option tables. */
#include <stdio.h>
#include <string.h>

#include "util/tool/command.h"

static void put_roff(const char *text)
{
	int start = 1;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\'')) /* would be a roff request */
			fputs("\\&", stdout);
		start = *text == '\n';
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '\n' && text[1] == '\n')
			fputs("\n.PP", stdout);
		else
			putchar(*text);
	}
}

static void roff_option(const struct scribe_option *o)
{
	puts(".TP");
	fputs(".B ", stdout);
	if (scribe_option_is_short(o))
		printf("\\-%c\\fR, \\fB", o->key);
	fputs("\\-\\-", stdout);
	put_roff(o->name);
	if (o->arg)
		printf(" \\fI%s\\fR", o->arg);
	putchar('\n');
	put_roff(o->help);
	puts(".");
}

static void print_man(const struct scribe_command *cmd)
{
	printf(".\\\" Made by \"ioscribe generate man %s\" from the option table.\n", cmd->name);
	printf(".TH IOSCRIBE\\-");
	for (const char *c = cmd->name; *c; c++)
		putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	printf(" 1 \"\" \"ioscribe %s\" \"User Commands\"\n", IOSCRIBE_VERSION);
	printf(".SH NAME\nioscribe\\-%s \\- ", cmd->name);
	put_roff(cmd->summary);
	printf("\n.SH SYNOPSIS\n.B ioscribe %s\n[\\fIoptions\\fR] \\fI%s\\fR\n", cmd->name, cmd->operands);
	if (cmd->alias)
		printf(".br\n.B %s\n[\\fIoptions\\fR] \\fI%s\\fR\n", cmd->alias, cmd->operands);
	puts(".SH DESCRIPTION");
	put_roff(cmd->about ? cmd->about : cmd->summary);
	puts("\n.SH OPTIONS");
	for (const struct scribe_option *o = cmd->options; o && o->name; o++)
		roff_option(o);
	roff_option(&(struct scribe_option){"help", 'h', NULL, "print a short description and exit"});
	roff_option(&(struct scribe_option){"version", 0, NULL, "print the version and exit"});
	puts(".SH EXIT STATUS\n0: done. 1: the work failed; one line on standard error says what, where\n"
	     "and what to do. 2: wrong usage.");
	if (cmd->alias) {
		fputs("Under the name ", stdout);
		put_roff(cmd->alias);
		puts(" the numbers are the same; that tool itself has 255 for failed work and\n"
		     "1 or 255 for wrong usage and \\-\\-help. Arguments too many and text behind a number, "
		     "which\n"
		     "some of those tools pass over, are wrong usage here; options may be abbreviated as far "
		     "as\n"
		     "no other begins so. \\-\\-version tells ioscribe's version.");
	}
	if (cmd->examples)
		puts(".SH EXAMPLES");
	for (const char *const *e = cmd->examples; e && *e; e += 2) {
		fputs(".TP\n.B ", stdout);
		put_roff(e[0]);
		putchar('\n');
		put_roff(e[1]);
		puts(".");
	}
	puts(".SH SEE ALSO");
	for (const struct scribe_command *const *c = scribe_commands_get(); *c; c++)
		if (*c != cmd && !(*c)->hidden && (*c)->options)
			printf(".BR ioscribe\\-%s (1),\n", (*c)->name);
	puts(".BR ioscribe (1)");
}

static void print_completion(void)
{
	/* One function also for Darshan's names, which are programs without a subcommand. */
	puts("# bash completion of ioscribe, made by \"ioscribe generate completion\".\n"
	     "_ioscribe()\n{\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[0]##*/} words=\n"
	     "\tif [ \"$cmd\" = ioscribe ]; then\n"
	     "\t\tif [ \"$COMP_CWORD\" -eq 1 ] || [[ $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ]]; then");
	fputs("\t\t\tmapfile -t COMPREPLY < <(compgen -W \"", stdout);
	for (const struct scribe_command *const *c = scribe_commands_get(); *c; c++)
		if (!(*c)->hidden)
			printf("%s ", (*c)->name);
	puts("help --help --version\" -- \"$cur\")\n"
	     "\t\t\treturn\n\t\tfi\n\t\tcmd=${COMP_WORDS[1]}\n\tfi\n\tcase $cmd in");
	for (const struct scribe_command *const *c = scribe_commands_get(); *c; c++) {
		if (!(*c)->options)
			continue;
		printf("\t%s%s%s) words=\"", (*c)->name, (*c)->alias ? " | " : "", (*c)->alias ? (*c)->alias : "");
		for (const struct scribe_option *o = (*c)->options; o->name; o++)
			printf("--%s ", o->name);
		puts("--help --version\" ;;");
	}
	puts("\tesac\n"
	     "\tif [[ $cur == -* ]]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "\telse\n"
	     "\t\tcompopt -o filenames\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	     "\tfi\n}");
	fputs("complete -F _ioscribe ioscribe", stdout);
	for (const struct scribe_command *const *c = scribe_commands_get(); *c; c++)
		if ((*c)->alias)
			printf(" %s", (*c)->alias);
	putchar('\n');
}

static int take_none(void *ctx, int key, const char *value, struct scribe_err *err)
{
	(void)ctx, (void)key, (void)value;
	return scribe_err_set(err, -1, "no options");
}

static int cmd_generate(int argc, char **argv)
{
	const struct scribe_command *of;
	int first, status = scribe_args_read(&scribe_command_generate, argc, argv, take_none, NULL, &first);

	if (status >= 0)
		return status;
	if (!strcmp(argv[first], "completion") && argc - first == 1) {
		print_completion();
		return SCRIBE_EXIT_OK;
	}
	of = argc - first == 2 && !strcmp(argv[first], "man") ? scribe_command_by_name(argv[first + 1]) : NULL;
	if (of && of->options) { /* hidden commands lack options and a page */
		print_man(of);
		return SCRIBE_EXIT_OK;
	}
	scribe_complain(argv[0], "say 'completion', or 'man' and a command that has an option table");
	return SCRIBE_EXIT_USAGE;
}

const struct scribe_command scribe_command_generate = {
	.name = "generate",
	.summary = "print a manual page or the bash completion",
	.main = cmd_generate,
	.operands = "completion | man COMMAND",
	.min_operands = 1,
	.max_operands = 2,
	.hidden = 1,
};
