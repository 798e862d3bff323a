/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective finalize. The daemon keeps a copy until all ranks of the node succeeded, and writes the log
 * from it after any failure. Runs in MPI_Finalize. struct scribe_final is static and releases its parts here.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/mpi/final.h"
#include "runtime/client/mpi/finalize.h"

#define HELLO_MS        2000 /* for the first answer */
#define MEET_MS         2000 /* for ranks not seen before: they may lack the runtime */
#define WORK_SHARE      4    /* fraction of the deadline kept for writing … */
#define WORK_MAX_MS     2500 /* … with this limit; the rest is for late ranks */
#define DONE_MS         2000 /* beyond the deadline, for DONE */
#define PROGRESS_MS     1    /* interval for MPI's progress */
#define DEADLINE_MAX_MS 120000

static int await_answer(struct scribe_link *link, struct scribe_mpi *mpi, int64_t deadline)
{
	/* The daemon waits for all ranks of the node, which may still need this rank's MPI progress. */
	while (!scribe_link_ready(link, PROGRESS_MS)) {
		if (scribe_msg_now_ms() >= deadline)
			return -1;
		mpi->verbs->progress(mpi);
	}
	return 0;
}

static int greet(struct scribe_link *link, const struct scribe_identity *who, struct scribe_msg_hello_ok *ret_hello)
{
	int64_t deadline = scribe_msg_now_ms() + HELLO_MS;
	int rc = scribe_link_open(link, deadline);

	if (rc == 0)
		rc = scribe_link_send_hello(link, who, deadline);
	if (rc == 0)
		rc = scribe_link_send_fetch(link, deadline);
	if (rc == 0)
		rc = scribe_link_receive_hello(link, deadline, ret_hello);
	return rc < 0 || !ret_hello->collective || !ret_hello->finalize_timeout_ms ? -1 : 0;
}

/* ret_granted: the daemon has answered all ranks of the node. */
static int fetch(struct scribe_final *f, struct scribe_link *link, const struct scribe_msg_hello_ok *hello,
		 struct scribe_msg_fetch_ok *ret_ok, bool *ret_granted)
{
	int64_t work_ms = hello->finalize_timeout_ms / WORK_SHARE < WORK_MAX_MS
				  ? hello->finalize_timeout_ms / WORK_SHARE
				  : WORK_MAX_MS;
	int64_t deadline = f->coll.deadline - work_ms;
	int fd, rc;

	/* Without a HELLO from all ranks some may never come: wait MEET_MS only. */
	if (!(hello->flags & SCRIBE_HELLO_ALL_MET) && deadline > scribe_msg_now_ms() + MEET_MS)
		deadline = scribe_msg_now_ms() + MEET_MS;
	rc = await_answer(link, f->coll.mpi, deadline);
	if (rc == 0)
		rc = scribe_link_receive_fetch(link, deadline, ret_ok, &fd);
	if (rc < 0)
		return rc;
	*ret_granted = true;
	return scribe_log_image_open(&f->image, fd, ret_ok->image_bytes);
}

static int create_log(struct scribe_final *f, const char *path)
{
	size_t len = strlen(path);

	if (!len)
		return -1;
	f->path = scribe_coll_alloc(&f->coll, len + 1);
	if (!f->path)
		return -1;
	memcpy(f->path, path, len);
	/*
	 * Before the agreement, so that a failure is agreed, too. O_EXCL: the daemon has removed an older file
	 * of a fixed name.
	 */
	f->fd = scribe_fd_high(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
	if (f->fd >= 0)
		return 0;
	f->path = NULL;
	return -1;
}

static bool write_together(struct scribe_final *f)
{
	/* After a failure each step returns at once: all ranks make the same sequence of calls. */
	scribe_final_agree(f);
	scribe_final_search(f);
	scribe_final_reduce(f);
	scribe_final_write(f);
	if (f->fd >= 0) {
		/* quota and network file systems may fail only here */
		if (close(f->fd) < 0)
			f->failed = true;
		f->fd = -1;
	}
	if (f->failed_any)
		return false;
	return scribe_final_vote(f);
}

static void report(struct scribe_final *f, struct scribe_link *link, bool ok)
{
	int64_t deadline = f->coll.deadline;

	/* Removed before DONE: the daemon then writes a file of this name. */
	if (!ok && f->rank == 0 && f->path)
		unlink(f->path);
	if (deadline < scribe_msg_now_ms() + DONE_MS)
		deadline = scribe_msg_now_ms() + DONE_MS;
	scribe_link_done(link, ok, f->rank == 0 && f->path ? f->path : "", deadline);
}

/* For tests; the ranks agree on one. */
static enum scribe_shared_way way_forced(void)
{
	const char *name = getenv("IOSCRIBE_SHARED_BY");

	if (name && !strcmp(name, "and"))
		return SCRIBE_SHARED_AND;
	return name && !strcmp(name, "tree") ? SCRIBE_SHARED_TREE : SCRIBE_SHARED_HASH;
}

static void finish(struct scribe_final *f, struct scribe_link *link, const struct scribe_msg_hello_ok *hello)
{
	static struct scribe_msg_fetch_ok ok;
	bool granted = false, done = false;

	f->way = way_forced();
	f->failed = fetch(f, link, hello, &ok, &granted) < 0;
	/* with all ranks on this node, all are refused: no rank waits */
	if (!granted && hello->flags & SCRIBE_HELLO_WHOLE_WORLD)
		return;
	if (!f->failed) {
		f->partial = ok.partial | f->image.header->partial_flag;
		if (f->rank == 0 && create_log(f, ok.path) < 0)
			f->failed = true;
	}
	if (scribe_coll_begin(&f->coll) == 0)
		done = write_together(f);
	report(f, link, done);
	f->coll.mpi->verbs->end(f->coll.mpi, !f->coll.broken);
	if (f->coll.broken)
		return;
	scribe_log_image_close(&f->image);
	scribe_coll_free(&f->coll);
}

void scribe_finalize(struct scribe_rank_state *s)
{
	static struct scribe_final f; /* large; one per process */
	struct scribe_msg_hello_ok hello = {0};
	struct scribe_link link;

	f.coll.mpi = &s->mpi;
	f.rank = s->who.rank;
	f.size = s->who.size;
	f.fd = -1;
	if (greet(&link, &s->who, &hello) == 0) {
		if (hello.finalize_timeout_ms > DEADLINE_MAX_MS)
			hello.finalize_timeout_ms = DEADLINE_MAX_MS;
		f.coll.deadline = scribe_msg_now_ms() + hello.finalize_timeout_ms;
		finish(&f, &link, &hello);
	}
	scribe_link_close(&link);
}
