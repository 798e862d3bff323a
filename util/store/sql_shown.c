// SPDX-License-Identifier: BSD-3-Clause
/* Addresses without passwords. */
#include "util/store/sql_shown.h"

#include <string.h>

static void cut(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

/* The password follows ':' before '@', or is a parameter after '?'. */
char *scribe_sql_shown(const char *place)
{
	char *shown = strdup(place), *host, *at, *colon, *secret;

	host = shown ? strstr(shown, "://") : NULL;
	if (!host)
		return shown;
	host += 3;
	at = memchr(host, '@', strcspn(host, "/?"));
	colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	if (colon)
		cut(colon, at);
	while ((secret = strstr(host, "password="))) {
		char *end = secret + strcspn(secret, "&");

		cut(secret, *end ? end + 1 : end);
	}
	return shown;
}
