/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective finalize, step by step: fetch this rank's records, agree,
 * reduce, write, vote, and report to the daemon, which keeps its own copy of the
 * records until all ranks of the node have reported success. Whatever fails, the
 * daemon writes the log from that copy.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/client/final.h"
#include "runtime/client/finalize.h"

#define WORK_SHARE  4    /* this part of the deadline is kept for writing the log, … */
#define WORK_MAX_MS 2500 /* … but not more than this; the rest may pass in waiting for late ranks */
#define DONE_MS     2000 /* beyond the deadline, for the daemon to take note of DONE */
#define PROGRESS_MS 1    /* while waiting, MPI gets a chance this often */

/*
 * The daemon answers when all ranks of the node have come. What they still have
 * under way may need this rank's MPI library: keep it moving.
 */
static int await_answer(struct scribe_link *link, struct scribe_mpi *mpi, int64_t deadline)
{
	while (!scribe_link_ready(link, PROGRESS_MS)) {
		if (scribe_now_ms() >= deadline)
			return -1;
		mpi->verbs->progress(mpi);
	}
	return 0;
}

/* Connect, say who we are and ask at once; the answers come in order. */
static int fetch(struct scribe_final *f, struct scribe_link *link, struct scribe_rank_state *s,
		 int64_t deadline, struct scribe_msg_fetch_ok *ret_ok, bool *ret_granted)
{
	struct scribe_msg_hello_ok hello;
	int fd, rc;

	rc = scribe_link_open(link, deadline);
	if (rc == 0)
		rc = scribe_link_say_hello(link, &s->who, deadline);
	if (rc == 0)
		rc = scribe_link_say_fetch(link, deadline);
	if (rc == 0)
		rc = scribe_link_hear_hello(link, deadline, &hello);
	if (rc < 0)
		return rc;
	s->whole_world = s->whole_world || hello.flags & SCRIBE_HELLO_WHOLE_WORLD;
	if (!hello.collective)
		return -1;
	rc = await_answer(link, &s->mpi, deadline);
	if (rc == 0)
		rc = scribe_link_hear_fetch(link, deadline, ret_ok, &fd);
	if (rc < 0)
		return rc;
	*ret_granted = true;
	return scribe_image_open(&f->image, fd, ret_ok->image_bytes);
}

/* Rank 0 makes the log before anything is agreed, so that failing is agreed too. */
static int create_log(struct scribe_final *f, const char *path)
{
	size_t len = strlen(path);

	if (!len)
		return -1;
	f->path = scribe_coll_alloc(&f->coll, len + 1);
	if (!f->path)
		return -1;
	memcpy(f->path, path, len);
	f->fd = scribe_fd_high(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
	if (f->fd >= 0)
		return 0;
	f->path = NULL;
	return -1;
}

static bool write_together(struct scribe_final *f)
{
	scribe_final_agree(f);
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

static void report(struct scribe_final *f, struct scribe_link *link, bool ok)
{
	int64_t deadline = f->coll.deadline;

	if (!ok && f->rank == 0 && f->path)
		unlink(f->path);
	if (deadline < scribe_now_ms() + DONE_MS)
		deadline = scribe_now_ms() + DONE_MS;
	scribe_link_done(link, ok, f->rank == 0 && f->path ? f->path : "", deadline);
}

/* The duplicate that MPI_Init did not wait for: has it come meanwhile? */
static bool have_comm(struct scribe_rank_state *s)
{
	int flag = 0;

	if (!s->dup_pending)
		return true;
	if (s->mpi.verbs->test(&s->mpi, &s->dup_req, &flag) != 0 || !flag)
		return false;
	s->dup_pending = false;
	return s->mpi.verbs->quiet(&s->mpi) == 0;
}

void scribe_finalize(struct scribe_rank_state *s)
{
	static struct scribe_final f; /* large, and there is one finalize in a process */
	static struct scribe_msg_fetch_ok ok;
	struct scribe_link link = { .sock = -1 };
	int64_t now = scribe_now_ms();
	int64_t work_ms = s->deadline_ms / WORK_SHARE < WORK_MAX_MS ? s->deadline_ms / WORK_SHARE : WORK_MAX_MS;
	bool fetched = false, granted = false, together, done;

	f.coll.mpi = &s->mpi;
	f.coll.deadline = now + s->deadline_ms;
	f.rank = s->who.rank;
	f.size = s->who.size;
	f.fd = -1;
	if (!have_comm(s))
		f.coll.broken = true;
	if (s->greeted && !f.coll.broken)
		fetched = fetch(&f, &link, s, f.coll.deadline - work_ms, &ok, &granted) == 0;
	f.failed = !fetched;
	if (fetched) {
		f.partial = ok.partial | f.image.header->partial_flag;
		if (f.rank == 0 && !f.coll.broken && create_log(&f, ok.path) < 0)
			f.failed = true;
	}
	/* the daemon that has gathered the whole world refuses all alike: nobody will be waiting */
	together = granted || !s->whole_world;
	done = !f.coll.broken && together && write_together(&f);
	if (link.sock >= 0)
		report(&f, &link, done);
	scribe_link_close(&link);
	if (f.image.map && !f.coll.broken)
		scribe_image_close(&f.image);
	scribe_coll_free(&f.coll);
	if (!f.coll.broken && together)
		s->mpi.verbs->comm_free(&s->mpi);
}
