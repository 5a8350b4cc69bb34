package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/store"
)

// The metrics of probes.
const (
	Failed = "ProbesFailed"
	Took   = "ProbeMilliseconds"
)

// ModelEnds is the metric of models that end soon, are refused to new accounts, or are not in the region.
const ModelEnds = "ModelsEnding"

// Canary probes the service.
type Canary struct {
	// Target reads the target.
	Target func(context.Context) (string, error)
	// HTTP fetches files. Calls of the API also use the client certificate of the target.
	HTTP *http.Client
	DB   *store.DB
	Now  func() time.Time
	// Lives reads the lives of the models of Bedrock, of which Offer is the part that the stack offers. Nil: the stack
	// does not use Bedrock.
	Lives func(context.Context) (map[string]provider.Life, error)
	Offer catalog.Offer
	// Wait waits between two reads of the item.
	Wait func(context.Context, time.Duration) error
}

// ProbeResult is the result of a probe.
type ProbeResult struct {
	// Idle reports that there is no target.
	Idle  bool   `json:"idle,omitempty"`
	MS    int64  `json:"ms"`
	Error string `json:"error,omitempty"`
	// Providers are those whose live probe of the day has failed.
	Providers []string `json:"providers,omitempty"`
}

const (
	// mostTime bounds the duration of the job.
	mostTime = 90 * time.Second
	// lookEvery is the time between two reads of the item.
	lookEvery = 2 * time.Second
	// mostBytes bounds the part of a response that is read.
	mostBytes = 16 << 20
)

// Run probes once. A failed probe is no error of the function: it is counted, and an alarm watches the count.
func (c *Canary) Run(ctx context.Context) (ProbeResult, error) {
	if err := c.watch(ctx); err != nil {
		slog.Warn("models not compared", "error", err)
	}
	value, err := c.Target(ctx)
	if err != nil {
		return ProbeResult{}, fmt.Errorf("canary: read the target: %w", err)
	}
	t, err := ParseTarget(value)
	if err != nil {
		return ProbeResult{}, fmt.Errorf("canary: %w", err)
	}
	if t.Key == "" {
		metric.Add(Failed, 0) // It runs, which the alarm for a silent canary watches.
		return ProbeResult{Idle: true}, nil
	}
	api, done := t.client(c.HTTP)
	defer done()
	began := c.Now()
	work, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	failure := probe{Canary: c, target: t, api: api, key: t.Key}.job(work)
	took := c.Now().Sub(began)
	r := ProbeResult{MS: took.Milliseconds()}
	failed := int64(0)
	if failure != nil {
		r.Error, failed = failure.Error(), 1
		slog.Error("probe failed", "ms", r.MS, "error", failure)
	}
	metric.Add(Failed, failed)
	metric.Add(Took, r.MS)
	if t.LiveKey != "" {
		r.Providers = probe{Canary: c, target: t, api: api, key: t.LiveKey}.live(ctx)
	}
	return r, account.Probed(ctx, c.DB, began, took, failure == nil)
}

// watch compares the catalog with the models of Bedrock, once a week: in the run of the first five minutes after
// Monday, 03:00 UTC.
func (c *Canary) watch(ctx context.Context) error {
	if c.Lives == nil {
		return nil
	}
	now := c.Now().UTC()
	if now.Weekday() != time.Monday || now.Hour() != 3 || now.Minute() >= 5 {
		return nil
	}
	lives, err := c.Lives(ctx)
	if err != nil {
		return err
	}
	ending := int64(0)
	for _, d := range append(c.Offer.Compare(lives), c.Offer.EndingSoon()...) {
		slog.Warn("model differs", "model", d.Model, "text", d.Text)
		if d.Ends {
			ending++
		}
	}
	metric.Add(ModelEnds, ending)
	return nil
}

// probe is one probe of a target.
type probe struct {
	*Canary
	target Target
	api    *http.Client
	key    string
	// once is the idempotency key of calls that change something. It may be empty.
	once string
}

// job creates an item, waits for its media, fetches the first of them, and deletes the item.
func (p probe) job(ctx context.Context) error {
	factory, err := p.factory(ctx)
	if err != nil {
		return err
	}
	var made canaryItem
	body := map[string]any{"factory_id": factory, "kind": "post", "prompt": "A probe of the service"}
	if err := p.call(ctx, http.MethodPost, "/v1/content-items", body, &made); err != nil {
		return err
	}
	for made.State == "queued" || made.State == "generating" {
		if err := p.Wait(ctx, lookEvery); err != nil {
			return fmt.Errorf("%s is still %s: %w", made.ID, made.State, err)
		}
		if err := p.call(ctx, http.MethodGet, "/v1/content-items/"+made.ID, nil, &made); err != nil {
			return err
		}
	}
	if made.State != "generated" || len(made.Media) == 0 {
		return fmt.Errorf("%s is %s and has %d media", made.ID, made.State, len(made.Media))
	}
	if err := p.fetch(ctx, made.Media[0].URL); err != nil {
		return err
	}
	return p.call(ctx, http.MethodDelete, "/v1/content-items/"+made.ID, nil, nil)
}

// canaryItem has the members of a content item that the canary reads.
type canaryItem struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Media []struct {
		URL string `json:"url"`
	} `json:"media"`
}

// factory returns a factory of the key, and creates one if there is none.
func (p probe) factory(ctx context.Context) (string, error) {
	var there []struct{ ID string }
	if err := p.call(ctx, http.MethodGet, "/v1/factories?limit=1", nil, &there); err != nil {
		return "", err
	}
	if len(there) > 0 {
		return there[0].ID, nil
	}
	var made struct{ ID string }
	body := map[string]any{"type": "brand", "name": "Canary", "settings": map[string]any{"brand_name": "Canary"}}
	err := p.call(ctx, http.MethodPost, "/v1/factories", body, &made)
	return made.ID, err
}

// call calls the API, and decodes the data of the answer.
func (p probe) call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.target.BaseURL, "/")+path, sent)
	if err != nil {
		return errors.New("the base URL of the target is no URL")
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	if p.once != "" && method == http.MethodPost {
		req.Header.Set("Idempotency-Key", p.once)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := send(p.api, req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return fmt.Errorf("%s %s: the answer is no JSON", method, path)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(envelope.Data, into)
}

func (p probe) fetch(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return errors.New("the address of the media is no URL")
	}
	file, err := send(p.HTTP, req)
	if err == nil && len(file) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return fmt.Errorf("fetch the media: %w", err)
	}
	return nil
}

// send returns the body of a successful response. Its errors contain no URL, because the URL of a file is signed.
func send(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, &statusError{resp.StatusCode, resp.Header.Get("X-Request-Id")}
	}
	return body, nil
}

// statusError is an answer that is no success.
type statusError struct {
	status  int
	request string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d, request %s", e.status, e.request)
}

// ProviderProbesFailed is the metric of live probes: the number of providers whose probe of the day has failed.
const ProviderProbesFailed = "ProviderProbesFailed"

// The time of a day (UTC) at which the providers are probed. Several runs of the canary fall into it: the first makes
// what the others look at, and what is not ready at the last one has failed.
const (
	liveFrom = 4 * time.Hour
	liveFor  = 30 * time.Minute
	lastRun  = 5 * time.Minute
)

// liveModel is a model of the catalog.
type liveModel struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	Kind     string `json:"kind"`
	State    string `json:"state"`
	Price    *struct {
		Credits int64 `json:"credits"`
		Per     int64 `json:"per"`
	} `json:"price"`
	Capabilities struct {
		Requires []string `json:"requires"`
	} `json:"capabilities"`
}

// liveKinds are the kinds of models, those first that cost least to probe. Whoever writes texts is probed by a text.
var liveKinds = []string{"text", "voice", "image", "music", "video", "avatar"}

// order returns the place of the model among those of its provider.
func (m liveModel) order(other liveModel) int {
	return cmp.Or(cmp.Compare(slices.Index(liveKinds, m.Kind), slices.Index(liveKinds, other.Kind)),
		cmp.Compare(m.Price.Credits*other.Price.Per, other.Price.Credits*m.Price.Per), cmp.Compare(m.ID, other.ID))
}

// request returns the call that has the model make something small, and the path at which the result is read. The
// models of texts have none of their own: a draft of a post is written by the stack's first one.
func (m liveModel) request(factory string) (path, results string, body map[string]any) {
	prompt, results := "A plain gray square", "/v1/studio/generations/"
	switch m.Kind {
	case "text":
		return "/v1/content-items", "/v1/content-items/", map[string]any{"factory_id": factory, "kind": "post",
			"quality": "draft", "prompt": "A probe of the service"}
	case "voice":
		return "/v1/studio/voices", results, map[string]any{"model": m.ID, "text": "One, two."}
	case "avatar":
		return "/v1/studio/avatars", results, map[string]any{"model": m.ID, "text": "One, two."}
	case "music":
		return "/v1/studio/music", results, map[string]any{"model": m.ID, "prompt": "A calm piano"}
	case "video":
		return "/v1/studio/videos", results, map[string]any{"model": m.ID, "prompt": prompt}
	}
	return "/v1/studio/images", results, map[string]any{"model": m.ID, "prompt": prompt}
}

// cheapest returns the model of each provider with which it is probed.
func cheapest(models []liveModel) map[string]liveModel {
	best := map[string]liveModel{}
	for _, m := range models {
		known, ok := best[m.Provider]
		if m.State == "available" && m.Price != nil && len(m.Capabilities.Requires) == 0 &&
			(!ok || m.order(known) < 0) {
			best[m.Provider] = m
		}
	}
	return best
}

// live probes each provider once a day with a live key, which costs credits. It returns the names of those whose probe
// has failed.
func (p probe) live(ctx context.Context) (failed []string) {
	now := p.Now().UTC()
	at := now.Sub(now.Truncate(24 * time.Hour))
	if at < liveFrom || at >= liveFrom+liveFor {
		return nil
	}
	var models []liveModel
	factory, err := p.factory(ctx)
	if err == nil {
		err = p.call(ctx, http.MethodGet, "/v1/catalog/models?limit=100", nil, &models)
	}
	if err != nil {
		slog.Error("live probes failed", "error", err)
		metric.Add(ProviderProbesFailed, 1)
		return []string{"all"}
	}
	best, known := cheapest(models), 0
	for _, name := range slices.Sorted(maps.Keys(best)) {
		if only := p.target.LiveProviders; len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		m, once := best[name], p
		once.once = fmt.Sprintf("probe-%s-%s", name, now.Format(time.DateOnly))
		over, err := once.result(ctx, factory, m, at >= liveFrom+liveFor-lastRun)
		if over {
			known++
		}
		if err != nil {
			slog.Error("live probe failed", "provider", name, "model", m.ID, "error", err)
			failed = append(failed, name)
		}
	}
	if known > 0 {
		metric.Add(ProviderProbesFailed, int64(len(failed)))
	}
	return failed
}

// result makes the probe of a provider, which happens once a day, and reports whether its result is known. An error is
// a failed probe. The result of one that has succeeded is deleted.
func (p probe) result(ctx context.Context, factory string, m liveModel, last bool) (over bool, err error) {
	path, results, body := m.request(factory)
	var made struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Failure *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"failure"`
	}
	if err := p.call(ctx, http.MethodPost, path, body, &made); err != nil {
		return true, err
	}
	err = p.call(ctx, http.MethodGet, results+made.ID, nil, &made)
	var refused *statusError
	switch {
	case errors.As(err, &refused) && refused.status == http.StatusNotFound:
		return false, nil // an earlier run has seen its result
	case err != nil:
		return true, err
	case made.State == "generated":
		return true, p.call(ctx, http.MethodDelete, results+made.ID, nil, nil)
	case made.Failure != nil:
		return true, fmt.Errorf("%s is %s: %s: %s", made.ID, made.State, made.Failure.Code, made.Failure.Message)
	case last || made.State != "queued" && made.State != "generating":
		return true, fmt.Errorf("%s is %s", made.ID, made.State)
	}
	return false, nil
}
