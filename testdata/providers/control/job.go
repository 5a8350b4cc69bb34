package control

import (
	"sync"
	"time"
)

// Jobs simulates the work of a fake. Each job waits, runs, and ends after a while, by an
// injected clock.
type Jobs[T any] struct {
	now  func() time.Time
	took time.Duration

	mu   sync.Mutex
	jobs map[string]*Job[T]
}

// JobTime is the default duration of a job.
const JobTime = 400 * time.Millisecond

// NewJobs makes Jobs with a duration, or JobTime if that is 0.
func NewJobs[T any](now func() time.Time, took time.Duration) *Jobs[T] {
	if took == 0 {
		took = JobTime
	}
	return &Jobs[T]{now: now, took: took, jobs: map[string]*Job[T]{}}
}

// Job is one job.
type Job[T any] struct {
	ID    string
	Work  T // the fake's own data
	Began time.Time
	Ends  time.Time

	fails    bool
	canceled bool
}

// Phase is the phase of a job.
type Phase string

// The phases of a job. The last three are final.
const (
	Waiting   Phase = "waiting"
	Working   Phase = "working"
	Succeeded Phase = "succeeded"
	Failed    Phase = "failed"
	Canceled  Phase = "canceled"
)

// Final reports whether the phase will not change again.
func (p Phase) Final() bool { return p == Succeeded || p == Failed || p == Canceled }

// Start begins a job under an id.
func (j *Jobs[T]) Start(id string, work T, fails bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	j.jobs[id] = &Job[T]{ID: id, Work: work, Began: now, Ends: now.Add(j.took), fails: fails}
}

// Find returns a copy of a job with its phase, and its progress from 0 to 100.
func (j *Jobs[T]) Find(id string) (job Job[T], phase Phase, progress int, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := j.jobs[id]
	if !ok {
		return Job[T]{}, "", 0, false
	}
	phase, progress = p.at(j.now())
	return *p, phase, progress, true
}

// Cancel ends a job that has not ended. canceled reports whether it did so.
func (j *Jobs[T]) Cancel(id string) (canceled, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := j.jobs[id]
	if !ok {
		return false, false
	}
	if phase, _ := p.at(j.now()); phase.Final() {
		return false, true
	}
	p.canceled = true
	return true, true
}

// at returns the phase and the progress. A job waits for the first quarter of its time.
func (j *Job[T]) at(now time.Time) (Phase, int) {
	total, passed := j.Ends.Sub(j.Began), now.Sub(j.Began)
	switch {
	case j.canceled:
		return Canceled, 0
	case passed >= total && j.fails:
		return Failed, 0
	case passed >= total:
		return Succeeded, 100
	case passed < total/4:
		return Waiting, 0
	default:
		return Working, int(passed * 100 / total)
	}
}
