package provider

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

// filled answers every request with one result.
type filled struct {
	Provider
	result *Result
}

func (filled) Name() string               { return "filled" }
func (filled) Capabilities() Capabilities { return Capabilities{} }
func (f filled) Submit(context.Context, Request) (Submission, error) {
	return Submission{Result: f.result}, nil
}

func TestAFormIsFilledIn(t *testing.T) {
	req := Request{Kind: KindText, Prompt: "x", Form: &Form{System: "Answer with topics.", Tokens: 300}}
	system, user := TextPrompt(req)
	if system != "Answer with topics." || user != "x" {
		t.Errorf("the prompts are %q and %q", system, user)
	}
	req.Options = map[string]string{OptionReasoning: "200"}
	if got := TextTokens(req).Output; got != 500 {
		t.Errorf("it may write %d tokens, want 500", got)
	}
	got, err := Ask(t.Context(), filled{result: &Result{Object: json.RawMessage(`{"a":1}`)}}, req)
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := Ask(t.Context(), filled{}, req); err == nil {
		t.Error("a provider that did not answer at once was accepted")
	}
	if _, err := Ask(t.Context(), filled{}, Request{}); err == nil {
		t.Error("a request without a form was accepted")
	}
}

func TestAnObjectIsFoundInAnAnswer(t *testing.T) {
	for _, raw := range []string{`{"a": [1]}`, "```json\n{\"a\": [1]}\n```", `Sure! {"a": [1]} Done.`} {
		if got, err := ParseObject(raw); err != nil || string(got) != `{"a": [1]}` {
			t.Errorf("%q: got %s, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "[1]", `{"a":`, `{"a": 1} and {"b": 2}`} {
		var e *Error
		if _, err := ParseObject(raw); !errors.As(err, &e) || e.Kind != Transient || e.Code != "text_unreadable" {
			t.Errorf("%q: got %v, want text_unreadable", raw, err)
		}
	}
}
