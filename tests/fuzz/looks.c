/* SPDX-License-Identifier: BSD-3-Clause */
/* See looks.h. */
#include "tests/fuzz/looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_looks_ask(struct fuzz_input *in, const struct scribe_daemon *d, struct scribe_msg_live_request *m)
{
	unsigned b = fuzz_byte(in);

	m->what = b % 5;
	m->job = b / 5 % 8 < 7 ? b / 5 % 8 : b;
	m->begun_ns = m->job < SCRIBE_JOBS_MAX && d->job[m->job] ? d->job[m->job]->begun_ns : b;
	m->names = fuzz_byte(in) % (SCRIBE_LIVE_NAMES_MAX + 2);
	fuzz_take(in, &m->from, fuzz_byte(in) % (sizeof(m->from) + 1));
	fuzz_take(in, m->name, fuzz_byte(in) % 64);
}

/* Items fill their page, and are of jobs of the one who asks. */
void fuzz_looks_judge(uid_t uid, const char *page, size_t bytes)
{
	const struct scribe_msg_live_reply *looked = (const void *)page;
	size_t at = sizeof(*looked);

	if (bytes < at)
		abort();
	for (uint32_t i = 0; i < looked->items; i++) {
		const struct scribe_live_head *head = (const void *)(page + at);

		if (bytes - at < sizeof(*head) || head->bytes > bytes - at - sizeof(*head))
			abort();
		if (head->type == SCRIBE_LIVE_JOB && uid &&
		    ((const struct scribe_live_job *)(const void *)(head + 1))->uid != uid)
			abort();
		at += sizeof(*head) + (head->bytes + 7) / 8 * 8;
	}
	if (at != bytes)
		abort();
}

bool fuzz_looks_own(const char *text, size_t bytes, uid_t uid)
{
	char line[32];
	size_t n = (size_t)snprintf(line, sizeof(line), "\nuid=%u\n", (unsigned)uid);

	/* a user's shares begin with it */
	return (bytes >= n - 1 && !memcmp(text, line + 1, n - 1)) || memmem(text, bytes, line, n);
}

/* No thread of theirs ends before its process. */
void scribe_bpf_undrained(struct scribe_bpf *bpf, uint32_t job, uint64_t ret_events[2])
{
	memset(ret_events, 0, 2 * sizeof(*ret_events));
}
