package ffmpeg_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// asksParent is the environment variable by which the test's program knows that it is the
// parent whose environment a child of it reads.
const asksParent = "TEST_OF_CONCEAL"

func TestMain(m *testing.M) {
	how := os.Getenv(asksParent)
	if how == "" {
		os.Exit(m.Run())
	}
	if how == "concealed" {
		if err := ffmpeg.Conceal(); err != nil {
			panic(err)
		}
	}
	child := exec.Command("/bin/cat", "/proc/"+strconv.Itoa(os.Getpid())+"/environ")
	child.Env, child.Stdout = []string{}, os.Stdout
	_ = child.Run()
}

// A program that the function starts, as the same user, does not read its credentials.
func TestAProgramDoesNotReadTheEnvironmentOfItsParent(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 { // who may read everything
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		program = copied(t, program)
	}
	for how, want := range map[string]bool{"open": true, "concealed": false} {
		parent := exec.Command(program)
		parent.Env, parent.SysProcAttr, parent.Dir = []string{asksParent + "=" + how, "SECRET=of-the-function"}, as, "/"
		out, err := parent.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if read := strings.Contains(string(out), "of-the-function"); read != want {
			t.Errorf("%s: the child has read the environment: %v: %q", how, read, out)
		}
	}
}

// copied is a copy of a program that every user may run.
func copied(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "conceal-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	from, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(dir, "program")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(to, from)
		_ = to.Close()
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
