/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long inputs from short ones, for limits that a fuzzer's own lengths never reach: 0xfe C N stands for (N + 1) * 64
 * times C, 0xfd N for N times what follows the last end of a line or string before it.
 */
#ifndef TESTS_FUZZ_LONGER_H
#define TESTS_FUZZ_LONGER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_LONGER_MAX 131072u

struct fuzz_longer {
	uint8_t *bytes;
	size_t n;
};

static inline void fuzz_longer_put(struct fuzz_longer *l, const uint8_t *from, size_t n)
{
	if (n > FUZZ_LONGER_MAX - l->n)
		n = FUZZ_LONGER_MAX - l->n;
	memcpy(l->bytes + l->n, from, n);
	l->n += n;
}

static inline size_t fuzz_longer_line(const struct fuzz_longer *l)
{
	size_t at = l->n;

	/* its own end belongs to it */
	if (at)
		at--;
	while (at && l->bytes[at - 1] != 0 && l->bytes[at - 1] != '\n')
		at--;
	return at;
}

/* The caller frees .bytes, which are exactly as many as .n: reading beyond them is seen. */
static inline struct fuzz_longer fuzz_longer(const uint8_t *data, size_t size)
{
	struct fuzz_longer l = {malloc(FUZZ_LONGER_MAX), 0};

	if (!l.bytes)
		abort();
	for (size_t i = 0; i < size; i++) {
		if (data[i] == 0xfe && size - i > 2) {
			for (int k = 0; k < (data[i + 2] + 1) * 64; k++)
				fuzz_longer_put(&l, data + i + 1, 1);
			i += 2;
		} else if (data[i] == 0xfd && size - i > 1) {
			size_t from = fuzz_longer_line(&l), n = l.n - from;

			for (int k = 0; k < data[i + 1]; k++)
				fuzz_longer_put(&l, l.bytes + from, n);
			i++;
		} else {
			fuzz_longer_put(&l, data + i, 1);
		}
	}
	l.bytes = realloc(l.bytes, l.n ? l.n : 1);
	if (!l.bytes)
		abort();
	return l;
}

#endif
