// SPDX-License-Identifier: BSD-3-Clause
/*
 * One region for all modules against one for each: layout LOG [ROUNDS]. The log's records, in the order in
 * which a program meets its files, are dealt to 1, 2, 4, ... ranks; each rank sorts what it has and
 * compresses it, as at MPI_Finalize. Prints CSV: medians over the rounds (9) of the slowest rank's
 * milliseconds of processor time, and the bytes of all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "logfmt/file/blocks.h"
#include "logfmt/file/encode.h"
#include "logfmt/file/reader.h"
#include "logfmt/file/unified.h"

#define MOST_RANKS  16
#define MOST_ROUNDS 99

struct item {
	struct scribe_unified_base base;
	const char *bytes; /* as in the file, with id and rank */
	size_t len;
	uint64_t met; /* where it stands in the order of registration */
};

static struct item *items;
static size_t nitems;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "layout: %s\n", what);
	exit(1);
}

static int by_met(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->met < y->met ? -1 : x->met > y->met;
}

/* Both passes in one comparison: module, shared records first, then as met. */
static int by_module(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int shared = (y->base.rank == -1) - (x->base.rank == -1);

	if (x->base.module != y->base.module)
		return x->base.module < y->base.module ? -1 : 1;
	return shared ? shared : by_met(a, b);
}

static void load(struct scribe_reader *r)
{
	size_t room = 0, len;
	const void *rec;

	for (int id = 0; id < SCRIBE_MAX_MODULES; id++) {
		uint64_t n = 0;

		for (; scribe_reader_has(r, id) && scribe_reader_borrow_record(r, id, &rec, &len) > 0; n++) {
			const struct scribe_base_record *who = rec;
			char *copy;

			if (nitems == room) {
				room = room ? 2 * room : 1024;
				items = realloc(items, room * sizeof(*items));
			}
			copy = malloc(len);
			if (!items || !copy)
				die("out of memory");
			len = scribe_record_encode(id, false, rec, len, copy, len);
			items[nitems++] =
				(struct item){.base = {who->id, who->rank, len - sizeof(*who), (uint16_t)id, 0, 1},
					      .bytes = copy,
					      .len = len,
					      .met = n << 6 | (uint64_t)id};
		}
	}
	qsort(items, nitems, sizeof(*items), by_met);
}

/* ---- one rank ---- */

struct cost {
	double sort, gather, compress;
	size_t plain, bytes;
	int pieces; /* what is written apart */
};

static void put(struct cost *c, const char *plain, size_t n)
{
	double t = now_ms();
	void *out;
	size_t got;

	if (scribe_deflate_region(plain, n, &out, &got, NULL))
		die("cannot compress");
	free(out);
	c->compress += now_ms() - t;
	c->plain += n;
	c->bytes += got;
	c->pieces++;
}

enum way { EACH_MODULE, ONE_UNSORTED, ONE_SORTED, ONE_COLUMNS, WAYS };
static const char *const ways[] = {"region a module", "one region unsorted", "one region sorted",
				   "one region sorted transposed"};

static size_t frame(char *to, const struct item *i, bool base)
{
	size_t head = base ? sizeof(i->base) : 0, skip = base ? sizeof(struct scribe_base_record) : 0;

	if (base)
		memcpy(to, &i->base, head);
	memcpy(to + head, i->bytes + skip, i->len - skip);
	return head + i->len - skip;
}

/* Blocks of records of one length into `out`; returns its bytes. */
static size_t columns(const struct item *mine, size_t n, char *rows, char *out)
{
	size_t at = 0;

	for (size_t i = 0; i < n;) {
		struct scribe_block_head head = {0, (uint32_t)(mine[i].len + 16)};
		size_t k = i, have = 0;

		for (; k < n && mine[k].len + 16 == head.stride; k++) {
			if (k > i && have + head.stride > SCRIBE_BLOCK_BYTES)
				break;
			have += frame(rows + have, &mine[k], true);
		}
		head.count = (uint32_t)(k - i);
		memcpy(out + at, &head, sizeof(head));
		scribe_block_transpose((unsigned char *)rows, head.count, head.stride, (unsigned char *)out + at + 8);
		at += 8 + have;
		i = k;
	}
	return at;
}

static void rank(enum way way, struct item *mine, size_t n, char *plain, char *rows, struct cost *c)
{
	double t = now_ms();
	size_t at = 0;

	if (way != ONE_UNSORTED)
		qsort(mine, n, sizeof(*mine), by_module);
	c->sort = now_ms() - t;
	t = now_ms();
	if (way == ONE_COLUMNS)
		at = columns(mine, n, rows, plain);
	for (size_t i = 0; way != ONE_COLUMNS && i < n; i++) {
		at += frame(plain + at, &mine[i], way != EACH_MODULE);
		if (way == EACH_MODULE && (i + 1 == n || mine[i + 1].base.module != mine[i].base.module)) {
			c->gather += now_ms() - t;
			put(c, plain, at);
			t = now_ms();
			at = 0;
		}
	}
	c->gather += now_ms() - t;
	if (way != EACH_MODULE)
		put(c, plain, at);
}

/* ---- all ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static void measure(size_t records, int ranks, int rounds, struct item *mine, char *plain, char *rows)
{
	for (int way = 0; way < WAYS; way++) {
		static double sort[MOST_ROUNDS], gather[MOST_ROUNDS], compress[MOST_ROUNDS], all[MOST_ROUNDS];
		struct cost sum = {0};

		for (int k = 0; k < rounds; k++) {
			sum = (struct cost){0};
			sort[k] = gather[k] = compress[k] = all[k] = 0;
			for (int r = 0; r < ranks; r++) {
				struct cost c = {0};
				size_t n = 0;

				for (size_t i = (size_t)r; i < records; i += (size_t)ranks)
					mine[n++] = items[i];
				rank(way, mine, n, plain, rows, &c);
				sum.plain += c.plain;
				sum.bytes += c.bytes;
				sum.pieces = c.pieces > sum.pieces ? c.pieces : sum.pieces;
				if (c.sort + c.gather + c.compress < all[k])
					continue;
				all[k] = c.sort + c.gather + c.compress;
				sort[k] = c.sort;
				gather[k] = c.gather;
				compress[k] = c.compress;
			}
		}
		printf("%zu,%d,%s,%d,%zu,%zu,%.3f,%.3f,%.3f,%.3f\n", records, ranks, ways[way], sum.pieces, sum.plain,
		       sum.bytes, median(sort, rounds), median(gather, rounds), median(compress, rounds),
		       median(all, rounds));
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 9;
	struct scribe_reader *r;
	struct scribe_err err;
	size_t room = 0;
	struct item *mine;
	char *plain, *rows;

	if (argc < 2 || rounds < 1 || rounds > MOST_ROUNDS) {
		fprintf(stderr, "usage: layout LOG [ROUNDS]\n");
		return 2;
	}
	if (scribe_reader_open(argv[1], &r, &err))
		die(err.text);
	load(r);
	for (size_t i = 0; i < nitems; i++)
		room += items[i].len + sizeof(items[i].base) + sizeof(struct scribe_block_head);
	mine = malloc((nitems + 1) * sizeof(*mine));
	plain = malloc(room + 1);
	rows = malloc(room + 1);
	if (!mine || !plain || !rows)
		die("out of memory");
	printf("records,ranks,way,pieces a rank,plain bytes,bytes,sort ms,gather ms,compress ms,all ms\n");
	for (size_t records = 10; records / 10 < nitems; records *= 10)
		for (int ranks = 1; ranks <= MOST_RANKS; ranks *= 2)
			measure(records < nitems ? records : nitems, ranks, rounds, mine, plain, rows);
	for (size_t i = 0; i < nitems; i++)
		free((void *)items[i].bytes);
	free(items);
	free(mine);
	free(plain);
	free(rows);
	scribe_reader_free(r);
	return 0;
}
