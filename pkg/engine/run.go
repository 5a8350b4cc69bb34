package engine

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// The states of a run. The state is kept beside the document, so that canceling
// need not read the run.
const (
	running  = "running"
	canceled = "canceled" // the provider has yet to be told
	ended    = "ended"
)

// stateFilter is the name under which the state is kept.
const stateFilter = "state"

// run is one attempt at the work of a resource. Its item is the job that the relay
// sends to the first queue; so it begins with the job's members.
type run struct {
	job.Job
	// Parts are what is to be made, and how far each is.
	Parts []part `json:"parts"`
	// Deadline is when the run fails with timeout.
	Deadline time.Time `json:"deadline"`
	// Due is when its next step is to be taken.
	Due time.Time `json:"due"`
	// Failures counts the steps that failed since one last succeeded.
	Failures int `json:"failures,omitempty"`
	// Claim is the right to submit the current part; see claim.
	Claim *claim `json:"claim,omitempty"`
}

// part is one part and how far it is.
type part struct {
	Part
	Handle provider.Handle `json:"handle,omitempty"`
	// Lost counts the submissions whose answer was lost, so that a generation may
	// run of which nobody knows.
	Lost     int `json:"lost,omitempty"`
	Progress int `json:"progress,omitempty"`
	// Ready tells that the provider has made it, Done that it is stored.
	Ready bool `json:"ready,omitempty"`
	Done  bool `json:"done,omitempty"`
	Made  Made `json:"made,omitzero"`
}

// claim is the right to submit a part to a provider that takes no client token:
// two submissions would be two generations.
type claim struct {
	By    string    `json:"by"`
	Until time.Time `json:"until"`
}

// keepRuns is how long a run stays for whoever looks into a failure; longer than
// any deadline.
const keepRuns = 7 * 24 * time.Hour

// runID is the id of the run of an attempt: one attempt has one run.
func runID(subject string, attempt int) string {
	return "job#" + subject + "#" + strconv.Itoa(attempt)
}

// newRun makes the run of accepted work, and its item.
func newRun(now time.Time, a Accepted) (store.Item, error) {
	r := run{
		Job: job.Job{
			ID: runID(a.Subject, a.Attempt), Queue: queueOf(a.Parts[0].Kind),
			Subject: a.Subject, Attempt: a.Attempt, Owner: a.Owner, Turn: 1,
		},
		Deadline: now.Add(a.longest()), Due: now,
	}
	for _, p := range a.Parts {
		r.Parts = append(r.Parts, part{Part: p})
	}
	it, err := job.Item(now, r.Job, r)
	if err != nil {
		return it, err
	}
	it.ExpireAt = now.Add(keepRuns)
	return it, r.write(&it, running)
}

// write puts the run and what it is found by into its item.
func (r *run) write(it *store.Item, state string) error {
	it.Filters = map[string]string{stateFilter: state}
	it.Due = store.Key{}
	if state != ended {
		it.Due = dueKey(r.ID, r.Due)
	}
	return it.Encode(r)
}

// current is the number of the part that is not done; len(Parts) where all are.
func (r *run) current() int {
	for n, p := range r.Parts {
		if !p.Done {
			return n
		}
	}
	return len(r.Parts)
}

// made is what the parts that are done have made.
func (r *run) made() []Made {
	var made []Made
	for _, p := range r.Parts[:r.current()] {
		made = append(made, p.Made)
	}
	return made
}

// percent is how far the run is.
func (r *run) percent() int {
	n := r.current()
	if n == len(r.Parts) {
		return 100
	}
	return (100*n + min(r.Parts[n].Progress, 99)) / len(r.Parts)
}

// firstFile is the number of the first file of part n: files of a run are numbered
// through, in the order of its parts.
func (r *run) firstFile(n int) int {
	first := 1
	for _, p := range r.Parts[:n] {
		first += len(p.Made.Files)
	}
	return first
}

// advance moves the run to its next turn, which is due after wait.
func (r *run) advance(now time.Time, wait time.Duration) {
	r.Turn++
	r.Due = now.Add(wait)
	r.Claim = nil
	if n := r.current(); n < len(r.Parts) {
		r.Queue = queueOf(r.Parts[n].Kind)
	}
}

// token names one submission: it is the same whenever the same part of the same
// attempt is submitted.
func (r *run) token(n int) string {
	return fmt.Sprintf("%s-%d-%d", r.Subject, r.Attempt, n)
}

// shards is how many partitions share the runs that wait: all of a busy stack
// would be too many for one.
const shards = 8

func duePartition(shard int) string { return "runs#" + strconv.Itoa(shard) }

// dueKey is a waiting run's key in store.ByDue: it is found there by the time
// of its next step.
func dueKey(id string, due time.Time) store.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // gives no error
	return store.Key{PK: duePartition(int(h.Sum32() % shards)), SK: due.UTC().Format(time.RFC3339) + "#" + id}
}
