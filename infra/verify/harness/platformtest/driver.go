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
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/platforms/control"
)

// errCrash stands for a worker that has died.
var errCrash = errors.New("the worker has died")

// errMoved stands for a step that another worker holds or has taken.
var errMoved = errors.New("another worker has the step")

// maxSteps bounds the steps of a publication, and most bounds its time.
const (
	maxSteps = 400
	most     = 7 * 24 * time.Hour
	retryIn  = 30 * time.Second
)

// driver simulates the task kernel. It stores the progress between the steps, fenced by the number
// of the step, and delivers messages.
type driver struct {
	*Fixture
	post platform.Post
	from time.Time

	// The stored state.
	progress platform.Progress
	step     int
	leased   bool // a worker holds the lease of the step
	failure  *platform.Error
	account  platform.Account
}

func newDriver(f *Fixture, post platform.Post) *driver {
	return &driver{Fixture: f, post: post, from: f.Now(), account: f.Account}
}

func (d *driver) ended() bool { return d.progress.Done() || d.failure != nil }

// outcome is the result of a step before the worker commits it.
type outcome struct {
	step     int
	progress platform.Progress
	wait     time.Duration
	err      error
}

// work takes a step from the stored state without committing it. It calls kept after the right to
// make a post is stored.
func (d *driver) work(ctx context.Context, kept func() error) outcome {
	o := outcome{step: d.step}
	account := d.account
	stored := d.progress
	keep := func(_ context.Context, p platform.Progress) error {
		if d.step != o.step || d.leased {
			return errMoved
		}
		d.progress, d.leased = p, true
		return kept()
	}
	o.progress, o.wait, o.err = platform.Next(ctx, d.Adapter, account, d.post, stored, d.Now(), keep)
	return o
}

// commit stores the outcome of a step, unless another worker has taken the step.
func (d *driver) commit(ctx context.Context, o outcome) error {
	if errors.Is(o.err, errMoved) || errors.Is(o.err, errCrash) || d.step != o.step {
		return nil
	}
	d.progress, d.leased = o.progress, false
	d.step++
	wait := o.wait
	var e *platform.Error
	switch {
	case o.err == nil:
	case !errors.As(o.err, &e):
		return fmt.Errorf("an error of type %T: %w", o.err, o.err)
	case e.Kind.Final():
		d.failure = e
	case e.Kind == platform.Expired:
		token, err := d.Adapter.Refresh(ctx, d.account)
		switch {
		case platform.KindOf(err) == platform.Reconnect:
			d.failure = platform.Disconnected()
		case err == nil:
			d.account.Token = token
		}
	default:
		wait = max(e.RetryAfter, retryIn)
	}
	d.Advance(wait)
	return nil
}

func nothing() error { return nil }

// run takes steps until the publication has ended.
func (d *driver) run(ctx context.Context) error {
	for n := 0; !d.ended(); n++ {
		if n == maxSteps || d.Now().Sub(d.from) > most {
			return fmt.Errorf("it has not ended after %d steps and %s, at the stage %s", n, d.Now().Sub(d.from),
				d.progress.Stage)
		}
		if err := d.commit(ctx, d.work(ctx, nothing)); err != nil {
			return err
		}
	}
	return nil
}

// until takes steps until the given number of steps is committed.
func (d *driver) until(ctx context.Context, step int) error {
	for !d.ended() && d.step < step {
		if err := d.commit(ctx, d.work(ctx, nothing)); err != nil {
			return err
		}
	}
	if d.ended() {
		return fmt.Errorf("it ended after %d steps, want more than %d", d.step, step)
	}
	return nil
}

// result returns how a publication has ended: "1 post", or the failure. It returns an error if a
// post exists twice, or if the outcome contradicts the posts of the platform.
func (d *driver) result(clean []string) (string, error) {
	posts := d.Fake.Posts()
	for _, p := range posts {
		if n := count(posts, p); n > count(clean, p) {
			return "", fmt.Errorf("posted %d times: %q", n, p)
		}
	}
	posts, clean = withoutComments(posts), withoutComments(clean)
	if d.progress.Done() {
		if len(posts) != len(clean) {
			return "", fmt.Errorf("published, but there are %d posts, want %d", len(posts), len(clean))
		}
		return "1 post", nil
	}
	if d.failure == nil || d.failure.Code == "" {
		return "", errors.New("it ended without a recorded failure")
	}
	if len(posts) > 0 && d.failure.Kind != platform.Unknown && d.progress.Post == (platform.PublishedPost{}) {
		return "", fmt.Errorf("failed with %s, but there are %d posts", d.failure.Code, len(posts))
	}
	if len(posts) == 0 {
		return string(d.failure.Code), nil
	}
	return fmt.Sprintf("%s, %s posted", d.failure.Code, part(len(posts), len(clean))), nil
}

func withoutComments(posts []string) []string {
	return slices.DeleteFunc(slices.Clone(posts), func(p string) bool { return strings.HasPrefix(p, Comment) })
}

func part(n, of int) string {
	if n == of {
		return "1"
	}
	return fmt.Sprintf("%d of %d parts", n, of)
}

func count(all []string, s string) (n int) {
	for _, x := range all {
		if x == s {
			n++
		}
	}
	return n
}

// join joins the distinct results of several runs.
func join(results []string) string {
	slices.Sort(results)
	return strings.Join(slices.Compact(results), " / ")
}

// Publish publishes a post without trouble, and returns its final progress.
func Publish(ctx context.Context, f *Fixture, a platform.Account, post platform.Post) (platform.Progress, error) {
	d := newDriver(f, post)
	d.account = a
	if err := d.run(ctx); err != nil {
		return d.progress, err
	}
	return d.progress, asError(d.failure)
}

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
