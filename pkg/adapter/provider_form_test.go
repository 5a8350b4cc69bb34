package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// filled answers every request with one result.
type filled struct {
	provider.Provider
	result *provider.Result
}

func (filled) Name() string                        { return "filled" }
func (filled) Capabilities() provider.Capabilities { return provider.Capabilities{} }
func (f filled) Submit(context.Context, provider.Request) (provider.Submission, error) {
	return provider.Submission{Result: f.result}, nil
}

func TestAFormIsFilledIn(t *testing.T) {
	req := provider.Request{Kind: provider.KindText, Prompt: "x", Form: &provider.Form{System: "Answer with topics.", Tokens: 300}}
	system, user := provider.TextPrompt(req)
	if system != "Answer with topics." || user != "x" {
		t.Errorf("the prompts are %q and %q", system, user)
	}
	req.Options = map[string]string{provider.OptionReasoning: "200"}
	if got := provider.TextTokens(req).Output; got != 500 {
		t.Errorf("it may write %d tokens, want 500", got)
	}
	got, err := provider.Ask(t.Context(), filled{result: &provider.Result{Object: json.RawMessage(`{"a":1}`)}}, req)
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := provider.Ask(t.Context(), filled{}, req); err == nil {
		t.Error("a provider that did not answer at once was accepted")
	}
	if _, err := provider.Ask(t.Context(), filled{}, provider.Request{}); err == nil {
		t.Error("a request without a form was accepted")
	}
}

func TestAnObjectIsFoundInAnAnswer(t *testing.T) {
	for _, raw := range []string{`{"a": [1]}`, "```json\n{\"a\": [1]}\n```", `Sure! {"a": [1]} Done.`} {
		if got, err := provider.ParseObject(raw); err != nil || string(got) != `{"a": [1]}` {
			t.Errorf("%q: got %s, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "[1]", `{"a":`, `{"a": 1} and {"b": 2}`} {
		var e *provider.Error
		if _, err := provider.ParseObject(raw); !errors.As(err, &e) || e.Kind != provider.Transient || e.Code != "text_unreadable" {
			t.Errorf("%q: got %v, want text_unreadable", raw, err)
		}
	}
}
