// SPDX-License-Identifier: BSD-3-Clause
/* The ledger of a log as text: what the tracer counted and lost. Meanings and texts come from the counter list. */
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/records.h"
#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"
#include "util/text/human.h"

#define H 40

static const char *count(int64_t v, char *to)
{
	return scribe_human_count(v, to, H);
}

static const char *bare_name(const char *name)
{
	return strncmp(name, "LEDGER_", 7) ? name : name + 7 + 2 * !strncmp(name + 7, "F_", 2);
}

int64_t scribe_summary_ledger(const struct scribe_summary *s, const char *bare)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_LEDGER);

	for (int i = 0; i < m->ncounters; i++)
		if (!strcmp(bare_name(m->counters[i].name), bare))
			return s->ledger[i];
	return 0;
}

/* Prints counters with this meaning that are not 0 (a DROP is a LOSS). Returns their number; out may be NULL. */
static int put_ledger_counters(const struct scribe_summary *s, struct scribe_out *out,
			       enum scribe_ledger_meaning meaning)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_LEDGER);
	char a[H], lead[2 * H];
	int n = 0;

	for (int i = 0; i < m->ncounters + m->nfcounters; i++) {
		int real = i >= m->ncounters;
		const struct scribe_counter *c = real ? &m->fcounters[i - m->ncounters] : &m->counters[i];
		enum scribe_ledger_meaning its = scribe_ledger_meaning(i);
		int64_t v = real ? scribe_whole(s->ledger_f[i - m->ncounters]) : s->ledger[i];

		if (v <= 0 || (its == SCRIBE_IS_DROP ? SCRIBE_IS_LOSS : its) != meaning)
			continue;
		n++;
		if (out) {
			snprintf(lead, sizeof(lead), "  %-16s %14s  ", bare_name(c->name), count(v, a));
			scribe_out_wrapped(out, lead, c->text);
		}
	}
	return n;
}

/* Operations seen by the kernel but in no record; overflowed ones are in a record. */
static int64_t unrecorded(const struct scribe_summary *s)
{
	int64_t seen = scribe_summary_ledger(s, "EVENTS");
	int64_t recorded = scribe_sum(scribe_summary_ledger(s, "RECORDED"), scribe_summary_ledger(s, "OVERFLOWED"));

	return scribe_difference(seen, recorded);
}

static const char *share_text(const struct scribe_summary *s, char to[128])
{
	int64_t seen = scribe_summary_ledger(s, "EVENTS");
	/* The ledger covers the whole job and the kernel's count; this log may have fewer or more operations. */
	char a[H];

	to[0] = 0;
	if (s->operations > 0 && s->operations < seen)
		snprintf(to, 128, "; of the whole job, %s in this log", count(s->operations, a));
	else if (s->operations > seen)
		snprintf(to, 128, "; %s with what programs count themselves", count(s->operations, a));
	return to;
}

bool scribe_summary_complete(const struct scribe_summary *s)
{
	const bool ended_early = scribe_reader_header(s->log.reader)->partial_flag >> SCRIBE_MOD_POSIX & 1;

	return s->has_ledger && !put_ledger_counters(s, NULL, SCRIBE_IS_LOSS) && unrecorded(s) <= 0 && !ended_early;
}

void scribe_summary_print_ledger_line(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H], b[H], share[128], text[512], missing[H + 32] = "";
	int losses = put_ledger_counters(s, NULL, SCRIBE_IS_LOSS),
	    approx = put_ledger_counters(s, NULL, SCRIBE_IS_APPROX);

	if (!s->has_ledger)
		return;
	if (unrecorded(s) > 0)
		snprintf(missing, sizeof(missing), ", %s not recorded", count(unrecorded(s), b));
	if (scribe_summary_complete(s))
		snprintf(text, sizeof(text), "complete: %s operations seen, all recorded%s%s",
			 count(scribe_summary_ledger(s, "EVENTS"), a), share_text(s, share),
			 approx ? "; some values approximate" : "");
	else if (losses || missing[0])
		snprintf(text, sizeof(text), "NOT complete: %s operations seen%s; %d cause%s of loss",
			 count(scribe_summary_ledger(s, "EVENTS"), a), missing, losses, losses == 1 ? "" : "s");
	else
		snprintf(text, sizeof(text), "NOT complete: %s operations seen, until recording ended",
			 count(scribe_summary_ledger(s, "EVENTS"), a));
	scribe_out_wrapped(out, "ledger     ", text);
}

static void put_account_line(const struct scribe_summary *s, struct scribe_out *out)
{
	int64_t calls = scribe_summary_ledger(s, "IO_CALLS"), missed = scribe_summary_ledger(s, "IO_MISSED_CALLS");
	char a[H], b[H], text[256];

	if (calls <= 0)
		return;
	/* The kernel's own I/O accounting of the same threads is an independent check. */
	if (missed)
		snprintf(text, sizeof(text), "the kernel counted %s reads and writes, %s of them are missing",
			 count(calls, a), count(missed, b));
	else
		snprintf(text, sizeof(text), "the kernel counted %s reads and writes: all recorded or left out",
			 count(calls, a));
	scribe_out_wrapped(out, "           ", text);
}

void scribe_summary_print_ledger(const struct scribe_summary *s, struct scribe_out *out)
{
	const double *v = s->facts.v;

	if (!s->has_ledger)
		return;
	scribe_out_text(out, "\n");
	scribe_summary_print_ledger_line(s, out);
	put_account_line(s, out);
	if (put_ledger_counters(s, NULL, SCRIBE_IS_LOSS)) {
		scribe_out_text(out, "lost\n");
		put_ledger_counters(s, out, SCRIBE_IS_LOSS);
	}
	if (put_ledger_counters(s, NULL, SCRIBE_IS_APPROX)) {
		scribe_out_text(out, "approximate\n");
		put_ledger_counters(s, out, SCRIBE_IS_APPROX);
	}
	scribe_out_text(out, "counted\n");
	put_ledger_counters(s, out, SCRIBE_IS_FACT);
	if (v[SCRIBE_FACT_cpu_time] > 0)
		scribe_out_printf(out, "  tracing took %.3f s, %.2g %% of the processes' %.3f s of processor time\n",
				  v[SCRIBE_FACT_tracing_time],
				  100 * v[SCRIBE_FACT_tracing_time] / v[SCRIBE_FACT_cpu_time], v[SCRIBE_FACT_cpu_time]);
	scribe_out_printf(out, "  tracer: daemon %.3f s of processor time, collecting %.3f s, finalizing %.3f s\n",
			  s->ledger_f[SCRIBE_LEDGER_F_DAEMON_CPU], s->ledger_f[SCRIBE_LEDGER_F_DRAIN_TIME],
			  s->ledger_f[SCRIBE_LEDGER_F_FINALIZE_TIME]);
}
