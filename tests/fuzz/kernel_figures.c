/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel's programs say of themselves: always the same. */
#include "bpf/user/load.h"

uint32_t scribe_bpf_cache(const struct scribe_bpf *b)
{
	return (1u << SCRIBE_CACHE_ALL) - 1;
}

uint64_t scribe_bpf_misses(const struct scribe_bpf *b)
{
	return 0;
}

uint32_t scribe_bpf_call_ns(const struct scribe_bpf *b)
{
	return 100;
}
