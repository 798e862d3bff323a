// SPDX-License-Identifier: BSD-3-Clause
/* The token file: tokens, and the user of each. Must not know HTTP. */
#include "util/cmd/serve/users.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "util/tool/user_number.h"

#define TOKEN_BYTES 16 /* random; printed as 32 digits */
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

bool scribe_serve_same(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned differ = strlen(a) != n;

	for (size_t i = 0; i < n && a[i]; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return !differ;
}

const struct scribe_serve_user *scribe_serve_user_of(const struct scribe_serve_users *users, const char *token)
{
	const struct scribe_serve_user *found = NULL;

	for (size_t i = 0; i < users->n; i++)
		if (scribe_serve_same(token, users->all[i].token))
			found = &users->all[i];
	return found;
}

static int make_token(char *token, struct scribe_err *err)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return scribe_err_set(err, -errno, "token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* "TOKEN", "TOKEN USER" or "TOKEN header=NAME" */
static int take_line(char *line, struct scribe_serve_users *users, const char *path, int number, struct scribe_err *err)
{
	struct scribe_serve_user *u = &users->all[users->n];
	char *rest = line + strcspn(line, " \t");

	if (*rest) {
		*rest++ = 0;
		rest += strspn(rest, " \t");
		/* Without this a user that was left out would be all of them. */
		if (!*rest)
			return scribe_err_set(err, -EINVAL, "%s:%d: no user after the token", path, number);
	}
	/* A token is part of a URL: only characters that need no escape there. */
	if (strlen(line) < 16 || strlen(line) >= SCRIBE_SERVE_TOKEN || strspn(line, LETTERS "._~") != strlen(line))
		return scribe_err_set(err, -EINVAL, "%s:%d: no token: 16 to 255 letters, digits and -._~", path,
				      number);
	if (scribe_serve_user_of(users, line))
		return scribe_err_set(err, -EINVAL, "%s:%d: this token is already another line's", path, number);
	*u = (struct scribe_serve_user){.uid = SCRIBE_SERVE_ALL};
	snprintf(u->token, sizeof(u->token), "%s", line);
	if (!strncmp(rest, "header=", 7)) {
		if (!rest[7] || strlen(rest + 7) >= sizeof(u->header) || strspn(rest + 7, LETTERS) != strlen(rest + 7))
			return scribe_err_set(err, -EINVAL, "%s:%d: no name of a header: letters, digits and -", path,
					      number);
		snprintf(u->header, sizeof(u->header), "%s", rest + 7);
	} else if (*rest) {
		u->uid = scribe_user_number(rest);
		if (u->uid < 0)
			return scribe_err_set(err, -EINVAL, "%s:%d: '%.40s' is no user", path, number, rest);
	}
	users->n++;
	return 0;
}

static int read_lines(FILE *f, const char *path, struct scribe_serve_users *users, struct scribe_err *err)
{
	char line[1024];
	int rc = 0;

	for (int number = 1; rc >= 0 && fgets(line, sizeof(line), f); number++) {
		if (!strchr(line, '\n') && !feof(f))
			return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s:%d: longer than %zu bytes", path, number,
					      sizeof(line) - 2);
		line[strcspn(line, "\r\n")] = 0;
		if (number > 1 && (!*line || *line == '#'))
			continue;
		if (users->n == SCRIBE_SERVE_USERS)
			return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s: more than %d tokens", path,
					      SCRIBE_SERVE_USERS);
		rc = take_line(line, users, path, number, err);
	}
	return rc < 0 || users->n ? rc : scribe_err_set(err, -EINVAL, "%s: has no token", path);
}

int scribe_serve_users_read(const char *path, struct scribe_serve_users *ret, struct scribe_err *err)
{
	FILE *f = NULL;
	int rc;

	ret->n = 0;
	ret->all = calloc(SCRIBE_SERVE_USERS, sizeof(*ret->all));
	if (!ret->all)
		return scribe_err_set(err, -ENOMEM, "token: out of memory");
	if (!path) {
		ret->n = 1;
		ret->all[0].uid = SCRIBE_SERVE_ALL;
		return make_token(ret->all[0].token, err);
	}
	f = fopen(path, "re");
	if (!f)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = read_lines(f, path, ret, err);
	fclose(f);
	return rc;
}
