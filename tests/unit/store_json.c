// SPDX-License-Identifier: BSD-3-Clause
/*
 * The quick way through JSON against YAJL, which is the reference: what is plain is told piece by
 * piece as YAJL tells it, and what YAJL refuses is refused; named cases, then messages with random
 * damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/seed.h"
#include "util/store/json_plain.h"

/* The pieces as text, and after how many the callbacks refuse. */
struct told {
	char text[8192];
	size_t used;
	int left;
};

static int tell(void *ctx, char kind, const void *piece, size_t len)
{
	struct told *t = ctx;

	assert_true(t->used + len + 2 < sizeof(t->text));
	t->text[t->used++] = kind;
	memcpy(t->text + t->used, piece, len);
	t->used += len;
	t->text[t->used] = 0;
	return t->left-- > 0;
}

static int on_number(void *ctx, const char *s, size_t len)
{
	return tell(ctx, '#', s, len);
}

static int on_text(void *ctx, const unsigned char *s, size_t len)
{
	return tell(ctx, '"', s, len);
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	return tell(ctx, ':', s, len);
}

static int on_open_object(void *ctx)
{
	return tell(ctx, '{', "", 0);
}

static int on_close_object(void *ctx)
{
	return tell(ctx, '}', "", 0);
}

static int on_open_array(void *ctx)
{
	return tell(ctx, '[', "", 0);
}

static int on_close_array(void *ctx)
{
	return tell(ctx, ']', "", 0);
}

static const yajl_callbacks callbacks = {
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_open_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close_object,
	.yajl_start_array = on_open_array,
	.yajl_end_array = on_close_array,
};

/* Is it plain? Then YAJL has to say the same. */
static bool compare(const char *text, size_t len)
{
	struct told ours = {.left = 4096}, theirs = {.left = 4096}, few = {.left = 3};
	bool plain = scribe_json_plain(&callbacks, &ours, text, len);
	yajl_handle yajl;

	if (!plain)
		return false;
	yajl = yajl_alloc(&callbacks, NULL, &theirs);
	assert_non_null(yajl);
	if (yajl_parse(yajl, (const unsigned char *)text, len) != yajl_status_ok ||
	    yajl_complete_parse(yajl) != yajl_status_ok)
		fail_msg("YAJL refuses: %.*s", (int)len, text);
	yajl_free(yajl);
	assert_string_equal(ours.text, theirs.text);
	if (ours.used > 64)
		assert_false(scribe_json_plain(&callbacks, &few, text, len));
	return true;
}

static void plain(void **state)
{
	static const char *const yes[] = {
		"{}",
		" { } \r",
		"{\"a\":1}",
		"\t{\"\" : -0.5e-10 , \"b\":[ ],\"c\":[[],{}] }",
		"{\"a\":[1,2.50,3E7,0,-0],\"b\":\"\",\"seg\":[{\"x\":\"12345678\"},{\"y\":\"a/b c~\"}]}",
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!compare(yes[i], strlen(yes[i])))
			fail_msg("not plain: %s", yes[i]);
}

static void not_plain(void **state)
{
	static const char *const no[] = {
		"",
		" ",
		"1",
		"\"a\"",
		"[]",
		"[1]",
		"{",
		"{\"a",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":1",
		"{\"a\":1]",
		"{\"a\":1,}",
		"{,\"a\":1}",
		"{\"a\":1}}",
		"{\"a\":1}{}",
		"{\"a\":1 \"b\":2}",
		"{\"a\" 1}",
		"{a:1}",
		"{\"a\":[1,]}",
		"{\"a\":[,1]}",
		"{\"a\":[1}",
		"{\"a\":[1 2]}",
		"{\"a\":01}",
		"{\"a\":+1}",
		"{\"a\":-}",
		"{\"a\":.5}",
		"{\"a\":1.}",
		"{\"a\":1e}",
		"{\"a\":1e+}",
		"{\"a\":1x}",
		"{\"a\":null}",
		"{\"a\":true}",
		"{\"a\":\"\\n\"}",
		"{\"a\":\"1234567\\\"\"}",
		"{\"a\":\"12345678\x01\"}",
		"{\"a\":\"tab\tand more text\"}",
		"{\"a\":\"\xc3\xbc and more text\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":1} x",
	};

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (compare(no[i], strlen(no[i])))
			fail_msg("plain: %s", no[i]);
}

static void nul_and_depth(void **state)
{
	char deep[256];
	size_t n = 5;

	assert_false(compare("{\"a\":\"b\0c\"}", 11));
	assert_false(compare("{\"a\":1}\0", 8));
	memcpy(deep, "{\"a\":", n);
	memset(deep + n, '[', 40);
	memset(deep + n + 40, ']', 40);
	deep[n + 80] = '}';
	assert_false(compare(deep, n + 81));
}

/* Bytes that mean something to JSON stand where others stood; every length, too. */
static void damaged(void **state)
{
	static const char message[] =
		"{\"schema\":\"N/A\", "
		"\"uid\":1001,\"job_id\":5001,\"rank\":-1,\"file\":\"/scratch/job1/rank0.0\","
		"\"record_id\":8501843319335247764,\"cnt\":1,\"seg\":[{\"off\":0,\"dur\":0.004154e0,"
		"\"timestamp\":1700000000.004157},{}]}";
	static const char bytes[] = "{}[]:,\"\\ \t0123456789.eE+-atn/\x1f\x7f\xc3\xbc\n\v";
	uint64_t random = scribe_test_seed(1);
	char text[sizeof(message)];

	for (size_t len = 0; len < sizeof(message); len++)
		assert_int_equal(compare(message, len), len == sizeof(message) - 1);
	for (int turn = 0; turn < 300000; turn++) {
		memcpy(text, message, sizeof(message));
		for (int n = 1 + turn % 3; n; n--) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			text[(random >> 33) % (sizeof(message) - 1)] = bytes[(random >> 20) % (sizeof(bytes) - 1)];
		}
		compare(text, sizeof(message) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(not_plain),
		cmocka_unit_test(nul_and_depth),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
