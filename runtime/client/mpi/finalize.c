/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective finalize, step by step: fetch this rank's records, agree, reduce, write, vote, and
 * report to the daemon, which keeps its own copy of the records until all ranks of the node have
 * reported success. Whatever fails, the daemon writes the log from that copy. Runs in MPI_Finalize,
 * on the thread that called it. struct scribe_final is static; image, descriptor and memory in it
 * are released here.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/mpi/final.h"
#include "runtime/client/mpi/finalize.h"

#define HELLO_MS        2000 /* for the daemon's first answer */
#define MEET_MS         2000 /* for ranks that have never spoken: they may have no runtime */
#define WORK_SHARE      4    /* this part of the deadline is kept for writing the log, … */
#define WORK_MAX_MS     2500 /* … but not more than this; the rest may pass in waiting for late ranks */
#define DONE_MS         2000 /* beyond the deadline, for the daemon to take note of DONE */
#define PROGRESS_MS     1    /* while waiting, MPI gets a chance this often */
#define DEADLINE_MAX_MS 120000

/*
 * The daemon answers when all ranks of the node have come. What they still have
 * under way may need this rank's MPI library: keep it moving.
 */
static int await_answer(struct scribe_link *link, struct scribe_mpi *mpi, int64_t deadline)
{
	while (!scribe_link_ready(link, PROGRESS_MS)) {
		if (scribe_msg_now_ms() >= deadline)
			return -1;
		mpi->verbs->progress(mpi);
	}
	return 0;
}

/* Connect, say who we are and ask at once; the answers come in order. */
static int greet(struct scribe_link *link, const struct scribe_identity *who,
		 struct scribe_msg_hello_ok *ret_hello)
{
	int64_t deadline = scribe_msg_now_ms() + HELLO_MS;
	int rc = scribe_link_open(link, deadline);

	if (rc == 0)
		rc = scribe_link_say_hello(link, who, deadline);
	if (rc == 0)
		rc = scribe_link_say_fetch(link, deadline);
	if (rc == 0)
		rc = scribe_link_hear_hello(link, deadline, ret_hello);
	return rc < 0 || !ret_hello->collective || !ret_hello->finalize_timeout_ms ? -1 : 0;
}

/*
 * ret_granted: the daemon has answered, and so it has all other ranks of this node. Waits for ranks
 * that have never sent HELLO only MEET_MS. Part of the deadline is left for writing.
 */
static int fetch(struct scribe_final *f, struct scribe_link *link, const struct scribe_msg_hello_ok *hello,
		 struct scribe_msg_fetch_ok *ret_ok, bool *ret_granted)
{
	int64_t work_ms = hello->finalize_timeout_ms / WORK_SHARE < WORK_MAX_MS
				  ? hello->finalize_timeout_ms / WORK_SHARE
				  : WORK_MAX_MS;
	int64_t deadline = f->coll.deadline - work_ms;
	int fd, rc;

	if (!(hello->flags & SCRIBE_HELLO_ALL_MET) && deadline > scribe_msg_now_ms() + MEET_MS)
		deadline = scribe_msg_now_ms() + MEET_MS;
	rc = await_answer(link, f->coll.mpi, deadline);
	if (rc == 0)
		rc = scribe_link_hear_fetch(link, deadline, ret_ok, &fd);
	if (rc < 0)
		return rc;
	*ret_granted = true;
	return scribe_log_image_open(&f->image, fd, ret_ok->image_bytes);
}

/*
 * Rank 0 makes the log before anything is agreed, so that failing is agreed too. O_EXCL: the daemon
 * has prepared the directory, and removed an older file if its name was fixed.
 */
static int create_log(struct scribe_final *f, const char *path)
{
	size_t len = strlen(path);

	if (!len)
		return -1;
	f->path = scribe_coll_alloc(&f->coll, len + 1);
	if (!f->path)
		return -1;
	memcpy(f->path, path, len);
	f->fd = scribe_fd_high(
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
	if (f->fd >= 0)
		return 0;
	f->path = NULL;
	return -1;
}

/* Each step returns at once after a failure, so that this sequence is the same on all ranks. */
static bool write_together(struct scribe_final *f)
{
	scribe_final_agree(f);
	scribe_final_search(f);
	scribe_final_reduce(f);
	scribe_final_write(f);
	if (f->fd >= 0) {
		/* an error may show only here: quota, network file systems */
		if (close(f->fd) < 0)
			f->failed = true;
		f->fd = -1;
	}
	if (f->failed_any)
		return false;
	return scribe_final_vote(f);
}

/* The file is removed before DONE says that it failed: the daemon then writes one of that name. */
static void report(struct scribe_final *f, struct scribe_link *link, bool ok)
{
	int64_t deadline = f->coll.deadline;

	if (!ok && f->rank == 0 && f->path)
		unlink(f->path);
	if (deadline < scribe_msg_now_ms() + DONE_MS)
		deadline = scribe_msg_now_ms() + DONE_MS;
	scribe_link_done(link, ok, f->rank == 0 && f->path ? f->path : "", deadline);
}

/* For tests and measurements; the ranks agree on one. */
static enum scribe_shared_way way_forced(void)
{
	const char *name = getenv("IOSCRIBE_SHARED_BY");

	if (name && !strcmp(name, "and"))
		return SCRIBE_SHARED_AND;
	return name && !strcmp(name, "tree") ? SCRIBE_SHARED_TREE : SCRIBE_SHARED_HASH;
}

/* The answer to HELLO is there: take part in one log by all ranks. */
static void finish(struct scribe_final *f, struct scribe_link *link, const struct scribe_msg_hello_ok *hello)
{
	static struct scribe_msg_fetch_ok ok;
	bool granted = false, done = false;

	f->way = way_forced();
	f->failed = fetch(f, link, hello, &ok, &granted) < 0;
	/* with all ranks on this node the daemon refuses all alike: nobody will be waiting */
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
	static struct scribe_final f; /* large, and there is one finalize in a process */
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
