// SPDX-License-Identifier: BSD-3-Clause

// What zoo.c does, in Go, which cannot fork: children are this program again,
// with a role for an ending.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

var rank, size = number("PMI_RANK", 0), number("PMI_SIZE", 1)

func number(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func put(folder, name, text string) {
	must(os.WriteFile(os.Getenv(folder)+"/"+name, []byte(text), 0o600))
}

func add(name string, bytes int) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(err)
	_, err = f.Write(make([]byte, bytes))
	must(err)
	must(f.Close())
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func nap(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

func meet(where string) {
	add(fmt.Sprintf("%s.%d", where, rank), 1)
	for r := 0; r < size; r++ {
		for !exists(fmt.Sprintf("%s.%d", where, r)) {
			nap(10)
		}
	}
}

func begin() {
	f, err := os.OpenFile(fmt.Sprintf("half.%d", rank), os.O_RDWR|os.O_CREATE, 0o600)
	must(err)
	buf := make([]byte, 1000)
	for i := 0; i < 100; i++ {
		_, err = f.Write(buf)
		must(err)
	}
	_, err = f.ReadAt(buf[:500], 0)
	must(err)
	fmt.Printf("out of %d\n", rank)
	fmt.Fprintf(os.Stderr, "err of %d\n", rank)
	meet("come")
	if size > 1 {
		nap(100)
	}
}

// Children hold nothing that a launcher waits for.
func child(args ...string) *exec.Cmd {
	for fd := 3; fd < 256; fd++ {
		syscall.CloseOnExec(fd)
	}
	return exec.Command("/proc/self/exe", args...)
}

func self() string {
	path, err := os.Readlink("/proc/self/exe")
	must(err)
	return path
}

func stopped() {
	must(child("killer", strconv.Itoa(os.Getpid())).Start())
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	select {}
}

func killer(parent string) {
	for {
		text, err := os.ReadFile("/proc/" + parent + "/stat")
		must(err)
		if strings.Contains(string(text), ") T ") {
			break
		}
		nap(10)
	}
	pid, _ := strconv.Atoi(parent)
	syscall.Kill(pid, syscall.SIGKILL)
}

func leaveChild(role string, session bool) {
	cmd := child(role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	must(cmd.Start())
	for !exists(fmt.Sprintf("ready.%d", rank)) {
		nap(10)
	}
}

func left(forever bool) {
	pid := strconv.Itoa(os.Getpid())
	put("ZOO_PIDS", pid, pid)
	add(fmt.Sprintf("ready.%d", rank), 1)
	for forever {
		nap(60000)
	}
	nap(300)
	add("late", 1000)
}

func frozen() {
	cmd := child("hang")
	must(cmd.Start())
	pid := strconv.Itoa(cmd.Process.Pid)
	put("ZOO_PIDS", pid, pid)
	put("ZOO_CGROUP", "cgroup.procs", pid)
	put("ZOO_CGROUP", "cgroup.freeze", "1")
	for {
		text, err := os.ReadFile(os.Getenv("ZOO_CGROUP") + "/cgroup.events")
		must(err)
		if strings.Contains(string(text), "frozen 1") {
			return
		}
		nap(10)
	}
}

func codeOf(cmd *exec.Cmd) syscall.WaitStatus {
	err := cmd.Run()
	if e, ok := err.(*exec.ExitError); ok {
		return e.Sys().(syscall.WaitStatus)
	}
	must(err)
	return 0
}

func deep(level int) int {
	add("deep", 1000)
	if level == 0 {
		return 13
	}
	return codeOf(child("deep", strconv.Itoa(level-1))).ExitStatus()
}

func limit(what int, most uint64) {
	must(syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}))
}

func noMemory() int {
	var pages uint64
	text, err := os.ReadFile("/proc/self/statm")
	must(err)
	fmt.Sscan(string(text), &pages)
	limit(syscall.RLIMIT_AS, pages*4096+64<<20)
	_, err = syscall.Mmap(-1, 0, 1<<30, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return 98
}

func noDescriptors() int {
	limit(syscall.RLIMIT_NOFILE, 64)
	for i := 0; i < 100; i++ {
		if _, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 10
		}
	}
	return 98
}

func tooBig() int {
	f, err := os.Create("big")
	must(err)
	signal.Ignore(syscall.SIGXFSZ)
	limit(syscall.RLIMIT_FSIZE, 200000)
	for i := 0; i < 8; i++ {
		if _, err = f.Write(make([]byte, 65536)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 14
		}
	}
	return 98
}

func eat() {
	put("ZOO_CGROUP", "cgroup.procs", strconv.Itoa(os.Getpid()))
	var held [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		held = append(held, b)
	}
}

func closed() int {
	syscall.Close(1)
	syscall.Close(2)
	if _, err := syscall.Write(1, []byte("x")); err != nil {
		return 3
	}
	return 98
}

func execInThread() {
	go func() {
		runtime.LockOSThread()
		must(syscall.Exec(self(), []string{"zoo", "after"}, os.Environ()))
	}()
	select {}
}

func oneKilled() int {
	if size > 1 {
		if rank == 1 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		nap(60000)
	}
	if codeOf(child("die")).Signaled() {
		return 12
	}
	return 98
}

// By the signal itself: the handler of Go's runtime is taken away.
func die(s syscall.Signal) {
	var none [4]uintptr
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
	syscall.Kill(os.Getpid(), s)
	nap(60000)
}

func role(args []string) {
	switch args[0] {
	case "after":
		add("after", 1000)
		meet("after_come")
		os.Exit(11)
	case "hang":
		nap(600000)
	case "killer":
		killer(args[1])
	case "late":
		left(false)
	case "always":
		left(true)
	case "die":
		die(syscall.SIGKILL)
	case "deep":
		if len(args) < 2 {
			return
		}
		level, _ := strconv.Atoi(args[1])
		os.Exit(deep(level))
	default:
		return
	}
	os.Exit(0)
}

func end(how string) int {
	switch how {
	case "exit7":
		return 7
	case "_exit":
		syscall.Exit(5)
	case "raw":
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 6, 0, 0)
	case "abort":
		die(syscall.SIGABRT)
	case "segv":
		die(syscall.SIGSEGV)
	case "kill":
		die(syscall.SIGKILL)
	case "term":
		die(syscall.SIGTERM)
	case "stopped":
		stopped()
	case "timeout":
		path, err := exec.LookPath("timeout")
		must(err)
		must(syscall.Exec(path, []string{"timeout", "-s", "KILL", "0.3", self(), "hang"}, os.Environ()))
	case "oom":
		eat()
	case "as":
		return noMemory()
	case "nofile":
		return noDescriptors()
	case "fsize":
		return tooBig()
	case "grandchild":
		leaveChild("late", false)
	case "daemon":
		leaveChild("late", true)
	case "forever":
		leaveChild("always", false)
	case "frozen":
		frozen()
	case "closed":
		return closed()
	case "thread_exec":
		execInThread()
	case "deep":
		return deep(12)
	case "one_killed":
		return oneKilled()
	}
	return 0
}

func main() {
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	role(os.Args[1:])
	begin()
	os.Exit(end(os.Args[1]))
}
