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
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
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
