// SPDX-License-Identifier: BSD-3-Clause
/*
 * Darshan's C interface: records of extended tracing as darshan-dxt-parser prints them, on standard
 * output. Copies in the library's layout are freed before the function returns. Runs in programs
 * written for libdarshan-util.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/compat/state.h"
#include "util/text/dxt_text.h"

/* Our output goes through a buffer of its own: what stdio holds must go first. */
static void print(int module, void *buf, const struct scribe_dxt_place *at, bool threads)
{
	struct scribe_out out = {.fd = -1};
	size_t len;
	void *rec = compat_to_record(module, buf, &len);

	fflush(stdout);
	if (rec && scribe_out_open(&out, STDOUT_FILENO, NULL) == 0) {
		scribe_dxt_text(&out, module, rec, at, threads);
		scribe_out_flush(&out, NULL);
	}
	scribe_out_close(&out);
	free(rec);
}

/* NULL is printed as the stock library's printf does it. */
static struct scribe_dxt_place location_of(const char *name, const char *mount, const char *fs)
{
	return (struct scribe_dxt_place){
		.name = name,
		.name_len = name ? strlen(name) : 0,
		.mount = mount ? mount : "(null)",
		.fs = fs ? fs : "(null)",
	};
}

#if DARSHAN_DXT_THREADS
/* Interfaces after 3.5.0 pass the record versions, which say whether segments have threads. */
#define THREADS(id) (mod_ver[id] == (uint32_t)darshan_module_versions[id])
#else
#define THREADS(id) false
#endif

void dxt_log_print_posix_file(void *file_rec, char *file_name, char *mnt_pt, char *fs_type,
			      struct lustre_record_ref *rec_ref DARSHAN_DXT_VERSIONS)
{
	struct scribe_dxt_place at = location_of(file_name, mnt_pt, fs_type);
	void *layout = NULL;
	size_t len;

	if (rec_ref && rec_ref->rec)
		at.layout = layout = compat_to_record(DARSHAN_LUSTRE_MOD, rec_ref->rec, &len);
	print(DXT_POSIX_MOD, file_rec, &at, THREADS(DXT_POSIX_MOD));
	free(layout);
}

void dxt_log_print_mpiio_file(void *file_rec, char *file_name, char *mnt_pt,
			      char *fs_type DARSHAN_DXT_VERSIONS)
{
	struct scribe_dxt_place at = location_of(file_name, mnt_pt, fs_type);

	print(DXT_MPIIO_MOD, file_rec, &at, THREADS(DXT_MPIIO_MOD));
}
