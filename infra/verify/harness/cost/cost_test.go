package cost

import (
	"strings"
	"testing"
	"time"
)

// heard is a test that keeps its errors.
type heard struct {
	testing.TB
	errors int
}

func (h *heard) Errorf(string, ...any) { h.errors++ }

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
		Within(h, name, c.cpu, c.memory, func() { kept = strings.Repeat("word ", 4<<20) })
		if h.errors != c.errors {
			t.Errorf("%s: %d errors, want %d", name, h.errors, c.errors)
		}
	}
	if c := Of(func() {
		for began := used(); used()-began < 2*MostCPU; {
			kept = strings.Repeat("word ", 4<<20)
		}
	}); c.CPU < 10*time.Millisecond || c.CPU > 2*MostCPU+MostCPU/2 {
		t.Errorf("two seconds are %v on the machine of the bounds", c.CPU)
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}
