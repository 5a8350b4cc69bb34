package main

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
)

// credits is the balance of a scene's account. It exceeds the cost of its work.
const credits = 1_000_000

// mix is the work that a scene requests, in turn: the kinds of content and of generation, by each provider that
// offers one. It has no music clips: composing one takes most of a core for 15 seconds, and passes the same steps
// as a video.
var mix = []struct {
	path string
	body map[string]any
}{
	{"/v1/content-items", map[string]any{"kind": "post"}},
	{"/v1/studio/images", map[string]any{"model": "flux-pro-1.1", "count": 2}},
	{"/v1/content-items", map[string]any{"kind": "carousel", "slides": []map[string]any{{}, {}}}},
	{"/v1/studio/videos", map[string]any{"model": "runway-gen-4.5", "duration_seconds": 5, "aspect_ratio": "9:16"}},
	{"/v1/content-items", map[string]any{"kind": "story"}},
	{"/v1/studio/voices", map[string]any{"model": "eleven-flash-2.5", "language": "en"}},
	{"/v1/content-items", map[string]any{"kind": "video", "duration_seconds": 10, "visuals": "stills"}},
	{"/v1/studio/images", map[string]any{"model": "stable-image-core"}},
	{"/v1/studio/voices", map[string]any{"model": "polly-generative", "language": "en"}},
	{"/v1/studio/music", map[string]any{"model": "ace-step", "duration_seconds": 30}},
	{"/v1/studio/avatars", map[string]any{"model": "heygen-avatar-4"}},
}

// newLiveScene creates a scene with a live key and a factory. The providers have done nothing for the factory yet.
func (w *world) newLiveScene(ctx context.Context, name string) (*scene, error) {
	key, err := w.newKey(ctx, name, tenant.Live)
	if err != nil {
		return nil, err
	}
	s := &scene{world: w, client: &client{&http.Client{}, w.system.BaseURL, key}}
	if s.factory, err = s.client.newFactory(ctx); err != nil {
		return nil, err
	}
	return s, w.fakes(ctx, http.MethodDelete, "", nil, nil)
}

// newJobScene creates a scene for work of a live key. It has no webhook: the harness reads the results from the
// API.
func (w *world) newJobScene(ctx context.Context, name string, sz size) (*scene, error) {
	s, err := w.newLiveScene(ctx, name)
	if err != nil {
		return nil, err
	}
	factory := s.factory
	s.load = &load{client: s.client, events: sz.jobs, every: sz.every, callers: callers,
		ask: func(n int) (string, map[string]any) {
			return w.order(factory, n)
		}}
	s.left = s.waiting
	return s, nil
}

// order returns the n-th request for work.
func (w *world) order(factory string, n int) (path string, body map[string]any) {
	o := mix[n%len(mix)]
	about := "Chaos " + strconv.Itoa(n)
	body = map[string]any{}
	for name, value := range o.body {
		body[name] = value
	}
	switch o.path {
	case "/v1/content-items":
		body["factory_id"], body["prompt"] = factory, about
	case "/v1/studio/voices":
		body["text"] = about
	case "/v1/studio/avatars":
		body["text"], body["image_url"] = about, w.receiver.address
	default:
		body["prompt"] = about
	}
	return o.path, body
}

// works are the lists of work, with the types of the events that end it.
var works = []struct{ path, generated, failed string }{
	{"/v1/content-items", "content.generated", "content.failed"},
	{"/v1/studio/generations", "studio.generated", "studio.failed"},
}

// waiting returns the number of pieces of work that are queued or under way. It polls slowly, because its calls compete
// with the work.
func (s *scene) waiting(ctx context.Context) (n int, err error) {
	if err := pause(ctx, time.Second/2); err != nil {
		return 0, err
	}
	for _, of := range works {
		for _, state := range []string{"generating", "queued"} {
			some, err := list[struct{}](ctx, s.client, of.path, "state", state)
			if err != nil {
				return 0, err
			}
			n += len(some)
		}
	}
	return n, nil
}
