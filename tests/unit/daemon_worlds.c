/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world model, driven by invented events: launchers, ranks, descendants,
 * two worlds in one script, spawned worlds, singletons, many processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/daemon/model/launchers.h"
#include "runtime/daemon/model/mpi_worlds.h"
#include "tests/harness/seed.h"

#define LIMIT 64

static struct scribe_worlds w;
static uint64_t clock_ns;

static int setup(void **state)
{
	(void)state;
	clock_ns = 1000;
	return scribe_worlds_init(&w, LIMIT);
}

static int teardown(void **state)
{
	(void)state;
	scribe_worlds_clear(&w, NULL);
	return 0;
}

static struct scribe_process *proc(uint32_t proc_id)
{
	struct scribe_process *p = scribe_worlds_find(&w, proc_id);

	assert_non_null(p);
	return p;
}

static void forks(uint32_t parent, uint32_t child)
{
	assert_non_null(scribe_worlds_fork(&w, child, parent, clock_ns++));
}

/* exec of a command line whose words are separated by spaces */
static void execs(uint32_t proc_id, const char *line, const char *env)
{
	char argv[512], pieces[1024];
	struct scribe_envreader reader;
	struct scribe_rankenv r;
	size_t n = strlen(line) + 1;

	memcpy(argv, line, n);
	for (size_t i = 0; i < n; i++)
		if (argv[i] == ' ')
			argv[i] = 0;
	assert_int_equal(scribe_worlds_exec(&w, proc(proc_id), argv, n, NULL), 0);
	n = strlen(env) + 1;
	memcpy(pieces, env, n);
	for (size_t i = 0; i < n; i++)
		if (pieces[i] == ' ')
			pieces[i] = 0;
	scribe_envreader_begin(&reader);
	scribe_envreader_feed(&reader, pieces, n);
	scribe_envreader_end(&reader, proc(proc_id)->seen, &r);
	assert_int_equal(scribe_worlds_env(&w, proc(proc_id), &r), 0);
}

static void ends(uint32_t proc_id)
{
	scribe_worlds_exit(&w, proc(proc_id), SCRIBE_END_EXITED, 0, clock_ns++);
}

static unsigned count_units(void)
{
	unsigned n = 0;

	for (struct scribe_log_unit *u = w.units; u; u = u->next)
		n++;
	return n;
}

static void assert_rank(uint32_t proc_id, uint32_t unit, int64_t rank)
{
	assert_int_equal(proc(proc_id)->unit->id, unit);
	assert_int_equal(proc(proc_id)->rank->rank, rank);
}

static void launchers_are_known(void **state)
{
	static const char *const yes[] = {"mpiexec", "/usr/bin/mpiexec.hydra", "mpirun.openmpi", "hydra_pmi_proxy",
					  "orted",   "/opt/slurm/bin/srun",    "slurmstepd",     "prterun"};
	static const char *const no[] = {"sh", "python3", "srunner", "myapp", "/home/u/orted.d/app", "bash", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!scribe_is_launcher(yes[i]))
			fail_msg("%s is a launcher", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (scribe_is_launcher(no[i]))
			fail_msg("%s is no launcher", no[i]);
}

static void plain_command_is_one_unit(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh script", "HOME=/root");
	forks(1, 2);
	execs(2, "cp a b", "HOME=/root");
	assert_int_equal(count_units(), 1);
	assert_rank(2, 0, 0);
	assert_true(w.rest->has_non_launcher);
	ends(2);
	ends(1);
	assert_int_equal(w.living, 0);
	assert_true(scribe_log_unit_is_over(&w, w.rest));
}

/* mpiexec (1) -> proxy (2) -> ranks 3, 4 */
static void start_hydra(uint32_t first, const char *port, const char *group)
{
	char line[256];

	forks(first, first + 1);
	snprintf(line, sizeof(line), "/usr/bin/hydra_pmi_proxy --control-port %s --rmk user --pgid %s --proxy-id 0",
		 port, group);
	execs(first + 1, line, "");
	forks(first + 1, first + 2);
	execs(first + 2, "./app x", "PMI_RANK=0 PMI_SIZE=2");
	forks(first + 1, first + 3);
	execs(first + 3, "./app x", "PMI_RANK=1 PMI_SIZE=2");
}

static void hydra_world(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpiexec.mpich -n 2 ./app", "");
	start_hydra(1, "host:4711", "0");
	assert_int_equal(count_units(), 2);
	assert_rank(3, 1, 0);
	assert_rank(4, 1, 1);
	assert_rank(2, 0, 0);
	assert_int_equal(scribe_log_unit_nprocs(proc(3)->unit), 2);
	assert_string_equal(proc(3)->unit->key, "hydra:host:4711:0");
	assert_false(w.rest->has_non_launcher); /* launchers alone */
	/* a rank's children count to it, with or without exec */
	forks(3, 5);
	execs(5, "sh -c date", "PMI_RANK=0 PMI_SIZE=2");
	forks(5, 6);
	assert_rank(6, 1, 0);
	ends(6);
	ends(5);
	ends(3);
	assert_false(scribe_log_unit_is_over(&w, proc(4)->unit));
	ends(4);
	assert_true(scribe_log_unit_is_over(&w, proc(4)->unit));
	assert_false(scribe_log_unit_is_over(&w, w.rest));
}

static void rank_wrapped_by_a_shell(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpirun -n 1 sh -c ./app", "");
	forks(1, 2);
	execs(2, "sh -c ./app", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 PMIX_NAMESPACE=ns1");
	forks(2, 3);
	execs(3, "./app", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 PMIX_NAMESPACE=ns1");
	assert_int_equal(count_units(), 2);
	assert_rank(3, 1, 0);
	assert_true(proc(2)->is_root);
	assert_false(proc(3)->is_root);
	assert_int_equal(scribe_worlds_hello(&w, proc(3), 0, 1, "ns1"), 1);
	assert_rank(3, 1, 0);
}

static void two_worlds_in_one_script(void **state)
{
	struct scribe_log_unit *first;

	(void)state;
	forks(0, 1);
	execs(1, "sh two.sh", "");
	forks(1, 10);
	execs(10, "mpiexec -n 2 ./app", "");
	start_hydra(10, "host:1", "0");
	first = proc(12)->unit;
	for (uint32_t s = 13; s >= 10; s--)
		ends(s);
	assert_true(scribe_log_unit_is_over(&w, first));
	first->committed = true;
	forks(1, 20);
	execs(20, "mpiexec -n 2 ./app", "");
	/* the same port and group again: the first world is committed, this is another */
	start_hydra(20, "host:1", "0");
	assert_int_equal(count_units(), 3);
	assert_int_not_equal(proc(22)->unit->id, first->id);
	assert_true(w.rest->has_non_launcher); /* the shell */
}

static void spawned_world(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpiexec -n 2 ./app", "");
	start_hydra(1, "host:1", "0");
	forks(1, 30);
	execs(30, "hydra_pmi_proxy --control-port host:1 --pgid 1 --proxy-id 0", "");
	forks(30, 31);
	execs(31, "./child", "PMI_RANK=0 PMI_SIZE=1");
	assert_int_equal(count_units(), 3);
	assert_rank(31, 2, 0);
	assert_rank(3, 1, 0);
}

static void launcher_inside_a_rank(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpiexec -n 2 ./app", "");
	start_hydra(1, "host:1", "0");
	forks(3, 40);
	execs(40, "mpiexec -n 2 ./inner", "PMI_RANK=0 PMI_SIZE=2");
	assert_rank(40, 1, 0); /* the launcher itself still counts to the rank */
	start_hydra(40, "host:2", "0");
	assert_rank(42, 2, 0);
	assert_rank(43, 2, 1);
	assert_rank(3, 1, 0);
}

#define TORCH(rank, size, restart) \
	"RANK=" #rank " LOCAL_RANK=" #rank " WORLD_SIZE=" #size " LOCAL_WORLD_SIZE=" #size " GROUP_RANK=0" \
	" MASTER_ADDR=n1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=" #restart

/* sh (1) -> torchrun (2) -> workers 3, 4, each with a fork and a program of its own */
static void torchrun_alone(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh job.sh", "HOME=/root");
	forks(1, 2);
	execs(2, "/usr/bin/python3 /usr/local/bin/torchrun --nproc_per_node=2 train.py", "HOME=/root");
	assert_true(proc(2)->is_launcher);
	forks(2, 3);
	execs(3, "/usr/bin/python3 -u train.py", TORCH(0, 2, 0));
	forks(2, 4);
	execs(4, "/usr/bin/python3 -u train.py", TORCH(1, 2, 0));
	assert_int_equal(count_units(), 2);
	assert_rank(3, 1, 0);
	assert_rank(4, 1, 1);
	assert_rank(2, 0, 0);
	assert_int_equal(scribe_log_unit_nprocs(proc(3)->unit), 2);
	assert_string_equal(proc(3)->unit->key, "torch:none:n1:29500:0");
	forks(4, 5); /* a DataLoader's worker */
	forks(4, 6);
	execs(6, "/usr/bin/python3 -c from multiprocessing.spawn import spawn_main", TORCH(1, 2, 0));
	forks(6, 7);
	execs(7, "nvidia-smi", TORCH(1, 2, 0));
	assert_rank(5, 1, 1);
	assert_rank(6, 1, 1);
	assert_rank(7, 1, 1);
	/* MPI for one process is part of the rank */
	assert_int_equal(scribe_worlds_hello(&w, proc(4), 0, 1, ""), 0);
	assert_rank(4, 1, 1);
	/* it restarts all: another world, when the first has ended */
	for (uint32_t s = 7; s >= 3; s--)
		ends(s);
	assert_true(scribe_log_unit_is_over(&w, w.units->next));
	for (uint32_t s = 10; s < 12; s++) {
		forks(2, s);
		execs(s, "/usr/bin/python3 -u train.py", s == 10 ? TORCH(0, 2, 1) : TORCH(1, 2, 1));
	}
	assert_int_equal(count_units(), 3);
	assert_rank(10, 2, 0);
	assert_rank(11, 2, 1);
}

/* srun -n 2 torchrun: here is rank 1 of the step; its workers have 2 and 3 */
static void torchrun_below_srun(void **state)
{
#define STEP "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "
	(void)state;
	forks(0, 1);
	execs(1, "bash train.sh", STEP);
	assert_rank(1, 1, 1);
	forks(1, 2);
	execs(2, "python3.11 -m torch.distributed.run --nnodes=2 train.py", STEP);
	assert_rank(2, 1, 1); /* as a launcher */
	forks(2, 3);
	execs(3, "nvidia-smi", STEP);
	assert_rank(3, 1, 1);
	forks(2, 4);
	execs(4, "python3.11 train.py", STEP TORCH(2, 4, 0));
	forks(2, 5);
	execs(5, "python3.11 train.py", STEP TORCH(3, 4, 0));
	assert_rank(4, 2, 2);
	assert_rank(5, 2, 3);
	assert_int_equal(count_units(), 3);
	assert_int_equal(scribe_log_unit_nprocs(proc(4)->unit), 4);
	forks(5, 6);
	execs(6, "sh -c date", STEP TORCH(3, 4, 0));
	assert_rank(6, 2, 3);
	/* not all ranks are here: the world may grow until its launcher has ended */
	for (uint32_t s = 6; s >= 3; s--)
		ends(s);
	assert_false(scribe_log_unit_is_over(&w, w.units->next->next));
	ends(2);
	assert_true(scribe_log_unit_is_over(&w, w.units->next->next));
}

/* a launcher without a known name, below mpiexec: its own rank and its workers' are two worlds */
static void workers_of_an_mpi_rank(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpiexec -n 2 ./spawner", "");
	start_hydra(1, "host:1", "0");
	forks(3, 10);
	execs(10, "./worker", "PMI_RANK=0 PMI_SIZE=2 RANK=0 LOCAL_RANK=0 WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=1");
	assert_rank(10, 1, 0); /* the same numbers: a script has copied them */
	forks(3, 11);
	execs(11, "./worker", "PMI_RANK=0 PMI_SIZE=2 RANK=1 LOCAL_RANK=1 WORLD_SIZE=4 MASTER_ADDR=n1 MASTER_PORT=1");
	assert_rank(11, 2, 1);
	assert_rank(3, 1, 0);
	/* RANK alone, or beyond the size, is a user's word */
	forks(4, 12);
	execs(12, "./worker", "PMI_RANK=1 PMI_SIZE=2 RANK=3 MASTER_ADDR=n1");
	assert_rank(12, 1, 1);
	forks(4, 13);
	execs(13, "./worker", "PMI_RANK=1 PMI_SIZE=2 RANK=4 WORLD_SIZE=4 MASTER_ADDR=n1");
	assert_rank(13, 1, 1);
	forks(4, 14);
	execs(14, "./worker", "PMI_RANK=1 PMI_SIZE=2 RANK=3 WORLD_SIZE=4");
	assert_rank(14, 1, 1);
	forks(4, 15); /* and so is a world of one process without a launcher */
	execs(15, "./worker", "PMI_RANK=1 PMI_SIZE=2 RANK=0 WORLD_SIZE=1 MASTER_ADDR=n1");
	assert_rank(15, 1, 1);
}

static void deepspeed_and_horovod(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "/usr/bin/python3 -u -m deepspeed.launcher.launch --world_info=x train.py", "");
	assert_true(proc(1)->is_launcher);
	forks(1, 2);
	execs(2, "python3 -u train.py",
	      "RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_SIZE=2 CROSS_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500");
	assert_rank(2, 1, 1);
	assert_string_equal(proc(2)->unit->key, "torch:127.0.0.1:29500");
	forks(0, 3);
	execs(3, "python3 /usr/bin/horovodrun -np 2 python train.py", "");
	forks(3, 4);
	execs(4, "sh -c python train.py",
	      "HOROVOD_RANK=0 HOROVOD_SIZE=2 HOROVOD_LOCAL_RANK=0 HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1"
	      " HOROVOD_GLOO_RENDEZVOUS_PORT=4242");
	forks(4, 5);
	execs(5, "python train.py",
	      "HOROVOD_RANK=0 HOROVOD_SIZE=2 HOROVOD_LOCAL_RANK=0 HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1"
	      " HOROVOD_GLOO_RENDEZVOUS_PORT=4242");
	assert_rank(4, 2, 0);
	assert_rank(5, 2, 0);
	assert_string_equal(proc(5)->unit->key, "horovod:10.0.0.1:4242");
}

/* Lightning's parent is rank 0; of another node the rank is not known */
static void lightning(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh job.sh", "");
	forks(1, 2);
	execs(2, "python3 train.py", "");
	forks(2, 3);
	execs(3, "python3 train.py", "LOCAL_RANK=1 NODE_RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=5");
	assert_rank(2, 1, 0);
	assert_rank(3, 1, 1);
	assert_rank(1, 0, 0);
	assert_int_equal(w.unknown_ranks, 0);
	forks(1, 4);
	execs(4, "python3 train.py", "LOCAL_RANK=1 NODE_RANK=1 WORLD_SIZE=4 MASTER_ADDR=n1 MASTER_PORT=5");
	assert_rank(4, 0, 0);
	assert_int_equal(w.unknown_ranks, 1);
}

static void singleton_by_hello(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh run.sh", "");
	forks(1, 2);
	execs(2, "./app", "");
	assert_rank(2, 0, 0);
	assert_int_equal(scribe_worlds_hello(&w, proc(2), 0, 1, ""), 1);
	assert_rank(2, 1, 0);
	assert_int_equal(scribe_log_unit_nprocs(proc(2)->unit), 1);
	ends(2);
	assert_true(scribe_log_unit_is_over(&w, proc(2)->unit));
}

/* srun --mpi=none: the environment says ranks of one world, MPI says singletons */
static void singletons_though_the_environment_says_ranks(void **state)
{
	const char *env = "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2";
	char both[256];

	(void)state;
	forks(0, 1);
	execs(1, "srun ./app", "");
	for (uint32_t r = 0; r < 2; r++) {
		forks(1, 2 + r);
		snprintf(both, sizeof(both), "SLURM_PROCID=%u %s", r, env);
		execs(2 + r, "./app", both);
	}
	assert_int_equal(count_units(), 2);
	assert_int_equal(scribe_worlds_hello(&w, proc(2), 0, 1, ""), 1);
	assert_int_equal(scribe_worlds_hello(&w, proc(3), 0, 1, ""), 1);
	assert_int_not_equal(proc(2)->unit->id, proc(3)->unit->id);
	assert_int_equal(scribe_log_unit_nprocs(proc(3)->unit), 1);
	assert_int_equal(count_units(), 3); /* the world nobody is in is gone */
}

static void slurm_rank_needs_a_step(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "slurm_script", "SLURM_PROCID=0 SLURM_JOB_ID=7");
	assert_rank(1, 0, 0);
	assert_int_equal(count_units(), 1);
	assert_int_equal(w.rest->jobid, 7);
}

static void a_world_without_mpi_init(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "mpiexec -n 2 hostname", "");
	start_hydra(1, "h:1", "0");
	/* rank 0 is gone before rank 2 would start: not over while the launcher lives */
	proc(3)->unit->nprocs = 3;
	ends(3);
	ends(4);
	assert_false(scribe_log_unit_is_over(&w, proc(3)->unit));
	ends(2);
	assert_true(scribe_log_unit_is_over(&w, proc(3)->unit));
}

static void many_processes_fold(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "make", "");
	for (uint32_t s = 2; s < 5000; s++) {
		forks(1, s);
		execs(s, "cc -c x.c", "");
		proc(s)->totals.operations = 3;
		ends(s);
	}
	assert_int_equal(w.rest->processes, 4999);
	assert_true(w.rest->listed <= LIMIT + 1);
	assert_int_equal(w.rest->nsummed_processes + w.rest->listed, 4999);
	assert_int_equal(w.rest->summed_processes.operations, 3 * w.rest->nsummed_processes);
	assert_int_equal(w.living, 1);
	assert_true(w.by_proc_id.used <= LIMIT + 1);
}

static void programs_that_start_processes_elsewhere(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh script", "");
	forks(1, 2);
	execs(2, "/usr/bin/ssh host date", ""); /* not below a launcher: nobody's business */
	assert_string_equal(w.remote, "");
	execs(2, "/usr/bin/srun -n 4 ./app", "");
	assert_string_equal(w.remote, "srun");
}

static void committed_worlds_are_forgotten(void **state)
{
	struct scribe_log_unit *u;

	(void)state;
	forks(0, 1);
	execs(1, "mpiexec -n 2 ./app", "");
	start_hydra(1, "host:1", "0");
	u = proc(3)->unit;
	ends(3);
	u->committed = true;
	scribe_worlds_forget(&w, u);
	assert_null(scribe_worlds_find(&w, 3));
	assert_ptr_equal(u->first, proc(4)); /* it lives */
	assert_int_equal(u->listed, 1);
	forks(4, 9); /* a child of a committed world counts to the rest */
	assert_rank(9, 0, 0);
	ends(4);
	ends(9);
	assert_int_equal(u->live, 0);
}

static void disabled_is_inherited(void **state)
{
	(void)state;
	forks(0, 1);
	execs(1, "sh", "");
	proc(1)->disabled = true;
	forks(1, 2);
	assert_true(proc(2)->disabled);
}

static void random_events_keep_the_sums(void **state)
{
	uint32_t alive[256] = {1}, n = 1, next = 2;

	(void)state;
	srand((unsigned)scribe_test_seed(4));
	forks(0, 1);
	for (int i = 0; i < 20000; i++) {
		uint32_t at = (uint32_t)rand() % n, s = alive[at];
		uint64_t listed = 0, live = 0;

		switch (rand() % 6) {
		case 0:
		case 1:
			if (n < 200) {
				forks(s, next);
				alive[n++] = next++;
			}
			break;
		case 2:
			execs(s, "mpiexec -n 3 ./a", "");
			break;
		case 3:
			execs(s, "./a", rand() % 2 ? "PMI_RANK=1 PMI_SIZE=3" : "PMI_RANK=0 PMI_SIZE=3");
			break;
		case 4:
			(void)scribe_worlds_hello(&w, proc(s), rand() % 3, 3, "");
			break;
		default:
			if (n > 1) {
				ends(s);
				alive[at] = alive[--n];
			}
		}
		for (struct scribe_log_unit *u = w.units; u; u = u->next) {
			uint64_t here = 0;

			for (struct scribe_process *p = u->first; p; p = p->next) {
				assert_ptr_equal(p->unit, u);
				assert_ptr_equal(scribe_map_get(&u->ranks, (uint64_t)p->rank->rank), p->rank);
				here += !p->ended;
				listed++;
			}
			assert_int_equal(here, u->live);
			live += here;
		}
		assert_int_equal(live, n);
		assert_int_equal(w.living, n);
		assert_int_equal(w.by_proc_id.used, listed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launchers_are_known),
#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		WORLD_TEST(plain_command_is_one_unit),
		WORLD_TEST(hydra_world),
		WORLD_TEST(rank_wrapped_by_a_shell),
		WORLD_TEST(two_worlds_in_one_script),
		WORLD_TEST(spawned_world),
		WORLD_TEST(launcher_inside_a_rank),
		WORLD_TEST(torchrun_alone),
		WORLD_TEST(torchrun_below_srun),
		WORLD_TEST(workers_of_an_mpi_rank),
		WORLD_TEST(deepspeed_and_horovod),
		WORLD_TEST(lightning),
		WORLD_TEST(singleton_by_hello),
		WORLD_TEST(singletons_though_the_environment_says_ranks),
		WORLD_TEST(slurm_rank_needs_a_step),
		WORLD_TEST(a_world_without_mpi_init),
		WORLD_TEST(many_processes_fold),
		WORLD_TEST(programs_that_start_processes_elsewhere),
		WORLD_TEST(committed_worlds_are_forgotten),
		WORLD_TEST(disabled_is_inherited),
		WORLD_TEST(random_events_keep_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
