//go:build deployed

// Package e2e tests the whole service as a caller sees it. The real CDK CLI deploys the
// synthesised template onto a local AWS, and the tests call it over HTTP.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/content-automation/api/infra/local/system"
)

// running is the system that all tests of the package call. Each test makes its own account, so
// that the tests do not affect each other.
var running *system.System

// signature is the verdict on the signature of a file of the system. Without a key, each function makes a test
// certificate of its own, which the others do not know.
const signature = "untrusted"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := filepath.Abs("../../../.local/e2e")
	if err == nil {
		running, err = system.Start(ctx, system.Options{
			Dir: dir, SAM: os.Getenv("SAM") != "",
			Context: map[string]string{"keylessLimit": strconv.Itoa(keylessLimit)},
			Say:     func(step string) { fmt.Println(step) },
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the local system does not start:", err)
		return 1
	}
	defer running.Stop()
	code := m.Run()
	// After all tests, no table and no log may have a secret.
	found, err := leaks(ctx, dir)
	if err != nil || len(found) > 0 {
		fmt.Fprintln(os.Stderr, "the search for secrets found:", strings.Join(found, "\n"), err)
		return max(code, 1)
	}
	private, err := privateLines(dir)
	if err == nil {
		found, err = unlogged(dir)
	}
	if found = append(private, found...); err != nil || len(found) > 0 {
		fmt.Fprintln(os.Stderr, "the search in the logs found:", strings.Join(found[:min(len(found), 50)], "\n"), err)
		return max(code, 1)
	}
	if !whole() || code != 0 {
		fmt.Println("permissions: not checked, since not all tests ran and passed")
		return code
	}
	found, err = unneeded(ctx, dir)
	if err != nil || len(found) > 0 {
		fmt.Fprintln(os.Stderr, "the check of permissions found:\n"+strings.Join(found, "\n"), err)
		return 1
	}
	return 0
}

// ours reports whether a process is a function of the running system.
func ours(process int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", process))
	return err == nil && bytes.Contains(env, []byte("AWS_ENDPOINT_URL="+running.Endpoint+"\x00"))
}
