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
	"github.com/content-automation/api/testdata/platforms/control"
)

// The doubles say themselves how they mistreat a call, because they import nothing of the service.
type (
	// Fault is how a fake mistreats one call.
	Fault = control.Fault
	// Fake is a fake of a platform.
	Fake = control.Fake
)

// The faults.
const (
	AnswerLost  = control.AnswerLost
	CutOff      = control.CutOff
	Garbage     = control.Garbage
	RequestLost = control.RequestLost
	ServerError = control.ServerError
	RateLimited = control.RateLimited
)

// Comment is the prefix of the text of a comment among the posts of a fake.
const Comment = control.CommentPrefix

// Faults returns all faults.
func Faults() []Fault { return control.Faults() }

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
