package operate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// The names of quotas are those that Service Quotas shows.
func TestQuotasAreLimitsOfModels(t *testing.T) {
	var models []catalog.Model
	for _, id := range []string{"nova-lite", "nova-2-lite", "claude-haiku-5.5", "stable-image-core", "stable-image-ultra"} {
		m, ok := catalog.Find(id)
		if !ok {
			t.Fatalf("there is no model %s", id)
		}
		models = append(models, m)
	}
	limits, unknown := preflight.Limits(models, []preflight.Quota{
		{Name: "On-demand model inference requests per minute for Amazon Nova Lite", Value: 200},
		{Name: "Cross-region model inference requests per minute for Amazon Nova Lite", Value: 400},
		{Name: "Cross-region model inference tokens per minute for Amazon Nova Lite", Value: 400_000},
		{Name: "Cross-region model inference requests per minute for Amazon Nova 2 Lite", Value: 100},
		{Name: "Cross-region model inference requests per minute for Anthropic Claude Haiku 5.5 V1", Value: 50},
		{Name: "Cross-region model inference requests per minute for Anthropic Claude Sonnet 4.5 V1", Value: 70},
		{Name: "On-demand model inference requests per minute for Stability.ai Stable Image Core 1.0", Value: 60},
		{Name: "On-demand model inference requests per minute for Stability.ai Stable Image Core Remastered Two", Value: 9},
	})
	want := map[string]int{"nova-lite": 400, "nova-2-lite": 100, "claude-haiku-5.5": 50, "stable-image-core": 60}
	if !maps.Equal(limits, want) || !slices.Equal(unknown, []string{"stable-image-ultra"}) {
		t.Errorf("%v, and unknown are %v", limits, unknown)
	}
}

// Polly counts calls a second by the engine of the voice.
func TestQuotasOfPollyAreLimits(t *testing.T) {
	limits, unknown := preflight.Limits(catalog.Models(catalog.Filter{Provider: "polly"}), []preflight.Quota{
		{Name: "SynthesizeSpeech transactions per second for standard voices", Value: 80},
		{Name: "SynthesizeSpeech burst transactions per second for standard voices", Value: 100},
		{Name: "SynthesizeSpeech transactions per second for neural voices", Value: 8},
		{Name: "SynthesizeSpeech concurrent requests for neural voices", Value: 18},
		{Name: "SynthesizeSpeech transactions per second for long form voices", Value: 0.5},
		{Name: "StartSpeechSynthesisTask transactions per second for generative voices", Value: 1},
	})
	want := map[string]int{"polly-standard": 4800, "polly-neural": 480, "polly-long-form": 30}
	if !maps.Equal(limits, want) || !slices.Equal(unknown, []string{"polly-generative"}) {
		t.Errorf("%v, and unknown are %v", limits, unknown)
	}
}

// bedrockQuotas returns a quota of each kind for each model of Bedrock, and one for each engine of Polly.
func bedrockQuotas() (all []preflight.Quota) {
	for _, m := range catalog.Models(catalog.Filter{Provider: "polly"}) {
		all = append(all, preflight.Quota{Name: "SynthesizeSpeech transactions per second for " + m.ProviderModel + " voices", Value: 8})
	}
	for _, m := range catalog.Models(catalog.Filter{Provider: "bedrock"}) {
		all = append(all, preflight.Quota{Name: "Cross-region model inference requests per minute for " + m.Name, Value: 12},
			preflight.Quota{Name: "On-demand model inference requests per minute for " + m.Name, Value: 12})
	}
	return all
}

func TestPreflightShowsTheQuotasOfModels(t *testing.T) {
	a := ready()
	said := func(quotas []preflight.Quota) preflight.Result {
		a.quotas = quotas
		results, err := preflight.Run(t.Context(), a, acme(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return results[slices.IndexFunc(results, func(r preflight.Result) bool { return r.Check == "quotas of models" })]
	}
	if r := said(bedrockQuotas()); r.State != preflight.OK || !strings.Contains(r.Text, "nova-lite 12") ||
		!strings.Contains(r.Text, "polly-neural 480") {
		t.Errorf("%+v", r)
	}
	if r := said(bedrockQuotas()[:2]); r.State != preflight.Warning || !strings.Contains(r.Text, "No quota names") {
		t.Errorf("%+v", r)
	}
}
