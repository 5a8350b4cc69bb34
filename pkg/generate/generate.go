// Package generate is generation work: a task whose parts are one generation of one
// provider each (a text, a picture, a voice). Every part is submitted, polled and
// stored, one step each; the last step of all finishes the resource, its event, its
// money and its place in the account's waiting work in one transaction.
//
// The areas (content items, generations of the studio) say what their work is made
// of by the interface Work; everything that is the same for all of them is here.
package generate

import (
	"context"
	"io"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// Part is one generation that work is made of.
type Part struct {
	Kind provider.Kind `json:"kind"`
	// Model is the id of the model in the catalog; empty for what the service
	// makes itself.
	Model string `json:"model,omitempty"`
	// Endpoint is the provider's own id of a model that was trained from Model, and that
	// is called in its place.
	Endpoint string `json:"endpoint,omitempty"`
	// Provider is the name of the provider that makes it for live keys.
	Provider string `json:"provider"`
	// Credits is its price; 0 with a test key.
	Credits int64 `json:"credits,omitempty"`
}

// Made is what a part has made.
type Made struct {
	Text  *provider.Text `json:"text,omitempty"`
	Files []media.File   `json:"files,omitempty"`
	// Marks say when the words of a voice are spoken, where that is known.
	Marks []provider.Mark `json:"marks,omitempty"`
	// Branded reports that finished media show the logo or the name of a brand.
	Branded bool `json:"branded,omitempty"`
}

// Stage is the stage of work that failed.
type Stage string

// The stages.
const (
	StageGenerate Stage = "generate" // a provider's part
	StageCompose  Stage = "compose"  // finished media of the parts
)

// Failure is why work failed, as callers see it.
type Failure struct {
	Stage Stage
	Code  provider.FailureCode
	// Message says what happened and what to do, without secrets.
	Message string
	// Retryable reports whether the same work may succeed when it is tried again.
	Retryable bool
	// Cost is what was charged for the completed parts, because the work fails for what its
	// caller has given.
	Cost int64
}

// Ticket is what a resource keeps of its accepted work: it is part of the resource's
// document, so that the work can be canceled after one read.
type Ticket struct {
	// Hold is the reservation that pays for the work; the zero value where nothing is
	// to be paid.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Batch is the id of the task that has yet to start the work, of a resource that
	// was accepted with others; empty once it has.
	Batch string `json:"batch,omitempty"`
}

// Loader opens the resources of one kind.
type Loader interface {
	// Open reads a resource for its work.
	Open(it store.Item) (Work, error)
}

// Work is a resource that something is generated for. Its methods change what was
// read; the handler writes it.
type Work interface {
	// Waits returns the attempt whose end the resource waits for; 0 where it waits for
	// none, because it has ended, was canceled, or was never accepted.
	Waits() (attempt int)
	// Ticket returns the work's ticket, to be read and changed.
	Ticket() *Ticket
	// About returns what the entries of its money show.
	About() ledger.About
	// Request returns what part n (from 0) asks its provider for, as far as the resource
	// decides it: model, options and client token are the handler's. made is what the
	// parts before it have made. It is not called for parts of the kind compose.
	Request(n int, made []Made) (provider.Request, error)
	// Start notes that the first part has begun.
	Start(now time.Time)
	// Progress notes how far the work is, in percent, and reports whether the resource
	// shows it, so that it is worth a write.
	Progress(now time.Time, percent int) bool
	// Succeed puts the parts together, and adds its events, and what else changes with
	// it, to the transaction. cost is what is charged for it.
	Succeed(tx *store.Tx, now time.Time, made []Made, cost int64) error
	// Fail ends the work, and adds to the transaction as Succeed does.
	Fail(tx *store.Tx, now time.Time, f Failure) error
	// Cancel ends the work before its end, and adds to the transaction as Succeed does.
	// charged is what its completed parts have cost.
	Cancel(tx *store.Tx, now time.Time, charged int64) error
	// Item returns the item to write: the one that was read, with the changes.
	Item() (store.Item, error)
}

// Providers finds providers.
type Providers interface {
	// For returns the provider of a name for work in a mode. Its error is final: the
	// stack does not offer that provider.
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Objects stores files.
type Objects interface {
	// Save stores the n-th file of a place and describes it as it was read. The same
	// place and number replace the same object. It returns unsupported_media for what
	// is no file that is served.
	Save(ctx context.Context, place media.Place, n int, body io.Reader) (media.File, error)
	// Remove removes all files of an attempt, unknown ones included. It succeeds where
	// there are none.
	Remove(ctx context.Context, place media.Place) error
}
