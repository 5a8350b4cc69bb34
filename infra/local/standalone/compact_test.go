package standalone

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// The file shrinks when most of it is unused, while it is in use, and keeps what was written.
func TestTheJournalIsWrittenAnewWhileItRuns(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	value := []byte(strings.Repeat("v", 1<<10))
	for i := range 1000 {
		j.write(entry{"a", fmt.Sprint(i), value})
	}
	for i := range 990 {
		j.write(entry{"a", fmt.Sprint(i), nil})
	}
	want, before := values(t, j, "a"), sizeOf(t, j)
	if err := j.compact(before + 1); err != nil || sizeOf(t, j) != before {
		t.Errorf("a small file has %d bytes after %d, %v", sizeOf(t, j), before, err)
	}
	ended := make(chan struct{})
	go func() { // writes go on
		defer close(ended)
		for i := range 200 {
			j.write(entry{"b", fmt.Sprint(i), []byte("v")})
		}
	}()
	if err := j.compact(1); err != nil {
		t.Fatal(err)
	}
	<-ended
	small := sizeOf(t, j)
	if small > before/4 {
		t.Errorf("the file has %d bytes, before %d", small, before)
	}
	if err := j.compact(1); err != nil || sizeOf(t, j) != small {
		t.Errorf("a file that has not doubled has %d bytes after %d, %v", sizeOf(t, j), small, err)
	}
	if _, err := openJournal(dir); err == nil {
		t.Error("a second process opens the new file")
	}
	j.write(entry{"c", "late", []byte("v")})
	for name, again := range map[string]journal{"killed": opened(t, copied(t, dir)), "running": j} {
		if got := values(t, again, "a"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it has %d values, want %d", name, len(got), len(want))
		}
		if b, c := len(values(t, again, "b")), len(values(t, again, "c")); b != 200 || c != 1 {
			t.Errorf("%s: it has %d and %d values that were written later", name, b, c)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if again := opened(t, dir); again.compacted == 0 || len(values(t, again, "a")) != len(want) {
		t.Errorf("after closing it has %d values, and was of %d bytes", len(values(t, again, "a")), again.compacted)
	}
}

func sizeOf(t *testing.T, j journal) int64 {
	t.Helper()
	info, err := os.Stat(j.path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Writes that come at a time share a transaction. Each is in the file when it returns, and later ones of a key win.
func TestWritesAtATime(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	var all sync.WaitGroup
	for writer := range 8 {
		all.Go(func() {
			for i := range 50 {
				j.add(entry{"a", fmt.Sprint(writer), []byte(fmt.Sprint(i))})
				j.write(entry{"b", fmt.Sprint(writer, i), []byte("v")})
			}
			j.add(entry{"a", fmt.Sprint(writer), []byte("last")})
			j.settle()
			if got := values(t, j, "a")[fmt.Sprint(writer)]; got != "last" {
				t.Errorf("writer %d reads %q", writer, got)
			}
		})
	}
	all.Wait()
	if err := j.flush(true); err != nil {
		t.Error(err)
	}
	again := opened(t, copied(t, dir))
	if a, b := len(values(t, again, "a")), len(values(t, again, "b")); a != 8 || b != 400 {
		t.Errorf("the file has %d and %d values", a, b)
	}
}
