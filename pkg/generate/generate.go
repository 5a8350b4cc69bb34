// Package generate does generation work: a task whose parts are each one generation by one provider (a text, a picture,
// a voice). Every part is submitted, polled and stored, in one step each. The last step finishes the resource, its
// event, its money and its place in the account's waiting work in one transaction.
//
// The areas (content items, generations of the studio) implement the interface Work. Everything that they share is
// here. Accept makes a task of an order, and Worker takes its steps.
package generate

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Part is one generation that work is made of.
type Part struct {
	Kind provider.Kind `json:"kind"`
	// Model is the id of the model in the catalog, empty for a part that the service makes itself.
	Model string `json:"model,omitempty"`
	// PricedIn is the place whose price the model has: see Place of catalog.Model.
	PricedIn string `json:"priced_in,omitempty"`
	// Endpoint is the provider's own id of a model that was trained from Model and is called in its place.
	Endpoint string `json:"endpoint,omitempty"`
	// Provider is the name of the provider that makes it for live keys.
	Provider string `json:"provider"`
	// Credits is the price of the part, 0 with a test key. That of a text is the price of its first question.
	Credits int64 `json:"credits,omitempty"`
	// Further are the questions that a text may ask after its first one, in the order in which it asks them.
	Further []Call `json:"further,omitempty"`
	// Reuse is the result of an earlier attempt that is used again instead of a new one, or nil. Orders of a batch have
	// none.
	Reuse *PartResult `json:"-"`
	// Copy is a file of another resource that the part is a copy of, or nil.
	Copy *media.File `json:"copy,omitempty"`
}

// Call is one call of a provider: the one that makes a part, or a question of a text.
type Call struct {
	// Name is the name of the question. A part that is no text has one call, which is First.
	Name     string `json:"name"`
	Model    string `json:"model,omitempty"`
	PricedIn string `json:"priced_in,omitempty"` // as in Part
	Endpoint string `json:"endpoint,omitempty"`
	Provider string `json:"provider"`
	Credits  int64  `json:"credits,omitempty"`
}

// First is the name of the first question of a text.
const First = "first"

// Calls returns the calls that the part may take.
func (p Part) Calls() []Call {
	return append([]Call{{First, p.Model, p.PricedIn, p.Endpoint, p.Provider, p.Credits}}, p.Further...)
}

// Price returns the price of all calls together.
func (p Part) Price() (credits int64) {
	for _, c := range p.Calls() {
		credits += c.Credits
	}
	return credits
}

// PartResult is what a provider has made of a part.
type PartResult struct {
	Text *provider.Text `json:"text,omitempty"`
	// Object is the result of a text with a form, in place of Text.
	Object json.RawMessage `json:"object,omitempty"`
	Files  []media.File    `json:"files,omitempty"`
	// Marks are the times of the words in speech, if they are known.
	Marks []provider.Mark `json:"marks,omitempty"`
	// Branded reports whether finished media show the logo or the name of a brand.
	Branded bool `json:"branded,omitempty"`
}

// Stage is the stage of work that failed.
type Stage string

// The stages.
const (
	StageGenerate Stage = "generate" // a provider's part
	StageCompose  Stage = "compose"  // finished media of the parts
)

// Failure is the reason for which work failed, as callers see it.
type Failure struct {
	Stage Stage
	Code  provider.FailureCode
	// Message describes the problem and its solution, without secrets.
	Message string
	// Retryable reports whether the same work may succeed when it is tried again.
	Retryable bool
	// Cost is the charge for the completed parts, if the work fails because of the caller's input. Made has their
	// results if the order Keeps them.
	Cost    int64
	Results []PartResult
}

// Ticket is the part of a resource's document that describes its accepted work, so that the work can be canceled after
// one read.
type Ticket struct {
	// Hold is the reservation that pays for the work. It is the zero value if the work is free.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Batch is the id of the task that starts the work of a resource that was accepted with others. It is empty once
	// the work was started.
	Batch string `json:"batch,omitempty"`
}

// Loader opens the resources of one kind.
type Loader interface {
	// Open reads a resource for its work.
	Open(it store.Item) (Work, error)
}

// Work is a resource for which media are generated. Its methods change the resource that was read. The handler writes
// it.
type Work interface {
	// WaitsForAttempt returns the attempt whose end the resource waits for. It is 0 if the resource waits for none,
	// because it has ended, was canceled, or was never accepted.
	WaitsForAttempt() (attempt int)
	// Ticket returns the work's ticket, to be read and changed.
	Ticket() *Ticket
	// About returns the part of the resource that the entries of its money show.
	About() ledger.About
	// Request returns the request of part n (from 0) to its provider, as far as the resource decides it. The handler
	// adds model, options and client token. The argument made has the results of the parts before it. Request is not
	// called for texts and for parts of the kind compose.
	Request(n int, made []PartResult) (provider.Request, error)
	// Start notes that the first part has begun.
	Start(now time.Time)
	// Progress notes the progress of the work in percent, and reports whether the resource shows the difference, so
	// that a write is worthwhile.
	Progress(now time.Time, percent int) bool
	// Succeed combines the parts, and adds the resource's events and other changes to the transaction. The argument
	// cost is the charge.
	Succeed(tx *store.Tx, now time.Time, made []PartResult, cost int64) error
	// Fail ends the work without success, and adds to the transaction like Succeed.
	Fail(tx *store.Tx, now time.Time, f Failure) error
	// Cancel ends the work early, and adds to the transaction like Succeed. The argument charged is the cost of the
	// completed parts, and made has their results if the order Keeps them.
	Cancel(tx *store.Tx, now time.Time, charged int64, made []PartResult) error
	// Item returns the item to write: the one that was read, with the changes.
	Item() (store.Item, error)
}

// Sampling is work whose files are samples: the register of finished files leaves them out.
type Sampling interface{ Sample() }

// Providers finds providers.
type Providers interface {
	// For returns the provider of a name for work in a mode. Its error is final: the stack does not offer the provider.
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Objects stores files.
type Objects interface {
	// Save stores the n-th file of a place and describes it. A file of the same place and number replaces the object.
	// Save returns unsupported_media for a file of a type that is not served. If s is not nil, the stored file says its
	// origin, unless it has a manifest, which the change would break.
	Save(ctx context.Context, place media.Place, n int, body io.Reader, s *provenance.Statement) (media.File, error)
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// Open reads the object of a key. Its error has the code not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Remove removes all files of an attempt, including unknown ones. It succeeds if there are none.
	Remove(ctx context.Context, place media.Place) error
}

// The kinds of tasks.
const (
	Generate task.Kind = "generate"        // one attempt at the work of a resource
	Start    task.Kind = "generate.start"  // starts the work of resources accepted together
	Remove   task.Kind = "generate.remove" // removes the files of a resource that was deleted
	Expire   task.Kind = "generate.expire" // deletes a resource of a sandbox whose time is over
)

// traits are the properties of a kind of generation.
type traits struct {
	// queue is the queue of its steps. Slow kinds have queues of their own, so that they do not delay the quick ones.
	queue topology.Queue
	// deadline is the longest time that a part of this kind may take, with its wait in the queue.
	deadline time.Duration
	// poll is the wait between two polls if the provider does not name one.
	poll time.Duration
	// file is the type of the files that the kind makes, empty if it makes none.
	file media.Type
	// usual is the usual duration of a part of this kind, with its wait in the queue.
	usual time.Duration
}

var kinds = map[provider.Kind]traits{
	provider.KindText:    {topology.GenerateText, 10 * time.Minute, 2 * time.Second, "", 5 * time.Second},
	provider.KindImage:   {topology.GenerateImage, 15 * time.Minute, 2 * time.Second, media.Image, 10 * time.Second},
	provider.KindVoice:   {topology.GenerateAudio, 15 * time.Minute, 3 * time.Second, media.Audio, 6 * time.Second},
	provider.KindMusic:   {topology.GenerateAudio, 20 * time.Minute, 3 * time.Second, media.Audio, 40 * time.Second},
	provider.KindVideo:   {topology.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video, 90 * time.Second},
	provider.KindAvatar:  {topology.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video, 2 * time.Minute},
	provider.KindCompose: {topology.Compose, time.Hour, 0, "", time.Minute},
	provider.KindSign:    {topology.Compose, time.Hour, 0, "", time.Second},
}

// Patience returns the shortest time that a message of a queue may wait before work of the queue reaches its deadline,
// or 0 if the queue has no work that ends by itself.
func Patience(q topology.Queue) (least time.Duration) {
	for _, k := range kinds {
		if k.queue == q && (least == 0 || k.deadline < least) {
			least = k.deadline
		}
	}
	return least
}

// Outcomes that a test key can request, in addition to the states of a resource.
const (
	OutcomeFailed  = "failed"
	OutcomeBalance = string(errs.InsufficientBalance)
	OutcomeSpend   = string(errs.SpendLimitReached)
	OutcomeRate    = string(errs.RateLimited)
)

// Rehearsal is the part of a test key's request that does not depend on the outcomes of an area. The areas embed it.
type Rehearsal struct {
	// Code of the failure, with its message and retryable as with a live key. With outcome failed only. Absent:
	// generation_failed.
	FailureCode provider.FailureCode `json:"failure_code,omitempty" maxLength:"64" example:"content_policy"`
	// Seconds until the result.
	DelaySeconds int `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0"`
}

// Check refuses a failure code that does not exist, or whose outcome is not a failure.
func (r Rehearsal) Check(outcome string) error {
	const param = "/sandbox/failure_code"
	switch {
	case r.FailureCode == "":
		return nil
	case provider.FailureOf(r.FailureCode) == nil:
		return errs.Invalid(param, "%s", text.NotOneOf(string(r.FailureCode), codes()))
	case outcome != OutcomeFailed:
		return errs.Invalid(param, "needs outcome failed")
	}
	return nil
}

func codes() []string {
	all := make([]string, 0, len(provider.FailureCodes()))
	for _, code := range provider.FailureCodes() {
		all = append(all, string(code))
	}
	slices.Sort(all)
	return all
}

// Delay returns how long the work takes.
func (r Rehearsal) Delay() time.Duration { return time.Duration(r.DelaySeconds) * time.Second }

// Request returns the rehearsal that the sandbox performs for work that was accepted at the start.
func (r Rehearsal) Request(outcome string, start time.Time) provider.Rehearsal {
	return provider.Rehearsal{Fail: outcome == OutcomeFailed, Code: r.FailureCode, Start: start, Delay: r.Delay()}
}

// RehearsedError returns the error that a test key requests as the outcome of work that costs credits with a live key,
// or nil if it requests none. Work of a model without a price counts as one credit.
func RehearsedError(outcome string, credits int64, p *auth.Principal) error {
	credits = max(credits, 1)
	switch outcome {
	case OutcomeBalance:
		return ledger.Payer{}.Covers(ledger.Balance{}, nil, credits)
	case OutcomeSpend:
		limit := 10 * credits // of which half of the price is left
		return ledger.Payer{Limit: &limit}.Covers(ledger.Balance{Credits: credits},
			[]store.Item{store.Counter(limit - credits/2), {}}, credits)
	case OutcomeRate:
		e := errs.New(errs.RateLimited, "%s", auth.MessageRateLimited).With(errs.RateContext{Limit: p.Rate.Limit,
			WindowSeconds: p.Rate.Window})
		e.RetryAfter = time.Duration(max(p.Rate.Reset, 1)) * time.Second
		return e
	}
	return nil
}
