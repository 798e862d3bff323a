// SPDX-License-Identifier: BSD-3-Clause
/*
 * Settings from text, files and the environment, in ioscribe's (keys.c) and Darshan's names
 * (darshan_settings.c).
 */
#include "runtime/daemon/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/old_names.h"

/* A larger file is not a configuration, and would block the daemon. */
#define CONFIG_BYTES_MAX (1u << 20)
#define OURS             SCRIBE_CONFIG_VARIABLE

bool scribe_config_is_variable(const char *name)
{
	return scribe_config_is_key_variable(name) ||
	       (!strncmp(name, "DARSHAN_", 8) && scribe_config_is_darshan(name + 8));
}

int scribe_config_environment(struct scribe_config *c, struct scribe_err *err)
{
	int rc = 0;

	for (char **e = environ; *e && rc == 0; e++) {
		char name[64];
		size_t n = strcspn(*e, "=");
		struct scribe_err why = {0};

		if (strncmp(*e, OURS, strlen(OURS)) || !(*e)[n] || n >= sizeof(name))
			continue;
		memcpy(name, *e, n);
		name[n] = 0;
		rc = scribe_config_set(c, name, *e + n + 1, &why);
		if (rc < 0)
			scribe_err_set(err, rc, "environment, %s: %s", name, why.text);
	}
	return rc;
}

int scribe_config_set(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err)
{
	int rc = scribe_config_set_key(c, name, value, err);

	if (rc != -ENOENT)
		return rc;
	if (!strncmp(name, OURS, strlen(OURS)))
		return 0;
	/* Unknown variables are ignored, unlike unknown keys in a file. */
	if (!strncmp(name, "DARSHAN_", 8)) {
		(void)scribe_config_darshan(c, name + 8, value, err);
		return 0;
	}
	if (scribe_config_is_darshan(name))
		return scribe_config_darshan(c, name, value, err);
	return scribe_err_set(err, -EINVAL, "unknown key '%s'", name);
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return s;
}

static int set_line(struct scribe_config *c, char *line, struct scribe_err *err)
{
	char *equals, *key;
	size_t word;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	/* "KEY value" is tried first, and only for Darshan's keys: our values may contain blanks before '='. */
	word = strcspn(line, " \t=");
	if (line[word] != '=') {
		char *key_end = line + word, was = *key_end;

		*key_end = 0;
		if (scribe_config_is_darshan(line) && (!was || *trim(key_end + 1) != '='))
			return scribe_config_darshan(c, line, was ? trim(key_end + 1) : key_end, err);
		*key_end = was;
	}
	equals = strchr(line, '=');
	if (!equals)
		return scribe_err_set(err, -EINVAL, "'%.60s' is not key = value", line);
	*equals = 0;
	key = trim(line);
	return scribe_config_set(c, key, trim(equals + 1), err);
}

int scribe_config_text(struct scribe_config *c, const char *text, size_t bytes, const char *label,
		       struct scribe_err *err)
{
	size_t at = 0;

	for (unsigned number = 1; at < bytes; number++) {
		const char *newline = memchr(text + at, '\n', bytes - at);
		size_t n = newline ? (size_t)(newline - text) - at : bytes - at;
		char *line = strndup(text + at, n);
		struct scribe_err why = {0};
		int rc = line ? set_line(c, line, &why) : scribe_err_set(&why, -ENOMEM, "out of memory");

		free(line);
		if (rc < 0)
			return scribe_err_set(err, rc, "%s, line %u: %s", label, number, why.text);
		at += n + 1;
	}
	return 0;
}

/* " #" starts a comment after KEY = VALUE, but not in Darshan's lines, which lack the '='. */
static size_t without_comments(char *text, size_t bytes)
{
	size_t to = 0;
	bool has_equals = false, skip = false;

	for (size_t i = 0; i < bytes; i++) {
		has_equals = text[i] != '\n' && (has_equals || text[i] == '=');
		skip = text[i] != '\n' &&
		       (skip || (text[i] == '#' && has_equals && isspace((unsigned char)text[i - 1])));
		if (!skip)
			text[to++] = text[i];
	}
	return to;
}

int scribe_config_file(struct scribe_config *c, const char *path, struct scribe_err *err)
{
	/* O_NONBLOCK: a FIFO or a device must not block the daemon. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text;
	ssize_t n;
	int rc;

	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CONFIG_BYTES_MAX) {
		close(fd);
		return scribe_err_set(err, -EINVAL, "%s is not a regular file of at most 1 MiB", path);
	}
	text = malloc((size_t)st.st_size + 1);
	n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	/* The site's expressions are compiled at once, to report errors early; a user's never. */
	c->exclusion_rules.compiles = true;
	rc = n < 0 ? scribe_err_set(err, text ? -errno : -ENOMEM, "cannot read %s", path)
		   : scribe_config_text(c, text, without_comments(text, (size_t)n), path, err);
	c->exclusion_rules.compiles = false;
	close(fd);
	free(text);
	return rc;
}

int scribe_config_copy(struct scribe_config *to, const struct scribe_config *from)
{
	int rc;

	/* A flat copy first; then each owned list is replaced. */
	*to = *from;
	to->exclusion_rules = (struct scribe_exclusion_rules){0};
	rc = scribe_exclusions_copy(&to->paths, &from->paths);
	if (rc == 0)
		rc = scribe_exclusion_rules_copy(&to->exclusion_rules, &from->exclusion_rules);
	if (rc < 0)
		scribe_config_clear(to);
	return rc;
}

void scribe_config_report_old_keys(const struct scribe_config *c)
{
	char text[SCRIBE_OLD_KEYS_TEXT_MAX];

	if (c->old_keys)
		fprintf(stderr, "ioscribed: %s\n",
			scribe_old_keys_text(SCRIBE_OLD_KEYS_HEAD, c->old_keys, text, sizeof(text)));
}

void scribe_config_clear(struct scribe_config *c)
{
	scribe_exclusions_clear(&c->paths);
	scribe_exclusion_rules_clear(&c->exclusion_rules);
}
