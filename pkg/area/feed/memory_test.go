package feed_test

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store/memtable"
)

// disk keeps objects as files, and serves one of them as the feed of a shop.
type disk struct{ dir, feed string }

func (d disk) path(key string) string {
	return filepath.Join(d.dir, strings.ReplaceAll(key, "/", "_"))
}

func (d disk) Open(_ context.Context, key string) (io.ReadCloser, error) {
	f, err := os.Open(d.path(key))
	if os.IsNotExist(err) {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return f, err
}

func (d disk) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	to, err := os.Create(d.path(f.Key))
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	return err
}

func (d disk) Do(*http.Request) (*http.Response, error) {
	f, err := os.Open(d.feed)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: f}, err
}

// childOf is the variable of the process that has the worker, but not the table.
const childOf = "FEED_TABLE"

// The worker of a run takes less than 100 MB. The table is in another process, and the files are on the disk.
func TestTheMemoryOfARun(t *testing.T) {
	if os.Getenv(childOf) != "" {
		worksBesideTheTable(t)
		return
	}
	engine := memtable.NewObserved(apitest.NewClock().Now, func([]memtable.Change) func() { return nil })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := engine.Do(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer srv.Close()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheMemoryOfARun$", "-test.v")
	child.Env = append(os.Environ(), childOf+"=1", "AWS_ENDPOINT_URL_DYNAMODB="+srv.URL,
		"GOGC=100", "GOMEMLIMIT=off") // as the functions have it
	out, err := child.CombinedOutput()
	for line := range strings.SplitSeq(string(out), "\n") {
		if err != nil || strings.Contains(line, " rows: ") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func worksBesideTheTable(t *testing.T) {
	rows := 4000
	if breadth() {
		rows = 50_000
	}
	w := newWorld(t)
	w.set()
	w.Faults.Begun = func(storetest.Call) { w.Faults.Reset() } // which would keep all that a run writes
	dir := t.TempDir()
	d := disk{dir, filepath.Join(dir, "feed.csv")}
	w.worker.Objects, w.worker.URLs = d, d
	g := &generator{rand: rand.New(rand.NewPCG(1, 2)), prices: make([]int, rows)}
	for i := range g.prices {
		g.prices[i] = 100 + g.rand.IntN(10_000)
	}
	for _, name := range []string{"first", "second"} {
		changed := rows
		if name == "second" {
			changed = g.change(0.01)
		}
		if err := os.WriteFile(d.feed, []byte(g.feed()), 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		heap := heapOf(func() {
			if r := w.sync(""); r.Created+r.Changed != changed || r.Read != rows {
				t.Error(told(r))
			}
		})
		t.Logf("%s run of %d rows: %d changed in %v, %d MB of heap, at most %d MB resident", name, rows, changed,
			time.Since(began).Round(100*time.Millisecond), heap, resident())
		if heap >= 100 {
			t.Errorf("a run takes %d MB", heap)
		}
	}
}

// resident returns the most memory that the process has had, in megabytes.
func resident() int {
	status, _ := os.ReadFile("/proc/self/status") // 0 where there is none
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.Atoi(fields[0])
	return kb >> 10
}
