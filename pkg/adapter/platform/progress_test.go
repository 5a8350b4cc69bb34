package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// scripted is a publisher whose steps return the results that a test sets.
type scripted struct {
	platform.Publisher
	step  platform.Step
	err   error
	calls []string
}

func (s *scripted) did(what string) (platform.Step, error) {
	s.calls = append(s.calls, what)
	return s.step, s.err
}

func (s *scripted) Start(context.Context, platform.Account, platform.Post) (platform.Step, error) {
	return s.did("start")
}

func (s *scripted) Check(context.Context, platform.Account, platform.Post, platform.Handle) (platform.Step, error) {
	return s.did("check")
}

func (s *scripted) Finalize(context.Context, platform.Account, platform.Post, platform.Handle) (platform.Step, error) {
	return s.did("finalize")
}

func (s *scripted) Reconcile(context.Context, platform.Account, platform.Post, platform.Handle,
	time.Time) (platform.Step, error) {
	return s.did("reconcile")
}

var now = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func next(s *scripted, p platform.Progress, at time.Time,
	keep func(context.Context, platform.Progress) error) (platform.Progress, time.Duration, error) {
	if keep == nil {
		keep = func(context.Context, platform.Progress) error { return nil }
	}
	return platform.Next(context.Background(), s, platform.Account{}, platform.Post{}, p, at, keep)
}

func TestTheRightToPostIsKeptBeforeThePost(t *testing.T) {
	ready := platform.Progress{Stage: platform.StageFinalize, Handle: "h"}
	s := &scripted{step: platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: "1"}}}
	broken := errors.New("the table is gone")
	_, _, err := next(s, ready, now, func(context.Context, platform.Progress) error { return broken })
	if !errors.Is(err, broken) || len(s.calls) > 0 {
		t.Fatalf("without the right to post: %v after %v", err, s.calls)
	}
	var kept platform.Progress
	p, _, err := next(s, ready, now, func(_ context.Context, p platform.Progress) error {
		kept = p
		return nil
	})
	if err != nil || kept.SentAt != now || kept.Handle != "h" || !p.Done() || p.Post.ID != "1" || !p.SentAt.IsZero() {
		t.Errorf("kept %+v, ended as %+v, %v", kept, p, err)
	}
}

func TestALostAnswerIsNeverSentAgain(t *testing.T) {
	for name, lost := range map[string]error{
		"unknown": platform.Lost(nil), "unclassified": errors.New("EOF"), "gone": platform.Again(nil),
		"canceled": context.Canceled,
	} {
		s := &scripted{err: lost}
		p, wait, err := next(s, platform.Progress{Stage: platform.StageFinalize}, now, nil)
		if err != nil || p.SentAt != now || wait <= 0 {
			t.Errorf("%s: %+v, %s, %v", name, p, wait, err)
		}
		s.step, s.err = platform.Step{Next: platform.StageReconcile}, nil
		for at := now; at.Before(now.Add(14 * time.Minute)); at = at.Add(time.Minute) {
			if p, wait, err = next(s, p, at, nil); err != nil || p.SentAt != now || wait <= 0 {
				t.Fatalf("%s: %+v, %s, %v", name, p, wait, err)
			}
		}
		p, _, err = next(s, p, now.Add(15*time.Minute), nil)
		if platform.KindOf(err) != platform.Unknown || p.Retry() != p {
			t.Errorf("%s: after 15 minutes: %v; tried again from %+v", name, err, p.Retry())
		}
		if n := strings.Count(strings.Join(s.calls, " "), "finalize"); n != 1 {
			t.Errorf("%s: sent %d times: %v", name, n, s.calls)
		}
	}
}

func TestARefusalHadNoEffect(t *testing.T) {
	for _, refusal := range []*platform.Error{platform.Limited(time.Minute), platform.TokenExpired(),
		platform.Full(time.Hour), platform.Reject("x", "X."), platform.Disconnected()} {
		s := &scripted{err: refusal}
		p, _, err := next(s, platform.Progress{Stage: platform.StageFinalize, Handle: "h"}, now, nil)
		if !errors.Is(err, refusal) || !p.SentAt.IsZero() || p.Handle != "h" || p.Stage != platform.StageFinalize {
			t.Errorf("%s: %+v, %v", refusal.Kind, p, err)
		}
		if p.Retry() != (platform.Progress{}) {
			t.Errorf("%s: tried again from %+v, want from the start", refusal.Kind, p.Retry())
		}
	}
}

func TestReconcilingDecides(t *testing.T) {
	sent := platform.Progress{Stage: platform.StageFinalize, Handle: "h", SentAt: now}
	for name, c := range map[string]struct {
		step  platform.Step
		err   error
		after time.Duration
		stage platform.Stage
		clear bool // whether the outcome is known then
		kind  platform.ErrorKind
	}{
		"posted": {step: platform.Step{Next: platform.StageDone}, stage: platform.StageDone, clear: true},
		"repeatable": {step: platform.Step{Next: platform.StageFinalize}, stage: platform.StageFinalize,
			clear: true},
		"nothing there": {err: platform.Again(nil), stage: "", clear: true},
		"failed": {err: platform.Reject("x", "X."), stage: platform.StageFinalize, clear: true,
			kind: platform.BadContent},
		"busy":    {err: platform.Busy(), stage: platform.StageFinalize, kind: platform.Retry},
		"expired": {err: platform.TokenExpired(), stage: platform.StageFinalize, kind: platform.Expired},
		"busy too long": {err: platform.Busy(), after: time.Hour, stage: platform.StageFinalize,
			kind: platform.Unknown},
		"unreadable":   {err: platform.Lost(nil), stage: platform.StageFinalize, kind: platform.Unknown},
		"disconnected": {err: platform.Disconnected(), stage: platform.StageFinalize, kind: platform.Unknown},
	} {
		sent.Looks = 1
		if c.after > 0 {
			sent.Looks = 4
		}
		p, _, err := next(&scripted{step: c.step, err: c.err}, sent, now.Add(c.after), nil)
		kind := platform.KindOf(err)
		if err == nil {
			kind = 0
		}
		if p.Stage != c.stage || p.SentAt.IsZero() != c.clear || kind != c.kind {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAnOutcomeIsLookedForSeveralTimesAfterAnOutage(t *testing.T) {
	p := platform.Progress{Stage: platform.StageFinalize, Handle: "h", SentAt: now}
	s := &scripted{err: platform.Busy()}
	var err error
	for n := range 4 {
		if p, _, err = next(s, p, now.Add(24*time.Hour), nil); platform.KindOf(err) != platform.Retry {
			t.Fatalf("look %d: %v", n+1, err)
		}
	}
	s.step, s.err = platform.Step{Next: platform.StageDone}, nil
	if p, _, err = next(s, p, now.Add(24*time.Hour), nil); err != nil || !p.Done() || p.Looks != 0 {
		t.Errorf("found: %+v, %v", p, err)
	}
}

// While an outcome was in doubt, a worker that was thought dead may post after a check found no post. If a step fails
// then, the publication is checked again rather than started anew.
func TestAFailureAfterADoubtIsLookedInto(t *testing.T) {
	for kind, failure := range map[platform.ErrorKind]error{
		platform.BadContent: platform.Reject("x", "X."), platform.Restart: platform.Again(nil),
		platform.Reconnect: platform.Disconnected(),
	} {
		s := &scripted{step: platform.Step{Next: platform.StageCheck, Handle: "h"}}
		p, _, err := next(s, platform.Progress{Stage: platform.StageFinalize, Handle: "h", SentAt: now}, now, nil)
		if err != nil || p.Doubts != 1 || !p.SentAt.IsZero() {
			t.Fatalf("%s: %+v, %v", kind, p, err)
		}
		s.err = failure
		p, _, err = next(s, p, now, nil)
		if p.SentAt != now || p.Retry() != p || kind == platform.Reconnect &&
			platform.KindOf(err) != platform.Unknown || kind != platform.Reconnect && err != nil {
			t.Errorf("%s: %+v, %v", kind, p, err)
		}
		s.step, s.err = platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: "1"}}, nil
		if p, _, err = next(s, p, now, nil); err != nil || !p.Done() || p.Post.ID != "1" {
			t.Errorf("%s: what the other worker has posted: %+v, %v", kind, p, err)
		}
		if calls := strings.Join(s.calls, " "); calls != "reconcile check reconcile" {
			t.Errorf("%s: calls %s", kind, calls)
		}
	}
}

// A publication that failed with a doubt is tried again from its step, since the post may exist.
func TestARetryKeepsItsDoubts(t *testing.T) {
	p := platform.Progress{Stage: platform.StageCheck, Handle: "h", Doubts: 1}
	if p.Retry() != p {
		t.Errorf("it is tried again from %+v", p.Retry())
	}
	s := &scripted{err: platform.Reject("x", "X.")}
	if p, _, err := next(s, p.Retry(), now, nil); err != nil || p.SentAt != now {
		t.Errorf("the other worker's post is not looked for: %+v, %v", p, err)
	}
}

func TestDoubtsAreBounded(t *testing.T) {
	p := platform.Progress{Stage: platform.StageFinalize, Handle: "h", SentAt: now}
	for n := range 20 {
		s := &scripted{step: platform.Step{Next: platform.StageCheck, Handle: "h"}}
		if p.SentAt.IsZero() {
			s.err = platform.Reject("x", "X.")
		}
		var err error
		if p, _, err = next(s, p, now, nil); err != nil {
			if platform.KindOf(err) != platform.Unknown || n < 5 {
				t.Errorf("step %d: %v", n, err)
			}
			return
		}
	}
	t.Error("it goes on for ever")
}

// A call that makes a post and is refused for an unknown reason is made again where that is harmless, three times.
func TestRefusalsOfAPostAreBounded(t *testing.T) {
	p := platform.Progress{Stage: platform.StageFinalize, Handle: "h"}
	s := &scripted{}
	var err error
	for n := range 3 {
		s.step, s.err = platform.Step{}, platform.Odd().Saying("The moon is full.")
		if p, _, err = next(s, p, now, nil); err != nil || p.Refusal == nil {
			t.Fatalf("refusal %d: %+v, %v", n+1, p, err)
		}
		s.step, s.err = platform.Step{Next: platform.StageFinalize, Handle: "h"}, nil
		if p, _, err = next(s, p, now, nil); (err != nil) != (n == 2) {
			t.Fatalf("look %d: %+v, %v", n+1, p, err)
		}
	}
	var e *platform.Error
	if !errors.As(err, &e) || e.Kind != platform.BadContent || e.Words != "The moon is full." {
		t.Errorf("at the end: %v", err)
	}
	// A part that is found was made, and the next part is no repeat.
	p = platform.Progress{Stage: platform.StageFinalize, Handle: "h", SentAt: now, Refusals: 2,
		Refusal: &platform.Refusal{Code: "x", Message: "X."}}
	s.step = platform.Step{Next: platform.StageCheck, Handle: "h", Post: platform.PublishedPost{ID: "1"}}
	if p, _, err = next(s, p, now, nil); err != nil || p.Stage != platform.StageCheck || p.Post.ID != "1" {
		t.Errorf("a part that exists: %+v, %v", p, err)
	}
}

func TestRestartsAreBounded(t *testing.T) {
	s := &scripted{err: platform.Again(nil).WithWait(time.Hour)}
	p := platform.Progress{Stage: platform.StageCheck, Handle: "h"}
	for n := range 3 {
		var wait time.Duration
		var err error
		if p, wait, err = next(s, p, now, nil); err != nil || p.Stage != "" || p.Handle != "" || p.Restarts != n+1 ||
			wait != time.Hour {
			t.Fatalf("restart %d: %+v, %s, %v", n+1, p, wait, err)
		}
		p.Stage = platform.StageCheck
	}
	if _, _, err := next(s, p, now, nil); platform.KindOf(err) != platform.BadContent {
		t.Errorf("a fourth restart: %v", err)
	}
	posted := platform.Progress{Stage: platform.StageCheck, Post: platform.PublishedPost{ID: "1"}}
	if _, _, err := next(s, posted, now, nil); platform.KindOf(err) != platform.BadContent {
		t.Errorf("a restart after a part was posted: %v", err)
	}
	if posted.Retry() != posted {
		t.Error("a publication of which a part is posted is tried again from the start")
	}
}

func TestAnUnknownStageIsRefused(t *testing.T) {
	s := &scripted{}
	if _, _, err := next(s, platform.Progress{Stage: "later"}, now, nil); platform.KindOf(err) != platform.BadContent ||
		len(s.calls) > 0 {
		t.Errorf("%v after %v", err, s.calls)
	}
}

func TestASecretShowsNothing(t *testing.T) {
	const token = "token-0001"
	a := platform.Account{ID: "1", Token: platform.Token{Access: token, Refresh: token}}
	var log strings.Builder
	p := platform.Progress{Handle: token}
	slog.New(slog.NewTextHandler(&log, nil)).Info("connected", "token", a.Token.Access, "handle", p.Handle)
	for _, shown := range []string{fmt.Sprint(a), fmt.Sprintf("%+v %#v %s %q", p, p, p.Handle, p.Handle),
		fmt.Sprintf("%+v %#v %s %q %x %d", a, a, a.Token.Access, a.Token.Access, a.Token.Access, a.Token.Access),
		log.String()} {
		if strings.Contains(shown, token) || strings.Contains(shown, fmt.Sprintf("%x", token)) {
			t.Errorf("shown: %s", shown)
		}
	}
	// Where it is stored it is sealed, and has to be there.
	raw, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(raw), token) {
		t.Errorf("stored as %s, %v", raw, err)
	}
}

func TestAHandleIsBounded(t *testing.T) {
	if _, err := platform.Encode(strings.Repeat("x", platform.MaxHandle)); platform.KindOf(err) != platform.BadContent {
		t.Errorf("a long handle: %v", err)
	}
}

// A refusal for a reason that no adapter knows is tried again if the call posts nothing.
func TestAnUnknownRefusalOfACallThatPostsNothing(t *testing.T) {
	for _, stage := range []platform.Stage{platform.StageStart, platform.StageCheck} {
		s := &scripted{err: platform.Odd().Saying("Nobody knows why.")}
		p := platform.Progress{Stage: stage, Handle: "h"}
		var err error
		for i := range 2 {
			var e *platform.Error
			if p, _, err = next(s, p, now, nil); !errors.As(err, &e) || e.Kind != platform.Retry || e.RetryAfter <= 0 {
				t.Fatalf("%s: refusal %d: %v", stage, i+1, err)
			}
		}
		p, _, err = next(s, p, now, nil)
		if platform.KindOf(err) != platform.BadContent || platform.WordsOf(err) != "Nobody knows why." || len(s.calls) != 3 {
			t.Errorf("%s: after %v: %v", stage, s.calls, err)
		}
		// A step that succeeds begins the count again.
		s.err, s.step = nil, platform.Step{Next: stage, Handle: "h"}
		if p, _, err = next(s, platform.Progress{Stage: stage, Handle: "h", Unclear: 2}, now, nil); err != nil ||
			p.Unclear != 0 {
			t.Errorf("%s: after a success: %+v, %v", stage, p, err)
		}
	}
}

// A post that the platform has refused for a reason that no adapter knows may exist: it is looked for, and never sent
// again. If it is not found, the refusal ends the publication, and the caller may correct the post.
func TestAPostIsLookedForAfterAnUnknownRefusal(t *testing.T) {
	odd := platform.Odd().Saying("Nobody knows why.")
	begin := func() (*scripted, platform.Progress) {
		s := &scripted{err: odd}
		p, wait, err := next(s, platform.Progress{Stage: platform.StageFinalize, Handle: "h"}, now, nil)
		if err != nil || p.SentAt != now || wait <= 0 {
			t.Fatalf("%+v, %s, %v", p, wait, err)
		}
		return s, p
	}
	s, p := begin()
	s.step, s.err = platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: "1"}}, nil
	if p, _, err := next(s, p, now, nil); err != nil || !p.Done() || p.Post.ID != "1" || p.Refusal != nil {
		t.Errorf("found: %+v, %v", p, err)
	}
	s, p = begin()
	s.step, s.err = platform.Step{Next: platform.StageReconcile}, nil
	var err error
	for at := now; err == nil; at = at.Add(time.Minute) {
		if p, _, err = next(s, p, at, nil); at.After(now.Add(time.Hour)) {
			t.Fatal("it is looked for without an end")
		}
	}
	if platform.KindOf(err) != platform.BadContent || platform.WordsOf(err) != "Nobody knows why." ||
		p.Retry() != (platform.Progress{}) || strings.Count(strings.Join(s.calls, " "), "finalize") != 1 {
		t.Errorf("not found after %v: %v; tried again from %+v", s.calls, err, p.Retry())
	}
	s, p = begin()
	s.err = platform.Lost(errors.New("nothing can be read"))
	p, _, err = next(s, p, now, nil)
	if platform.CodeOf(err) != platform.CodeOutcomeUnknown || platform.WordsOf(err) != "Nobody knows why." ||
		p.Retry() == (platform.Progress{}) {
		t.Errorf("nothing to read: %v, %+v", err, p)
	}
}
