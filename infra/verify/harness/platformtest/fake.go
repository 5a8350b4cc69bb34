// Package platformtest is the conformance suite of platform.Adapter. The tests of an adapter fill
// in a Suite with a fake of the platform's protocol, and run its cases.
//
// The main part is the matrix of duplicates: each step of a publication meets each trouble, and
// ends with exactly one post or a recorded failure.
//
// The package does not import testing, so that commands can print the matrix.
package platformtest

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Fault is how a fake mistreats one call.
type Fault string

// The faults.
const (
	// AnswerLost executes the call and closes the connection without an answer.
	AnswerLost Fault = "answer lost"
	// CutOff executes the call and sends no answer until the caller ends the call.
	CutOff Fault = "cut off"
	// Garbage executes the call and answers 200 with an unreadable body.
	Garbage Fault = "garbage"
	// RequestLost closes the connection without executing the call.
	RequestLost Fault = "request lost"
	// ServerError answers 503 with a page of HTML without executing the call.
	ServerError Fault = "server error"
	// RateLimited refuses the call as the platform refuses too many calls.
	RateLimited Fault = "rate limited"
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{AnswerLost, CutOff, Garbage, RequestLost, ServerError, RateLimited}
}

// Fake is a fake of a platform. It is safe for concurrent use.
type Fake interface {
	// Posts returns the posts that are visible on the platform, one text for each. Two posts
	// with the same content have the same text. The text of a comment begins with Comment: a
	// comment may be missing, but must not exist twice.
	Posts() []string
	// Calls returns how many calls have arrived.
	Calls() int
	// Fail causes a fault in the n-th call, counted from 1 as Calls does.
	Fail(call int, f Fault)
	// Calm forgets the faults that no call has met yet.
	Calm()
	// Waiting returns a channel that receives a value for each call that meets CutOff.
	Waiting() <-chan struct{}
	// Expire ends all access tokens. Refresh tokens stay valid.
	Expire()
}

// Comment is the prefix of the text of a comment among the posts of a fake.
const Comment = "comment: "

// Fixture is an adapter with its own fake.
type Fixture struct {
	Adapter platform.Adapter
	Account platform.Account // connected to the fake
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
	// Metrics names the metrics that the platform has of this post. If it is empty, the metrics
	// are those of the capabilities.
	Metrics []string
}

// Suite is one adapter with the data of its tests.
type Suite struct {
	// New returns a new fixture.
	New func() *Fixture
	// Measured returns a new fixture whose account has the right to all figures. If it is nil, New does.
	Measured func() *Fixture
	// Posts has posts that all succeed, at least one of every kind that the platform takes.
	Posts []Named
	// Grant returns a grant that connects the account of a fixture.
	Grant func(f *Fixture) (platform.Grant, error)
	// BadGrants has grants that the adapter refuses as Reconnect or BadContent.
	BadGrants []platform.Grant
}

// Case is one test.
type Case struct {
	Name string
	Run  func(ctx context.Context) error
}
