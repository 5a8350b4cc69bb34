package verify_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
)

// heard is a test that keeps its errors.
type heard struct {
	testing.TB
	errors int
}

func (h *heard) Errorf(string, ...any) { h.errors++ }

// A slow moment of the machine is no error: the fastest of three runs counts. Memory is never forgiven.
func TestTheFastestRunCounts(t *testing.T) {
	for name, c := range map[string]struct {
		runs []cost.Cost
		want cost.Cost
	}{
		"the first is within":  {[]cost.Cost{{CPU: 2, Memory: 5}}, cost.Cost{CPU: 2, Memory: 5}},
		"the third is within":  {[]cost.Cost{{CPU: 9, Memory: 5}, {CPU: 5, Memory: 7}, {CPU: 3, Memory: 6}}, cost.Cost{CPU: 3, Memory: 7}},
		"none is within":       {[]cost.Cost{{CPU: 9}, {CPU: 5}, {CPU: 6}}, cost.Cost{CPU: 5}},
		"the bound is allowed": {[]cost.Cost{{CPU: 4}}, cost.Cost{CPU: 4}},
	} {
		n := 0
		if got := cost.Least(4, func() cost.Cost { n++; return c.runs[n-1] }); got != c.want || n != len(c.runs) {
			t.Errorf("%s: %+v after %d runs, want %+v after %d", name, got, n, c.want, len(c.runs))
		}
	}
}

// What takes too much CPU time or memory is an error, and what is within the bounds of this machine is none.
func TestBounds(t *testing.T) {
	var kept string
	for name, c := range map[string]struct {
		cpu    time.Duration
		memory int64
		errors int
	}{
		"within": {time.Minute, 1 << 30, 0}, "too much time": {time.Microsecond, 1 << 30, 1},
		"too much memory": {time.Minute, 1 << 20, 1}, "both": {time.Microsecond, 1 << 20, 2},
	} {
		h := &heard{TB: t}
		cost.Within(h, name, c.cpu, c.memory, func() { kept = strings.Repeat("word ", 4<<20) })
		if h.errors != c.errors {
			t.Errorf("%s: %d errors, want %d", name, h.errors, c.errors)
		}
	}
	if c := cost.Of(func() {
		for began := used(t); used(t)-began < 2*cost.MostCPU; {
			kept = strings.Repeat("word ", 4<<20)
		}
	}); c.CPU < 10*time.Millisecond || c.CPU > 2*cost.MostCPU+cost.MostCPU/2 {
		t.Errorf("two seconds are %v on the machine of the bounds", c.CPU)
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}

// used returns the CPU time that this program has used.
func used(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
