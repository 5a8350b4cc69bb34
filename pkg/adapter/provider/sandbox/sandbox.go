// Package sandbox is the provider of test keys. It is free, makes no call, and is deterministic. Its media are real
// files of the requested length, shape and size, made by pkg/adapter/provider/sandbox.
//
// It keeps no state: the handle contains everything that later steps need. Start with Provider.
package sandbox

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/color"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

// Name is the provider's name.
const Name = "sandbox"

const (
	maxSeconds = 600
	maxImages  = 10
)

// Provider is the sandbox.
type Provider struct {
	now   func() time.Time
	alike bool
}

var _ provider.Provider = (*Provider)(nil)

// New makes a sandbox with the given clock.
func New(now func() time.Time) *Provider { return &Provider{now: now} }

// NewAlike makes a sandbox that shows the same in all pictures and clips, so that it draws each size once. It is for
// tests of many items, which would draw for most of their time.
func NewAlike(now func() time.Time) *Provider { return &Provider{now: now, alike: true} }

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider. It covers every model of the catalog, so that a test key can rehearse all
// of them.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		ClientToken: true,
		Kinds: map[provider.Kind]provider.Capability{
			provider.KindText:   {},
			provider.KindImage:  {AspectRatios: ratios[provider.KindImage], MaxCount: maxImages, FromImage: true},
			provider.KindVideo:  {AspectRatios: ratios[provider.KindVideo], MaxSeconds: maxSeconds, FromImage: true},
			provider.KindMusic:  {MaxSeconds: maxSeconds},
			provider.KindVoice:  {FromAudio: true},
			provider.KindAvatar: {AspectRatios: ratios[provider.KindAvatar], FromImage: true, FromAudio: true},
		},
	}
}

// work is a generation as encoded in its handle.
type work struct {
	Kind   provider.Kind `json:"k"`
	Width  int           `json:"w,omitempty"`
	Height int           `json:"y,omitempty"`
	Length int64         `json:"m,omitempty"` // milliseconds
	Count  int           `json:"n,omitempty"`
	Slides int           `json:"s,omitempty"`
	// Sources are those that a text may quote.
	Sources int `json:"r,omitempty"`
	// Pictures are those that a text describes.
	Pictures int                    `json:"p,omitempty"`
	Head     bool                   `json:"x,omitempty"` // of a text: whether it has a headline
	Plain    bool                   `json:"i,omitempty"` // of a text: whether it is to be written without samples
	Short    []provider.ShortWanted `json:"u,omitempty"` // of a text
	Tags     int                    `json:"g,omitempty"` // of a text: the most hashtags
	Script   int                    `json:"q,omitempty"` // of a text: the seconds of its script
	Scenes   int                    `json:"e,omitempty"` // of a script
	Lang     string                 `json:"l,omitempty"`
	Topic    string                 `json:"t,omitempty"` // the beginning of the prompt
	About    *provider.About        `json:"o,omitempty"` // of a text
	Seed     uint32                 `json:"h,omitempty"` // hash of the prompt
	Mood     uint32                 `json:"d,omitempty"` // of a picture or clip: what chooses its colors
	Colors   []color.RGBA           `json:"c,omitempty"` // of a picture or clip: those of the brand
	Fail     provider.FailureCode   `json:"f,omitempty"`
	Start    int64                  `json:"a,omitempty"` // Unix milliseconds
	End      int64                  `json:"z,omitempty"`
}

// Submit implements provider.Provider. The handle depends only on the request. A form, and text without a delay, are
// returned at once, as by real models.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := ctx.Err(); err != nil {
		return provider.Submission{}, err
	}
	capabilities := p.Capabilities()
	if err := req.Validate(capabilities); err != nil {
		return provider.Submission{}, err
	}
	if req.Form != nil {
		if req.Rehearsal.Fail {
			return provider.Submission{}, provider.FailureOf(cmp.Or(req.Rehearsal.Code, provider.FailedGeneration))
		}
		return provider.Submission{Result: &provider.Result{Object: req.Form.Sample}}, nil
	}
	w := work{Kind: req.Kind, Seed: hash(req.Prompt)}
	if req.Rehearsal.Fail {
		w.Fail = cmp.Or(req.Rehearsal.Code, provider.FailedGeneration)
	}
	w.Width, w.Height = size(req)
	w.Length = length(req).Milliseconds()
	switch req.Kind {
	case provider.KindImage:
		w.Count = max(req.Count, 1)
		w.Mood, w.Colors = mood(req.Prompt), colors(req.Prompt)
	case provider.KindVideo, provider.KindAvatar:
		w.Mood, w.Colors = mood(req.Prompt), colors(req.Prompt)
	case provider.KindText:
		w.Sources = min(max(req.Sources, 0), maxImages)
		w.Pictures, w.Head = min(max(req.Pictures, 0), maxImages), req.Headline
		w.Plain = req.Repair != nil
		w.Slides, w.Script = min(req.Slides, maxImages), min(max(req.ScriptSeconds, 0), maxSeconds)
		if w.Script > 0 {
			w.Scenes = min(max(req.Scenes, 1), w.Script)
		}
		w.Short, w.Tags = req.Short[:min(len(req.Short), maxImages)], req.Hashtags
		w.Lang, w.Topic, w.About = samples.WrittenIn(req.Language), topic(req.Prompt), fit(req.About)
	}
	if p.alike && w.Kind != provider.KindText {
		w.Seed, w.Mood, w.Colors = 0, 0, nil
	}
	if r := req.Rehearsal; r.Delay > 0 {
		w.Start, w.End = r.Start.UnixMilli(), r.Start.Add(r.Delay).UnixMilli()
	}
	if w.Kind == provider.KindText && w.remaining(p.now()) <= 0 {
		result, err := w.result()
		if err != nil {
			return provider.Submission{}, err
		}
		return provider.Submission{Result: &result}, nil
	}
	h, err := w.handle()
	return provider.Submission{Handle: h}, err
}

// Poll implements provider.Provider.
func (p *Provider) Poll(ctx context.Context, h provider.Handle) (provider.Status, error) {
	w, err := parse(ctx, h)
	if err != nil {
		return provider.Status{}, err
	}
	now := p.now()
	if wait := w.remaining(now); wait > 0 {
		elapsed, whole := now.UnixMilli()-w.Start, w.End-w.Start
		progress := min(max(100*elapsed/whole, 0), 99)
		return provider.Status{State: provider.Running, Progress: int(progress), Wait: wait}, nil
	}
	if w.Fail != "" {
		return provider.Status{State: provider.Failed, Failure: provider.FailureOf(w.Fail)}, nil
	}
	return provider.Status{State: provider.Succeeded, Progress: 100}, nil
}

// Fetch implements provider.Provider.
func (p *Provider) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	w, err := parse(ctx, h)
	if err != nil {
		return provider.Result{}, err
	}
	if wait := w.remaining(p.now()); wait > 0 {
		return provider.Result{}, &provider.Error{
			Kind: provider.Transient, Code: "not_ready", Message: "The generation has not ended.", RetryAfter: wait,
		}
	}
	return w.result()
}

// Cancel implements provider.Provider. There is nothing to stop.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	_, err := parse(ctx, h)
	return err
}

// remaining returns the time until the generation ends.
func (w work) remaining(now time.Time) time.Duration {
	return time.UnixMilli(w.End).Sub(now)
}

func (w work) result() (provider.Result, error) {
	if w.Fail != "" {
		return provider.Result{}, provider.FailureOf(w.Fail)
	}
	if w.Kind == provider.KindText {
		t := w.text()
		return provider.Result{Text: &t}, nil
	}
	var result provider.Result
	for i := range max(w.Count, 1) {
		content, err := w.file(uint32(i))
		if err != nil {
			// A handle can be well formed and still be forged.
			return provider.Result{}, badHandle(err)
		}
		result.Media = append(result.Media, provider.FileOf(content))
	}
	return result, nil
}

func (w work) handle() (provider.Handle, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("sandbox: handle: %w", err)
	}
	return provider.Handle(base64.RawURLEncoding.EncodeToString(raw)), nil
}

func parse(ctx context.Context, h provider.Handle) (work, error) {
	if err := ctx.Err(); err != nil {
		return work{}, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(h))
	if err != nil {
		return work{}, badHandle(err)
	}
	var w work
	if err := json.Unmarshal(raw, &w); err != nil {
		return work{}, badHandle(err)
	}
	if w.Count < 0 || w.Count > maxImages || w.Slides < 0 || w.Slides > maxImages || w.Pictures < 0 ||
		w.Pictures > maxImages || w.Script < 0 ||
		w.Script > maxSeconds || w.Scenes < 0 || w.Scenes > w.Script || w.End < w.Start ||
		len(w.Colors) > maxColors {
		return work{}, badHandle(fmt.Errorf("%+v is out of bounds", w))
	}
	if err := w.check(); err != nil {
		return work{}, badHandle(err)
	}
	return w, nil
}

func badHandle(cause error) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "unknown_generation",
		Message: "The provider does not know the generation.", Cause: cause}
}
