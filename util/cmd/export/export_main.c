// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-export: the program behind ioscribe export (util/cmd/export/export_command.c). */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/cmd/export/export.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_export, NULL};

	scribe_commands_set(commands);
	return scribe_export_main(argc, argv);
}
