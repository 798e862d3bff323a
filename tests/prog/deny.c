// SPDX-License-Identifier: BSD-3-Clause
// link: seccomp
/*
 * deny ERROR CALL[,CALL...] CMD...: run CMD below a seccomp filter that answers
 * these system calls with an error (a number), or kills who calls them ("kill").
 */
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	uint32_t action;

	if (argc < 4 || !filter)
		return 120;
	action = !strcmp(argv[1], "kill") ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO((uint32_t)atoi(argv[1]));
	for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
		int call = seccomp_syscall_resolve_name(name);

		if (call == __NR_SCMP_ERROR || seccomp_rule_add(filter, action, call, 0)) {
			fprintf(stderr, "deny: %s cannot be denied\n", name);
			return 121;
		}
	}
	if (seccomp_load(filter))
		return 122;
	execvp(argv[3], argv + 3);
	return 123;
}
