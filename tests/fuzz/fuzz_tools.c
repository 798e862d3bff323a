/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input is a log (fuzz_any) and a command line by number, which is worked
 * on it as a user would do. The tools speak on standard error: run the fuzzer
 * with -close_fd_mask=2. Standard output goes to /dev/null.
 */
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "util/cmd/export/export.h"
#include "util/commands.h"
#include "util/tool/command.h"

#define LOG   "LOG" /* stands for the input */
#define OUT   "OUT" /* a file that is not there yet */
#define WORDS 7

static const char *const commands[][WORDS] = {
	{"parse", "--total", "--perf", "--file", "--show-incomplete", LOG},
	{"parse", "--all", "--escape", "--show-incomplete", LOG},
	{"dxt", "--show-incomplete", LOG},
	{"summary", LOG},
	{"export", "--json", LOG},
	{"export", "--csv", "--table", "file", LOG},
	{"diff", LOG, LOG},
	{"merge", "--output", OUT, LOG, LOG},
	{"merge", "--shared-redux", "--output", OUT, LOG},
	{"convert", "--obfuscate", "--key", "7", LOG, OUT},
	{"export", "--csv", "--table", "dxt_posix", LOG},
	{"analyze", LOG},
	{"convert", "--layout", "unified", LOG, OUT},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char log[64], out[64];
	int fd = fuzz_any(data, size);
	char words[WORDS][64] = {""}, *argv[WORDS + 1] = {NULL};
	const struct scribe_command *cmd;
	const char *const *line;
	int argc = 0;

	if (fd < 0)
		return 0;
	line = commands[(data[0] & 0x7f) % (sizeof(commands) / sizeof(commands[0]))];
	snprintf(log, sizeof(log), "/proc/self/fd/%d", fd);
	if (!out[0]) {
		snprintf(out, sizeof(out), "/tmp/ioscribe-fuzz-tools.%d", (int)getpid());
		fuzz_quiet();
	}
	for (; argc < WORDS && line[argc]; argc++) {
		const char *word = strcmp(line[argc], LOG) == 0 ? log : strcmp(line[argc], OUT) == 0 ? out : line[argc];

		snprintf(words[argc], sizeof(words[argc]), "%s", word);
		argv[argc] = words[argc];
	}
	scribe_commands_set(scribe_all_commands);
	cmd = scribe_command_by_name(line[0]);
	if (!cmd || (cmd == &scribe_command_export ? scribe_export_main : cmd->main)(argc, argv) == SCRIBE_EXIT_USAGE)
		abort();
	unlink(out);
	return 0;
}
