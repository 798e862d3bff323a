// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whom the daemon has libraries searched and read by. A file is read by a process of its
 * owner's identity (root's by one of nobody's): what it says counts for that file alone.
 * Who does not answer is not asked for a while. Must not know what is found.
 */
#include "runtime/daemon/libs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/daemon/look.h"

#define NOBODY     65534u
#define PRIVATE_MS 5000 /* for an answer, where only the one command waits, or what is read is root's */
#define SERVICE_MS 200
#define FORGET_NS  600000000000ull
#define MOUNTS_MAX 20000

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

/* Has this user kept us waiting? */
static bool is_slow(struct scribe_libs *l, uint32_t uid)
{
	const struct scribe_slow *slow = uid ? scribe_map_get(&l->slow, uid + 1ull) : NULL;

	return slow && scribe_now_ns() < slow->next_ns;
}

static void lose(struct scribe_libs *l, struct scribe_hand *h, uint32_t uid)
{
	struct scribe_slow *slow = uid ? slow_of(l, uid) : NULL;

	scribe_hand_stop(h);
	if (slow)
		slow->next_ns = scribe_now_ns() + (SCRIBE_LOOK_REST_NS << slow->lost);
	if (slow && slow->lost < SCRIBE_LOOKS_MAX)
		slow->lost++;
}

/* One process for the files of root, one for those of the user whose come. */
static struct scribe_hand *reader_of(struct scribe_libs *l, uint32_t owner)
{
	struct scribe_hand *h = owner ? &l->reader : &l->roots;
	uint32_t uid = geteuid() ? geteuid() : owner ? owner : NOBODY;
	struct scribe_err err;

	if (h->sock >= 0 && owner && l->reader_uid != owner)
		scribe_hand_stop(h);
	l->reader_uid = owner ? owner : l->reader_uid;
	if (h->sock < 0 && scribe_hand_start(h, uid, uid, "", &err) < 0)
		return NULL;
	return h;
}

int scribe_libs_study(void *ctx, int fd, uint32_t owner, bool calls, struct scribe_study *ret)
{
	struct scribe_daemon *d = ctx;
	struct scribe_libs *l = d->libs;
	int rc = is_slow(l, owner) ? -ETIMEDOUT : -EPIPE;

	/* that of root's files may have been killed by somebody who is nobody, too */
	for (int i = 0; i < (owner ? 1 : 2) && rc == -EPIPE; i++) {
		struct scribe_hand *h = reader_of(l, owner);

		if (!h)
			return -EIO;
		rc = scribe_hand_study(h, fd, calls, ret, d->service && owner ? SERVICE_MS : PRIVATE_MS);
		if (h->sock < 0)
			lose(l, h, owner);
	}
	return rc;
}

/* In the mounts that a process sees: 1 served by a program of a user's, 0 not, -ENOENT: it is not there. */
static int served_in(const char *mounts, uint64_t id, bool ours)
{
	FILE *f = fopen(mounts, "re");
	char *line = NULL;
	size_t room = 0;
	int rc = -ENOENT;

	for (unsigned n = 0; f && rc < 0 && n < MOUNTS_MAX && getline(&line, &room, f) > 0; n++) {
		const char *type = strstr(line, " - ");

		if (strtoull(line, NULL, 10) != id || !type)
			continue;
		/* what root has mounted where we live is the site's */
		rc = !strncmp(type + 3, "fuse", 4) && !(ours && strstr(type, "user_id=0,"));
	}
	free(line);
	if (f)
		fclose(f);
	return rc;
}

/*
 * Attaching reads the file in the kernel, which holds up every fork of the machine: not
 * where a user's program may keep that waiting.
 */
static bool is_served_by_user(int fd, pid_t pid)
{
	struct statx x;
	char mounts[64];
	int rc;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &x) < 0 || !(x.stx_mask & STATX_MNT_ID))
		return true;
	rc = served_in("/proc/self/mountinfo", x.stx_mnt_id, true);
	snprintf(mounts, sizeof(mounts), "/proc/%d/mountinfo", (int)pid);
	if (rc < 0)
		rc = served_in(mounts, x.stx_mnt_id, false);
	return rc != 0;
}

struct taking {
	pid_t pid;
	struct scribe_libs *l;
	struct scribe_hand_found *of; /* NULL: nobody wants to know where */
	uint64_t inode;               /* that it must be, 0 any */
};

static void take(void *ctx, const struct scribe_hand_found *f, int fd)
{
	struct taking *t = ctx;
	struct stat st;
	uint64_t dev;

	if (scribe_uprobes_stat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (t->inode && st.st_ino != t->inode))
		return;
	dev = st.st_dev;
	if (!scribe_uprobes_known(t->l->uprobes, dev, st.st_ino) && is_served_by_user(fd, t->pid))
		return;
	if (t->of) {
		*t->of = *f;
		t->of->dev = dev;
	}
	scribe_libs_attach_fd(t->l, fd, f->label);
}

bool scribe_libs_search(struct scribe_daemon *d, struct scribe_work *w, const struct scribe_search *s,
			struct scribe_hand_found *ret_mapped)
{
	struct taking t = {.pid = s->pid, .l = d->libs, .of = ret_mapped, .inode = s->inode};
	int rc = scribe_look_search(w, s, d->service && w->config.uid ? SERVICE_MS : PRIVATE_MS, take, &t);

	return rc != 0;
}

bool scribe_libs_peek(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes,
		      uint32_t *ret_value)
{
	struct scribe_libs *l = d->libs;
	struct scribe_err err;
	int rc;

	if (is_slow(l, uid) ||
	    (l->peeker.sock < 0 && scribe_hand_start(&l->peeker, geteuid(), getegid(), "", &err) < 0))
		return false;
	rc = scribe_hand_peek(&l->peeker, pid, at, bytes, ret_value, SERVICE_MS);
	if (l->peeker.sock < 0)
		lose(l, &l->peeker, uid);
	return rc == 0;
}

void scribe_libs_ask_end(struct scribe_libs *l)
{
	scribe_hand_stop(&l->roots);
	scribe_hand_stop(&l->reader);
	scribe_hand_stop(&l->peeker);
	for (size_t i = 0; i < l->slow.places; i++)
		free(l->slow.place[i].value);
	scribe_map_clear(&l->slow);
}
