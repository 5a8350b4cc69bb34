//go:build !deployed

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// pushed is an end of the command that pushes a feed.
type pushed struct {
	code       int
	out, notes string
}

// noted is a buffer that can be read while a command writes to it.
type noted struct {
	sync.Mutex
	text bytes.Buffer
}

func (w *noted) Write(b []byte) (int, error) {
	w.Lock()
	defer w.Unlock()
	return w.text.Write(b)
}

func (w *noted) String() string {
	w.Lock()
	defer w.Unlock()
	return w.text.String()
}

// push runs the command line with a file of rows. With the text of a note it is interrupted once it has written that.
func (r *simulation) push(program, table, until string) (p pushed) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "shop.csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		r.t.Fatal(err)
	}
	var out bytes.Buffer
	var notes noted
	cmd := exec.CommandContext(r.t.Context(), program, "feed", "push", file, "--factory-id", r.factory)
	cmd.Env = append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+r.key)
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if until != "" {
		poll.Until(r.t, "the note "+until, func() bool { return strings.Contains(notes.String(), until) })
		_ = cmd.Process.Signal(os.Interrupt)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return pushed{cmd.ProcessState.ExitCode(), out.String(), notes.String()}
}

// shopTable writes rows of a shop. Each row whose number ends in 99 has a price that is none.
func shopTable(rows, price int) string {
	var b strings.Builder
	b.WriteString("sku,name,price,availability\n")
	for i := range rows {
		text := fmt.Sprintf("%d.%02d EUR", price+i%7, i%100)
		if i%100 == 99 {
			text = "free"
		}
		fmt.Fprintf(&b, "P-%05d,\"Shoe, no. %d\",%s,in_stock\n", i, i, text)
	}
	return b.String()
}

// TestAFileIsPushedByTheCommandLine pushes a file of many rows: the bad ones are told, a removal is held, and after
// Ctrl-C the run goes on.
func TestAFileIsPushedByTheCommandLine(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "content-automation")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, root+"/clients/cli").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows := 400
	if os.Getenv("BREADTH") != "" {
		rows = 5000
	}
	r := newSimulation(t)
	began := time.Now()
	first := r.push(program, shopTable(rows, 10), "")
	t.Logf("%d rows take %v", rows, time.Since(began))
	for _, want := range []string{fmt.Sprintf("%d of %d rows\n", rows, rows), "row 101: price: is \"free\"", "Uploading the feed"} {
		if !strings.Contains(first.notes, want) {
			t.Errorf("the notes lack %q: %s", want, first.notes)
		}
	}
	if bad := rows / 100; first.code != 0 || strings.Contains(first.notes, "\r") ||
		strings.Count(first.notes, "\nrow ") != min(bad, 20) || strings.Contains(first.notes, "more rows: http") != (bad > 20) ||
		!strings.Contains(first.out, fmt.Sprintf("%-20s %d\n", "created", rows-bad)) {
		t.Errorf("exit %d\n%s%s", first.code, first.out, first.notes)
	}
	if held := r.push(program, shopTable(rows/2, 10), ""); held.code != 5 ||
		!strings.Contains(held.notes, "feeds sync "+r.factory+" --confirm-run-id run_") {
		t.Errorf("exit %d\n%s%s", held.code, held.out, held.notes)
	}
	if failed := r.push(program, "no,columns\n1,2\n", ""); failed.code != 9 || failed.out != "" {
		t.Errorf("exit %d\n%s%s", failed.code, failed.out, failed.notes)
	}
	stopped := r.push(program, shopTable(rows, 30), "The run is run_")
	if !strings.Contains(stopped.notes, "The run goes on.") || stopped.code != 130 {
		t.Errorf("exit %d\n%s%s", stopped.code, stopped.out, stopped.notes)
	}
	poll.Until(t, "the run goes on to its end", func() bool { return r.count(r.feed()+"/runs?state=queued,running") == 0 })
}
