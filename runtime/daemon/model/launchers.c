/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of programs that start ranks. Must not know of processes or worlds. */
#include "runtime/daemon/model/launchers.h"

#include <stdio.h>
#include <string.h>

const char *scribe_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool scribe_is_launcher(const char *program)
{
	static const char *const prefixes[] = {"mpiexec", "mpirun", "hydra_", "orterun", "prterun"};
	static const char *const whole[] = {"orted",       "prte",   "prted",     "srun",       "slurmstepd",
					    "aprun",       "jsrun",  "jsrund",    "flux",       "flux-shell",
					    "flux-broker", "palsd",  "pmi_proxy", "mpdboot",    "ibrun",
					    "jsmd",        "oshrun", "shmemrun",  "task-prolog"};
	const char *name = scribe_base_name(program);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	return false;
}

/* Most are Python programs: argv is "python3 /usr/bin/torchrun ..." or "python3 -m MODULE ...". */
const char *scribe_framework_launcher(const char *argv, size_t bytes, char text[PATH_MAX])
{
	static const char *const programs[] = {"torchrun", "accelerate", "deepspeed", "horovodrun", "rrun"};
	static const char *const modules[] = {"torch.distributed.run",      "torch.distributed.launch",
					      "accelerate.commands.launch", "deepspeed.launcher.runner",
					      "deepspeed.launcher.launch",  "horovod.runner.launch"};
	const char *word = text, *end;
	bool is_module = false;

	/* the last string may be cut */
	bytes = bytes < PATH_MAX - 1 ? bytes : PATH_MAX - 1;
	memcpy(text, argv, bytes);
	text[bytes] = 0;
	end = text + bytes;
	if (!strncmp(scribe_base_name(word), "python", 6)) {
		for (word += strlen(word) + 1; word < end && word[0] == '-' && !is_module; word += strlen(word) + 1)
			is_module = !strcmp(word, "-m");
	}
	if (word >= end)
		return NULL;
	for (size_t i = 0; is_module && i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strcmp(word, modules[i]))
			return word;
	for (size_t i = 0; !is_module && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(scribe_base_name(word), programs[i]))
			return scribe_base_name(word);
	return NULL;
}

bool scribe_starts_elsewhere(const char *program, bool below_launcher)
{
	static const char *const always[] = {"srun",        "docker", "podman", "sbatch", "salloc",
					     "systemd-run", "qsub",   "bsub",   "lsrun",  "aprun"};
	static const char *const remote_shells[] = {"ssh", "rsh", "blaunch", "pbs_tmrsh"};
	const char *name = scribe_base_name(program);

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (!strcmp(name, always[i]))
			return true;
	/* Launchers start proxies by remote shells. */
	for (size_t i = 0; below_launcher && i < sizeof(remote_shells) / sizeof(remote_shells[0]); i++)
		if (!strcmp(name, remote_shells[i]))
			return true;
	return false;
}

/* "--option VALUE" or "--option=VALUE". */
static bool option_value(const char *args, const char *option, char *ret, size_t cap)
{
	const char *at = strstr(args, option);
	size_t n;

	if (!at)
		return false;
	at += strlen(option);
	if (*at != ' ' && *at != '=')
		return false;
	at++;
	n = strcspn(at, " ");
	if (!n || n >= cap)
		return false;
	memcpy(ret, at, n);
	ret[n] = 0;
	return true;
}

bool scribe_hydra_key(const char *args, char *ret_key, size_t cap)
{
	char port[128], group[32];

	if (!args || !strstr(args, "hydra_"))
		return false;
	if (!option_value(args, "--control-port", port, sizeof(port)))
		return false;
	if (!option_value(args, "--pgid", group, sizeof(group)))
		return false;
	snprintf(ret_key, cap, "hydra:%s:%s", port, group);
	return true;
}
