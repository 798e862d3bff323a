/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixed-width types and attributes for freestanding headers, compiled by cc and by clang -target bpf with
 * vmlinux.h.
 */
#ifndef LOGFMT_RULES_TYPES_H
#define LOGFMT_RULES_TYPES_H

#ifdef __bpf__
typedef __u8 scribe_u8;
typedef __u16 scribe_u16;
typedef __u32 scribe_u32;
typedef __u64 scribe_u64;
typedef __s32 scribe_s32;
typedef __s64 scribe_s64;
#else
#include <stddef.h>
#include <stdint.h>
typedef uint8_t scribe_u8;
typedef uint16_t scribe_u16;
typedef uint32_t scribe_u32;
typedef uint64_t scribe_u64;
typedef int32_t scribe_s32;
typedef int64_t scribe_s64;
#endif

#define SCRIBE_INLINE static inline __attribute__((always_inline, unused))

#endif
