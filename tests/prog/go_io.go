// SPDX-License-Identifier: BSD-3-Clause

// A Go program: goroutines on many threads, raw system calls, no libc.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func work(n int) {
	f, err := os.Create(fmt.Sprintf("go.%d", n))
	must(err)
	buf := make([]byte, 1000*(n+1))
	for i := 0; i < 50; i++ {
		_, err = f.Write(buf)
		must(err)
	}
	_, err = f.WriteAt(buf[:10], 5)
	must(err)
	_, err = f.Seek(0, io.SeekStart)
	must(err)
	_, err = io.Copy(io.Discard, io.LimitReader(f, 20000))
	must(err)
	must(f.Sync())
	must(f.Close())
}

func main() {
	var wg sync.WaitGroup
	for n := 0; n < 6; n++ {
		wg.Add(1)
		go func(n int) {
			defer wg.Done()
			work(n)
		}(n)
	}
	wg.Wait()
	must(os.MkdirAll("a/b", 0o755))
	must(os.WriteFile("a/b/c", []byte("text"), 0o644))
	must(os.Rename("a/b/c", "a/c"))
	_, err := os.Stat("a/c")
	must(err)
	_, err = os.ReadDir("a")
	must(err)
	must(os.RemoveAll("a"))
}
