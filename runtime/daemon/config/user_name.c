/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's name for lists and log names; the uid comes from the kernel. Must not know
 * credentials.
 */
#include "runtime/daemon/config/user_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE     "/etc/passwd"
#define LINES_MAX 100000 /* bounds a look-up, in case a whole directory is in the file */

/* Names become part of paths and lines: no slash, blank, or leading '.' or '-'. */
static bool is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@+-";

	return name[0] && name[0] != '.' && name[0] != '-' && strspn(name, plain) == strlen(name);
}

/* 1: the uid has a name, in ret; 0: neither uid nor name is listed; -1: the name belongs to another user. */
static int look_up(uint32_t uid, const char *said, char *ret, size_t cap)
{
	/* Only the local file: a directory service may hang for minutes. */
	FILE *table = fopen(TABLE, "re");
	char line[1024], *rest, *name, *number;
	int found = table ? 0 : -1;

	for (int n = 0; table && found != 1 && n < LINES_MAX && fgets(line, sizeof(line), table); n++) {
		rest = line;
		name = strsep(&rest, ":");
		(void)strsep(&rest, ":"); /* password */
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

void scribe_user_name(struct scribe_config *c)
{
	char name[sizeof(c->user)] = "";
	int found = look_up(c->uid, c->user_said, name, sizeof(name));

	c->user[0] = 0;
	/* The client's own look-up is used, unless it could be taken for a uid. */
	if (found == 0 && strspn(c->user_said, "0123456789") < strlen(c->user_said))
		snprintf(name, sizeof(name), "%s", c->user_said);
	if (found >= 0 && is_plain(name))
		snprintf(c->user, sizeof(c->user), "%s", name);
}
