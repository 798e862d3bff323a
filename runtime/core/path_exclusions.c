/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Excluded and included path prefixes of a job; inclusion wins. Daemon, main thread. Must not touch the file
 * system.
 */
#include "runtime/core/path_exclusions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const default_out[] = {"/etc/", "/dev/",  "/usr/", "/bin/",  "/boot/", "/lib/",
					  "/opt/", "/sbin/", "/sys/", "/proc/", "/var/"};

/* -EINVAL: the limit is reached. */
static int add(struct scribe_prefixes *p, const char *text, size_t bytes)
{
	char **more, *copy;

	/* Each name is compared with all prefixes: their number is bounded. */
	if (p->n >= SCRIBE_PREFIXES_MAX)
		return -EINVAL;
	more = realloc(p->text, (p->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->text = more;
	copy = strndup(text, bytes);
	if (!copy)
		return -ENOMEM;
	p->text[p->n++] = copy;
	return 0;
}

static void clear(struct scribe_prefixes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->text[i]);
	free(p->text);
	*p = (struct scribe_prefixes){0};
}

int scribe_exclusions_default(struct scribe_exclusions *e)
{
	for (size_t i = 0; i < sizeof(default_out) / sizeof(default_out[0]); i++) {
		int rc = add(&e->out, default_out[i], strlen(default_out[i]));

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_list(struct scribe_prefixes *p, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		int rc = 0;

		if (n == 4 && !memcmp(list, "none", 4))
			clear(p);
		else if (n && list[0] != '/')
			return -EINVAL;
		else if (n)
			rc = add(p, list, n);
		if (rc < 0)
			return rc;
		list += n;
		if (*list)
			list++;
	}
	return 0;
}

int scribe_exclusions_exclude(struct scribe_exclusions *e, const char *list)
{
	return add_list(&e->out, list);
}

int scribe_exclusions_include(struct scribe_exclusions *e, const char *list)
{
	return add_list(&e->in, list);
}

int scribe_exclusions_exclude_path(struct scribe_exclusions *e, const char *path)
{
	return add(&e->out, path, strlen(path));
}

/* At or below. */
static bool is_below(const char *prefix, const char *path, size_t bytes)
{
	size_t n = strlen(prefix);

	/* A prefix must end at a component: "/usr" does not match "/usrx". */
	if (n && prefix[n - 1] == '/')
		n--;
	return bytes >= n && !memcmp(path, prefix, n) && (bytes == n || path[n] == '/');
}

static bool any(const struct scribe_prefixes *p, const char *path, size_t bytes)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_below(p->text[i], path, bytes))
			return true;
	return false;
}

bool scribe_exclusions_match(const struct scribe_exclusions *e, const char *path, size_t bytes)
{
	return any(&e->out, path, bytes) && !any(&e->in, path, bytes);
}

/* One is a prefix of the other. */
static bool included_below(const struct scribe_prefixes *in, const char *prefix)
{
	size_t n = strlen(prefix);

	for (size_t i = 0; i < in->n; i++) {
		size_t k = strlen(in->text[i]);

		if (!strncmp(in->text[i], prefix, k < n ? k : n))
			return true;
	}
	return false;
}

int scribe_exclusions_tops(const struct scribe_exclusions *e, int (*fn)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; i < e->out.n; i++) {
		const char *prefix = e->out.text[i];
		size_t n = strlen(prefix);
		char name[32];
		int rc;

		/* The kernel's table has names of up to 31 bytes. */
		if (n < 3 || n - 2 >= sizeof(name) || prefix[n - 1] != '/')
			continue;
		/* Deeper prefixes, and those with an inclusion below, are decided by the daemon. */
		if (memchr(prefix + 1, '/', n - 2) || included_below(&e->in, prefix))
			continue;
		memcpy(name, prefix + 1, n - 2);
		name[n - 2] = 0;
		rc = fn(ctx, name);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int copy(struct scribe_prefixes *to, const struct scribe_prefixes *from)
{
	int rc = 0;

	for (size_t i = 0; i < from->n && rc == 0; i++)
		rc = add(to, from->text[i], strlen(from->text[i]));
	return rc;
}

int scribe_exclusions_copy(struct scribe_exclusions *to, const struct scribe_exclusions *from)
{
	int rc;

	memset(to, 0, sizeof(*to));
	rc = copy(&to->out, &from->out);
	if (rc == 0)
		rc = copy(&to->in, &from->in);
	if (rc < 0)
		scribe_exclusions_clear(to);
	return rc;
}

void scribe_exclusions_clear(struct scribe_exclusions *e)
{
	clear(&e->out);
	clear(&e->in);
}
