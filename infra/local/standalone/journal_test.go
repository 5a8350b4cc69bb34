package standalone

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// opened opens the journal in a folder until the end of the test.
func opened(t *testing.T, dir string) journal {
	t.Helper()
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.close() })
	return j
}

// copied copies the journal of a folder to another folder, as the end of the process by a signal would leave it.
func copied(t *testing.T, dir string) (to string) {
	t.Helper()
	to = t.TempDir()
	data, err := os.ReadFile(filepath.Join(dir, "journal.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "journal.db"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// values returns the entries of a bucket.
func values(t *testing.T, j journal, bucket string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := j.each(bucket, func(key string, value []byte) error {
		all[key] = string(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheJournalHasWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	j.write(entry{"a", "1", []byte("one")}, entry{"a", "2", []byte("two")}, entry{"b", "1", []byte("other")})
	j.write(entry{"a", "1", nil}, entry{"a", "3", []byte("three")})
	want := map[string]string{"2": "two", "3": "three"}
	if got := values(t, opened(t, copied(t, dir)), "a"); !reflect.DeepEqual(got, want) {
		t.Errorf("after the end of the process: %v", got)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	again := opened(t, dir)
	if got := values(t, again, "a"); !reflect.DeepEqual(got, want) {
		t.Errorf("after closing: %v", got)
	}
	if got := values(t, again, "none"); len(got) > 0 {
		t.Errorf("an unknown bucket has %v", got)
	}
	j.write(entry{"a", "4", []byte("late")}) // Workers that outlast Stop do so.
	if got := values(t, again, "a"); len(got) != 2 {
		t.Errorf("a closed journal is written: %v", got)
	}
}

func TestAJournalWithoutAFileKeepsNothing(t *testing.T) {
	var j journal
	j.write(entry{"a", "1", []byte("one")})
	j.sync(t.Context()) // returns at once
	if got := values(t, j, "a"); len(got) > 0 {
		t.Errorf("it has %v", got)
	}
	if err := j.close(); err != nil {
		t.Error(err)
	}
}

func TestOneProcessOpensAFolder(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir)
	if _, err := openJournal(dir); err == nil || !strings.Contains(err.Error(), "another service runs in "+dir) {
		t.Errorf("the second process gets the error %v", err)
	}
	if err := Remove(dir); !errors.Is(err, errInUse) {
		t.Errorf("the folder of a running service is removed: %v", err)
	}
}

func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "service")
	if err := Remove(dir); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	for _, text := range []string{"", strings.Repeat("damaged", 10_000)} {
		if err := errors.Join(os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "journal.db"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := Remove(dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("the folder with a journal of %d bytes is left", len(text))
		}
	}
}

func TestADamagedJournalIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journal.db"), []byte(strings.Repeat("damaged", 10_000)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v", err)
	}
}

// A process whose journal cannot be written ends, even if its caller recovers from panics.
func TestAFailedWriteEndsTheProcess(t *testing.T) {
	const variable = "STANDALONE_FAILED_WRITE"
	if dir := os.Getenv(variable); dir != "" {
		defer func() { _ = recover() }()
		opened(t, dir).write(entry{"a", strings.Repeat("k", 1<<16), []byte("a key that is too long")})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+t.TempDir())
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(output), "cannot write its journal") {
		t.Errorf("%v: %s", err, output)
	}
}
