// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe: runs the subcommand of the program's name (links with Darshan's names) or of the first argument. */
#include <stdio.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "util/commands.h"
#include "util/tool/command.h"

static void print_overview(FILE *to)
{
	fputs("usage: ioscribe COMMAND [options] ...\n\ncommands:\n", to);
	for (const struct scribe_command *const *c = scribe_all_commands; *c; c++)
		if (!(*c)->hidden)
			fprintf(to, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fputs("\nioscribe COMMAND --help tells a command's options; ioscribe --version the version.\n", to);
}

int main(int argc, char **argv)
{
	const char *name = scribe_program_name(argc > 0 ? argv[0] : NULL);
	const struct scribe_command *cmd;
	const char *word = argc > 1 ? argv[1] : NULL;

	/* Before any time is read, because a time namespace shifts CLOCK_MONOTONIC. */
	scribe_clock_calibrate();
	scribe_commands_set(scribe_all_commands);
	cmd = scribe_command_by_alias(name);
	if (cmd)
		return cmd->main(argc, argv);
	if (!word) {
		print_overview(stderr);
		return SCRIBE_EXIT_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc == 2)) {
		print_overview(stdout);
		return scribe_print_end("ioscribe");
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		printf("ioscribe %s\n", IOSCRIBE_VERSION);
		return scribe_print_end("ioscribe");
	}
	/* "help COMMAND" is "COMMAND --help". */
	if (!strcmp(word, "help")) {
		char help[] = "--help";
		char *args[] = {argv[2], help, NULL};

		cmd = scribe_command_by_name(argv[2]);
		if (cmd)
			return cmd->main(2, args);
		word = argv[2];
	}
	cmd = scribe_command_by_name(word);
	if (!cmd) {
		fprintf(stderr, "ioscribe: no command '%s'; ioscribe --help lists them\n", word);
		return SCRIBE_EXIT_USAGE;
	}
	return cmd->main(argc - 1, argv + 1);
}
