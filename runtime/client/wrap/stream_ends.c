/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a stream's bytes end whose description others use, too: processes that append, children.
 * Asked for when it is flushed and closed. Must not know: the table of streams. Runs on the traced
 * program's threads, with the lock of streams.c held.
 */
#include "runtime/client/wrap/stream_ends.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/client/wrap/seal.h"

int fileno(FILE *f);
off_t ftello(FILE *f);
size_t __fpending(FILE *f);

/* By the bare system call: the C library's fstat may be the program's own. */
static bool regular(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode);
}

int64_t scribe_stream_tell(FILE *f)
{
	int kept = errno;
	int64_t at = scribe_may_call() ? ftello(f) : -1;

	errno = kept;
	return at;
}

/* The shard that has such operations; both copies of the owner's, to stay equal. */
static void raise_max(struct scribe_counter_slot *s, enum scribe_op_class op, uint64_t last)
{
	if (!s->shard[SCRIBE_SHARD_OWNER].ops[op]) {
		scribe_raise(&s->shard[SCRIBE_SHARD_SHARED].max_byte[op], last, 1);
		return;
	}
	scribe_raise(&s->shard[SCRIBE_SHARD_OWNER].max_byte[op], last, 1);
	scribe_raise(&s->shard[SCRIBE_SHARD_OWNER_SHADOW].max_byte[op], last, 1);
}

/* What an appending stream has written ends where the file does: others may have written too. */
void scribe_append_end(struct scribe_counter_slot *s, FILE *f, bool closing)
{
	uint64_t end;
	struct stat st;

	if ((!s->shard[SCRIBE_SHARD_OWNER].ops[1] && !s->shard[SCRIBE_SHARD_SHARED].ops[1]) ||
	    !regular(fileno(f), &st))
		return;
	end = (uint64_t)st.st_size + (closing ? __fpending(f) : 0);
	if (end <= 1)
		return;
	raise_max(s, SCRIBE_OP_WRITE, end - 1);
}

/*
 * Whoever shares the description, a child or a program started, moves the position:
 * the last bytes of a stream that only wrote, or only read, end where it is now.
 */
void scribe_settle_end(struct scribe_counter_slot *s, FILE *f)
{
	const struct scribe_posix_shard *own = &s->shard[SCRIBE_SHARD_OWNER],
					*shared = &s->shard[SCRIBE_SHARD_SHARED];
	uint64_t reads = own->ops[0] + shared->ops[0], writes = own->ops[1] + shared->ops[1];
	enum scribe_op_class op = writes ? SCRIBE_OP_WRITE : SCRIBE_OP_READ;
	struct stat st;
	int64_t at;

	if (s->pos < 0 || !reads == !writes)
		return;
	at = scribe_stream_tell(f);
	/* moved without bytes? then it may stand where there are none */
	if (at <= s->pos || at <= 1 || !regular(fileno(f), &st) || at > st.st_size + (int64_t)__fpending(f))
		return;
	raise_max(s, op, (uint64_t)at - 1);
}
