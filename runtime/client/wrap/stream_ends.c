/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of streams with a description shared by other processes: read at flush and close. The lock of streams.c
 * is held. Must not know: the table of streams.
 */
#include "runtime/client/wrap/stream_ends.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/client/wrap/seccomp.h"

int fileno(FILE *f);
off_t ftello(FILE *f);
size_t __fpending(FILE *f);

static bool regular(int fd, struct stat *st)
{
	/* Bare: the program may define fstat. */
	return syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode);
}

int64_t scribe_stream_position(FILE *f)
{
	int kept = errno;
	int64_t at = scribe_may_call() ? ftello(f) : -1;

	errno = kept;
	return at;
}

static void raise_max(struct scribe_counter_slot *s, enum scribe_op_class op, uint64_t last)
{
	if (!s->shard[SCRIBE_SHARD_OWNER].ops[op]) {
		scribe_raise(&s->shard[SCRIBE_SHARD_SHARED].max_byte[op], last, 1);
		return;
	}
	scribe_raise(&s->shard[SCRIBE_SHARD_OWNER].max_byte[op], last, 1);
	/* Both copies of the owner's shard must stay equal. */
	scribe_raise(&s->shard[SCRIBE_SHARD_OWNER_SHADOW].max_byte[op], last, 1);
}

void scribe_append_end(struct scribe_counter_slot *s, FILE *f, bool closing)
{
	uint64_t end;
	struct stat st;

	if ((!s->shard[SCRIBE_SHARD_OWNER].ops[1] && !s->shard[SCRIBE_SHARD_SHARED].ops[1]) || !regular(fileno(f), &st))
		return;
	end = (uint64_t)st.st_size + (closing ? __fpending(f) : 0);
	/* Others may have appended: the file's end counts, with what is buffered. */
	if (end <= 1)
		return;
	raise_max(s, SCRIBE_OP_WRITE, end - 1);
}

void scribe_stream_end_position(struct scribe_counter_slot *s, FILE *f)
{
	const struct scribe_posix_shard *own = &s->shard[SCRIBE_SHARD_OWNER], *shared = &s->shard[SCRIBE_SHARD_SHARED];
	uint64_t reads = own->ops[0] + shared->ops[0], writes = own->ops[1] + shared->ops[1];
	enum scribe_op_class op = writes ? SCRIBE_OP_WRITE : SCRIBE_OP_READ;
	struct stat st;
	int64_t at;

	/* Mixed reads and writes: the position does not show the end. */
	if (s->pos < 0 || !reads == !writes)
		return;
	at = scribe_stream_position(f);
	/* A child or another program may have moved the shared position: the last bytes end there. */
	/* perhaps moved without data */
	if (at <= s->pos || at <= 1 || !regular(fileno(f), &st) || at > st.st_size + (int64_t)__fpending(f))
		return;
	raise_max(s, op, (uint64_t)at - 1);
}
