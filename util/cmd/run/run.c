// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe run`: traces one command with a private daemon, or through the node's service. The exit code is the
 * command's. Must not know BPF or records.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cmd/run/run_parts.h"
#include "util/link/pattern_check.h"
#include "util/link/privileges.h"
#include "util/link/service_link.h"
#include "util/tool/command.h"

enum key {
	KEY_LOG = 1,
	KEY_LOG_DIR,
	KEY_EXCLUDE,
	KEY_INCLUDE,
	KEY_NO_RUNTIME,
	KEY_CONFIG,
	KEY_QUIET = 'q',
	KEY_FORCE = 'F',
	KEY_RECORDS = 0x100,
	KEY_BEST_EFFORT,
	KEY_ALL_TYPES,
	KEY_DXT,
	KEY_STREAM,
	KEY_SET,
	KEY_VERBOSE,
	KEY_PRIVATE,
	KEY_REQUIRE_TRACE,
	KEY_SERVICE_WAIT,
	KEY_REPORT,
};

static const struct scribe_option options[] = {
	{"log", KEY_LOG, "FILE", "write the log to FILE; further logs get .2, .3 before its ending"},
	{"force", KEY_FORCE, NULL, "replace the FILE of --log if it is there"},
	{"log-dir", KEY_LOG_DIR, "DIR", "write logs below DIR/YYYY/M/D (default: the current directory, flat)"},
	{"exclude", KEY_EXCLUDE, "PREFIX",
	 "do not count paths below PREFIX (absolute, with a slash at its end; a list "
	 "with commas; none empties the default list)"},
	{"include", KEY_INCLUDE, "PREFIX", "count paths below PREFIX though an excluded prefix covers them"},
	{"no-runtime", KEY_NO_RUNTIME, NULL,
	 "do not preload the MPI runtime: ranks are told from the environment and "
	 "the daemon reduces their records"},
	{"quiet", KEY_QUIET, NULL, "print neither the logs' paths nor the summary"},
	{"report", KEY_REPORT, NULL, "write a page for a browser beside each log (ioscribe report)"},
	{"config", KEY_CONFIG, "FILE", "read keys from FILE first (docs/config.md)"},
	{"records", KEY_RECORDS, "N", "most files recorded at once; further ones fold into one record a process"},
	{"best-effort", KEY_BEST_EFFORT, NULL, "run CMD untraced where tracing is not possible"},
	{"require-trace", KEY_REQUIRE_TRACE, NULL,
	 "do not run CMD where it cannot be traced, also when the node's service is full, slow or gone"},
	{"service-wait", KEY_SERVICE_WAIT, "SECONDS",
	 "how long the node's service may take before CMD starts without it (2)"},
	{"dxt", KEY_DXT, NULL, "keep each read and write with its offset, length and times (DXT), for ioscribe dxt"},
	{"stream", KEY_STREAM, "SINK",
	 "send each open, read, write and close to another system while CMD runs: json:FILE, json:unix:PATH, "
	 "ldms:..., kafka:... (ioscribe publish); may be repeated"},
	{"all-types", KEY_ALL_TYPES, NULL, "count other than regular files too: pipes, sockets, devices"},
	{"set", KEY_SET, "KEY=VALUE", "set one key of the configuration (docs/config.md)"},
	{"private", KEY_PRIVATE, NULL,
	 "start a daemon for this command even where the node has a service (needs root)"},
	{"verbose", KEY_VERBOSE, NULL, "print what libbpf and the kernel report while programs are loaded"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"sudo ioscribe run -- cp -r src dst",
	"trace a copy and say where its log lies",
	"sudo ioscribe run --log app.darshan -- mpiexec -n 4 ./app",
	"one log of the four ranks",
	NULL,
};

const struct scribe_command scribe_command_run = {
	.name = "run",
	.summary = "trace a command, write its log, print a summary",
	.main = scribe_cmd_run,
	.operands = "-- CMD [ARG...]",
	.min_operands = 0,
	.max_operands = -1,
	.options = options,
	.about = "Runs CMD and traces the file I/O of it and of all its descendants in the kernel: no change "
		 "to the "
		 "program, any language, static binaries too. Needs root; under sudo CMD "
		 "runs as the invoking user.\n\n"
		 "Each MPI world gives one log with its ranks; everything else of the command gives one "
		 "more. A "
		 "command without MPI gives one log. The exit status is CMD's own, 128+n when signal n ended "
		 "it, 127 "
		 "when it was not found, 126 when it cannot be executed, 1 when tracing is not possible and "
		 "CMD was "
		 "therefore not started.\n\n"
		 "Where the node has a service, it is joined, and waited for at most 2 s (--service-wait). "
		 "One that is "
		 "full, slow or gone does not cost the command: CMD runs untraced, and one line says so "
		 "(root has a "
		 "daemon of its own then). With --require-trace CMD does not run.",
	.examples = examples,
};

static int take_wait(struct scribe_run *r, const char *value, struct scribe_err *err)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0.001 && seconds <= 3600))
		return scribe_err_set(err, -EINVAL, "--service-wait: '%.40s' is no number of seconds up to 3600",
				      value);
	r->service_ms = (int)(seconds * 1000);
	return 0;
}

/* The daemon has another working directory, so relative paths must be resolved here. */
static int absolute(const char *path, char *ret, size_t cap, struct scribe_err *err)
{
	char cwd[PATH_MAX];

	if (path[0] == '/') {
		if (snprintf(ret, cap, "%s", path) < (int)cap)
			return 0;
	} else if (getcwd(cwd, sizeof(cwd)) && snprintf(ret, cap, "%s/%s", cwd, path) < (int)cap) {
		return 0;
	}
	return scribe_err_set(err, -ENAMETOOLONG, "%s: the path is too long", path);
}

static int take_path(struct scribe_run *r, const char *key, const char *value, struct scribe_err *err)
{
	char path[SCRIBE_PATH_MAX];
	struct stat st;
	int rc;

	if (!value[0])
		return scribe_err_set(err, -EINVAL, "an empty path is not possible");
	rc = absolute(value, path, sizeof(path), err);
	if (rc < 0)
		return rc;
	if (!strcmp(key, "log_file") &&
	    (value[strlen(value) - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))))
		return scribe_err_set(err, -EISDIR, "--log %s is a directory; use --log-dir", value);
	if (!strcmp(key, "log_dir") && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return scribe_err_set(err, -ENOTDIR, "--log-dir %s is not a directory", value);
	r->placed = true;
	r->log_path_is_file = !strcmp(key, "log_file");
	strcpy(r->log_path, path);
	rc = scribe_run_option(r, key, path, err);
	if (rc == 0 && !strcmp(key, "log_dir"))
		rc = scribe_run_option(r, "log_layout", "dated", err);
	return rc;
}

static int add_ours(struct scribe_run *r, struct scribe_err *err)
{
	static const char prefix[] = "IOSCRIBE_";
	int rc = 0;

	for (char **e = environ; *e && rc == 0; e++) {
		size_t n = strcspn(*e, "=");
		char key[64];

		/* The daemon ignores variables with this prefix that are not keys. */
		if (strncmp(*e, prefix, sizeof(prefix) - 1) || !(*e)[n] || n >= sizeof(key) || strchr(*e, '\n'))
			continue;
		memcpy(key, *e, n);
		key[n] = 0;
		rc = scribe_run_option(r, key, *e + n + 1, err);
		r->placed = r->placed || !strcmp(key, "IOSCRIBE_LOG_DIR") || !strcmp(key, "IOSCRIBE_LOG_FILE");
	}
	return rc;
}

/* Darshan's variables, then IOSCRIBE_*; added first, so that the command line overrides both. */
static int add_darshan(struct scribe_run *r, struct scribe_err *err)
{
	static const char *const names[] = {
		"MODMEM",
		"NAMEMEM",
		"MAX_RECORDS",
		"NAME_EXCLUDE",
		"NAME_INCLUDE",
		"MOD_ENABLE",
		"DXT_SMALL_IO_TRIGGER",
		"DXT_UNALIGNED_IO_TRIGGER",
		"MOD_DISABLE",
		"APP_EXCLUDE",
		"APP_INCLUDE",
		"RANK_EXCLUDE",
		"RANK_INCLUDE",
		"LOGHINTS",
		"EXCLUDE_DIRS",
		"MEM_ALIGNMENT",
		"MEMALIGN",
		"MEM_ALIGNMENT_OVERRIDE",
		"LOGPATH",
		"LOGFILE",
		"DISABLE_SHARED_REDUCTION",
		"MOD_MEM_OVERRIDE",
	};
	const char *variable = getenv("DARSHAN_JOBID"), *number;
	char key[64];
	int rc = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == 0; i++) {
		const char *value;

		snprintf(key, sizeof(key), "DARSHAN_%s", names[i]);
		value = getenv(key);
		if (!value || strchr(value, '\n'))
			continue;
		rc = scribe_run_option(r, key, value, err);
		r->placed = r->placed || !strcmp(names[i], "LOGPATH") || !strcmp(names[i], "LOGFILE");
	}
	if (rc == 0 && getenv("DXT_ENABLE_IO_TRACE"))
		rc = scribe_run_option(r, "dxt", "yes", err);
	rc = rc < 0 ? rc : add_ours(r, err);
	variable = variable ? variable : getenv("DARSHAN_JOBID_OVERRIDE");
	number = variable ? getenv(variable) : NULL;
	if (rc == 0 && number && number[0] >= '0' && number[0] <= '9')
		rc = scribe_run_option(r, "job_number", number, err);
	return rc;
}

/* A # after a blank begins a comment in a value, as in the daemon's parser. Returns the new length. */
static size_t without_comment(char *line)
{
	char *at = strchr(line, '=');

	while (at && (at = strchr(at, '#')))
		if (at[-1] != ' ' && at[-1] != '\t') {
			at++;
		} else {
			strcpy(at, "\n");
			break;
		}
	return strlen(line);
}

static int take_config(struct scribe_run *r, const char *path, struct scribe_err *err)
{
	char line[4096];
	FILE *f = fopen(path, "re");
	int rc = 0;

	if (!f)
		return scribe_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	while (rc == 0 && fgets(line, sizeof(line), f)) {
		size_t n = without_comment(line), capacity = sizeof(r->options) - r->options_bytes;

		if (n >= capacity || (n && line[n - 1] != '\n' && !feof(f))) {
			rc = scribe_err_set(err, -E2BIG, "%s: too long", path);
			break;
		}
		memcpy(r->options + r->options_bytes, line, n);
		r->options_bytes += n;
		if (n && line[n - 1] != '\n')
			r->options[r->options_bytes++] = '\n';
		if (!strncmp(line, "log_", 4))
			r->placed = true;
	}
	fclose(f);
	return rc < 0 ? rc : add_darshan(r, err); /* again, because the environment overrides a file */
}

static int take_set(struct scribe_run *r, const char *pair, struct scribe_err *err)
{
	const char *equals = strchr(pair, '=');
	char key[64];

	if (!equals || equals == pair || (size_t)(equals - pair) >= sizeof(key))
		return scribe_err_set(err, -EINVAL, "--set %s is not KEY=VALUE", pair);
	memcpy(key, pair, (size_t)(equals - pair));
	key[equals - pair] = 0;
	return scribe_run_option(r, key, equals + 1, err);
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct scribe_run *r = ctx;

	switch (key) {
	case KEY_LOG:
		return take_path(r, "log_file", value, err);
	case KEY_LOG_DIR:
		return take_path(r, "log_dir", value, err);
	case KEY_EXCLUDE:
		return scribe_run_option(r, "exclude", value, err);
	case KEY_INCLUDE:
		return scribe_run_option(r, "include", value, err);
	case KEY_NO_RUNTIME:
		r->no_runtime = true;
		return scribe_run_option(r, "runtime", "no", err);
	case KEY_QUIET:
		r->quiet = true;
		return 0;
	case KEY_REPORT:
		r->report = true;
		return 0;
	case KEY_CONFIG:
		return take_config(r, value, err);
	case KEY_RECORDS:
		if (!value[0] || strspn(value, "0123456789") != strlen(value))
			return scribe_err_set(err, -EINVAL, "--records: '%.40s' is no number", value);
		return scribe_run_option(r, "records", value, err);
	case KEY_FORCE:
		r->force = true;
		return 0;
	case KEY_BEST_EFFORT:
		r->best_effort = true;
		return 0;
	case KEY_REQUIRE_TRACE:
		r->require_trace = true;
		return 0;
	case KEY_SERVICE_WAIT:
		return take_wait(r, value, err);
	case KEY_ALL_TYPES:
		return scribe_run_option(r, "all_types", "yes", err);
	case KEY_STREAM:
		return scribe_run_publish_add(r, value, err);
	case KEY_DXT:
		return scribe_run_option(r, "dxt", "yes", err);
	case KEY_SET:
		return take_set(r, value, err);
	case KEY_PRIVATE:
		r->private_one = true;
		return 0;
	default:
		r->verbose = true;
		return 0;
	}
}

/* Index of CMD: after "--", or the first word that is not an option or an option's value. */
static int command_at(int argc, char **argv)
{
	int i = 1;

	while (i < argc) {
		const char *word = argv[i];
		bool takes_next = false;

		if (!strcmp(word, "--"))
			return i + 1;
		if (word[0] != '-' || !word[1])
			return i;
		for (const struct scribe_option *o = options; o->name && !strncmp(word, "--", 2); o++) {
			/* getopt accepts a unique prefix of an option's name. */
			if (!strncmp(word + 2, o->name, strlen(word + 2)))
				takes_next = o->arg != NULL;
			if (!strcmp(word + 2, o->name))
				break;
		}
		i += takes_next ? 2 : 1;
	}
	return argc;
}

/* 0: not set, or not a number. */
static unsigned long env_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	unsigned long n;

	if (!text || text[0] < '0' || text[0] > '9')
		return 0;
	n = strtoul(text, &end, 10);
	return *end ? 0 : n;
}

static void who(struct scribe_run *r)
{
	struct passwd *pw;

	r->uid = getuid();
	r->gid = getgid();
	/* Under sudo CMD runs as the invoking user. SUDO_UID 0 means that root called sudo: nothing changes. */
	if (geteuid() == 0 && env_number("SUDO_UID") > 0) {
		r->uid = (uid_t)env_number("SUDO_UID");
		r->gid = (gid_t)env_number("SUDO_GID");
		r->drop = true;
	}
	pw = getpwuid(r->uid);
	if (pw) {
		snprintf(r->user, sizeof(r->user), "%s", pw->pw_name);
		snprintf(r->home, sizeof(r->home), "%s", pw->pw_dir);
	} else {
		snprintf(r->user, sizeof(r->user), "%u", (unsigned)r->uid);
	}
	if (r->drop && !r->gid)
		r->gid = pw ? pw->pw_gid : r->gid;
}

static int add_identity(struct scribe_run *r, struct scribe_err *err)
{
	char number[32], cwd[PATH_MAX];
	int rc;

	snprintf(number, sizeof(number), "%u", (unsigned)r->uid);
	rc = scribe_run_option(r, "uid", number, err);
	snprintf(number, sizeof(number), "%u", (unsigned)r->gid);
	if (rc == 0)
		rc = scribe_run_option(r, "gid", number, err);
	if (rc == 0)
		rc = scribe_run_option(r, "user", r->user, err);
	if (rc == 0 && !r->placed) {
		if (!getcwd(cwd, sizeof(cwd)))
			return scribe_err_set(err, -errno, "no current directory: %s", strerror(errno));
		snprintf(r->log_path, sizeof(r->log_path), "%s", cwd);
		rc = scribe_run_option(r, "log_dir", cwd, err);
		if (rc == 0)
			rc = scribe_run_option(r, "log_layout", "flat", err);
	}
	return rc;
}

static int check_free(const struct scribe_run *r, struct scribe_err *err)
{
	struct stat st;

	/* Without --force an existing log is never replaced by accident. */
	if (!r->log_path_is_file || r->force || lstat(r->log_path, &st) < 0)
		return 0;
	return scribe_err_set(err, -EEXIST, "--log %.900s: File exists (--force replaces it)", r->log_path);
}

/* Reasons that are known without trying; the daemon reports all others. */
static int obstacles(struct scribe_err *err)
{
	if (scribe_may_trace())
		return 0;
	if (scribe_in_user_ns())
		return scribe_err_set(err, -EPERM,
				      "not possible in a user namespace (a rootless container, unshare -U): trace "
				      "from outside, as the machine's root");
	return scribe_err_set(err, -EPERM, "needs root to trace: sudo ioscribe run -- CMD");
}

/* A service does not check the log's directory before CMD runs, so this does. */
static int check_place(const struct scribe_run *r, struct scribe_err *err)
{
	char path[SCRIBE_PATH_MAX];
	char *slash;

	snprintf(path, sizeof(path), "%s", r->log_path);
	if (r->log_path_is_file) {
		slash = strrchr(path, '/');
		slash[slash == path] = 0;
	}
	while (!r->log_path_is_file && access(path, F_OK) < 0 && errno == ENOENT && (slash = strrchr(path, '/')) &&
	       slash != path)
		*slash = 0;
	if (access(path, W_OK | X_OK) < 0)
		return scribe_err_set(err, -errno, "no log can be written to %s/: %s", path, strerror(errno));
	return 0;
}

/*
 * Joins the service if it responds; otherwise a private daemon if privileges allow. 0: traced. 1: not traced,
 * reported, and CMD shall run.
 */
static int find_daemon(struct scribe_run *r, struct scribe_err *err)
{
	bool able = scribe_may_trace();
	struct scribe_err why = {0};
	char socket[SCRIBE_PATH_MAX];
	int rc = -ENOENT;

	snprintf(socket, sizeof(socket), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	if (!able && (r->private_one || access(socket, F_OK) < 0))
		return obstacles(err);
	if (!able && r->log_path[0] && check_place(r, err) < 0)
		return err->code;
	if (!r->private_one)
		rc = scribe_run_link_join(r, &why);
	if (rc == 0)
		return 0;
	/* -EIO is a refusal of the request itself: running CMD without it would surprise. */
	if (rc == -EIO || (!able && r->require_trace)) {
		*err = why;
		return rc;
	}
	if (rc != -ENOENT || !able)
		scribe_complain(r->self, "%s; %s", why.text,
				able ? "a daemon of its own is started" : "CMD runs untraced");
	return able ? scribe_run_link_start(r, err) : 1;
}

static int cmd_failed(struct scribe_run *r, int code)
{
	if (code == ENOENT)
		scribe_complain(r->self, "%s: command not found", r->cmd[0]);
	else
		scribe_complain(r->self, "%s: cannot be executed: %s", r->cmd[0], strerror(code));
	return code == ENOENT ? 127 : 126;
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_command(struct scribe_run *r, struct scribe_err *err)
{
	int go, failure, code, status;
	pid_t pid;

	if (scribe_run_child_fork(r, &pid, &go, &failure, err) < 0)
		return -1;
	scribe_run_child_signals(pid);
	/* CMD waits in front of exec until it is enrolled, so that its first instruction is traced. */
	if (r->link >= 0 && scribe_run_link_enrol(r, pid, err) < 0) {
		close(go);
		scribe_run_child_wait(pid);
		close(failure);
		return -1;
	}
	if (r->link >= 0 && scribe_run_publish_begin(r, pid, err) < 0)
		scribe_complain_err(r->self, err);
	if (write(go, "", 1) < 0)
		(void)0;
	close(go);
	code = scribe_run_child_failure(failure);
	close(failure);
	status = scribe_run_child_wait(pid);
	if (code)
		return cmd_failed(r, code);
	if (r->link >= 0 && scribe_run_report(r, status, err) < 0 && err->text[0])
		scribe_complain_err(r->self, err);
	scribe_run_publish_end(r);
	return exit_code(status);
}

static int not_traced(const struct scribe_run *r, const struct scribe_err *err, bool go_on)
{
	if (r->require_trace) {
		scribe_complain(r->self, "%s; CMD does not run (--require-trace)", err->text);
		return SCRIBE_EXIT_FAILED;
	}
	if (!go_on)
		return scribe_complain_err(r->self, err);
	scribe_complain(r->self, "%s; CMD runs untraced", err->text);
	return SCRIBE_EXIT_OK;
}

int scribe_cmd_run(int argc, char **argv)
{
	static struct scribe_run r;
	struct scribe_err err = {0};
	int at = command_at(argc, argv), first, status;
	bool traced;

	r = (struct scribe_run){.self = argv[0], .link = -1, .cmd = argv + at, .words = (uint32_t)(argc - at)};
	if (add_darshan(&r, &err) < 0)
		return scribe_complain_err(argv[0], &err);
	status = scribe_args_read(&scribe_command_run, at, argv, take, &r, &first);
	if (status >= 0)
		return status;
	if (at >= argc) {
		scribe_complain(argv[0], "a command is expected; see ioscribe run --help");
		return SCRIBE_EXIT_USAGE;
	}
	if (r.best_effort && r.require_trace) {
		scribe_complain(argv[0], "--best-effort and --require-trace exclude each other");
		return SCRIBE_EXIT_USAGE;
	}
	if (check_free(&r, &err) < 0 || scribe_run_publish_darshan(&r, &err) < 0 ||
	    scribe_check_patterns(r.options, r.options_bytes, &err) < 0)
		return scribe_complain_err(argv[0], &err);
	if (!r.quiet)
		scribe_complain_old_keys(r.self, r.options, r.options_bytes);
	who(&r);
	if ((add_identity(&r, &err) < 0 || find_daemon(&r, &err) < 0) &&
	    not_traced(&r, &err, r.best_effort) != SCRIBE_EXIT_OK)
		return SCRIBE_EXIT_FAILED;
	traced = r.link >= 0;
	status = run_command(&r, &err);
	scribe_run_link_stop(&r);
	if (status >= 0)
		return status;
	/* -1: CMD was not executed yet, so a second attempt cannot run it twice. */
	status = not_traced(&r, &err, traced && !r.require_trace && (r.best_effort || r.joined));
	return status == SCRIBE_EXIT_OK ? run_command(&r, &err) : status;
}
