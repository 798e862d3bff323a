/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-1-3 with a secret of the process, so that users and logs cannot choose colliding keys. Any thread,
 * also in traced programs: no system calls.
 */
#include "logfmt/base/keyed.h"

#include <string.h>
#include <sys/auxv.h>

static uint64_t secret[2];

static void get_secret(uint64_t ret_key[2])
{
	ret_key[0] = __atomic_load_n(&secret[0], __ATOMIC_ACQUIRE);
	if (!ret_key[0]) {
		/* 16 random bytes from the kernel at exec; without them the randomised addresses serve. */
		const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
		uint64_t words[2] = {(uintptr_t)secret, (uintptr_t)&getauxval};

		if (random)
			memcpy(words, random, sizeof(words));
		/* Concurrent threads store equal words; word 0, which readers test, is stored last. */
		__atomic_store_n(&secret[1], words[1], __ATOMIC_RELAXED);
		__atomic_store_n(&secret[0], words[0] | 1, __ATOMIC_RELEASE);
		ret_key[0] = words[0] | 1;
	}
	ret_key[1] = __atomic_load_n(&secret[1], __ATOMIC_RELAXED);
}

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = turn(v[1], 13) ^ v[0];
	v[0] = turn(v[0], 32);
	v[2] += v[3];
	v[3] = turn(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = turn(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = turn(v[1], 17) ^ v[2];
	v[2] = turn(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t scribe_keyed(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t key[2], word;
	size_t left = len;

	get_secret(key);
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull, key[0] ^ 0x6c7967656e657261ull,
			 key[1] ^ 0x7465646279746573ull};
	for (; left >= sizeof(word); left -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sip_word(v, word);
	}
	word = 0;
	if (left)
		memcpy(&word, p, left);
	sip_word(v, word ^ (uint64_t)len << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
