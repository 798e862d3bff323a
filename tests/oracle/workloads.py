# SPDX-License-Identifier: BSD-3-Clause
"""The commands that oracle.py runs. `setup` is a shell script run untraced."""
from dataclasses import dataclass, field

TREE = """
mkdir -p src/sub/deep
for i in 1 2 3 4 5 6 7 8; do head -c $((i * 1700)) /dev/zero | tr '\\0' "$i" > src/f$i; done
for i in 1 2 3; do head -c $((i * 70000)) /dev/zero > src/sub/g$i; done
echo text > src/sub/deep/h; ln -s ../f1 src/sub/link
"""
TEMP = [(r"#\d+$", "#N"), (r"tmp_(obj|pack|idx)_\w{6}", r"tmp_\1_X"), (r"\.(lock|tmp)\w*$", r".\1"), (r"tmp\w{8}", "tmpX")]


@dataclass
class Workload:
    name: str
    command: str
    setup: str = ""
    code: int = 0
    together: bool = False   # one run: the calls differ from run to run
    offsets: bool = True     # sequence, stride and size tables are determined
    fio: bool = False        # compare with fio's own totals, and its log of single operations
    each: str = ""           # single operations in order: of each "process" (a rank), or "thread"
    timeout: int = 120
    names: list = field(default_factory=lambda: TEMP)  # random parts of names
    skip: tuple = ()         # counters not compared, and why: beside the entry
    skip_names: tuple = ()


# What fio says of each operation: fio_lat.N.log.
FIO_LOG = " --write_lat_log=fio --log_offset=1"


def mpi(which, launcher):
    """Four ranks on a shared file and one each; what the launcher keeps is elsewhere."""
    return Workload(f"mpi-{which}", f"TMPDIR=/tmp exec {launcher} -n 4 $PROG/../mpi/{which}/mpi_demo", each="process")


def prog(name, args="", **more):
    """A program of tests/prog, run in the folder."""
    return Workload(name.replace("_", "-"), f"exec $PROG/{name} {args}", **more)


WORKLOADS = [
    Workload("cp", "cp -r src copy && cp -a src copy2", TREE),
    Workload("tar", "tar --mtime=@0 -cf a.tar src && mkdir out && tar xf a.tar -C out && tar --sort=name --mtime=@0 -czf b.tgz src", TREE,
             ),
    Workload("sqlite3", "sqlite3 t.db < s.sql > out.txt", """
{ echo 'create table t(a integer primary key, b text);'
  for i in $(seq 1 50); do echo "insert into t(b) values('row $i');"; done
  echo 'begin;'; for i in $(seq 1 500); do echo "insert into t(b) values('more $i');"; done; echo 'commit;'
  echo 'create index x on t(b); select count(*) from t; delete from t where a % 3 = 0; vacuum;'; } > s.sql
""", together=True),
    Workload("git", "git init -q r && cd r && git config user.email a@b && git config user.name n && cp -r ../src . && "
             "git add . && git commit -qm one && echo x >> src/f1 && git commit -qam two && git log --stat > ../log && "
             "git gc -q && git clone -q . ../clone && git -C ../clone fsck", TREE, together=True),
    Workload("python-pool", "/usr/bin/python3 pool.py", """
cat > pool.py <<'X'
import multiprocessing, os
def work(i):
    with open(f"out.{i % 3}.{i}", "wb") as f:
        for k in range(20):
            f.write(b"x" * (100 * (k + 1)))
        f.flush(); os.fsync(f.fileno())
    with open(f"out.{i % 3}.{i}", "rb") as f:
        n = len(f.read())
    fd = os.open("shared", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"y" * 4096, i * 4096)
    os.close(fd)
    return n + os.stat("shared").st_nlink
if __name__ == "__main__":
    with multiprocessing.Pool(4) as p:
        print(sum(p.map(work, range(12))))
X
""", together=True),
    Workload("fio-psync", "fio --name=a --ioengine=psync --rw=randrw --bs=4k --size=1m --nrfiles=2 --filename_format='data.$jobnum.$filenum' "
             "--numjobs=2 --thread=0 --randseed=7 --fsync=16 --output=fio.json --output-format=json", together=True),
    Workload("fio-libaio", "fio --name=a --ioengine=libaio --rw=randwrite --bs=4k --size=1m --iodepth=8 --direct=1 --filename=data "
             "--randseed=7 --output=fio.json --output-format=json", together=True,
             skip=("POSIX_CONSEC_WRITES", "POSIX_SEQ_WRITES", "STRIDE")),  # order of completion is not that of submission
    Workload("fio-uring", "fio --name=a --ioengine=io_uring --rw=randrw --bs=4k --size=2m --iodepth=16 --filename=data "
             "--randseed=7 --output=fio.json --output-format=json" + FIO_LOG, "head -c 2M /dev/zero > data", fio=True),
    Workload("fio-uring-fixed", "fio --name=a --ioengine=io_uring --rw=randrw --bs=8k --size=2m --iodepth=16 --filename=data "
             "--fixedbufs=1 --registerfiles=1 --randseed=7 --output=fio.json --output-format=json" + FIO_LOG, "head -c 2M /dev/zero > data", fio=True),
    Workload("fio-uring-sqpoll", "fio --name=a --ioengine=io_uring --rw=write --bs=16k --size=2m --iodepth=8 --filename=data "
             "--sqthread_poll=1 --registerfiles=1 --output=fio.json --output-format=json" + FIO_LOG, "head -c 2M /dev/zero > data", fio=True),
    Workload("fio-uring-async", "fio --name=a --ioengine=io_uring --rw=read --bs=4k --size=1m --iodepth=8 --filename=data "
             "--force_async=1 --output=fio.json --output-format=json" + FIO_LOG, "head -c 2M /dev/zero > data", fio=True),
    Workload("pipeline", "cat src/f* | sort | tee all | wc -c > count; wc -l < all >> count; "
             "{ read -r a; echo $a; } < count > first; exec 5>>app; echo 1 >&5; echo 2 >&5; (echo 3 >&5); exec 5>&-; "
             "cat < app; head -c 100 src/sub/g1 > part; dd if=src/sub/g2 of=dd bs=1000 count=20 conv=notrunc,fsync",
             TREE, together=True),
    Workload("find", "find src -type f -size +1k -exec md5sum {} + > sums; ls -lR src > list; du -s src > du; chmod -R u+w src; "
             "grep -r text src > found; touch -d 2020-01-01 src/f1; stat src/f1 > st; test -f src/f9 || true; rm -r src", TREE),
    Workload("shell-paths", "mkdir -p a/b/c; echo 1 > a/b/c/x; mv a/b a/d; cat a/d/c/x; ln a/d/c/x hard; ln -s hard soft; cat soft; "
             "readlink soft; cd a; echo 2 >> ../a/./d/c/../c/x; rm ../hard; mv d/c/x ../moved; rmdir d/c; truncate -s 100 ../moved"),
    Workload("compile", "cp -r $SOURCE/tests/prog p && cd p && for f in append two_fds; do "
             "gcc -D_GNU_SOURCE -g -O1 -o $f.bin $f.c & done; wait; ar rc lib.a *.bin; ranlib lib.a; strip append.bin",
             together=True, names=TEMP + [(r"/cc\w{6}\.", "/ccX."), (r"/st\w{6}$", "/stX")]),
    Workload("sort", "seq 1 200000 | tac > in; sort -S 1M --parallel=2 -T . in > out; split -l 50000 out part.; "
             "cat part.* | cmp - out; sed -i s/1/one/ out; gzip -k out; gunzip -c out.gz | md5sum > sum; rm -f part.*",
             together=True, names=TEMP + [(r"sort\w{6}$", "sortX"), (r"sed\w{6}$", "sedX")]),
    Workload("branches", "cp -r $SOURCE/bpf $SOURCE/docs . ; git init -q -b main . ; git config user.name n; git config user.email e@e; "
             "git add -A; git commit -qm 1; for i in 1 2 3; do git checkout -q -b br$i; echo $i >> docs/counters.md; "
             "git commit -qam $i; git checkout -q main; git merge -q br$i -m m || git reset -q --hard; done; "
             "git gc -q --aggressive; git fsck; git archive HEAD | tar t | wc -l; git log -p | wc -l", together=True),
    # lines of one length: strace sees the returns of two appends in either order
    Workload("jobs", "for i in $(seq 1001 1200); do (echo $i >> a$((i%7)); cat a$((i%7)) > b$i; rm b$i) & done; wait", together=True),
    Workload("gone-folders", "/usr/bin/python3 -c \"\nimport os\nfor i in range(2000):\n os.makedirs('d%d/e' % i); "
             "open('d%d/e/f' % i, 'w').close(); os.unlink('d%d/e/f' % i); os.removedirs('d%d/e' % i)\n\""),
    # a signal that is pending cuts a getdents short: Go preempts its threads by signals, now and then
    Workload("go", "GODEBUG=asyncpreemptoff=1 exec $PROG/go_io"),
    mpi("mpich", "mpiexec.mpich"), mpi("openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe"),
    prog("threads8", "positioned 0.2", together=True, offsets=False, each="thread"),
    prog("static_io"), prog("basic"), prog("copies"), prog("vector2"), prog("append"), prog("two_fds"),
    prog("pass_fd"), prog("spawn"), prog("thread_exec"), prog("leader_exits"), prog("close_range"),
    prog("rename_open"), prog("dir_renamed"), prog("temp_rename"), prog("patterns"), prog("mapping"),
    prog("meta_calls"), prog("inherit", "< in > out", setup="head -c 50000 /dev/zero > in"),
]
