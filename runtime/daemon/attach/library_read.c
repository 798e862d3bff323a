// SPDX-License-Identifier: BSD-3-Clause
/*
 * Helpers that read libraries and processes' memory. A file is read with its owner's identity (root's as user
 * 65534): results count for that file only. After timeouts a user's requests pause. Must not know
 * what is found.
 */
#include "runtime/daemon/attach/library_probes_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/lookup/path_lookup.h"

#define NOBODY   65534u
#define ROOTS_MS 5000 /* per file of root's, at the start of a service */
/* per file or process of a user, ms */
#define USERS_MS 200
/* after this time without timeouts */
#define FORGET_NS 600000000000ull

/* The key is uid + 1, because 0 is not a valid key. */
static struct scribe_slow *slow_of(struct scribe_libs *l, uint32_t uid)
{
	struct scribe_slow *slow = scribe_map_get(&l->slow, uid + 1ull);

	if (!slow && (slow = calloc(1, sizeof(*slow))) && scribe_map_put(&l->slow, uid + 1ull, slow) < 0) {
		free(slow);
		slow = NULL;
	}
	if (slow && slow->lost && scribe_now_ns() > slow->next_ns + FORGET_NS)
		slow->lost = 0;
	return slow;
}

bool scribe_libs_is_slow(struct scribe_libs *l, uint32_t uid)
{
	const struct scribe_slow *slow = uid ? scribe_map_get(&l->slow, uid + 1ull) : NULL;

	return slow && scribe_now_ns() < slow->next_ns;
}

/* Not for root: all users need its files. */
void scribe_libs_lose(struct scribe_libs *l, struct scribe_helper *h, uint32_t uid)
{
	struct scribe_slow *slow = uid ? slow_of(l, uid) : NULL;

	scribe_helper_stop(h);
	if (slow)
		slow->next_ns = scribe_now_ns() + (SCRIBE_PATH_LOOKUP_REST_NS << slow->lost);
	if (slow && slow->lost < SCRIBE_PATH_LOOKUPS_MAX)
		slow->lost++;
}

struct scribe_helper *scribe_libs_reader(struct scribe_libs *l, uint32_t owner)
{
	struct scribe_helper *h = owner ? &l->reader : &l->roots;
	/* without privileges the daemon's own uid */
	uint32_t uid = geteuid() ? geteuid() : owner ? owner : NOBODY;
	struct scribe_err err;

	if (h->sock >= 0 && owner && l->reader_uid != owner)
		scribe_helper_stop(h);
	l->reader_uid = owner ? owner : l->reader_uid;
	if (h->sock < 0 && scribe_helper_start(h, uid, uid, "", &err) < 0)
		return NULL;
	return h;
}

int scribe_libs_analyse(void *ctx, int fd, uint32_t owner, struct scribe_elf_analysis *ret)
{
	struct scribe_daemon *d = ctx;
	struct scribe_libs *l = d->libs;
	int rc;

	if (l->studied) {
		*ret = l->study;
		return l->analysis_rc;
	}
	rc = scribe_libs_is_slow(l, owner) ? -ETIMEDOUT : -EPIPE;

	/* root's files: another process of the helper's unprivileged user may have killed it */
	for (int i = 0; i < (owner ? 1 : 2) && rc == -EPIPE; i++) {
		struct scribe_helper *h = scribe_libs_reader(l, owner);

		if (!h)
			return -EIO;
		rc = scribe_helper_analyse(h, fd, ret, owner ? USERS_MS : ROOTS_MS);
		if (h->sock < 0)
			scribe_libs_lose(l, h, owner);
	}
	return rc;
}

const char *scribe_libs_refused(int fd, uint64_t inode, struct stat *ret)
{
	if (scribe_uprobes_stat(fd, ret) < 0 || !S_ISREG(ret->st_mode))
		return "it is no regular file";
	if (inode && ret->st_ino != inode)
		return "another file has its name now";
	return NULL;
}

static bool have_peeker(struct scribe_daemon *d, uint32_t uid)
{
	struct scribe_libs *l = d->libs;
	struct scribe_err err;

	if (scribe_libs_is_slow(l, uid))
		return false;
	if (l->peeker.sock >= 0)
		return true;
	/* own uid: reading other processes' memory needs CAP_SYS_PTRACE */
	if (scribe_helper_start(&l->peeker, geteuid(), getegid(), "", &err) < 0)
		return false;
	(void)scribe_watch_edge(d->epoll, l->peeker.sock, &d->bpf);
	return true;
}

static void got(struct scribe_peeks *k, uint64_t at, int rc, uint32_t value)
{
	k->got[k->n].at = at;
	k->got[k->n].rc = rc;
	k->got[k->n++].value = value;
}

static void look(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes, struct scribe_peeks *k)
{
	struct scribe_libs *l = d->libs;
	uint32_t value = 0;
	int rc;

	/* one read at a time */
	if (!k->asked && l->peeking)
		return;
	if (!k->asked) {
		rc = have_peeker(d, uid) ? scribe_helper_peek_begin(&l->peeker, pid, at, bytes, USERS_MS) : -ETIMEDOUT;
		if (rc < 0)
			got(k, at, rc, 0);
		k->asked = l->peeking = rc == 0;
		k->at = at;
		return;
	}
	if (!scribe_helper_peeked(&l->peeker, &value, &rc))
		return;
	k->asked = l->peeking = false;
	got(k, k->at, rc, value);
	if (l->peeker.sock < 0)
		scribe_libs_lose(l, &l->peeker, uid);
}

bool scribe_libs_peek(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes,
		      struct scribe_peeks *k, uint32_t *ret_value)
{
	struct scribe_libs *l = d->libs;
	int rc;

	if (!k) {
		if (l->peeking || !have_peeker(d, uid))
			return false;
		rc = scribe_helper_peek(&l->peeker, pid, at, bytes, ret_value, USERS_MS);
		if (l->peeker.sock < 0)
			scribe_libs_lose(l, &l->peeker, uid);
		return rc == 0;
	}
	/* each address is read once: the caller repeats all of its reads until none is pending */
	for (int again = 0; again < 2; again++) {
		for (unsigned i = 0; i < k->n; i++) {
			if (k->got[i].at != at)
				continue;
			*ret_value = k->got[i].value;
			return k->got[i].rc == 0;
		}
		if (k->n == SCRIBE_PEEKS_MAX)
			return false;
		if (!again && !k->later && (!k->asked || k->at == at))
			look(d, uid, pid, at, bytes, k);
	}
	k->later = true;
	return false;
}

void scribe_libs_forget_peeks(struct scribe_libs *l, struct scribe_peeks *k)
{
	if (k->asked) {
		scribe_helper_stop(&l->peeker);
		l->peeking = false;
	}
	*k = (struct scribe_peeks){0};
}

void scribe_libs_read_end(struct scribe_libs *l)
{
	scribe_helper_stop(&l->roots);
	scribe_helper_stop(&l->reader);
	scribe_helper_stop(&l->peeker);
	l->peeking = false;
	for (size_t i = 0; i < l->slow.buckets; i++)
		free(l->slow.entry[i].value);
	scribe_map_clear(&l->slow);
}
