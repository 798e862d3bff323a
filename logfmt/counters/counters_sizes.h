/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of sizes, which most modules have. `agg`: nothing, or AGG_ as in the names of libraries' counters. */
#ifndef LOGFMT_COUNTERS_COUNTERS_SIZES_H
#define LOGFMT_COUNTERS_COUNTERS_SIZES_H

#define SCRIBE_SIZE_COUNTERS(X, agg) \
	X(SIZE_READ_##agg##0_100, SUM, "reads of at most 100 bytes") \
	X(SIZE_READ_##agg##100_1K, SUM, "reads of up to 1 KiB") \
	X(SIZE_READ_##agg##1K_10K, SUM, "reads of up to 10 KiB") \
	X(SIZE_READ_##agg##10K_100K, SUM, "reads of up to 100 KiB") \
	X(SIZE_READ_##agg##100K_1M, SUM, "reads of up to 1 MiB") \
	X(SIZE_READ_##agg##1M_4M, SUM, "reads of up to 4 MiB") \
	X(SIZE_READ_##agg##4M_10M, SUM, "reads of up to 10 MiB") \
	X(SIZE_READ_##agg##10M_100M, SUM, "reads of up to 100 MiB") \
	X(SIZE_READ_##agg##100M_1G, SUM, "reads of up to 1 GiB") \
	X(SIZE_READ_##agg##1G_PLUS, SUM, "reads of over 1 GiB") \
	X(SIZE_WRITE_##agg##0_100, SUM, "writes of at most 100 bytes") \
	X(SIZE_WRITE_##agg##100_1K, SUM, "writes of up to 1 KiB") \
	X(SIZE_WRITE_##agg##1K_10K, SUM, "writes of up to 10 KiB") \
	X(SIZE_WRITE_##agg##10K_100K, SUM, "writes of up to 100 KiB") \
	X(SIZE_WRITE_##agg##100K_1M, SUM, "writes of up to 1 MiB") \
	X(SIZE_WRITE_##agg##1M_4M, SUM, "writes of up to 4 MiB") \
	X(SIZE_WRITE_##agg##4M_10M, SUM, "writes of up to 10 MiB") \
	X(SIZE_WRITE_##agg##10M_100M, SUM, "writes of up to 100 MiB") \
	X(SIZE_WRITE_##agg##100M_1G, SUM, "writes of up to 1 GiB") \
	X(SIZE_WRITE_##agg##1G_PLUS, SUM, "writes of over 1 GiB")

#endif
