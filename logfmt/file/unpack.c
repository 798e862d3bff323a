/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consecutive zlib, bzip2 and zstd streams in steps of any size. A struct scribe_unpack owns its decompressor. Not in
 * the preloaded runtime. Must not know files or regions.
 */
#include "logfmt/file/unpack.h"

#include <bzlib.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "logfmt/base/err.h"

#define WINDOW_LOG 23 /* 8 MiB, as much as zstd level 19 needs */

struct scribe_unpack {
	enum scribe_compression comp;
	bool within;
	z_stream z;
	bz_stream bz;
	ZSTD_DCtx *zstd;
};

/* `why` is without label: the caller adds file, region and offset. */
static int wrong(char why[SCRIBE_UNPACK_WHY], int code, const char *text, const char *detail)
{
	snprintf(why, SCRIBE_UNPACK_WHY, "%s%s%s%s", text, detail ? " (" : "", detail ? detail : "", detail ? ")" : "");
	return code;
}

struct scribe_unpack *scribe_unpack_new(enum scribe_compression comp)
{
	struct scribe_unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	if (comp == SCRIBE_COMP_ZLIB && inflateInit(&u->z) != Z_OK) {
		free(u);
		return NULL;
	}
	u->comp = comp;
	if (comp == SCRIBE_COMP_ZSTD) {
		u->zstd = ZSTD_createDCtx();
		if (!u->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)))
			return scribe_unpack_free(u);
	}
	return u;
}

struct scribe_unpack *scribe_unpack_free(struct scribe_unpack *u)
{
	if (!u)
		return NULL;
	if (u->comp == SCRIBE_COMP_ZLIB)
		inflateEnd(&u->z);
	else if (u->comp == SCRIBE_COMP_BZIP2 && u->within)
		BZ2_bzDecompressEnd(&u->bz);
	ZSTD_freeDCtx(u->zstd);
	free(u);
	return NULL;
}

bool scribe_unpack_is_within(const struct scribe_unpack *u)
{
	return u->within;
}

/* zlib and bzip2 count in 32 bits. */
static unsigned part(size_t n)
{
	return (unsigned)(n > UINT32_MAX ? UINT32_MAX : n);
}

static int step_zlib(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken, unsigned char *to,
		     size_t capacity, size_t *ret_n, char *why)
{
	int rc;

	if (!u->within && inflateReset(&u->z) != Z_OK)
		return wrong(why, -SCRIBE_E_COMPRESSION, "zlib refuses to start", NULL);
	u->within = true;
	u->z.next_in = (Bytef *)(uintptr_t)in;
	u->z.avail_in = part(n);
	u->z.next_out = to;
	u->z.avail_out = part(capacity);
	rc = inflate(&u->z, Z_NO_FLUSH);
	*ret_n = (size_t)(u->z.next_out - to);
	*ret_taken = (size_t)(u->z.next_in - in);
	u->within = rc != Z_STREAM_END;
	/* Z_BUF_ERROR only means that this step had no input or no space. */
	if (rc == Z_STREAM_END || rc == Z_OK || rc == Z_BUF_ERROR)
		return 0;
	if (rc == Z_MEM_ERROR)
		return wrong(why, -ENOMEM, "out of memory", NULL);
	return wrong(why, -SCRIBE_E_COMPRESSION, "zlib data are damaged", u->z.msg ? u->z.msg : "no detail");
}

static int step_bzip2(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken, unsigned char *to,
		      size_t capacity, size_t *ret_n, char *why)
{
	char code[16];
	int rc;

	if (!u->within) {
		/* bzip2 cannot be reset, so each stream has a new state. */
		memset(&u->bz, 0, sizeof(u->bz));
		if (BZ2_bzDecompressInit(&u->bz, 0, 0) != BZ_OK)
			return wrong(why, -ENOMEM, "out of memory", NULL);
		u->within = true;
	}
	u->bz.next_in = (char *)(uintptr_t)in;
	u->bz.avail_in = part(n);
	u->bz.next_out = (char *)to;
	u->bz.avail_out = part(capacity);
	rc = BZ2_bzDecompress(&u->bz);
	*ret_n = (size_t)((unsigned char *)u->bz.next_out - to);
	*ret_taken = (size_t)((const unsigned char *)u->bz.next_in - in);
	if (rc == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(&u->bz);
		u->within = false;
		return 0;
	}
	if (rc == BZ_OK)
		return 0;
	if (rc == BZ_MEM_ERROR)
		return wrong(why, -ENOMEM, "out of memory", NULL);
	snprintf(code, sizeof(code), "%d", rc);
	return wrong(why, -SCRIBE_E_COMPRESSION, "bzip2 data are damaged", code);
}

static int step_zstd(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken, unsigned char *to,
		     size_t capacity, size_t *ret_n, char *why)
{
	ZSTD_inBuffer from = {in, n, 0};
	ZSTD_outBuffer into = {to, capacity, 0};
	size_t left = ZSTD_decompressStream(u->zstd, &into, &from);

	if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		return wrong(why, -ENOMEM, "out of memory", NULL);
	/* Also for frames that need a larger window than WINDOW_LOG, which limits memory. */
	if (ZSTD_isError(left))
		return wrong(why, -SCRIBE_E_COMPRESSION, "zstd data are damaged", ZSTD_getErrorName(left));
	*ret_n = into.pos;
	*ret_taken = from.pos;
	u->within = left > 0;
	return 0;
}

int scribe_unpack_step(struct scribe_unpack *u, const unsigned char *in, size_t n, size_t *ret_taken, unsigned char *to,
		       size_t capacity, size_t *ret_n, char why[SCRIBE_UNPACK_WHY])
{
	*ret_taken = *ret_n = 0;
	if (u->comp == SCRIBE_COMP_ZLIB)
		return step_zlib(u, in, n, ret_taken, to, capacity, ret_n, why);
	if (u->comp == SCRIBE_COMP_ZSTD)
		return step_zstd(u, in, n, ret_taken, to, capacity, ret_n, why);
	return step_bzip2(u, in, n, ret_taken, to, capacity, ret_n, why);
}
