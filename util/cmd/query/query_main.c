// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-query, executed by `ioscribe query` from libexec. */
#include <stddef.h>

#include "util/cmd/query/query.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_query, NULL};

	scribe_commands_set(commands);
	return scribe_query_main(argc, argv);
}
