// Package fal makes images, video, music, speech and avatars through fal's queue: it submits a request to the queue of
// a model's endpoint, polls its status, and fetches its result once it has ended.
//
// fal takes no client token. A lost answer to a submission is therefore an UnknownOutcome: a second submission may make
// a second generation. Start with Provider.
package fal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// Name is the provider's name.
const Name = "fal"

const (
	baseURL = "https://queue.fal.run"

	// keep is the time for which fal keeps the files of a result, whose URLs are public. They are copied as soon as
	// they exist.
	keep = `{"expiration_duration_seconds": 86400}`

	maxImages  = 4
	maxSeconds = 600 // of music; a video's length is bounded by its model
)

// Provider is fal.
type Provider struct {
	client *wire.Client
	files  wire.Files
	now    func() time.Time
}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider.
func New(cfg wire.Config) *Provider {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Files == nil {
		cfg.Files = wire.NewFiles(safehttp.Options{})
	}
	return &Provider{
		client: wire.New(cfg, wire.Dialect{
			Provider:  Name,
			BaseURL:   baseURL,
			Authorize: func(h http.Header, key string) { h.Set("Authorization", "Key "+key) },
			Refused:   refused,
		}),
		files: cfg.Files,
		now:   cfg.Now,
	}
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Kinds: map[provider.Kind]provider.Capability{
		provider.KindImage: {
			AspectRatios: []string{"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"},
			MaxCount:     maxImages, FromImage: true,
		},
		provider.KindVideo: {AspectRatios: []string{"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"}, MaxSeconds: 30,
			FromImage: true},
		provider.KindMusic:  {MaxSeconds: maxSeconds},
		provider.KindVoice:  {FromAudio: true}, // the voice to imitate
		provider.KindAvatar: {AspectRatios: []string{"9:16", "16:9"}, FromImage: true, FromAudio: true},
	}}
}

// Submit implements provider.Provider.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	capabilities := p.Capabilities()
	if err := req.Validate(capabilities); err != nil {
		return provider.Submission{}, err
	}
	m, ok := models[req.Model]
	if !ok || m.kind != req.Kind {
		return provider.Submission{}, badInput("unsupported_model", "The provider does not offer the model for this.")
	}
	if ratios := capabilities.Kinds[req.Kind].AspectRatios; req.AspectRatio == "" && len(ratios) > 0 && !m.keepsShape {
		req.AspectRatio = ratios[0]
	}
	input, err := m.input(req)
	if err != nil {
		return provider.Submission{}, err
	}
	call := wire.Call{
		Method: http.MethodPost, Path: "/" + req.Model, Body: input, Submits: true,
		Header: http.Header{"X-Fal-Object-Lifecycle-Preference": {keep}},
	}
	var queued struct {
		RequestID string `json:"request_id"`
	}
	if err := p.client.JSON(ctx, call, &queued); err != nil {
		return provider.Submission{}, err
	}
	w := work{Model: req.Model, Request: queued.RequestID, Kind: req.Kind, Count: max(req.Count, 1),
		Began: p.now().Unix()}
	if err := w.check(); err != nil {
		return provider.Submission{}, p.client.Garbled(call, err)
	}
	h, err := w.handle()
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Handle: h}, nil
}

// Poll implements provider.Provider. The status only reports the end of a request; its outcome is in its result.
func (p *Provider) Poll(ctx context.Context, h provider.Handle) (provider.Status, error) {
	w, err := parse(h)
	if err != nil {
		return provider.Status{}, err
	}
	phase, err := p.phase(ctx, w)
	if err != nil {
		return provider.Status{}, err
	}
	switch phase {
	case inQueue:
		return provider.Status{State: provider.Queued, Wait: w.wait(p.now())}, nil
	case inProgress:
		// fal reports no progress.
		return provider.Status{State: provider.Running, Progress: 50, Wait: w.wait(p.now())}, nil
	}
	_, err = p.result(ctx, w)
	var failure *provider.Error
	switch {
	case err == nil:
		return provider.Status{State: provider.Succeeded, Progress: 100}, nil
	case !errors.As(err, &failure) || !ended(failure):
		return provider.Status{}, err
	case failure.Code == codeCanceled:
		return provider.Status{State: provider.Canceled, Failure: failure}, nil
	default:
		return provider.Status{State: provider.Failed, Failure: failure}, nil
	}
}

// Fetch implements provider.Provider.
func (p *Provider) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	w, err := parse(h)
	if err != nil {
		return provider.Result{}, err
	}
	result, err := p.result(ctx, w)
	var failure *provider.Error
	if err == nil || !errors.As(err, &failure) || !ended(failure) {
		return result, err
	}
	// A refusal can also mean that the generation has not ended.
	phase, err := p.phase(ctx, w)
	if err != nil {
		return provider.Result{}, err
	}
	if phase != completed {
		return provider.Result{}, notReady(w.wait(p.now()))
	}
	rejected := *failure
	rejected.Kind = provider.Rejected
	return provider.Result{}, &rejected
}

// Cancel implements provider.Provider.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	w, err := parse(h)
	if err != nil {
		return err
	}
	err = p.client.JSON(ctx, wire.Call{Method: http.MethodPut, Path: w.path() + "/cancel"}, nil)
	var e *provider.Error
	if errors.As(err, &e) && e.Code == codeCompleted {
		return nil
	}
	return err
}

// The values of a request's status.
const (
	inQueue    = "IN_QUEUE"
	inProgress = "IN_PROGRESS"
	completed  = "COMPLETED"
)

func (p *Provider) phase(ctx context.Context, w work) (string, error) {
	call := wire.Call{Method: http.MethodGet, Path: w.path() + statusPath}
	var answer struct {
		Status string `json:"status"`
	}
	if err := p.client.JSON(ctx, call, &answer); err != nil {
		return "", err
	}
	switch answer.Status {
	case inQueue, inProgress, completed:
		return answer.Status, nil
	default:
		return "", p.client.Garbled(call, fmt.Errorf("the status %q is none", answer.Status))
	}
}

// ended reports whether the error is about the request rather than about the call.
func ended(e *provider.Error) bool {
	return e.Kind == provider.BadInput || e.Kind == provider.Rejected
}

func badInput(code, format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: fmt.Sprintf(format, args...)}
}

func notReady(wait time.Duration) *provider.Error {
	return &provider.Error{Kind: provider.Transient, Code: "not_ready", Message: "The generation has not ended.",
		RetryAfter: wait}
}
