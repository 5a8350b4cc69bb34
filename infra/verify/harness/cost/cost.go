// Package cost measures what a reader of bytes of strangers takes, in the process of a test. Start with AtMost.
package cost

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The most that reading a file of an accepted size may take: CPU time, and memory above the input.
const (
	MostCPU    = time.Second
	MostMemory = 64 << 20
)

// Cost is what a function has taken.
type Cost struct {
	// CPU is the CPU time. If it is much, it is that of the machine of the bounds: the one of the test may be slower at
	// this moment.
	CPU time.Duration
	// Memory is the largest growth of the objects on the heap that was seen.
	Memory int64
}

// AtMost fails the test if a function takes more than a reader may. The test must not run beside others of its process.
func AtMost(t testing.TB, name string, read func()) Cost {
	t.Helper()
	return Within(t, name, MostCPU, MostMemory, read)
}

// Within is AtMost with other bounds. A function that takes too much runs again, as Least says.
func Within(t testing.TB, name string, cpu time.Duration, memory int64, read func()) Cost {
	t.Helper()
	c := Least(cpu, func() Cost { return Of(read) })
	t.Logf("cost: %-50s %7.3f CPU s %5d MB", name, c.CPU.Seconds(), c.Memory>>20)
	if c.CPU > cpu {
		t.Errorf("%s takes %v of CPU time, above %v", name, c.CPU, cpu)
	}
	if c.Memory > memory {
		t.Errorf("%s takes %d MB of memory, above %d", name, c.Memory>>20, memory>>20)
	}
	return c
}

// runs is the most that Least measures.
const runs = 3

// Least measures until the CPU time is within a bound, at most three times, and returns the cost of the fastest run:
// other programs on the machine only add to the CPU time. Its memory is the most of all runs.
func Least(cpu time.Duration, measure func() Cost) Cost {
	least := measure()
	for n := 1; n < runs && least.CPU > cpu; n++ {
		c := measure()
		least = Cost{CPU: min(least.CPU, c.CPU), Memory: max(least.Memory, c.Memory)}
	}
	return least
}

// usual is the CPU time of the fixed piece of work on the machine of the bounds.
const usual = 100 * time.Millisecond

// slowness returns the CPU time of a fixed piece of work, which walks over memory and looks texts up, in units of the
// usual one.
func slowness() float64 {
	const texts, walks = 1 << 17, 8
	began := used()
	seen := make(map[string]int, texts)
	for n := range texts {
		seen[strconv.Itoa(n)] = n
	}
	cells := make([]int32, 16<<20)
	for walk := range int32(walks) {
		for n := range cells {
			if cells[n]&1 == walk&1 {
				cells[n] += int32(n)
			}
		}
	}
	return float64(used()-began) / float64(usual)
}

// Quick is Of without a look at the heap while the function runs: its memory is all that was allocated.
func Quick(read func()) (c Cost) {
	all := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(all)
	before, began := all[0].Value.Uint64(), used()
	read()
	taken := used() - began
	metrics.Read(all)
	c.Memory = int64(all[0].Value.Uint64() - before)
	c.CPU = usually(taken)
	return c
}

// period is the time between two looks at the heap.
const period = time.Millisecond

// Of measures a function. Of memory, it sees what is there at one of its looks; a function that allocates little in all
// needs none.
func Of(read func()) (c Cost) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as the functions have it
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	base := heap()
	done, peak := make(chan struct{}), int64(0)
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			peak = max(peak, heap()-base)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	began := used()
	read()
	taken := used() - began
	last := heap() - base
	close(done)
	watch.Wait()
	runtime.ReadMemStats(&after)
	// What was allocated in all bounds what was there at a time.
	c.Memory = min(max(peak, last), int64(after.TotalAlloc-before.TotalAlloc))
	c.CPU = usually(taken)
	return c
}

// heap returns the bytes of the objects on the heap, also of those that the collector has not found to be garbage.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// usually returns a CPU time as it is on the machine of the bounds, if it is much.
func usually(taken time.Duration) time.Duration {
	if taken > MostCPU {
		taken = time.Duration(float64(taken) / max(1, slowness()))
	}
	return taken
}

// used returns the CPU time that the process has used.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
