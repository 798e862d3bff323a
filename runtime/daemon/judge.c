/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the worker that knows a job's patterns. Must not know patterns. */
#include "runtime/daemon/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/daemon.h"
#include "runtime/daemon/hand_work.h"

#define ANSWER_MS 5000
#define ASKED_MAX 200000u /* at once; more are not judged */

/* A name, or a program's. */
struct scribe_question {
	struct scribe_question *next;
	enum scribe_pattern_of of;
	uint32_t slot, birth; /* of a name */
	uint32_t serial;      /* of a program */
	uint32_t bytes;
	char text[]; /* NUL included */
};

static void enqueue(struct scribe_work *w, struct scribe_question what, const char *text, size_t bytes)
{
	struct scribe_judge *j = &w->judge;
	struct scribe_question *q = NULL;

	if (j->lost < SCRIBE_JUDGES_MAX && j->asked - j->answered < ASKED_MAX)
		q = malloc(sizeof(*q) + bytes + 1);
	if (!q) {
		j->given_up++;
		return;
	}
	*q = what;
	q->bytes = (uint32_t)bytes + 1;
	memcpy(q->text, text, bytes);
	q->text[bytes] = 0;
	if (j->last)
		j->last->next = q;
	else
		j->first = q;
	j->last = q;
	j->asked++;
}

void scribe_judge_name(struct scribe_work *w, uint32_t slot, uint32_t birth, const struct scribe_label *label)
{
	if (scribe_rules_have(&w->config.rules, SCRIBE_PATTERN_NAME))
		enqueue(w, (struct scribe_question){.of = SCRIBE_PATTERN_NAME, .slot = slot, .birth = birth},
			label->text, label->bytes);
}

void scribe_judge_program(struct scribe_process *p)
{
	size_t n = p->args ? strcspn(p->args, " \n") : 0;

	p->left_out = false;
	if (p->args && scribe_rules_have(&p->work->config.rules, SCRIBE_PATTERN_PROGRAM))
		enqueue(p->work, (struct scribe_question){.of = SCRIBE_PATTERN_PROGRAM, .serial = p->serial},
			p->args, n < SCRIBE_PATH_MAX ? n : SCRIBE_PATH_MAX - 1);
}

bool scribe_judge_busy(const struct scribe_work *w)
{
	return w->judge.first;
}

/* ---- verdicts ---- */

static void apply(struct scribe_work *w, const struct scribe_question *q, uint64_t out)
{
	struct scribe_daemon *d = w->daemon;
	struct scribe_process *p;
	struct scribe_slot *slot;

	if (q->of == SCRIBE_PATTERN_PROGRAM) {
		p = scribe_worlds_find(&w->worlds, q->serial);
		if (p)
			p->left_out = out;
		return;
	}
	slot = scribe_bpf_slot(d->bpf, q->slot);
	if (slot && slot->birth == q->birth && out >> (scribe_drain_module(slot->kind) & 63) & 1)
		__atomic_fetch_or(&slot->flags, SCRIBE_SF_EXCLUDED, __ATOMIC_RELAXED);
}

/* The first `n` questions are over. */
static void over(struct scribe_work *w, unsigned n, const struct scribe_hand_answer *a)
{
	struct scribe_judge *j = &w->judge;

	for (unsigned i = 0; i < n; i++) {
		struct scribe_question *q = j->first;
		bool known = a && !(a->given_up >> i & 1);

		j->given_up += !known;
		if (known)
			apply(w, q, a->out[i]);
		j->first = q->next;
		if (!j->first)
			j->last = NULL;
		free(q);
		j->answered++;
	}
	j->sent = 0;
}

static void lose_worker(struct scribe_work *w)
{
	struct scribe_judge *j = &w->judge;

	if (j->has_hand)
		scribe_hand_stop(&j->hand);
	j->has_hand = false;
	over(w, j->sent, NULL);
	if (++j->lost < SCRIBE_JUDGES_MAX)
		return;
	while (j->first)
		over(w, 1, NULL);
}

/* ---- asking ---- */

static int write_texts(struct scribe_work *w, int fd, bool anew, unsigned *ret_n)
{
	const struct scribe_question *q = w->judge.first;
	uint32_t n = 0;
	int rc = 0;

	if (anew) {
		rc = write(fd, &n, sizeof(n)) == (ssize_t)sizeof(n) ? scribe_rules_write(&w->config.rules, fd) : -EIO;
		n = rc < 0 ? 0 : (uint32_t)rc;
		if (rc < 0 || pwrite(fd, &n, sizeof(n), 0) != (ssize_t)sizeof(n))
			return -EIO;
	}
	for (n = 0; q && n < SCRIBE_HAND_JUDGED; q = q->next)
		n++;
	if (write(fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return -EIO;
	*ret_n = n;
	for (q = w->judge.first; n; q = q->next, n--) {
		struct scribe_hand_text head = {.of = q->of, .bytes = q->bytes};

		if (write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
		    write(fd, q->text, q->bytes) != (ssize_t)q->bytes)
			return -EIO;
	}
	return 0;
}

static int ask(struct scribe_work *w)
{
	struct scribe_judge *j = &w->judge;
	struct scribe_err err;
	int rc = 0, fd;
	bool anew;

	if (!j->has_hand) {
		rc = scribe_work_start_hand(w, &j->hand, &err);
		j->has_hand = rc == 0;
		j->version = 0;
	}
	fd = rc == 0 ? memfd_create("ioscribe-names", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return -EIO;
	anew = j->version != w->config.rules.version;
	rc = write_texts(w, fd, anew, &j->sent);
	if (rc == 0)
		rc = scribe_hand_judge(&j->hand, fd, anew, ANSWER_MS);
	j->version = w->config.rules.version;
	close(fd);
	return rc;
}

void scribe_judge_tick(struct scribe_work *w)
{
	struct scribe_judge *j = &w->judge;
	struct scribe_hand_answer a;

	if (j->sent) {
		if (!scribe_hand_answer(&j->hand, &a))
			return;
		if (a.rc < 0 || a.n != j->sent)
			lose_worker(w);
		else
			over(w, j->sent, &a);
	}
	if (j->first && ask(w) < 0)
		lose_worker(w);
}

/* ---- ends that wait ---- */

bool scribe_judge_keep_end(struct scribe_process *p)
{
	struct scribe_judge *j = &p->work->judge;

	if (p->waits_for || !j->first)
		return p->waits_for;
	p->waits_for = j->asked;
	p->next_end = NULL;
	if (j->ends_last)
		j->ends_last->next_end = p;
	else
		j->ends = p;
	j->ends_last = p;
	return true;
}

struct scribe_process *scribe_judge_ended(struct scribe_work *w)
{
	struct scribe_judge *j = &w->judge;
	struct scribe_process *p = j->ends;

	if (!p || p->waits_for > j->answered)
		return NULL;
	j->ends = p->next_end;
	if (!j->ends)
		j->ends_last = NULL;
	p->waits_for = 0;
	return p;
}

void scribe_judge_end(struct scribe_work *w)
{
	struct scribe_judge *j = &w->judge;

	while (j->first)
		over(w, 1, NULL);
	if (j->has_hand)
		scribe_hand_stop(&j->hand);
	j->has_hand = false;
	j->lost = SCRIBE_JUDGES_MAX;
}
