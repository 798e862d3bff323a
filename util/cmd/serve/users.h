/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_USERS_H
#define UTIL_CMD_SERVE_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

#define SCRIBE_SERVE_TOKEN  257
#define SCRIBE_SERVE_HEADER 64
#define SCRIBE_SERVE_USERS  4096
#define SCRIBE_SERVE_ALL    (-1) /* sees the jobs of all users */

/* A line of the token file. */
struct scribe_serve_user {
	char token[SCRIBE_SERVE_TOKEN];
	char header[SCRIBE_SERVE_HEADER]; /* names the user, in requests of a proxy; "": it is always uid */
	int64_t uid;
};

struct scribe_serve_users {
	struct scribe_serve_user *all;
	size_t n;
};

/* NULL: one random token, for all jobs. The caller frees ret->all, also after an error. */
int scribe_serve_users_read(const char *path, struct scribe_serve_users *ret, struct scribe_err *err);
/* In constant time: comparing must not reveal how much of a token is right. */
bool scribe_serve_same(const char *token, const char *right);
/* NULL: no line has this token. */
const struct scribe_serve_user *scribe_serve_user_of(const struct scribe_serve_users *users, const char *token);

#endif
