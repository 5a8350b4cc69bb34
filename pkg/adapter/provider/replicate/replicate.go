// Package replicate makes videos with models that Replicate runs, over its HTTP API: it creates a prediction, polls it,
// and fetches its output.
//
// The API takes no client token. A lost answer to a submission is an UnknownOutcome: a second submission may make a
// second generation. The API removes outputs and their addresses about an hour after they were made. Start with
// Provider.
package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// Name is the provider's name.
const Name = "replicate"

const (
	baseURL      = "https://api.replicate.com"
	predictions  = "/v1/predictions/"
	handlePrefix = "replicate:"
)

// Provider is Replicate.
type Provider struct {
	provider.Jobs
	client *wire.Client
	files  wire.Files
}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider. It makes no call.
func New(cfg wire.Config) *Provider {
	if cfg.Files == nil {
		cfg.Files = wire.NewFiles(safehttp.Options{})
	}
	p := &Provider{files: cfg.Files, client: wire.New(cfg, wire.Dialect{
		Provider:  Name,
		BaseURL:   baseURL,
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Classify:  refused,
	})}
	p.Jobs = p.look
	return p
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// aspectRatios are the ratios of every model here.
var aspectRatios = []string{"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"}

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Kinds: map[provider.Kind]provider.Capability{
		provider.KindVideo: {AspectRatios: aspectRatios, MaxSeconds: 10, FromImage: true},
	}}
}

// model describes the differences between the models.
type model struct{ needsImage bool }

// models are the models of the catalog, by owner and name.
var models = map[string]model{
	"runwayml/gen-4.5":    {},
	"runwayml/gen4-turbo": {needsImage: true},
}

// input is the input of Runway's models. Their lengths are numbers.
type input struct {
	Prompt      string `json:"prompt"`
	Image       string `json:"image,omitempty"`
	AspectRatio string `json:"aspect_ratio"`
	Duration    int    `json:"duration,omitempty"`
}

// Submit implements provider.Provider.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	m, ok := models[req.Model]
	switch {
	case !ok:
		return provider.Submission{}, badInput("unsupported_model", "The provider does not offer the model for this.")
	case m.needsImage && req.ImageURL == "":
		return provider.Submission{}, badInput("invalid_input", "The model needs an image.")
	}
	in := input{Prompt: req.Prompt, Image: req.ImageURL, AspectRatio: req.AspectRatio, Duration: req.Seconds}
	if in.AspectRatio == "" {
		in.AspectRatio = aspectRatios[0]
	}
	call := wire.Call{
		Method: http.MethodPost, Path: "/v1/models/" + req.Model + "/predictions", Submits: true,
		Body: map[string]any{"input": in},
	}
	var made prediction
	if err := p.client.JSON(ctx, call, &made); err != nil {
		return provider.Submission{}, err
	}
	if !ids().MatchString(made.ID) {
		return provider.Submission{}, p.client.Garbled(call, errors.New("it names no prediction"))
	}
	return provider.Submission{Handle: provider.Handle(handlePrefix + made.ID)}, nil
}

// prediction is Replicate's description of a prediction.
type prediction struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"` // a URL, or several
	Error   string          `json:"error"`
	Removed bool            `json:"data_removed"`
}

// states are the provider's names of the states.
var states = map[string]provider.State{
	"starting":   provider.Queued,
	"processing": provider.Running,
	"succeeded":  provider.Succeeded,
	"failed":     provider.Failed,
	"canceled":   provider.Canceled,
	"aborted":    provider.Canceled, // before it began
}

// look reads a prediction. The provider reports no progress.
func (p *Provider) look(ctx context.Context, h provider.Handle) (j provider.Job, err error) {
	id, err := parse(h)
	if err != nil {
		return j, err
	}
	call := wire.Call{Method: http.MethodGet, Path: predictions + id}
	var got prediction
	if err := p.client.JSON(ctx, call, &got); err != nil {
		return j, err
	}
	known := false
	if j.State, known = states[got.Status]; !known {
		return j, p.client.Garbled(call, fmt.Errorf("the status is %.40q", got.Status))
	}
	if j.State == provider.Failed || j.State == provider.Canceled {
		j.Failure = got.failure()
	}
	j.Result = func() (provider.Result, error) {
		if got.Removed {
			return provider.Result{}, &provider.Error{Kind: provider.Rejected, Code: "result_expired",
				Message: "The provider no longer keeps the result."}
		}
		address, err := got.address()
		if err != nil {
			return provider.Result{}, p.client.Garbled(call, err)
		}
		return provider.Result{Media: []provider.File{wire.File(p.files, address, provider.Rejected)}}, nil
	}
	return j, nil
}

// address returns the URL of the video: models return it alone or as a list of one.
func (g prediction) address() (string, error) {
	var one string
	if err := json.Unmarshal(g.Output, &one); err == nil && one != "" {
		return one, nil
	}
	var list []string
	if err := json.Unmarshal(g.Output, &list); err != nil || len(list) == 0 || list[0] == "" {
		return "", errors.New("a prediction that succeeded has no output")
	}
	return list[0], nil
}

// failure returns the error of a prediction without a result.
func (g prediction) failure() *provider.Error {
	e := &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
		Message: "The provider could not finish the generation."}
	switch {
	case states[g.Status] == provider.Canceled:
		e.Code, e.Message = "canceled", "The generation was canceled."
	case strings.Contains(g.Error, "E005") || strings.Contains(strings.ToLower(g.Error), "flagged as sensitive"):
		e.Code, e.Message = provider.CodeContentPolicy, provider.MessageContentPolicy
	}
	if g.Error != "" {
		e.Cause = fmt.Errorf("replicate: %.500q", g.Error)
	}
	return e
}

// Cancel implements provider.Provider. For a prediction that has ended, the API returns its state unchanged.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	id, err := parse(h)
	if err != nil {
		return err
	}
	return p.client.JSON(ctx, wire.Call{Method: http.MethodPost, Path: predictions + id + "/cancel"}, nil)
}

// refused classifies refusals whose status does not suffice.
func refused(call wire.Call, status int, _ []byte) *provider.Error {
	switch {
	case status == http.StatusNotFound && call.Submits:
		return badInput("unsupported_model", "The provider does not offer the model.")
	case status == http.StatusNotFound:
		return unknownGeneration()
	default:
		return nil
	}
}

// ids is the form of a prediction's id. An id becomes part of a URL.
var ids = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)
})

// parse returns the id in a handle.
func parse(h provider.Handle) (string, error) {
	id, ok := strings.CutPrefix(string(h), handlePrefix)
	if !ok || !ids().MatchString(id) {
		return "", unknownGeneration()
	}
	return id, nil
}

func unknownGeneration() *provider.Error {
	return badInput("unknown_generation", "The provider does not know the generation.")
}

func badInput(code, message string) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: message}
}
