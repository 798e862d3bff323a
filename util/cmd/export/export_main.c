// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-export. Its one-entry command table has the messages and help of `ioscribe export`. */
#include <stddef.h>

#include "util/cmd/export/export.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_export, NULL};

	scribe_commands_set(commands);
	return scribe_export_main(argc, argv);
}
