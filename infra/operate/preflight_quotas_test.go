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
		{"On-demand model inference requests per minute for Amazon Nova Lite", 200},
		{"Cross-region model inference requests per minute for Amazon Nova Lite", 400},
		{"Cross-region model inference tokens per minute for Amazon Nova Lite", 400_000},
		{"Cross-region model inference requests per minute for Amazon Nova 2 Lite", 100},
		{"Cross-region model inference requests per minute for Anthropic Claude Haiku 5.5 V1", 50},
		{"Cross-region model inference requests per minute for Anthropic Claude Sonnet 4.5 V1", 70},
		{"On-demand model inference requests per minute for Stability.ai Stable Image Core 1.0", 60},
		{"On-demand model inference requests per minute for Stability.ai Stable Image Core Remastered Two", 9},
	})
	want := map[string]int{"nova-lite": 400, "nova-2-lite": 100, "claude-haiku-5.5": 50, "stable-image-core": 60}
	if !maps.Equal(limits, want) || !slices.Equal(unknown, []string{"stable-image-ultra"}) {
		t.Errorf("%v, and unknown are %v", limits, unknown)
	}
}

// Polly counts calls a second by the engine of the voice.
func TestQuotasOfPollyAreLimits(t *testing.T) {
	limits, unknown := preflight.Limits(catalog.Models(catalog.Filter{Provider: "polly"}), []preflight.Quota{
		{"SynthesizeSpeech transactions per second for standard voices", 80},
		{"SynthesizeSpeech burst transactions per second for standard voices", 100},
		{"SynthesizeSpeech transactions per second for neural voices", 8},
		{"SynthesizeSpeech concurrent requests for neural voices", 18},
		{"SynthesizeSpeech transactions per second for long form voices", 0.5},
		{"StartSpeechSynthesisTask transactions per second for generative voices", 1},
	})
	want := map[string]int{"polly-standard": 4800, "polly-neural": 480, "polly-long-form": 30}
	if !maps.Equal(limits, want) || !slices.Equal(unknown, []string{"polly-generative"}) {
		t.Errorf("%v, and unknown are %v", limits, unknown)
	}
}

// bedrockQuotas returns a quota of each kind for each model of Bedrock, and one for each engine of Polly.
func bedrockQuotas() (all []preflight.Quota) {
	for _, m := range catalog.Models(catalog.Filter{Provider: "polly"}) {
		all = append(all, preflight.Quota{"SynthesizeSpeech transactions per second for " + m.ProviderModel + " voices", 8})
	}
	for _, m := range catalog.Models(catalog.Filter{Provider: "bedrock"}) {
		all = append(all, preflight.Quota{"Cross-region model inference requests per minute for " + m.Name, 12},
			preflight.Quota{"On-demand model inference requests per minute for " + m.Name, 12})
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
