// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doctor's lines about the service of this node: who answers, its settings,
 * where logs go, what waits in the spool, the scheduler. Changes nothing. Must not
 * know: BPF.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/doctor_parts.h"
#include "util/job_parts.h"
#include "util/run_parts.h"

#define ANSWER_MS     2000
#define LOG_DIR       "/var/log/ioscribe"
#define SPOOL_DIR     "/var/spool/ioscribe"
#define HOOKS_CONF    "/etc/ioscribe/hooks.conf"
#define SLURM_CONF    "/etc/slurm/slurm.conf"
#define MUNGE_SOCKET  "/run/munge/munge.socket.2"
#define PLUGIN        "spank_ioscribe.so"
#define OURS_IN_PATHS "ioscribe"

static const char *first_of(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value && value[0] ? value : otherwise;
}

/* The last "key = value" or "key=value" of a file; false: there is none. */
static bool setting(const char *path, const char *key, char *ret, size_t cap)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(key);
	char text[4096];
	bool found = false;

	while (f && fgets(text, sizeof(text), f)) {
		char *at = text + strspn(text, " \t"), *value;

		value = at + n + strspn(at + (strlen(at) < n ? strlen(at) : n), " \t");
		if (strncasecmp(at, key, n) || *value != '=')
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = 0;
		snprintf(ret, cap, "%s", value);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool mentions(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char text[4096];
	bool found = false;

	while (f && !found && fgets(text, sizeof(text), f))
		found = text[strspn(text, " \t")] != '#' && strstr(text, word);
	if (f)
		fclose(f);
	return found;
}

/* How many jobs the daemon speaks of; negative with a line in err. */
static int jobs_of(int sock, int64_t deadline, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	int n = 0, type = scribe_msg_send(sock, SCRIBE_MSG_JOB_LIST, 0, NULL, 0, -1, ANSWER_MS);

	if (type < 0)
		return scribe_err_set(err, type, "it does not listen: %s", strerror(-type));
	while ((type = scribe_job_hear(sock, packet, deadline, err)) == SCRIBE_MSG_JOB_ENTRY)
		n++;
	return type == SCRIBE_MSG_JOB_OK ? n : type < 0 ? type : -EPROTO;
}

static void check_build(const char *dir)
{
	char path[PATH_MAX], exe[PATH_MAX];
	unsigned pid = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%u", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = pid ? readlink(path, exe, sizeof(exe) - 1) : -1;
	if (n <= 0)
		return;
	exe[n] = 0;
	if (n > 10 && !strcmp(exe + n - 10, " (deleted)"))
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "service's build",
				   "process %u runs a build that was replaced: systemctl restart ioscribed",
				   pid);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "service's build", "process %u, %s", pid, exe);
}

static void check_socket(void)
{
	const char *dir = scribe_job_dir();
	int64_t deadline = scribe_msg_now_ms() + ANSWER_MS;
	struct scribe_err err = {0};
	char path[PATH_MAX];
	struct stat st;
	int sock, n;

	snprintf(path, sizeof(path), "%s/" SCRIBE_SERVICE_SOCKET, dir);
	sock = scribe_job_connect(deadline, &err);
	if (sock == -ENOENT) {
		scribe_doctor_line(
			SCRIBE_DOCTOR_NOTE, "service",
			"none at %s: the first job of a prolog starts one, or systemctl enable --now "
			"ioscribed",
			dir);
		return;
	}
	n = sock < 0 ? sock : jobs_of(sock, deadline, &err);
	if (sock >= 0)
		close(sock);
	if (n < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "service",
				   "%s; systemctl restart ioscribed, jobs go on",
				   err.text[0] ? err.text : strerror(-n));
		return;
	}
	scribe_doctor_line(SCRIBE_DOCTOR_OK, "service", "answers at %s, %d jobs%s", path, n,
			   geteuid() ? " of yours" : "");
	if (stat(path, &st) == 0 && (st.st_mode & 0666) != 0666)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "service's socket",
				   "mode %04o, users cannot connect: chmod 0666 %s",
				   (unsigned)st.st_mode & 07777, path);
	check_build(dir);
}

/* The daemon judges its file. */
static void check_config(const char *file)
{
	char daemon[PATH_MAX], command[2 * PATH_MAX + 64], text[512] = "";
	FILE *f;

	if (access(file, F_OK) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "configuration", "no %s: defaults", file);
		return;
	}
	if (scribe_run_find_daemon(daemon, sizeof(daemon)) < 0 || strchr(daemon, '\'') || strchr(file, '\''))
		return;
	snprintf(command, sizeof(command), "'%s' --check-config '%s' 2>&1", daemon, file);
	f = popen(command, "re");
	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	if (f && pclose(f) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "configuration", "%s", file);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "configuration", "%s",
				   !strncmp(text, "ioscribed: ", 11) ? text + 11 : text);
}

/* The value of NAME=… among the words of the hooks' options. */
static bool hook_option(const char *hooks, const char *name, char *ret, size_t cap)
{
	char options[4096], *rest = options, *word;
	size_t n = strlen(name);
	bool found = false;

	if (!setting(hooks, "options", options, sizeof(options)))
		return false;
	while ((word = strsep(&rest, " \t"))) {
		if (strncmp(word, name, n) || word[n] != '=')
			continue;
		snprintf(ret, cap, "%s", word + n + 1);
		found = true;
	}
	return found;
}

static void check_log_dir(const char *config, const char *hooks)
{
	char dir[PATH_MAX] = LOG_DIR, layout[64] = "dated", text[1024];
	char *user;
	bool said = setting(config, "log_dir", dir, sizeof(dir));

	setting(config, "log_layout", layout, sizeof(layout));
	said = hook_option(hooks, "log_dir", dir, sizeof(dir)) || said;
	hook_option(hooks, "log_layout", layout, sizeof(layout));
	user = strstr(dir, "%u");
	if (user) {
		*user = 0;
		strcpy(layout, "users");
	}
	if (!said && access(dir, F_OK) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "log directory", "%s, which the service makes", dir);
		return;
	}
	if (scribe_logdir_look(dir, layout, text, sizeof(text)) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "log directory", "%s, %s", dir, layout);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "log directory", "%s", text);
}

static void check_spool(const char *config)
{
	char path[PATH_MAX] = SPOOL_DIR;
	struct dirent *e;
	struct stat st;
	unsigned n = 0;
	DIR *dir;

	setting(config, "spool_dir", path, sizeof(path));
	if (!path[0] || geteuid() != 0)
		return; /* nobody else may look */
	if (lstat(path, &st) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "spool", "%s, made when it is needed", path);
		return;
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & 077) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "spool",
				   "%s must be root's, mode 0700: the service refuses it", path);
		return;
	}
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		size_t bytes = strlen(e->d_name);

		n += bytes > 8 && !strcmp(e->d_name + bytes - 8, ".darshan");
	}
	if (dir)
		closedir(dir);
	if (n)
		scribe_doctor_line(
			SCRIBE_DOCTOR_NOTE, "spool",
			"%u logs in %s wait for their place; the .to beside each names it: ioscribe logdir "
			"--check says what is wrong there",
			n, path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "spool", "%s, empty", path);
}

static void check_slurm(const char *hooks)
{
	const char *conf = first_of("SLURM_CONF", SLURM_CONF);
	char plugstack[PATH_MAX], value[PATH_MAX], program[PATH_MAX];
	bool prolog, epilog;

	if (access(conf, R_OK) < 0)
		return; /* no Slurm here */
	prolog = setting(conf, "Prolog", value, sizeof(value)) && strstr(value, OURS_IN_PATHS);
	epilog = setting(conf, "Epilog", value, sizeof(value)) && strstr(value, OURS_IN_PATHS);
	if (prolog && epilog)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "Slurm's hooks", "Prolog and Epilog of %s", conf);
	else
		scribe_doctor_line(
			SCRIBE_DOCTOR_NOTE, "Slurm's hooks",
			"%s of %s is not ours by its name: a site's own must call ours (docs/site-guide.md)",
			prolog ? "Epilog" : "Prolog", conf);
	if (setting(hooks, "ioscribe", program, sizeof(program)) && strchr(program, '/') &&
	    access(program, X_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "Slurm's hooks", "%s: ioscribe = %s is not there",
				   hooks, program);
	snprintf(plugstack, sizeof(plugstack), "%.*s/plugstack.conf",
		 (int)(strrchr(conf, '/') ? strrchr(conf, '/') - conf : 0), conf);
	setting(conf, "PlugStackConfig", plugstack, sizeof(plugstack));
	if (mentions(plugstack, PLUGIN))
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "Slurm's plugin", "in %s", plugstack);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "Slurm's plugin",
				   "not in %s: no --ioscribe for sbatch; add: optional " PLUGIN, plugstack);
	if (setting(conf, "AuthType", value, sizeof(value)) && strstr(value, "munge") &&
	    !mentions(conf, "AuthInfo") && access(MUNGE_SOCKET, F_OK) < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "munge",
				   "no " MUNGE_SOCKET ": Slurm cannot authenticate: systemctl start munge");
}

void scribe_doctor_service(void)
{
	const char *config = first_of(SCRIBE_ENV_CONFIG, SCRIBE_SERVICE_CONFIG);
	const char *hooks = first_of("IOSCRIBE_HOOKS_CONF", HOOKS_CONF);

	check_socket();
	check_config(config);
	check_log_dir(config, hooks);
	check_spool(config);
	check_slurm(hooks);
}
