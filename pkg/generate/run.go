package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// run is the payload of a Generate task: one attempt at the work of a resource.
type run struct {
	Attempt int `json:"attempt"`
	// Factory is the factory of the resource, empty if there is none. While it is paused, work that has not begun
	// waits.
	Factory string `json:"factory,omitempty"`
	// Risk is the part of the price that counts as in flight.
	Risk int64 `json:"risk,omitempty"`
	// KeepsParts reports whether the resource shows the completed parts of work that did not succeed.
	KeepsParts bool `json:"keeps,omitempty"`
	// HasQuote reports that a quote bounds the price.
	HasQuote bool `json:"quoted,omitempty"`
	// Parts are the parts to generate, with their progress.
	Parts []part `json:"parts"`
}

// part is a part with its progress.
type part struct {
	Kind provider.Kind `json:"kind"`
	// Copy is a file of another resource that the part is a copy of, or nil.
	Copy *media.File `json:"copy,omitempty"`
	// Calls make the part: one, or the questions of a text.
	Calls []call `json:"calls"`
	// Look is what a composition depends on besides its parts.
	Look
	// Result is the result. A text that is being written has its best one until now.
	Result PartResult `json:"made,omitzero"`
}

// call is a call with its progress.
type call struct {
	Call
	State  state           `json:"state,omitempty"`
	Handle provider.Handle `json:"handle,omitempty"`
	// Bills reports whether the provider is paid for a generation once it has accepted it: it cannot be stopped.
	Bills bool `json:"bills,omitempty"`
	// StandIn is the id of the model that took the place of Model, which its provider has refused, or empty. The price
	// stays.
	StandIn string `json:"stand_in,omitempty"`
	// Extra is the cost of the call beyond its price.
	Extra int64 `json:"extra,omitempty"`
	// LostAnswers counts the submissions whose answer was lost, so that a generation without a known handle may run.
	LostAnswers int `json:"lost,omitempty"`
	// Repair has the answer that a model is to mend. Mended and Refused report whether it was asked to mend one that
	// could not be read, and one that the work has refused.
	Repair    *provider.Repair `json:"repair,omitempty"`
	MendTried bool             `json:"mended,omitempty"`
	Refused   bool             `json:"refused,omitempty"`
	// Slot is the time of the submission, if the limit of its provider or model has put it off.
	Slot     time.Time `json:"slot,omitzero"`
	Progress int       `json:"progress,omitempty"`
	// Answer is the answer to a question, until the text is written.
	Answer *PartResult `json:"answer,omitempty"`
}

// answer returns the answer to a question. It is empty if there is none.
func (c *call) answer() (made PartResult) {
	if c.Answer != nil {
		made = *c.Answer
	}
	return made
}

// SandboxLife is the time for which generated resources of a sandbox are kept.
const SandboxLife = 30 * 24 * time.Hour

// ExpiresAt returns the time at which a resource is deleted that was created at a time, or nil if it is kept.
func ExpiresAt(o tenant.Owner, created resource.Time) *resource.Time {
	if o.Mode != tenant.Test {
		return nil
	}
	at := resource.Instant(created.Add(SandboxLife))
	return &at
}

// ExpireLater adds the task to the transaction that deletes a resource of a sandbox for which nothing is generated.
func ExpireLater(tx *store.Tx, now time.Time, o tenant.Owner, subject string) error {
	return expire(tx, now, Order{Owner: o, Subject: subject})
}

// ExpireFrom is ExpireLater for a resource that a sandbox takes over now. It returns the time of its deletion, or nil
// if it is kept.
func ExpireFrom(tx *store.Tx, now time.Time, o tenant.Owner, subject string) (*resource.Time, error) {
	return ExpiresAt(o, resource.Instant(now)), ExpireLater(tx, now, o, subject)
}

// expire adds the task that deletes a resource of a sandbox to the transaction. The package sandbox has its handler.
func expire(tx *store.Tx, now time.Time, o Order) error {
	if o.Mode != tenant.Test || o.Attempt > 1 {
		return nil
	}
	m := task.Message{ID: task.ID(Expire, o.Subject, 1), Kind: Expire, Queue: topology.GenerateText, Subject: o.Subject,
		Owner: o.Owner}
	return task.Create(tx, now, task.Task{Message: m, DueAt: now.Add(SandboxLife)}, nil)
}

// begin adds the task of an order to the transaction.
func begin(tx *store.Tx, now time.Time, o Order) error {
	r := run{Attempt: o.Attempt, Factory: o.About.FactoryID, Risk: o.Risk, KeepsParts: o.KeepsParts,
		HasQuote: o.Quote != nil}
	for _, p := range o.Parts {
		one := part{Kind: p.Kind, Copy: p.Copy}
		for _, c := range p.Calls() {
			one.Calls = append(one.Calls, call{Call: c})
		}
		if p.Reuse != nil {
			one.Calls[0].State, one.Result = reused, *p.Reuse
		}
		r.Parts = append(r.Parts, one)
	}
	if err := expire(tx, now, o); err != nil {
		return err
	}
	due := time.Time{}
	if first := r.Parts[r.first()]; o.Delay > 0 && (first.Kind == provider.KindCompose || first.Copy != nil) {
		due = now.Add(o.Delay) // no provider rehearses the delay
	}
	return task.Create(tx, now, task.Task{
		DueAt: due, Message: task.Message{
			ID: task.ID(Generate, o.Subject, o.Attempt), Kind: Generate, Subject: o.Subject, Owner: o.Owner,
			Queue: cmp.Or(r.queue(), topology.GenerateText),
		},
		Deadline: now.Add(o.longest()), Label: o.ResultName,
	}, r)
}

// current returns the number of the first part that is not done, or len(Parts) if all are done.
func (r *run) current() int {
	if n := slices.IndexFunc(r.Parts, func(p part) bool { return p.next() < len(p.Calls) }); n >= 0 {
		return n
	}
	return len(r.Parts)
}

// next returns the number of the first call that has not ended, or len(Calls) if all have.
func (p *part) next() int {
	if i := slices.IndexFunc(p.Calls, func(c call) bool { return !c.ended() }); i >= 0 {
		return i
	}
	return len(p.Calls)
}

// end ends a text: it needs no further question and no answer any more.
func (p *part) end() {
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Answer = nil; !c.ended() {
			c.State = skipped
		}
	}
}

// reused reports whether the result is that of an earlier attempt.
func (p *part) reused() bool { return p.Calls[0].is(reused) }

// first returns the number of the first part that is not reused.
func (r *run) first() int {
	return slices.IndexFunc(r.Parts, func(p part) bool { return !p.reused() })
}

// queue returns the queue of the next step. It is empty, for the queue of the step before, if only the end is left, or
// if the resources of a composition must be read first.
func (r *run) queue() topology.Queue {
	if n := r.current(); n < len(r.Parts) {
		if p := r.Parts[n]; p.Kind != provider.KindCompose || p.Calls[0].is(looked) {
			return kinds[p.Kind].queue
		}
	}
	return ""
}

// results returns the results of the parts that are done.
func (r *run) results() []PartResult {
	var made []PartResult
	for _, p := range r.Parts[:r.current()] {
		made = append(made, p.Result)
	}
	return made
}

// percent returns the progress of the run, measured by the usual durations of its parts.
func (r *run) percent() int {
	var whole, done time.Duration
	for _, p := range r.Parts {
		if p.reused() {
			continue
		}
		usual := kinds[p.Kind].usual
		for _, c := range p.Calls {
			if whole += usual; c.ended() {
				done += usual
			} else {
				done += usual * time.Duration(min(c.Progress, 99)) / 100
			}
		}
	}
	return int(100 * done / whole)
}

// stage returns the stage at which the run has failed with a code: some codes only come of composing, even if a test
// key requests them.
func (r *run) stage(code provider.FailureCode) Stage {
	if n := r.current(); n < len(r.Parts) && r.Parts[n].Kind.Finishes() || code.Composing() {
		return StageCompose
	}
	return StageGenerate
}

// calls calls do for each call of the run.
func (r *run) calls(do func(p *part, c *call)) {
	for n := range r.Parts {
		p := &r.Parts[n]
		for i := range p.Calls {
			do(p, &p.Calls[i])
		}
	}
}

// completedPrice returns the price of the calls that the provider has finished, or is paid for in any case.
func (r *run) completedPrice() (credits int64) {
	r.calls(func(_ *part, c *call) {
		if c.ended() || c.is(ready, held) || c.is(submitted) && c.Bills {
			credits += c.Credits
		}
	})
	return credits
}

// cancelCost returns the charge if the run were canceled now.
func (r *run) cancelCost(t *Ticket) int64 { return min(r.completedPrice(), t.Hold.Credits) }

// keptResults returns the results of the parts, if the resource keeps them. A part that is not done has an empty one,
// or the best text until now.
func (r *run) keptResults() []PartResult {
	if !r.KeepsParts {
		return nil
	}
	all := make([]PartResult, len(r.Parts))
	for n, p := range r.Parts {
		all[n] = p.Result
	}
	return all
}

// extra returns the cost of the parts beyond their price.
func (r *run) extra() (credits int64) {
	r.calls(func(_ *part, c *call) { credits += c.Extra })
	return credits
}

// paidAtMost returns the most that providers may have been paid for the run. The argument submitting reports that a
// submission may be on its way.
func (r *run) paidAtMost(submitting bool) (credits int64) {
	current := submitting
	r.calls(func(p *part, c *call) {
		if p.Kind.Finishes() {
			return
		}
		credits += int64(c.LostAnswers) * c.Credits
		if c.ended() || c.is(submitted, ready, held) || current {
			credits += c.Credits + c.Extra
		}
		current = current && c.ended()
	})
	return credits
}

// firstFile returns the number of the first file of part n: the files of a run are numbered consecutively, in the order
// of its parts.
func (r *run) firstFile(n int) int {
	first := 1
	for _, p := range r.Parts[:n] {
		first += len(p.Result.Files)
	}
	return first
}

// lose notes that the answer to a submission of the call was lost.
func (c *call) lose() {
	c.LostAnswers++
	metric.Count("LostSubmissions", "provider", c.Provider)
}

// placeOf returns the place of the files of an attempt.
func placeOf(o tenant.Owner, subject string, attempt int) media.Place {
	return media.Place{Owner: o, Resource: subject, Attempt: attempt}
}

// state is the state of a call.
type state string

const (
	planned   state = ""          // nothing has begun
	prepared  state = "prepared"  // the question is to be asked again
	looked    state = "looked"    // generate has read what a composition depends on: compose may not read it
	submitted state = "submitted" // the provider works on it
	ready     state = "ready"     // the provider has a result
	held      state = "held"      // its text waits to be moderated
	done      state = "done"      // its result is stored
	skipped   state = "skipped"   // the work goes on without a result
	reused    state = "reused"    // its result is that of an earlier attempt
)

// moves are the states that can be reached from each state.
var moves = map[state][]state{
	planned:   {prepared, looked, submitted, held, done, skipped},
	prepared:  {prepared, submitted, held, done, skipped},
	looked:    {done},
	submitted: {ready, prepared},
	ready:     {held, done, prepared},
	held:      {done, prepared},
}

// move changes the state. It returns an error if there is no such move.
func (c *call) move(to state) error {
	if !slices.Contains(moves[c.State], to) {
		return fmt.Errorf("generate: a call cannot move from %q to %q", c.State, to)
	}
	c.State = to
	return nil
}

// is reports whether the call is in one of some states.
func (c *call) is(states ...state) bool { return slices.Contains(states, c.State) }

// ended reports whether nothing is left to do for the call.
func (c *call) ended() bool { return c.is(done, skipped, reused) }
