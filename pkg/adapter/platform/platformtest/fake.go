// Package platformtest is the conformance suite of platform.Adapter. The tests of an
// adapter fill in a Suite, with a fake of the platform's protocol, and run its cases.
//
// Its heart is the matrix of duplicates: each step of a publication meets each
// trouble, and ends with exactly one post or a recorded failure.
//
// The package does not import testing, so that commands can print the matrix.
package platformtest

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Fault is what a fake does with one call.
type Fault string

// The faults.
const (
	// AnswerLost does what is asked and closes the connection unanswered.
	AnswerLost Fault = "answer lost"
	// CutOff does what is asked and answers nothing until the caller ends the call.
	CutOff Fault = "cut off"
	// Garbage does what is asked and answers 200 with an unreadable body.
	Garbage Fault = "garbage"
	// RequestLost closes the connection and does nothing.
	RequestLost Fault = "request lost"
	// ServerError does nothing and answers 503 with a page of HTML.
	ServerError Fault = "server error"
	// RateLimited does nothing and answers as the platform does to too many calls.
	RateLimited Fault = "rate limited"
)

// Faults lists the faults.
func Faults() []Fault {
	return []Fault{AnswerLost, CutOff, Garbage, RequestLost, ServerError, RateLimited}
}

// Fake is a fake of a platform. It is safe for concurrent use.
type Fake interface {
	// Posts returns what can be seen on the platform, one text for each post. Two
	// posts with the same content have the same text. That of a comment begins with
	// Comment: it may be missing, but not be there twice.
	Posts() []string
	// Calls returns how many calls have arrived.
	Calls() int
	// Fail lets the n-th call, counted from 1 as Calls does, meet a fault.
	Fail(call int, f Fault)
	// Calm forgets the faults that no call has met yet.
	Calm()
	// Waiting is sent a value for each call that meets CutOff.
	Waiting() <-chan struct{}
	// Expire ends all access tokens; refresh tokens stay good.
	Expire()
}

// Comment begins the text of a comment among the posts of a fake.
const Comment = "comment: "

// Fixture is an adapter with a fake of its own.
type Fixture struct {
	Adapter platform.Adapter
	Account platform.Account // connected
	Fake    Fake
	HTTP    wire.Doer // reaches the fake
	Now     func() time.Time
	Advance func(time.Duration)
	Close   func()
}

// Named is a post of a scenario.
type Named struct {
	Name string
	Post platform.Post
	// Metrics are those that the platform has of this post; empty: those of its
	// capabilities.
	Metrics []string
}

// Suite is one adapter and what its tests need.
type Suite struct {
	// New makes a fixture.
	New func() *Fixture
	// Posts all succeed. There is at least one for every kind that the platform takes.
	Posts []Named
	// Immediate says that the adapter makes no calls.
	Immediate bool
	// Grant connects the account of a fixture.
	Grant func(f *Fixture) (platform.Grant, error)
	// BadGrants are refused as Reconnect or BadContent.
	BadGrants []platform.Grant
}

// Case is one test.
type Case struct {
	Name string
	Run  func(ctx context.Context) error
}
