/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the user who begins a job, for lists and log names. The uid comes from the kernel
 * (SO_PEERCRED); the name is only a label. It is searched in the local passwd file; a directory
 * service may hang for minutes, and is not queried. If the file has no entry the name that the
 * user's own command found is taken, unless it belongs to another user here. Runs in the daemon,
 * main thread. Must not know: credentials, what a name is good for.
 */
#include "runtime/daemon/config/user_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define TABLE     "/etc/passwd"
/* Bounds the time of one look-up where somebody has put a whole directory into the file. */
#define LINES_MAX 100000

/* A name becomes part of paths and of lines of text: no slash, no blank, no leading '.' or '-'. */
static bool is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-";

	return name[0] && name[0] != '.' && name[0] != '-' && strspn(name, plain) == strlen(name);
}

/* 1: it is this user's, 0: nobody's here, -1: another's. The user's own name goes to ret. */
static int look_up(uint32_t uid, const char *said, char *ret, size_t cap)
{
	FILE *table = fopen(TABLE, "re");
	char line[1024], *rest, *name, *number;
	int found = table ? 0 : -1;

	for (int n = 0; table && found != 1 && n < LINES_MAX && fgets(line, sizeof(line), table); n++) {
		rest = line;
		name = strsep(&rest, ":");
		(void)strsep(&rest, ":"); /* the password's place */
		number = strsep(&rest, ":");
		if (!number)
			continue;
		if (strtoul(number, NULL, 10) == uid && number[0] >= '0' && number[0] <= '9') {
			snprintf(ret, cap, "%s", name);
			found = 1;
		} else if (!strcmp(name, said)) {
			found = -1;
		}
	}
	if (table)
		fclose(table);
	return found;
}

/*
 * A name of digits alone is refused: it could be taken for a uid. Without a valid name the field
 * stays empty.
 */
void scribe_user_name(struct scribe_config *c)
{
	char name[sizeof(c->user)] = "";
	int found = look_up(c->uid, c->user_said, name, sizeof(name));

	c->user[0] = 0;
	if (found == 0 && strspn(c->user_said, "0123456789") < strlen(c->user_said))
		snprintf(name, sizeof(name), "%s", c->user_said);
	if (found >= 0 && is_plain(name))
		snprintf(c->user, sizeof(c->user), "%s", name);
}
