// Package providertest is the conformance suite of provider.Provider. The tests of an
// adapter fill in a Suite, with a fake of the provider's protocol, and run it.
package providertest

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Suite is one provider with the data for its tests.
type Suite struct {
	// Provider is the provider under test.
	Provider provider.Provider

	// Requests all succeed. There is at least one for every kind that the
	// provider makes, each with a client token of its own.
	Requests []provider.Request

	// Failing are accepted and then fail for good.
	Failing []provider.Request

	// Immediate reports whether the provider answers every request with its result, so that nothing can be polled or
	// canceled.
	Immediate bool

	// Advance moves the clock of the provider (or of its fake).
	Advance func(time.Duration)

	// Faults are the faults that the provider's fake can inject.
	Faults []Fault
}

// Fault is one fault and the error that the adapter must return for it.
type Fault struct {
	Name    string
	Arrange func(t *testing.T) // makes the fake inject it into the next call
	Call    func(ctx context.Context, p provider.Provider) error
	Want    provider.ErrorKind
	After   time.Duration // the wanted RetryAfter of the error, if it matters
}

// maxPolls bounds the polls of a generation.
const maxPolls = 1000

// Run tests the provider.
func Run(t *testing.T, s Suite) {
	t.Run("describes itself", s.describes)
	for _, req := range s.Requests {
		t.Run("makes "+string(req.Kind)+" "+req.ClientToken, func(t *testing.T) { s.makes(t, req) })
	}
	for _, req := range s.Failing {
		t.Run("fails "+string(req.Kind)+" "+req.ClientToken, func(t *testing.T) { s.fails(t, req) })
	}
	t.Run("refuses what it cannot make", s.refuses)
	t.Run("refuses handles that are none", s.refusesHandles)
	t.Run("cancels", s.cancels)
	t.Run("minds the context", s.mindsContext)
	for _, f := range s.Faults {
		t.Run("classifies "+f.Name, func(t *testing.T) {
			f.Arrange(t)
			err := f.Call(t.Context(), s.Provider)
			wantKind(t, err, f.Want)
			var e *provider.Error
			if f.After > 0 && errors.As(err, &e) && e.RetryAfter != f.After {
				t.Errorf("to be repeated after %v, want %v", e.RetryAfter, f.After)
			}
		})
	}
}

func (s Suite) describes(t *testing.T) {
	if name := s.Provider.Name(); !snakeCase.MatchString(name) {
		t.Errorf("the name %q is not lower snake_case", name)
	}
	kinds := s.Provider.Capabilities().Kinds
	if len(kinds) == 0 {
		t.Error("makes nothing")
	}
	for kind := range kinds {
		if !slices.Contains(provider.Kinds(), kind) {
			t.Errorf("makes %q, which is no kind", kind)
		}
		if !slices.ContainsFunc(s.Requests, func(r provider.Request) bool { return r.Kind == kind }) {
			t.Errorf("nothing here asks it for %s", kind)
		}
	}
}

func (s Suite) makes(t *testing.T, req provider.Request) {
	first := s.submit(t, req)
	if s.Provider.Capabilities().ClientToken {
		if second := s.submit(t, req); second.Handle != first.Handle {
			t.Errorf("submitted again: handle %q, at first %q", second.Handle, first.Handle)
		}
	}
	if first.Result != nil {
		checkResult(t, req, s.Provider, *first.Result)
		return
	}
	status := s.follow(t, first.Handle)
	if status.State != provider.Succeeded || status.Progress != 100 || status.Failure != nil {
		t.Fatalf("ended as %+v", status)
	}
	fetched := make([][][]byte, 2)
	for i := range fetched {
		result, err := s.Provider.Fetch(t.Context(), first.Handle)
		if err != nil {
			t.Fatalf("fetch: %v", err)
		}
		fetched[i] = checkResult(t, req, s.Provider, result)
	}
	if !slices.EqualFunc(fetched[0], fetched[1], slices.Equal) {
		t.Error("fetched again, the files differ")
	}
	if again := s.poll(t, first.Handle); again.State != provider.Succeeded {
		t.Errorf("polled again: %+v", again)
	}
}

func (s Suite) fails(t *testing.T, req provider.Request) {
	submission, err := s.Provider.Submit(t.Context(), req)
	if err != nil {
		wantKind(t, err, provider.Rejected)
		return
	}
	if submission.Result != nil {
		t.Fatalf("succeeded at once: %+v", submission.Result)
	}
	status := s.follow(t, submission.Handle)
	if status.State != provider.Failed || status.Failure == nil {
		t.Fatalf("ended as %+v, want a failure", status)
	}
	wantKind(t, status.Failure, status.Failure.Kind)
	_, err = s.Provider.Fetch(t.Context(), submission.Handle)
	wantKind(t, err, provider.Rejected)
}

func (s Suite) refuses(t *testing.T) {
	all := s.Provider.Capabilities()
	for _, req := range s.Requests {
		c := all.Kinds[req.Kind]
		spoiled := map[string]provider.Request{}
		spoil := func(name string, change func(*provider.Request)) {
			r := req
			change(&r)
			spoiled[name] = r
		}
		spoil("no kind", func(r *provider.Request) { r.Kind = "sculpture" })
		spoil("no prompt", func(r *provider.Request) { r.Prompt, r.AudioURL = " \n", "" })
		spoil("too many files", func(r *provider.Request) { r.Count = max(c.MaxCount, 1) + 1 })
		spoil("less than no files", func(r *provider.Request) { r.Count = -1 })
		spoil("a negative length", func(r *provider.Request) { r.Seconds = -1 })
		if len(c.AspectRatios) > 0 {
			spoil("an impossible ratio", func(r *provider.Request) { r.AspectRatio = "7:1" })
		}
		if c.MaxSeconds > 0 {
			spoil("too long", func(r *provider.Request) { r.Seconds = c.MaxSeconds + 1 })
		}
		if !c.FromImage {
			spoil("an image to start from", func(r *provider.Request) { r.ImageURL = "https://example.test/a.png" })
		}
		if !c.FromAudio {
			spoil("speech to move to", func(r *provider.Request) { r.AudioURL = "https://example.test/a.mp3" })
		}
		for name, r := range spoiled {
			if submission, err := s.Provider.Submit(t.Context(), r); err == nil {
				t.Errorf("%s with %s: accepted as %+v", req.Kind, name, submission)
			} else {
				wantKind(t, err, provider.BadInput)
			}
		}
	}
}

func (s Suite) refusesHandles(t *testing.T) {
	for _, h := range []provider.Handle{"", "nonsense", "e30", "bnVsbA", "../../etc/passwd"} {
		_, err := s.Provider.Poll(t.Context(), h)
		wantKind(t, err, provider.BadInput)
		_, err = s.Provider.Fetch(t.Context(), h)
		wantKind(t, err, provider.BadInput)
		wantKind(t, s.Provider.Cancel(t.Context(), h), provider.BadInput)
	}
}

func (s Suite) cancels(t *testing.T) {
	canceled := 0
	for _, req := range s.Requests {
		submission := s.submit(t, req)
		if submission.Handle == "" {
			continue // ended already
		}
		canceled++
		for range 2 {
			if err := s.Provider.Cancel(t.Context(), submission.Handle); err != nil {
				t.Errorf("cancel %s: %v", req.Kind, err)
			}
		}
		s.follow(t, submission.Handle) // ends in any state
		if err := s.Provider.Cancel(t.Context(), submission.Handle); err != nil {
			t.Errorf("cancel %s after its end: %v", req.Kind, err)
		}
	}
	if (canceled == 0) != s.Immediate {
		t.Errorf("%d requests here run long enough to be canceled; answering at once: %v", canceled, s.Immediate)
	}
}

func (s Suite) mindsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := func(step string, err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the context's error", step, err)
		}
		if kind := provider.KindOf(err); kind == provider.BadInput || kind == provider.Rejected {
			t.Errorf("%s: a canceled context is %s", step, kind)
		}
	}
	for _, req := range s.Requests {
		submission := s.submit(t, req)
		_, err := s.Provider.Submit(ctx, req)
		want("submit", err)
		if submission.Handle == "" {
			continue
		}
		_, err = s.Provider.Poll(ctx, submission.Handle)
		want("poll", err)
		_, err = s.Provider.Fetch(ctx, submission.Handle)
		want("fetch", err)
		want("cancel", s.Provider.Cancel(ctx, submission.Handle))
	}
}

func (s Suite) submit(t *testing.T, req provider.Request) provider.Submission {
	t.Helper()
	submission, err := s.Provider.Submit(t.Context(), req)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	if (submission.Handle == "") == (submission.Result == nil) {
		t.Fatalf("want either a handle or a result, got %+v", submission)
	}
	if len(submission.Handle) > provider.MaxHandle {
		t.Errorf("the handle has %d bytes, more than %d", len(submission.Handle), provider.MaxHandle)
	}
	return submission
}

func (s Suite) poll(t *testing.T, h provider.Handle) provider.Status {
	t.Helper()
	status, err := s.Provider.Poll(t.Context(), h)
	if err != nil {
		t.Fatalf("poll: %v", err)
	}
	if status.Progress < 0 || status.Progress > 100 || status.Wait < 0 {
		t.Errorf("got %+v", status)
	}
	return status
}

// follow polls the generation to its end.
func (s Suite) follow(t *testing.T, h provider.Handle) provider.Status {
	t.Helper()
	progress := 0
	for range maxPolls {
		status := s.poll(t, h)
		if status.State.Final() {
			return status
		}
		if status.Progress < progress {
			t.Errorf("progress fell from %d to %d", progress, status.Progress)
		}
		progress = status.Progress
		// Advance by half of the wait, so that intermediate states are seen as well.
		s.Advance(max(status.Wait/2, 500*time.Millisecond))
	}
	t.Fatalf("has not ended after %d polls", maxPolls)
	return provider.Status{}
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// wantKind checks an error that the provider classified.
func wantKind(t *testing.T, err error, want provider.ErrorKind) {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Errorf("got %v (%T), want a *provider.Error of kind %s", err, err, want)
		return
	}
	if e.Kind != want {
		t.Errorf("got %v, want kind %s", e, want)
	}
	if !snakeCase.MatchString(e.Code) || e.Message == "" {
		t.Errorf("the code %q or the message %q is not fit to be shown", e.Code, e.Message)
	}
}
