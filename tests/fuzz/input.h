/* SPDX-License-Identifier: BSD-3-Clause */
/* An input as a play: read byte by byte, zeros behind its end; and what must stay as it was. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_input {
	const uint8_t *at, *end;
};

static inline unsigned fuzz_byte(struct fuzz_input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* At most `cap` bytes; how many there were. */
static inline size_t fuzz_take(struct fuzz_input *in, void *to, size_t cap)
{
	size_t n = (size_t)(in->end - in->at) < cap ? (size_t)(in->end - in->at) : cap;

	memcpy(to, in->at, n);
	in->at += n;
	return n;
}

/* Descriptors in use, a bit each: the same before and after a play. */
static inline uint64_t fuzz_in_use(void)
{
	uint64_t bits = 0;

	for (int fd = 0; fd < 64; fd++)
		bits |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return bits;
}

#endif
