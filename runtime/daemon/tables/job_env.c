/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines NAME=VALUE with our prefixes are collected in a fixed buffer of the process; the first process with any
 * decides for its job. Must not know events.
 */
#include "runtime/daemon/tables/job_env.h"

#include <string.h>

#include "logfmt/base/old_names.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/tables/job_table.h"

static const char *const prefixes[] = {"DARSHAN_", "IOSCRIBE_"};

/* For the beginning of a string. */
static bool is_ours(const char *begin, size_t bytes)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(begin, prefixes[i], bytes < n ? bytes : n))
			return true;
	}
	return false;
}

void scribe_jobenv_feed(struct scribe_jobenv *e, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == 0) {
			if (!e->skipping && e->at > e->bytes) {
				e->text[e->at++] = '\n';
				e->bytes = e->at;
			}
			e->at = e->bytes;
			e->skipping = false;
			continue;
		}
		/* one byte for the newline */
		if (e->at + 1 >= sizeof(e->text))
			e->skipping = true;
		if (e->skipping)
			continue;
		e->text[e->at++] = text[i];
		/* a newline in a value would start another line */
		e->skipping = text[i] == '\n' || !is_ours(e->text + e->bytes, e->at - e->bytes);
	}
}

/* Returns the number of settings; `c` NULL: only counts. Errors are ignored, as in Darshan. */
static size_t apply(struct scribe_config *c, const char *prefix, const char *lines, size_t bytes)
{
	char line[SCRIBE_JOBENV_MAX];
	size_t settings = 0;

	while (bytes) {
		const char *newline = memchr(lines, '\n', bytes);
		size_t n = newline ? (size_t)(newline - lines) : bytes;
		struct scribe_err err;
		char *equals = NULL;

		if (n < sizeof(line) && !strncmp(lines, prefix, strlen(prefix))) {
			memcpy(line, lines, n);
			line[n] = 0;
			equals = strchr(line, '=');
		}
		if (equals) {
			*equals = 0;
			settings += scribe_config_is_variable(line);
			if (c)
				(void)scribe_config_set(c, line, equals + 1, &err);
		}
		n += newline != NULL;
		lines += n;
		bytes -= n;
	}
	return settings;
}

bool scribe_jobenv_is_set(const struct scribe_jobenv *e)
{
	return apply(NULL, "", e->text, e->bytes) > 0;
}

void scribe_jobenv_apply(struct scribe_job *job, const char *lines, size_t bytes)
{
	struct scribe_config *c = &job->config;
	uint32_t alignment = c->mem_alignment;
	uint32_t old = c->old_keys;
	bool locked = c->locked;
	char text[SCRIBE_OLD_KEYS_TEXT_MAX];

	/* as a user, and without keys that only apply at the job's start */
	c->locked = c->late = true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		apply(c, prefixes[i], lines, bytes);
	c->locked = locked;
	c->late = false;
	if (job->daemon->service && c->old_keys & ~old)
		scribe_audit_log_old_keys(c->uid, 0, scribe_old_keys_text("", c->old_keys & ~old, text, sizeof(text)));
	scribe_job_changed(job, alignment);
}
