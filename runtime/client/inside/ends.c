/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a stream's bytes end whose description others use, too: processes that append,
 * children. Asked for when it is flushed and closed. Must not know: the table of streams.
 */
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/client/inside/streams.h"

int fileno(FILE *f);
size_t __fpending(FILE *f);

static bool regular(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode);
}

static void raise_max(struct scribe_stream *s, enum scribe_op_class op, uint64_t last)
{
	if (!s->part[SCRIBE_PART_OWN].ops[op]) {
		scribe_raise(&s->part[SCRIBE_PART_OTHERS].max_byte[op], last, 1);
		return;
	}
	scribe_raise(&s->part[SCRIBE_PART_OWN].max_byte[op], last, 1);
	scribe_raise(&s->part[SCRIBE_PART_AGAIN].max_byte[op], last, 1);
}

/* What an appending stream has written ends where the file does: others may have written too. */
static void append_end(struct scribe_streams *m, const struct scribe_stream_entry *e, bool closing)
{
	struct scribe_stream *s = &m->stream[e->index];
	FILE *f = (FILE *)(uintptr_t)e->f;
	uint64_t end;
	struct stat st;

	if ((!s->part[SCRIBE_PART_OWN].ops[1] && !s->part[SCRIBE_PART_OTHERS].ops[1]) ||
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
static void settle_end(struct scribe_streams *m, const struct scribe_stream_entry *e)
{
	struct scribe_stream *s = &m->stream[e->index];
	const struct scribe_posix_part *own = &s->part[SCRIBE_PART_OWN],
				       *others = &s->part[SCRIBE_PART_OTHERS];
	uint64_t reads = own->ops[0] + others->ops[0], writes = own->ops[1] + others->ops[1];
	FILE *f = (FILE *)(uintptr_t)e->f;
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

void scribe_stream_ends(struct scribe_streams *m, const struct scribe_stream_entry *e, bool closing)
{
	if (!e->counted || e->file)
		return;
	if (e->append)
		append_end(m, e, closing);
	else if (closing)
		settle_end(m, e);
}
