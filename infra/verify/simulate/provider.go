package simulate

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
)

// providers returns a double for each name of a provider.
type providers struct{}

// For returns a provider.
func (providers) For(name string, _ tenant.Mode) (provider.Provider, error) {
	return double{name}, nil
}

// double is a provider. It counts the submissions.
type double struct{ name string }

var _ provider.Provider = double{}

// generation is a generation of a provider.
type generation struct {
	kind     provider.Kind
	polls    int
	fails    bool
	canceled bool
}

// submission is a submission that a provider has received.
type submission struct {
	by *invocation
	// unheard reports whether the answer of the submission did not arrive.
	unheard atomic.Bool
}

// maxStalls is the number of slow attempts at calls after which a function counts as cut off from the table: its
// lease may end although it lives.
const maxStalls = 2

// excused reports whether another submission of the same work may follow: no function knows of this one, or could
// record it in time.
func (s *submission) excused() bool {
	return s.unheard.Load() || s.by.crashed || s.by.stalls.Load() >= maxStalls
}

// takesTokens are the providers that recognize a submission by its client token.
var takesTokens = map[string]bool{"fal": true}

// Name implements provider.Provider.
func (p double) Name() string { return p.name }

// Capabilities implements provider.Provider.
func (p double) Capabilities() provider.Capabilities {
	return provider.Capabilities{ClientToken: takesTokens[p.name]}
}

func problem(kind provider.ErrorKind) *provider.Error {
	return &provider.Error{Kind: kind, Code: "simulated", Message: "Simulated."}
}

// busy is the answer of a provider that throttles.
func busy() *provider.Error {
	return &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy, Message: "Simulated."}
}

// full reports whether the providers make as many generations as they make at the same time.
func (w *world) full() bool {
	n := 0
	for _, g := range w.generations {
		if g.polls > 0 && !g.canceled {
			n++
		}
	}
	return !w.calm && w.faults.AtOnce > 0 && n >= w.faults.AtOnce
}

// Submit implements provider.Provider.
func (p double) Submit(ctx context.Context, req provider.Request) (out provider.Submission, err error) {
	inv := invocationOf(ctx)
	w := inv.world
	lost := problem(provider.UnknownOutcome)
	if takesTokens[p.name] {
		lost = problem(provider.Transient)
	}
	s := &submission{by: inv}
	var answer provider.Submission
	err = pass(ctx, &call{
		kind: toProvider, key: "Submit " + p.name + " " + req.ClientToken, refused: problem(provider.Quota), lost: lost,
		throttled: busy(),
		unheard:   func() { s.unheard.Store(true) },
		do: func() error {
			if w.full() {
				return busy()
			}
			if takesTokens[p.name] {
				answer.Handle = provider.Handle(req.ClientToken)
				if w.generations[answer.Handle] != nil {
					return nil
				}
			} else {
				w.submissions[req.ClientToken] = append(w.submissions[req.ClientToken], s)
				answer.Handle = provider.Handle(fmt.Sprint(req.ClientToken, "/", len(w.submissions[req.ClientToken])))
			}
			if req.Form != nil {
				answer = provider.Submission{Result: w.filled(req.Form)}
				return nil
			}
			if req.Kind == provider.KindText {
				answer = provider.Submission{Result: &provider.Result{Text: &provider.Text{
					Title: "Title", Caption: "Caption", Hashtags: []string{"tag"}, Slides: many(provider.Slide{Heading: "Slide"},
						req.Slides),
					Scenes: many(provider.Scene{Text: "A script that is spoken.", Visual: "A view"}, req.Scenes),
				}}}
				return nil
			}
			w.generations[answer.Handle] = &generation{kind: req.Kind, polls: w.random.IntN(4), fails: !w.calm &&
				chance(w.random, w.faults.Provider)}
			return nil
		},
	})
	return answer, err
}

func many[T any](s T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// Poll implements provider.Provider.
func (p double) Poll(ctx context.Context, h provider.Handle) (out provider.Status, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Poll " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			switch g := w.generations[h]; {
			case g == nil:
				return problem(provider.BadInput)
			case g.polls > 0:
				g.polls--
				out = provider.Status{State: provider.Running, Progress: 100 / (g.polls + 2),
					Wait: time.Duration(1+w.random.IntN(8)) * time.Second}
			case g.fails:
				out = provider.Status{State: provider.Failed, Failure: problem(provider.Rejected)}
			default:
				out = provider.Status{State: provider.Succeeded, Progress: 100}
			}
			return nil
		}})
	return out, err
}

// Fetch implements provider.Provider.
func (p double) Fetch(ctx context.Context, h provider.Handle) (out provider.Result, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Fetch " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			g := w.generations[h]
			if g == nil {
				return problem(provider.BadInput)
			}
			out = provider.Result{Media: []provider.File{{Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(string(g.kind))), nil
			}}}}
			return nil
		}})
	return out, err
}

// Cancel implements provider.Provider.
func (p double) Cancel(ctx context.Context, h provider.Handle) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toProvider, key: "Cancel " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			if g := w.generations[h]; g != nil {
				g.canceled = true
			}
			return nil
		}})
}

// objects stores files. It keeps only their keys.
type objects struct{}

// Save implements engine.Objects.
func (objects) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	_ *provenance.Statement) (media.File, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return media.File{}, err
	}
	w := invocationOf(ctx).world
	f := media.File{ID: place.ID(n), Key: place.Key(n, "bin"), MIMEType: "application/octet-stream",
		Bytes: int64(len(b)), SHA256: "0"}
	switch provider.Kind(b) {
	case provider.KindImage:
		f.Type, f.MIMEType, f.Width, f.Height = media.Image, "image/jpeg", 8, 8
	case provider.KindVideo, provider.KindAvatar:
		f.Type, f.MIMEType, f.Width, f.Height, f.DurationSeconds = media.Video, "video/mp4", 8, 8, 8
	case provider.KindVoice, provider.KindMusic:
		f.Type, f.DurationSeconds = media.Audio, 8
	default:
		f.Type = media.Captions
	}
	err = pass(ctx, &call{kind: toObjects, key: "Save " + f.Key, refused: errRefused, lost: errLost, do: func() error {
		w.files[f.Key], w.sums[f.Key] = true, f.SHA256
		return nil
	}})
	return f, err
}

// Remove implements engine.Objects.
func (objects) Remove(ctx context.Context, place media.Place) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Remove " + place.Prefix(), refused: errRefused, lost: errLost,
		do: func() error {
			for key := range w.files {
				if strings.HasPrefix(key, place.Prefix()) {
					delete(w.files, key)
				}
			}
			return nil
		}})
}
