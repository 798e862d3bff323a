/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bpf(2) on maps while programs run. Where the kernel preempts itself, the processor that
 * such a call is preempted on skips the programs of trace events until the call goes on:
 * so the caller has real-time priority for as long as the call takes, if it may
 * (RLIMIT_RTPRIO of 1, or CAP_SYS_NICE). Arguments and results as libbpf's.
 */
#ifndef BPF_USER_MAP_CALLS_H
#define BPF_USER_MAP_CALLS_H

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdint.h>

/* Before privileges are given up: whether the process may go on taking that priority. */
void scribe_map_calls_allow(bool allow);

int scribe_map_lookup(int fd, const void *key, void *ret_value);
int scribe_map_update(int fd, const void *key, const void *value, uint64_t flags);
int scribe_map_delete(int fd, const void *key);
int scribe_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, uint32_t *count);
int scribe_map_delete_batch(int fd, const void *keys, uint32_t *count);

#endif
