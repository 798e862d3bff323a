// SPDX-License-Identifier: BSD-3-Clause
/* Selection of traced operations by rank list, file pattern and time, for `ioscribe dxt`. Must not know logs. */
#include "util/logs/dxt_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

/* Parses "N" or "N-M" at *at and advances it. False: malformed. */
static bool next_range(const char **at, long long *ret_from, long long *ret_to)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret_from = *ret_to = strtoll(*at, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		*ret_to = strtoll(end + 1, &end, 10);
	}
	*at = end;
	return !errno && *ret_from <= *ret_to && (!*end || (*end == ',' && end[1]));
}

int scribe_dxt_filter_ranks(struct scribe_dxt_filter *f, const char *list, struct scribe_err *err)
{
	const char *at = list;
	long long from, to;

	do {
		if (!next_range(&at, &from, &to))
			return scribe_err_set(err, -EINVAL, "--rank: '%.60s' is no list of ranks such as 0,4-7", list);
	} while (*at++ == ',');
	f->ranks = list; /* parsed again per record: lists are short */
	return 0;
}

int scribe_dxt_filter_time(struct scribe_dxt_filter *f, bool to, const char *seconds, struct scribe_err *err)
{
	char *end;
	double v = strtod(seconds, &end);

	if (end == seconds || *end || !(v >= 0) || v == HUGE_VAL)
		return scribe_err_set(err, -EINVAL, "--%s: '%.60s' is no number of seconds", to ? "to" : "from",
				      seconds);
	*(to ? &f->to : &f->from) = v;
	f->has_to |= to;
	f->by_time = true;
	return 0;
}

bool scribe_dxt_filter_wants_file(const struct scribe_dxt_filter *f, const char *name)
{
	return !f->file || (name && fnmatch(f->file, name, 0) == 0);
}

bool scribe_dxt_filter_wants(const struct scribe_dxt_filter *f, int64_t rank, const char *name)
{
	const char *at = f->ranks;
	bool in = !at;
	long long from, to;

	while (at && !in && next_range(&at, &from, &to)) {
		in = rank >= from && rank <= to;
		at += *at == ',';
	}
	return in && scribe_dxt_filter_wants_file(f, name);
}

void scribe_dxt_filter_times(const struct scribe_dxt_filter *f, struct scribe_dxt_record *r)
{
	const int64_t writes = r->write_count, all = writes + r->read_count;
	int64_t n = 0;

	if (!f->by_time)
		return;
	r->write_count = r->read_count = 0;
	for (int64_t i = 0; i < all; i++) {
		const struct scribe_dxt_segment s = r->segments[i];

		if (s.start < f->from || (f->has_to && s.start >= f->to))
			continue;
		r->segments[n++] = s;
		*(i < writes ? &r->write_count : &r->read_count) += 1;
	}
}
