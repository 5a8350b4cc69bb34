package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/cloud/metric"
)

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
