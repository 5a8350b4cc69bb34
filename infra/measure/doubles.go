package main

import (
	"context"
	"io"
	"time"

	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/service/worker"
)

// maker is a provider of everything. Its texts and media are those of the sandbox, which are real. It ends after a
// fixed number of polls, and counts its calls.
type maker struct {
	*sandbox.Provider
	used *usage
	// polls is the number of polls of each kind before its result is ready. Other kinds are answered at once.
	polls map[provider.Kind]int
	fails bool
	asked map[provider.Handle]int
	kinds map[provider.Handle]provider.Kind
}

func newMaker(used *usage, polls map[provider.Kind]int, fails bool, now func() time.Time) *maker {
	return &maker{
		Provider: sandbox.New(now), used: used, polls: polls, fails: fails,
		asked: map[provider.Handle]int{}, kinds: map[provider.Handle]provider.Kind{},
	}
}

var _ generate.Providers = (*maker)(nil)

// For implements generate.Providers.
func (m *maker) For(string, tenant.Mode) (provider.Provider, error) { return m, nil }

// Capabilities implements provider.Provider. Like most providers, it takes no client token.
func (m *maker) Capabilities() provider.Capabilities {
	c := m.Provider.Capabilities()
	c.ClientToken = false
	return c
}

// Submit implements provider.Provider.
func (m *maker) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	m.used.submits++
	sub, err := m.Provider.Submit(ctx, req)
	if err != nil {
		return sub, err
	}
	switch _, later := m.polls[req.Kind]; {
	case req.Kind == provider.KindText:
		m.used.waited += textWait
	case later:
		m.used.waited += quickWait
		m.kinds[sub.Handle] = req.Kind
	default:
		m.used.waited += mediaWait
	}
	if _, later := m.polls[req.Kind]; later || sub.Result != nil {
		return sub, nil
	}
	result, err := m.Provider.Fetch(ctx, sub.Handle)
	return provider.Submission{Result: &result}, err
}

// Poll implements provider.Provider.
func (m *maker) Poll(_ context.Context, h provider.Handle) (provider.Status, error) {
	m.used.polls++
	m.used.waited += quickWait
	m.asked[h]++
	n, all := m.asked[h], m.polls[m.kinds[h]]
	switch {
	case n < all:
		return provider.Status{State: provider.Running, Progress: 100 * n / all}, nil
	case m.fails:
		failure := provider.Error{Kind: provider.Rejected, Code: "generation_failed", Message: "The model failed."}
		return provider.Status{State: provider.Failed, Failure: &failure}, nil
	default:
		return provider.Status{State: provider.Succeeded, Progress: 100}, nil
	}
}

// Fetch implements provider.Provider.
func (m *maker) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	m.used.fetches++
	m.used.waited += quickWait
	return m.Provider.Fetch(ctx, h)
}

// Cancel implements provider.Provider.
func (m *maker) Cancel(context.Context, provider.Handle) error {
	m.used.cancels++
	m.used.waited += quickWait
	return nil
}

// shelf is the object store. It reads the files as the real one does, and counts requests.
type shelf struct {
	worker.Files
	files generatetest.Objects
	used  *usage
}

var _ worker.Files = (*shelf)(nil)

// Save implements generate.Objects. It takes one request.
func (s *shelf) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	said *provenance.Statement) (media.File, error) {
	f, err := s.files.Save(ctx, place, n, body, said)
	if err == nil {
		s.used.stores(f.Type)
	}
	return f, err
}

// Put implements generate.Objects. It takes one request.
func (s *shelf) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	s.used.puts++
	s.used.stored += f.Bytes
	s.used.waited += objectWait
	return s.files.Put(ctx, f, content)
}

// PutNew implements transfer.Objects. It takes one request.
func (s *shelf) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return s.Put(ctx, f, content)
}

// Sum implements publication.Sums.
func (s *shelf) Sum(ctx context.Context, key string) (string, error) { return s.files.Sum(ctx, key) }

// Remove implements generate.Objects. It lists the objects; deleting them is free.
func (s *shelf) Remove(ctx context.Context, place media.Place) error {
	s.used.lists++
	s.used.waited += objectWait
	return s.files.Remove(ctx, place)
}

// Open implements generate.Objects.
func (s *shelf) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.files.Open(ctx, key)
}

// The time of a composition on three processors, for a second of a video and for a picture; docs/media.md has the
// processor time.
const (
	cutWait  = 500 * time.Millisecond
	cardWait = time.Second
)

// cutter is a double of the engine of compositions, and counts its input.
type cutter struct {
	generatetest.Composer
	used *usage
}

// Compose implements generate.Composer. It fetches each part by one request.
func (c cutter) Compose(
	ctx context.Context, what generate.Composition, o generate.Origin, progress func(int), save generate.Save,
) error {
	var longest time.Duration
	fetched := map[string]bool{}
	what.Files(func(f *media.File) {
		if fetched[f.Key] {
			return
		}
		fetched[f.Key] = true
		c.used.gets++
		c.used.waited += objectWait + time.Duration(float64(sizes[f.Type])/bytesPerSecond*float64(time.Second))
		if f.Type == media.Audio {
			longest = max(longest, time.Duration(f.DurationSeconds*float64(time.Second)))
		}
	})
	switch w := what.(type) {
	case generate.Carousel:
		longest = time.Duration(len(w.Slides)) * cardWait
	case generate.Picture:
		longest = cardWait
	case generate.MusicClip:
		longest = w.Length / time.Second * cutWait
	case generate.Video:
		for _, s := range w.Scenes {
			longest = max(longest, s.Length)
		}
		longest = time.Duration(longest.Seconds() * float64(cutWait))
	}
	c.used.waited += longest
	return c.Composer.Compose(ctx, what, o, progress, save)
}
