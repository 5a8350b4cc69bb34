package main

import (
	"maps"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
)

// usage is the usage of a generation up to a moment: everything that AWS charges for and everything that a function
// waits for.
type usage struct {
	table   metered.Reading
	calls   int              // of the API
	runs    map[string]turns // by function
	records int              // of the table's stream that were passed to functions
	// sends, receives and beats are the numbers of requests of queues. Each message that is done takes one more
	// request, to delete it.
	sends, receives, beats int
	grouped                int // the part of them that goes to fair queues
	events                 int // put on the bus
	puts, lists, gets      int // requests of the object store
	stored                 int64
	// The calls of providers, and the reads of the secret with their credentials.
	submits, polls, fetches, cancels, credentials int
	// waited is the time that functions have waited for services other than the table.
	waited time.Duration
}

// turns are the number of runs of a function and their total time.
type turns struct {
	times int
	took  time.Duration
}

// These figures are assumed, not counted.
const (
	// handling is the time of a run without waiting, on its share of a core.
	handling = 10 * time.Millisecond
	// The times to wait for an answer of AWS in the same region.
	tableWait  = 8 * time.Millisecond
	queueWait  = 10 * time.Millisecond
	busWait    = 15 * time.Millisecond
	objectWait = 50 * time.Millisecond
	// quickWait is the time to wait for a provider that only records or reports something.
	quickWait = 300 * time.Millisecond
	// The times to wait for a provider that answers with its result.
	textWait  = 4 * time.Second
	mediaWait = 10 * time.Second
	// bytesPerSecond is the speed at which files are fetched and stored.
	bytesPerSecond = 50_000_000
	// beatEvery is the interval at which a function that works on messages extends their invisibility; see
	// pkg/task/queue.
	beatEvery = time.Second
	// logged is the size of a run's line in the log, with the overhead of the log; the authorizer writes none.
	// accessLogged is the size of a line in the gateway's log.
	logged       = 450
	accessLogged = 500
	// traced is the share of runs that are traced; see infra/app/stack/tracing.go.
	traced = 0.01
)

// sizes are the assumed sizes of files. The files of the bench are real, but small.
var sizes = map[media.Type]int64{
	media.Image: 2_000_000, media.Video: 10_000_000, media.Audio: 1_000_000, media.Captions: 2_000,
}

// called records the two runs of functions of a call.
func (u *usage) called(function string, c metered.Cost) {
	u.ran("authorizer", handling+time.Duration(c.Authorizer.Trips)*tableWait)
	u.ran(function, handling+time.Duration(c.Function.Trips+c.Audit.Trips)*tableWait)
}

// ran records a run of a function.
func (u *usage) ran(function string, took time.Duration) {
	if u.runs == nil {
		u.runs = map[string]turns{}
	}
	r := u.runs[function]
	u.runs[function] = turns{r.times + 1, r.took + took}
}

// functionRuns counts the runs of all functions.
func (u *usage) functionRuns() (n int) {
	for _, r := range u.runs {
		n += r.times
	}
	return n
}

// gigabyteSeconds returns the memory and time of runs that Lambda charges for.
func (u *usage) gigabyteSeconds() (sum float64) {
	for name, r := range u.runs {
		sum += float64(topology.FunctionNamed(name).Memory) / 1024 * r.took.Seconds()
	}
	return sum
}

// logBytes returns the size of the logs.
func (u *usage) logBytes() float64 {
	return float64(accessLogged*u.calls + logged*(u.functionRuns()-u.runs["authorizer"].times))
}

// queueRequests counts the requests of queues.
func (u *usage) queueRequests() int { return u.sends + 2*u.receives + u.beats }

// copied returns a copy of the usage up to now, while the original continues.
func (u *usage) copied() usage {
	c := *u
	c.runs = maps.Clone(u.runs)
	return c
}

// stores records that a file is fetched and stored.
func (u *usage) stores(t media.Type) {
	u.puts++
	u.stored += sizes[t]
	u.waited += objectWait + 2*time.Duration(float64(sizes[t])/bytesPerSecond*float64(time.Second))
}
