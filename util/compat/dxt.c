// SPDX-License-Identifier: BSD-3-Clause
/* Darshan's C interface: traces as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/compat/state.h"
#include "util/text/dxt_text.h"

static void print(int module, void *buf, const struct scribe_dxt_place *at, bool threads)
{
	struct scribe_out out = {.fd = -1};
	size_t len;
	void *rec = compat_to_record(module, buf, &len);

	fflush(stdout); /* stdio's buffer first: `out` has its own */
	if (rec && scribe_out_open(&out, STDOUT_FILENO, NULL) == 0) {
		scribe_dxt_text(&out, module, rec, at, threads);
		scribe_out_flush(&out, NULL);
	}
	scribe_out_close(&out);
	free(rec);
}

static struct scribe_dxt_place location_of(const char *name, const char *mount, const char *fs)
{
	return (struct scribe_dxt_place){
		.name = name,
		.name_len = name ? strlen(name) : 0,
		.mount = mount ? mount : "(null)", /* as glibc's printf, which Darshan's library uses */
		.fs = fs ? fs : "(null)",
	};
}

#if DARSHAN_DXT_THREADS
/* Interfaces after 3.5.0 pass versions. */
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

void dxt_log_print_mpiio_file(void *file_rec, char *file_name, char *mnt_pt, char *fs_type DARSHAN_DXT_VERSIONS)
{
	struct scribe_dxt_place at = location_of(file_name, mnt_pt, fs_type);

	print(DXT_MPIIO_MOD, file_rec, &at, THREADS(DXT_MPIIO_MOD));
}
