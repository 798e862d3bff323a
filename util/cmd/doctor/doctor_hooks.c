// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doctor's lines about the schedulers' hooks: hooks.conf, parsed as scripts/hooks/common does, and a log
 * that the daemon writes with their options. Must not know BPF.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cmd/doctor/doctor_parts.h"
#include "util/link/pattern_check.h"
#include "util/link/service_link.h"

#define TRY_MS 8000 /* the daemon takes up to three steps of 2 s */

static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n\v\f");
	for (n = strlen(text); n && isspace((unsigned char)text[n - 1]); n--)
		text[n - 1] = 0;
	return text;
}

static void cut_comment(char *value)
{
	/* A # begins a comment only after a blank: values may contain it. */
	for (char *p = value; *p; p++)
		if (*p == '#' && (p == value || isspace((unsigned char)p[-1]))) {
			*p = 0;
			return;
		}
}

static bool is_number(const char *value, const char *digits)
{
	return *value && value[strspn(value, digits)] == 0;
}

static const char *take(struct scribe_hooks *h, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *to;
		size_t cap;
		const char *numeric;
	} texts[] = {{"ioscribe", h->ioscribe, sizeof(h->ioscribe), NULL},
		     {"dir", h->dir, sizeof(h->dir), NULL},
		     {"library", h->library, sizeof(h->library), NULL},
		     {"options", h->options, sizeof(h->options), NULL},
		     {"seconds", h->seconds, sizeof(h->seconds), "0123456789."},
		     {"deadline", h->deadline, sizeof(h->deadline), "0123456789"},
		     {"streams", h->streams, sizeof(h->streams), NULL},
		     {"jobs", h->jobs, sizeof(h->jobs), NULL},
		     {"comment", h->comment, sizeof(h->comment), NULL},
		     {"accounting", h->accounting, sizeof(h->accounting), NULL}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(key, texts[i].key))
			continue;
		if (texts[i].numeric && !is_number(value, texts[i].numeric))
			return "is not a number; the default is used";
		if (strlen(value) >= texts[i].cap)
			return "is too long";
		if (!strcmp(key, "jobs") && strcmp(value, "all") && strcmp(value, "asked"))
			return "is neither all nor asked";
		if (!strcmp(key, "accounting") && *value && strcmp(value, "AdminComment") && strcmp(value, "Comment"))
			return "is neither AdminComment nor Comment";
		if ((!strcmp(key, "streams") || !strcmp(key, "comment")) && strcmp(value, "yes") && strcmp(value, "no"))
			return "is neither yes nor no";
		if (strcmp(key, "ioscribe") || *value)
			strcpy(texts[i].to, value);
		return NULL;
	}
	return "is no key of the hooks";
}

bool scribe_hooks_read(const char *path, struct scribe_hooks *ret, bool say)
{
	char line[4096];
	unsigned n = 0;
	bool good = true;
	FILE *f = fopen(path, "re");

	*ret = (struct scribe_hooks){.ioscribe = "ioscribe", .seconds = "1", .deadline = "10", .jobs = "all"};
	while (f && fgets(line, sizeof(line), f)) {
		char *equals = strchr(line, '='), *key, *value;
		const char *why;

		n++;
		key = trim(line);
		if (!*key || *key == '#')
			continue;
		if (!equals) {
			good = false;
			if (say)
				scribe_doctor_line(SCRIBE_DOCTOR_FIX, "hooks",
						   "%s, line %u: '%.60s' is not KEY = VALUE", path, n, key);
			continue;
		}
		*equals = 0;
		value = equals + 1;
		cut_comment(value);
		value = trim(value);
		key = trim(line);
		why = take(ret, key, value);
		if (!why)
			continue;
		good = false;
		if (say)
			scribe_doctor_line(SCRIBE_DOCTOR_FIX, "hooks", "%s, line %u: %.60s = %.60s %s", path, n, key,
					   value, why);
	}
	if (f)
		fclose(f);
	return good;
}

static void check_files(const char *path, const struct scribe_hooks *h)
{
	char beside[PATH_MAX];
	const char *slash = strrchr(h->library, '/');

	if (strchr(h->ioscribe, '/') && access(h->ioscribe, X_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "hooks", "%s: ioscribe = %s: %s", path, h->ioscribe,
				   strerror(errno));
	if (h->library[0] && access(h->library, R_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "hooks", "%s: library = %s: %s", path, h->library,
				   strerror(errno));
	if (strcmp(h->streams, "yes") || !slash)
		return;
	snprintf(beside, sizeof(beside), "%.*s/libioscribe-inside.so", (int)(slash - h->library), h->library);
	if (access(beside, R_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "hooks", "%s: streams = yes, but %s: %s", path, beside,
				   strerror(errno));
}

void scribe_doctor_hooks(const char *path, struct scribe_hooks *ret)
{
	char off[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (scribe_hooks_read(path, ret, true) && access(path, R_OK) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "hooks", "%s", path);
	check_files(path, ret);
	snprintf(off, sizeof(off), "%.*soff", slash ? (int)(slash - path + 1) : 0, path);
	if (access(off, F_OK) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "switched off",
				   "%s is there: hooks and plugin do nothing; remove it to record jobs again", off);
}

/* The hooks' options as a request for a job of this user. */
static int request(struct scribe_request *r, const struct scribe_hooks *h, const struct passwd *pw,
		   struct scribe_err *err)
{
	char options[sizeof(h->options)], *rest = options, *word, number[16];
	int rc;

	strcpy(options, h->options);
	snprintf(number, sizeof(number), "%u", (unsigned)pw->pw_uid);
	rc = scribe_request_add(r, "uid", number, err);
	snprintf(number, sizeof(number), "%u", (unsigned)pw->pw_gid);
	if (rc == 0)
		rc = scribe_request_add(r, "gid", number, err);
	if (rc == 0)
		rc = scribe_request_add(r, "user", pw->pw_name, err);
	while (rc == 0 && (word = strsep(&rest, " \t"))) {
		char *equals = strchr(word, '=');

		if (!*word)
			continue;
		if (!equals)
			return scribe_err_set(err, -EINVAL, "'%.60s' is not KEY=VALUE", word);
		*equals = 0;
		rc = scribe_request_add(r, word, equals + 1, err);
	}
	return rc < 0 ? rc : scribe_check_patterns(r->text, r->bytes, err);
}

static void written_to(const char *text, size_t bytes, char *ret, size_t cap)
{
	size_t skip = sizeof("log_dir=") - 1;

	snprintf(ret, cap, "%.*s", bytes > skip ? (int)(bytes - skip - 1) : 0, text + (bytes > skip ? skip : 0));
}

int scribe_doctor_try(const struct scribe_hooks *h, const struct passwd *pw, char *ret_dir, size_t cap,
		      struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	/* The daemon accepts JOB_CHECK from root only. */
	const struct scribe_msg_header *head = (const void *)packet;
	static struct scribe_request r;
	int64_t deadline = scribe_msg_now_ms() + TRY_MS;
	int rc, sock;

	r.bytes = 0;
	rc = request(&r, h, pw, err);
	if (rc < 0)
		return rc;
	sock = scribe_job_connect(deadline, err);
	if (sock < 0)
		return sock;
	rc = scribe_msg_send(sock, SCRIBE_MSG_JOB_CHECK, 0, r.text, r.bytes, -1, TRY_MS);
	if (rc < 0)
		scribe_err_set(err, rc, "it does not listen: %s", strerror(-rc));
	ret_dir[0] = 0;
	while (rc >= 0 && (rc = scribe_job_receive(sock, packet, deadline, err)) == SCRIBE_MSG_JOB_ENTRY)
		written_to((const char *)(head + 1), head->len, ret_dir, cap);
	close(sock);
	return rc < 0 ? rc : rc == SCRIBE_MSG_JOB_OK ? 0 : scribe_err_set(err, -EPROTO, "an unexpected answer");
}
