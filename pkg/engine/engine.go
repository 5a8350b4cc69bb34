// Package engine carries accepted generation work to its end. Work is made of
// parts, one generation of one provider each (a text, a picture, a voice), and
// every part goes through small steps: submit, poll, store; the last step of all
// finishes the resource. One message of a queue is one step. A step's outcome is
// written to the run, on condition that nobody else has written it since, before
// the message of the next step is sent, and nothing ever sleeps: what has to wait
// is sent with a delay.
//
// So a message may come twice, late or out of order, and a function may die at
// any line: the run tells what is to be done, and what was done counts once. The
// terminal step writes the resource, its event, its money and its place in the
// account's waiting work in one transaction.
//
// The areas (content items, generations of the studio) say what their work is made
// of by the interface Work; everything that is the same for all of them is here.
package engine

import (
	"context"
	"io"
	"time"

	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// Part is one generation that work is made of.
type Part struct {
	Kind provider.Kind `json:"kind"`
	// Model is the id of the model in the catalog; empty for what the service
	// makes itself.
	Model string `json:"model,omitempty"`
	// Provider is the name of the provider that makes it for live keys.
	Provider string `json:"provider"`
}

// Made is what a part has made.
type Made struct {
	Text  *provider.Text `json:"text,omitempty"`
	Files []media.File   `json:"files,omitempty"`
}

// Failure is why work failed, as callers see it.
type Failure struct {
	// Code is stable, in lower snake_case.
	Code string
	// Message says what happened and what to do, without secrets.
	Message string
	// Retryable tells that the same work may succeed when it is tried again.
	Retryable bool
}

// Ticket is what a resource keeps of its accepted work: it goes into the
// resource's document, so that the work can be canceled after one read.
type Ticket struct {
	// Hold is the reservation that pays for the work; the zero value where
	// nothing is to be paid.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Batch is the id of the job that has yet to start the work, of a resource
	// that was accepted with others; empty once it has.
	Batch string `json:"batch,omitempty"`
}

// Area opens the resources of one kind.
type Area interface {
	// Open reads a resource for the engine.
	Open(it store.Item) (Work, error)
}

// Work is a resource that the engine works for. Its methods change what was read;
// the engine writes it.
type Work interface {
	// Waits gives the attempt whose end the resource waits for; 0 where it waits
	// for none, because it has ended, was canceled, or was never accepted.
	Waits() (attempt int)
	// Ticket gives the work's ticket, to be read and changed.
	Ticket() *Ticket
	// Request gives what part n (from 0) asks its provider for, as far as the
	// resource decides it: model, options and client token are the engine's. What
	// the parts before it have made is given.
	Request(n int, made []Made) (provider.Request, error)
	// Start notes that the first part has begun.
	Start(now time.Time)
	// Progress notes how far the work is, in percent, and tells whether the
	// resource shows it, so that it is worth a write.
	Progress(now time.Time, percent int) bool
	// Succeed puts the parts together and gives the events that tell of it.
	Succeed(now time.Time, made []Made) (events []store.Item, err error)
	// Fail ends the work and gives the events that tell of it.
	Fail(now time.Time, f Failure) (events []store.Item, err error)
	// Item gives the item to write: the one that was read, with the changes.
	Item() (store.Item, error)
}

// Providers finds providers.
type Providers interface {
	// For gives the provider of a name for work in a mode, test or live. Its error
	// is final: the stack does not offer that provider.
	For(name string, mode tenant.Mode) (provider.Provider, error)
}

// Objects stores files.
type Objects interface {
	// Save stores the n-th file of a place and describes it as it was read. The
	// same place and number replace the same object. It gives unsupported_media
	// for what is no file that we serve.
	Save(ctx context.Context, place media.Place, n int, body io.Reader) (media.File, error)
	// Remove removes all files of an attempt, those that nobody knows of included.
	// Where there are none, that is fine.
	Remove(ctx context.Context, place media.Place) error
}
