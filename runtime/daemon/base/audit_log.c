/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines about refused requests, with uid and process id from the kernel. Limited, so that a client cannot fill
 * the system's log.
 */
#include "runtime/daemon/base/audit_log.h"

#include <stdint.h>
#include <stdio.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/proto.h"

#define LINES     200 /* per window */
#define WINDOW_NS 10000000000ull

static void say(const char *head, const char *text)
{
	static uint64_t begin, more;
	static unsigned lines;
	uint64_t now = scribe_now_ns();
	char plain[SCRIBE_TEXT_MAX];
	size_t n = 0;

	if (now - begin >= WINDOW_NS) {
		if (more)
			fprintf(stderr, "ioscribed: refused %llu more requests\n", (unsigned long long)more);
		begin = now;
		lines = 0;
		more = 0;
	}
	if (lines++ >= LINES) {
		more++;
		return;
	}
	/* Text of a client must not forge further lines. */
	for (; text[n] && n < sizeof(plain) - 1; n++)
		plain[n] = text[n] >= ' ' && text[n] < 0x7f ? text[n] : '?';
	plain[n] = 0;
	fprintf(stderr, "ioscribed: %s: %s\n", head, plain);
}

void scribe_audit_log_refused(uid_t uid, pid_t pid, const char *text)
{
	char head[64];

	snprintf(head, sizeof(head), "refused uid %u pid %d", (unsigned)uid, (int)pid);
	say(head, text);
}

void scribe_audit_log_old_keys(uid_t uid, pid_t pid, const char *text)
{
	char head[64];

	if (pid)
		snprintf(head, sizeof(head), "old names of keys, uid %u pid %d", (unsigned)uid, (int)pid);
	else
		snprintf(head, sizeof(head), "old names of keys in the environment, uid %u", (unsigned)uid);
	say(head, text);
}

void scribe_audit_log_no_place(uid_t uid, const char *text)
{
	char head[64];

	snprintf(head, sizeof(head), "no place for a log of uid %u", (unsigned)uid);
	say(head, text);
}
