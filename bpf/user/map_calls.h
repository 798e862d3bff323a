/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bpf(2) on maps while programs run, with real-time priority if allowed (RLIMIT_RTPRIO of 1, or CAP_SYS_NICE).
 * Arguments as in libbpf.
 */
#ifndef BPF_USER_MAP_CALLS_H
#define BPF_USER_MAP_CALLS_H

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdint.h>

/* Call before privileges are given up. */
void scribe_map_calls_allow(bool allow);

int scribe_map_lookup(int fd, const void *key, void *ret_value);
int scribe_map_update(int fd, const void *key, const void *value, uint64_t flags);
int scribe_map_delete(int fd, const void *key);
int scribe_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, uint32_t *count);
int scribe_map_delete_batch(int fd, const void *keys, uint32_t *count);

#endif
