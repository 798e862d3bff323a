// SPDX-License-Identifier: BSD-3-Clause
/* The command's work in its own program: a page of one log, of two compared, or of all below a directory. */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cmd/report/report.h"
#include "util/text/quoted.h"
#include "util/tool/command.h"
#include "util/tool/output_file.h"

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	const char **to = ctx;

	(void)key;
	(void)err;
	*to = value;
	return 0;
}

static int of_log(const char *path, struct scribe_out *json, struct scribe_out *text, struct scribe_err *err)
{
	static struct scribe_summary s;
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	int rc = scribe_summary_read(&s, path, err);

	if (rc >= 0)
		rc = scribe_summary_find_reads(&s, err);
	if (rc >= 0) {
		scribe_summary_print_brief(&s, text);
		scribe_out_text(json, "{");
		scribe_json_text(json, "log", file, strlen(file));
		scribe_out_text(json, ",\"summary\":");
		scribe_summary_print_json(&s, json, SCRIBE_SUMMARY_FILES);
		scribe_out_text(json, ",");
		rc = scribe_report_grids(&s, json, err);
	}
	if (rc >= 0) {
		scribe_out_text(json, ",");
		rc = scribe_report_tables(&s, json, err);
		scribe_out_text(json, "}");
	}
	scribe_summary_free(&s);
	return rc;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int write_page(enum scribe_report_kind kind, const struct scribe_out *json, const struct scribe_out *text,
		      const char *to, struct scribe_err *err)
{
	struct scribe_output_file file = {.fd = -1};
	struct scribe_out out = {0};
	int rc = scribe_output_file_open(&file, to, err);

	if (rc < 0)
		return rc;
	rc = scribe_out_open(&out, file.fd, err);
	out.terminal = 0;
	if (rc >= 0) {
		scribe_report_page(kind, json, text, &out);
		rc = scribe_out_flush(&out, err);
	}
	scribe_out_close(&out);
	if (scribe_output_file_end(&file, rc < 0, err) < 0)
		rc = -1;
	return rc;
}

static int report(const char *argv0, char **paths, int n, const char *to, struct scribe_err *err)
{
	const bool survey = n == 1 && is_directory(paths[0]);
	struct scribe_out json = {0}, text = {0};
	int rc = scribe_out_open_memory(&json, err);

	if (rc >= 0)
		rc = scribe_out_open_memory(&text, err);
	if (rc >= 0)
		rc = survey  ? scribe_report_survey(argv0, paths[0], &json, &text, err)
		     : n > 1 ? scribe_report_compare(paths, &json, &text, err)
			     : of_log(paths[0], &json, &text, err);
	/* What was written into memory may have failed. */
	if (rc >= 0)
		rc = scribe_out_flush(&json, err);
	if (rc >= 0)
		rc = write_page(survey || n > 1 ? SCRIBE_REPORT_MANY : SCRIBE_REPORT_LOG, &json, &text, to, err);
	scribe_out_close(&json);
	scribe_out_close(&text);
	return rc;
}

int scribe_report_main(int argc, char **argv)
{
	struct scribe_err err = {0};
	const char *to = NULL;
	int first, status = scribe_args_read(&scribe_command_report, argc, argv, take, &to, &first);

	if (status >= 0)
		return status;
	if (!to) {
		scribe_complain(argv[0], "--output FILE is missing; see ioscribe report --help");
		return SCRIBE_EXIT_USAGE;
	}
	if (report(argv[0], argv + first, argc - first, to, &err) < 0)
		return scribe_complain_err(argv[0], &err);
	return SCRIBE_EXIT_OK;
}
