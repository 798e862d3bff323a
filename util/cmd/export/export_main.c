// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-export: the program behind `ioscribe export` (export_command.c), executed by it from the
 * installation's libexec folder. Its table of commands has one entry, so that messages and help are
 * those of the command.
 */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/cmd/export/export.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_export, NULL};

	scribe_commands_set(commands);
	return scribe_export_main(argc, argv);
}
