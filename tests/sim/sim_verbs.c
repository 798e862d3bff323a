// SPDX-License-Identifier: BSD-3-Clause
// The runtime's verbs between fibers: messages, collectives, and what they cost.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim_fibers.h"

// What a verb has started.
struct request {
	struct sim_fiber *owner;
	bool done;
	double at; // the rank's clock when it is complete
};

struct sim_message {
	struct sim_message *next;
	int from;
	double at; // of a message: when it arrives
	struct request *req;
	void *buf; // of a receiver: where it goes to
	size_t bytes;
	char copy[];
};

enum kind { DUP, MAX, SUM, BAND, BCAST, EXSCAN, REDUCE };

struct place {
	const void *in;
	void *out;
	struct request *req;
};

// A collective, of which all ranks take part in the same order.
struct collective {
	struct collective *next;
	unsigned number;
	enum kind kind;
	int come, root;
	size_t bytes;
	double latest, join_ns;
	char *joined; // reduce
	scribe_mpi_combine combine;
	struct place *place; // by rank
};

static struct collective *collectives;

static struct request *begin(struct sim_fiber *f, union scribe_mpi_handle *ret_req)
{
	struct request *r = calloc(1, sizeof(*r));

	r->owner = f;
	ret_req->p = r;
	return r;
}

static void complete(struct request *r, double at)
{
	r->done = true;
	r->at = at;
	sim_wake(r->owner);
}

static int test(struct scribe_mpi *m, union scribe_mpi_handle *req, int *ret_flag)
{
	struct sim_fiber *f = sim_fiber_of(m);
	struct request *r = req->p;

	*ret_flag = r->done;
	if (!r->done)
		return 0;
	sim_stop_clock(f);
	if (r->at > f->clock)
		f->clock = r->at;
	free(r);
	sim_go_on(f);
	return 0;
}

static void append(struct sim_message **list, struct sim_message *m)
{
	while (*list)
		list = &(*list)->next;
	*list = m;
}

static struct sim_message *take_from(struct sim_message **list, int from)
{
	for (; *list; list = &(*list)->next) {
		struct sim_message *m = *list;

		if (m->from != from)
			continue;
		*list = m->next;
		return m;
	}
	return NULL;
}

static void deliver(struct sim_message *to, const void *bytes, size_t n, double at)
{
	if (n > to->bytes)
		abort(); // truncated: MPI would report an error
	if (n)
		memcpy(to->buf, bytes, n);
	complete(to->req, at);
}

static int send_to(struct scribe_mpi *m, int to, const void *buf, size_t bytes, union scribe_mpi_handle *ret_req)
{
	struct sim_fiber *f = sim_fiber_of(m), *other = &sim_world()->fiber[to];
	struct sim_message *wanted, *msg;
	double at;

	sim_stop_clock(f);
	at = f->clock + sim_message_ns(f->rank, to, bytes);
	sim_sent(f, 1, bytes);
	wanted = take_from(&other->wanted, f->rank);
	if (wanted) {
		deliver(wanted, buf, bytes, at);
		free(wanted);
	} else {
		msg = calloc(1, sizeof(*msg) + bytes);
		msg->from = f->rank;
		msg->at = at;
		msg->bytes = bytes;
		if (bytes)
			memcpy(msg->copy, buf, bytes);
		append(&other->come, msg);
	}
	complete(begin(f, ret_req), f->clock);
	sim_go_on(f);
	return 0;
}

static int recv_from(struct scribe_mpi *m, int from, void *buf, size_t bytes, union scribe_mpi_handle *ret_req)
{
	struct sim_fiber *f = sim_fiber_of(m);
	struct sim_message *wanted = calloc(1, sizeof(*wanted)), *msg;

	sim_stop_clock(f);
	*wanted = (struct sim_message){.from = from, .buf = buf, .bytes = bytes, .req = begin(f, ret_req)};
	msg = take_from(&f->come, from);
	if (msg) {
		deliver(wanted, msg->copy, msg->bytes, msg->at);
		free(msg);
		free(wanted);
	} else {
		append(&f->wanted, wanted);
	}
	sim_go_on(f);
	return 0;
}

static struct collective *collective_of(struct sim_fiber *f, enum kind kind, size_t bytes)
{
	struct collective **at = &collectives, *c;
	unsigned number = f->ncollectives++;

	for (; *at; at = &(*at)->next)
		if ((*at)->number == number)
			break;
	if (!*at) {
		c = calloc(1, sizeof(*c));
		*c = (struct collective){.number = number, .kind = kind, .bytes = bytes};
		c->place = calloc((size_t)sim_world()->n, sizeof(*c->place));
		*at = c;
	}
	c = *at;
	if (c->kind != kind || c->bytes != bytes)
		abort(); // ranks do not take part in the same
	return c;
}

// log2(ranks) messages one behind the other.
static double steps_ns(const struct collective *c)
{
	int near = 0, far = 0, n = sim_world()->n, node = sim_world()->model.ranks_node;

	for (int k = 1; k < n; k *= 2)
		if (k < node)
			near++;
		else
			far++;
	return near * (sim_message_ns(0, 0, c->bytes) + c->join_ns) +
	       far * (sim_message_ns(0, node, c->bytes) + c->join_ns);
}

static void join_words(enum kind kind, void *to, const void *from, size_t bytes)
{
	int64_t *t = to;
	const int64_t *o = from;

	if (kind == BAND) {
		for (size_t i = 0; i < bytes; i++)
			((unsigned char *)to)[i] &= ((const unsigned char *)from)[i];
		return;
	}
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i] = kind == SUM || kind == EXSCAN ? t[i] + o[i] : o[i] > t[i] ? o[i] : t[i];
}

// All have come: what each gets.
static void give(struct collective *c, char *sum)
{
	int n = sim_world()->n;

	if (c->kind == BCAST)
		memcpy(sum, c->place[c->root].in, c->bytes);
	else if (c->kind == MAX || c->kind == SUM || c->kind == BAND)
		memcpy(sum, c->place[0].in, c->bytes);
	for (int i = 1; i < n && (c->kind == MAX || c->kind == SUM || c->kind == BAND); i++)
		join_words(c->kind, sum, c->place[i].in, c->bytes);
	for (int i = 0; i < n && c->kind != DUP; i++) {
		if (c->kind == EXSCAN && i == 0) {
			memcpy(sum, c->place[0].in, c->bytes);
			continue;
		}
		memcpy(c->place[i].out, sum, c->bytes);
		if (c->kind == EXSCAN)
			join_words(EXSCAN, sum, c->place[i].in, c->bytes);
	}
}

static void end(struct collective *c)
{
	double at = c->latest + steps_ns(c);

	for (int i = 0; i < sim_world()->n; i++)
		if (c->place[i].req)
			complete(c->place[i].req, at);
	for (struct collective **p = &collectives; *p; p = &(*p)->next) {
		if (*p != c)
			continue;
		*p = c->next;
		break;
	}
	free(c->joined);
	free(c->place);
	free(c);
}

static uint64_t log2_up(int n)
{
	uint64_t k = 0;

	for (int i = 1; i < n; i *= 2)
		k++;
	return k;
}

static int take_part(struct scribe_mpi *m, enum kind kind, const void *in, void *out, size_t bytes, int root,
		     union scribe_mpi_handle *ret_req)
{
	struct sim_fiber *f = sim_fiber_of(m);
	struct collective *c;
	uint64_t messages = kind == BCAST ? f->rank != root : log2_up(sim_world()->n);
	char *sum;

	sim_stop_clock(f);
	c = collective_of(f, kind, bytes);
	c->root = root;
	c->place[f->rank] = (struct place){in, out, begin(f, ret_req)};
	sim_sent(f, messages, messages * bytes);
	if (f->clock > c->latest)
		c->latest = f->clock;
	if (++c->come == sim_world()->n) {
		sum = malloc(bytes + 1);
		give(c, sum);
		free(sum);
		end(c);
	}
	sim_go_on(f);
	return 0;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Elements are joined as they come: a leaf goes on, and its memory is its own again.
static int reduce(struct scribe_mpi *m, const void *in, void *out, size_t bytes, scribe_mpi_combine combine,
		  union scribe_mpi_handle *ret_req)
{
	struct sim_fiber *f = sim_fiber_of(m);
	struct collective *c;
	struct request *r;
	double from;

	sim_stop_clock(f);
	c = collective_of(f, REDUCE, bytes);
	r = begin(f, ret_req);
	if (!c->joined) {
		c->joined = malloc(bytes);
		memcpy(c->joined, in, bytes);
	} else {
		from = cpu_ns();
		combine(in, c->joined, bytes);
		c->join_ns = cpu_ns() - from;
	}
	if (f->clock > c->latest)
		c->latest = f->clock;
	if (f->rank == 0) {
		c->place[0] = (struct place){in, out, r};
	} else {
		sim_sent(f, 1, bytes);
		complete(r, f->clock + sim_message_ns(f->rank, 0, bytes));
	}
	if (++c->come == sim_world()->n) {
		memcpy(c->place[0].out, c->joined, bytes);
		end(c);
	}
	sim_go_on(f);
	return 0;
}

static int dup_world(struct scribe_mpi *m, union scribe_mpi_handle *ret_req)
{
	return take_part(m, DUP, NULL, NULL, 0, 0, ret_req);
}

static void nothing(struct scribe_mpi *m)
{
	(void)m;
}

static void end_all(struct scribe_mpi *m, bool all_done)
{
	(void)m;
	(void)all_done;
}

static int bcast(struct scribe_mpi *m, void *buf, size_t bytes, int root, union scribe_mpi_handle *ret_req)
{
	return take_part(m, BCAST, buf, buf, bytes, root, ret_req);
}

static int max(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req)
{
	return take_part(m, MAX, inout, inout, n * sizeof(*inout), 0, ret_req);
}

static int sum(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req)
{
	return take_part(m, SUM, inout, inout, n * sizeof(*inout), 0, ret_req);
}

static int exscan(struct scribe_mpi *m, const int64_t *in, int64_t *out, size_t n, union scribe_mpi_handle *ret_req)
{
	return take_part(m, EXSCAN, in, out, n * sizeof(*in), 0, ret_req);
}

static int band(struct scribe_mpi *m, void *inout, size_t bytes, union scribe_mpi_handle *ret_req)
{
	return take_part(m, BAND, inout, inout, bytes, 0, ret_req);
}

void sim_collectives_free(void)
{
	while (collectives) {
		struct collective *next = collectives->next;

		free(collectives->joined);
		free(collectives->place);
		free(collectives);
		collectives = next;
	}
}

const struct scribe_mpi_verbs sim_verbs = {
	.begin = dup_world,
	.end = end_all,
	.bcast = bcast,
	.send = send_to,
	.recv = recv_from,
	.max = max,
	.sum = sum,
	.exscan = exscan,
	.band = band,
	.reduce = reduce,
	.reduce_end = nothing,
	.test = test,
	.rest = sim_park,
};
