// SPDX-License-Identifier: BSD-3-Clause
/*
 * Descriptions of a module's counters: Darshan's own text for its modules, by version, otherwise a line per
 * counter. Must not know records.
 */
#include "util/text/describe.h"

#include "logfmt/counters/module.h"
#include "util/text/describe_texts.h"

static const struct scribe_text_block *const blocks[SCRIBE_MAX_MODULES] = {
	[SCRIBE_MOD_POSIX] = scribe_describe_posix,
	[SCRIBE_MOD_MPIIO] = scribe_describe_mpiio,
	[SCRIBE_MOD_H5F] = scribe_describe_h5f,
	[SCRIBE_MOD_H5D] = scribe_describe_h5d,
	[SCRIBE_MOD_PNETCDF_FILE] = scribe_describe_pnetcdf_file,
	[SCRIBE_MOD_PNETCDF_VAR] = scribe_describe_pnetcdf_var,
	[SCRIBE_MOD_BGQ] = scribe_describe_bgq,
	[SCRIBE_MOD_LUSTRE] = scribe_describe_lustre,
	[SCRIBE_MOD_STDIO] = scribe_describe_stdio,
	[SCRIBE_MOD_MDHIM] = scribe_describe_mdhim,
	[SCRIBE_MOD_HEATMAP] = scribe_describe_heatmap,
	[SCRIBE_MOD_DFS] = scribe_describe_dfs,
	[SCRIBE_MOD_DAOS] = scribe_describe_daos,
	[SCRIBE_MOD_APMPI] = scribe_describe_apmpi,
};

static void describe_counters(struct scribe_out *out, const struct scribe_counter *c, int n)
{
	for (int i = 0; i < n; i++)
		scribe_out_printf(out, "#   %s: %s.\n", c[i].name, c[i].text);
}

void scribe_describe(struct scribe_out *out, int module, unsigned version)
{
	const struct scribe_text_block *b = module >= 0 && module < SCRIBE_MAX_MODULES ? blocks[module] : NULL;
	const struct scribe_module *m = scribe_module_by_id(module);

	if (b) {
		for (; b->text; b++)
			if ((int)version >= b->from && (int)version <= b->to) /* some warnings are for old versions */
				scribe_out_text(out, b->text);
		return;
	}
	if (!m)
		return;
	scribe_out_printf(out, "\n# description of %s counters:\n", m->name);
	describe_counters(out, m->counters, m->ncounters);
	describe_counters(out, m->fcounters, m->nfcounters);
}
