package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestMain lets this program act as a function: it makes a call for each line that it reads, and writes the result.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_FUNCTION_NAME") == "" {
		os.Exit(m.Run())
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		req, _ := http.NewRequest(http.MethodPost, os.Getenv("AWS_ENDPOINT_URL"), strings.NewReader(lines.Text()))
		req.Header.Set("X-Amz-Target", "A.Write")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			_, _ = os.Stdout.WriteString("lost\n")
			continue
		}
		_ = resp.Body.Close()
		_, _ = os.Stdout.WriteString(resp.Status + "\n")
	}
}

// function is a running substitute of a function.
type function struct {
	*exec.Cmd
	lines *bufio.Scanner
	call  func(string)
}

func startFunction(t *testing.T, name, endpoint string) *function {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{"AWS_LAMBDA_FUNCTION_NAME=" + name, "AWS_ENDPOINT_URL=" + endpoint}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	f := &function{Cmd: cmd, lines: bufio.NewScanner(out)}
	f.call = func(body string) { _, _ = in.Write([]byte(body + "\n")) }
	return f
}

// line returns the next line that the function writes, or false if it has ended.
func (f *function) line() (string, bool) { ok := f.lines.Scan(); return f.lines.Text(), ok }

func TestOnlyTheFunctionsOfTheSystemAreFound(t *testing.T) {
	s := processes{endpoint: "http://127.0.0.1:1/ours", proc: "/proc"}
	a, b := startFunction(t, "local-local-deliver", s.endpoint), startFunction(t, "local-local-generate-it", s.endpoint)
	other := startFunction(t, "local-local-deliver", "http://127.0.0.1:1/theirs")
	poll.Until(t, "both are found", func() bool { return len(s.pids("")) == 2 })
	if all := s.pids(""); !slices.Contains(all, a.Process.Pid) || !slices.Contains(all, b.Process.Pid) {
		t.Errorf("found are %v, not %d and %d", all, a.Process.Pid, b.Process.Pid)
	}
	if some := s.pids("deliver"); !slices.Equal(some, []int{a.Process.Pid}) {
		t.Errorf("found are %v", some)
	}
	if some := s.pids("generate-it"); !slices.Equal(some, []int{b.Process.Pid}) {
		t.Errorf("found are %v", some)
	}
	for _, pid := range []int{other.Process.Pid, os.Getpid()} {
		if p, ok := s.open(pid); ok {
			t.Errorf("%d is taken for the system's %s", pid, p.function)
		}
	}
}

func TestTheCallerIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		do      doing
		reached int
	}{"before": {killBefore, 0}, "after": {killAfter, 1}} {
		t.Run(name, func(t *testing.T) {
			b := newBehindProxy(t)
			b.add(&fault{at: []step{{function: "deliver", operation: "Write"}}, skip: 1, do: c.do})
			victim, witness := startFunction(t, "local-local-deliver", b.address),
				startFunction(t, "local-local-relay", b.address)
			victim.call("first")
			if line, _ := victim.line(); line != "200 OK" {
				t.Fatalf("the first call: %q", line)
			}
			witness.call("w")
			if line, _ := witness.line(); line != "200 OK" {
				t.Fatalf("another function's call: %q", line)
			}
			victim.call("second")
			if line, alive := victim.line(); alive {
				t.Errorf("it lives, and says %q", line)
			}
			_ = victim.Wait()
			if status := victim.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Errorf("it ended with %v", victim.ProcessState)
			}
			if came := b.reached(); len(came) != 2+c.reached {
				t.Errorf("there came %q", came)
			}
			witness.call("w")
			if line, _ := witness.line(); line != "200 OK" {
				t.Errorf("the witness: %q", line)
			}
		})
	}
}

func TestAFrozenCallerGoesOn(t *testing.T) {
	b := newBehindProxy(t)
	frozen := make(chan process)
	b.add(&fault{do: func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
		frozen <- c.process
		pass(w)
	}})
	f := startFunction(t, "local-local-deliver", b.address)
	f.call("x")
	p := <-frozen
	stat := func() string {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(f.Process.Pid) + "/stat")
		_, after, _ := strings.Cut(string(text), ") ")
		return after[:1]
	}
	poll.Until(t, "it stops", func() bool { return stat() == "T" })
	if err := p.resume(); err != nil {
		t.Fatal(err)
	}
	if line, _ := f.line(); line != "200 OK" {
		t.Errorf("it says %q", line)
	}
}
