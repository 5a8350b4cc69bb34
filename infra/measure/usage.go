package main

import (
	"maps"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
)

// usage is what a generation has used up to a moment: everything that AWS charges
// for and everything that a function waits for.
type usage struct {
	table   metered.Reading
	calls   int              // of the API
	runs    map[string]turns // by function
	records int              // of the table's stream that functions were called for
	// sends, receives and beats are requests of queues; a message that is done is
	// deleted by one more.
	sends, receives, beats int
	grouped                int // of them, those of queues that are shared fairly
	events                 int // put on the bus
	puts, lists, gets      int // requests of the object store
	stored                 int64
	// Calls of providers, and reads of the secret with their credentials.
	submits, polls, fetches, cancels, credentials int
	// waited is for how long functions have waited for all but the table.
	waited time.Duration
}

// turns are how often a function ran, and how long altogether.
type turns struct {
	times int
	took  time.Duration
}

// What is not counted but assumed.
const (
	// handling is what a run of a function takes without waiting, on its part of a core.
	handling = 10 * time.Millisecond
	// Waiting for an answer of AWS in the same region.
	tableWait  = 8 * time.Millisecond
	queueWait  = 10 * time.Millisecond
	busWait    = 15 * time.Millisecond
	objectWait = 50 * time.Millisecond
	// Waiting for a provider that only notes or reports something.
	quickWait = 300 * time.Millisecond
	// Waiting for one that answers with what it made.
	textWait  = 4 * time.Second
	mediaWait = 10 * time.Second
	// bytesPerSecond is how fast a file comes, and how fast it goes.
	bytesPerSecond = 50_000_000
	// beatEvery is how often a function that works on messages hides them anew: see
	// pkg/queue.
	beatEvery = time.Second
	// logged is the line of a run in the log, with what the log adds to each; the
	// authorizer writes none. accessLogged is that of the gateway's log.
	logged       = 450
	accessLogged = 500
	// traced is the part of runs that are traced: see infra/app/stack/tracing.go.
	traced = 0.01
)

// sizes are assumed of the files: those of the bench are real, but small.
var sizes = map[media.Type]int64{
	media.Image: 2_000_000, media.Video: 10_000_000, media.Audio: 1_000_000, media.Captions: 2_000,
}

// called notes the two runs of functions of a call.
func (u *usage) called(function string, c metered.Cost) {
	u.ran("authorizer", handling+time.Duration(c.Authorizer.Trips)*tableWait)
	u.ran(function, handling+time.Duration(c.Function.Trips+c.Audit.Trips)*tableWait)
}

// ran notes a run of a function.
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

// gigabyteSeconds is what Lambda charges for the time of runs.
func (u *usage) gigabyteSeconds() (sum float64) {
	for name, r := range u.runs {
		sum += float64(topology.Named(name).Memory) / 1024 * r.took.Seconds()
	}
	return sum
}

// logBytes is what the logs take in.
func (u *usage) logBytes() float64 {
	return float64(accessLogged*u.calls + logged*(u.functionRuns()-u.runs["authorizer"].times))
}

// queueRequests counts the requests of queues.
func (u *usage) queueRequests() int { return u.sends + 2*u.receives + u.beats }

// copied is the usage up to now, which goes on.
func (u *usage) copied() usage {
	c := *u
	c.runs = maps.Clone(u.runs)
	return c
}

// stores notes a file that is fetched and stored.
func (u *usage) stores(t media.Type) {
	u.puts++
	u.stored += sizes[t]
	u.waited += objectWait + 2*time.Duration(float64(sizes[t])/bytesPerSecond*float64(time.Second))
}
