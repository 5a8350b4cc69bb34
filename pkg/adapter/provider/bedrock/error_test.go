package bedrock

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestRefusalsDecideTheNextStep(t *testing.T) {
	type errorBody struct {
		status        int
		code, message string
		after         string
	}
	var answer errorBody
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		if answer.code != "" {
			w.Header().Set("X-Amzn-Errortype", answer.code+":http://internal.amazon.com/coral/com.amazon.bedrock/")
		}
		if answer.after != "" {
			w.Header().Set("Retry-After", answer.after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": answer.message})
	}))
	t.Cleanup(server.Close)
	p := at(server.URL, "eu-central-1", &bucket{})
	for _, c := range []struct {
		errorBody
		kind  provider.ErrorKind
		code  string
		after time.Duration
	}{
		{errorBody{429, "ThrottlingException", "Too many requests, please wait before trying again.", ""},
			provider.Transient, "provider_busy", 0},
		{errorBody{429, "ThrottlingException", "Rate exceeded", "12"}, provider.Transient, "provider_busy",
			12 * time.Second},
		{errorBody{429, "ThrottlingException", "Rate exceeded", "999999"}, provider.Transient,
			"provider_busy", time.Hour},
		{errorBody{429, "ThrottlingException", "Rate exceeded", "tomorrow"}, provider.Transient, "provider_busy", 0},
		{errorBody{429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", ""},
			provider.Quota, "provider_quota", 0},
		{errorBody{400, "ServiceQuotaExceededException", "too much", ""}, provider.Quota, "provider_quota", 0},
		{errorBody{408, "ModelTimeoutException", "late", ""}, provider.Transient, "provider_unavailable", 0},
		{errorBody{429, "ModelNotReadyException", "warming up", "3"}, provider.Transient, "provider_unavailable",
			3 * time.Second},
		{errorBody{424, "ModelErrorException", "failed", ""}, provider.Transient, "provider_unavailable", 0},
		{errorBody{503, "ServiceUnavailableException", "away", ""}, provider.Transient, "provider_unavailable", 0},
		{errorBody{500, "InternalServerException", "trouble", ""}, provider.Transient, "provider_unavailable", 0},
		{errorBody{400, "ValidationException", "wrong", ""}, provider.BadInput, "provider_refused", 0},
		{errorBody{400, "ValidationException", "This request has been blocked by our content filters.", ""},
			provider.BadInput, "content_policy", 0},
		{errorBody{400, "ConflictException", "another", ""}, provider.BadInput, "provider_refused", 0},
		{errorBody{403, "AccessDeniedException", "You don't have access to the model", ""}, provider.BadInput,
			"provider_access", 0},
		{errorBody{404, "ResourceNotFoundException", "no such model", ""}, provider.BadInput, "unsupported_model", 0},
		{errorBody{403, "ExpiredTokenException", "expired", ""}, provider.Quota, "provider_access", 0},
		{errorBody{403, "UnrecognizedClientException", "who", ""}, provider.Quota, "provider_access", 0},
		{errorBody{403, "", "", ""}, provider.Quota, "provider_access", 0},
		{errorBody{429, "", "", ""}, provider.Transient, "provider_busy", 0},
		{errorBody{400, "NewException", "?", ""}, provider.BadInput, "provider_refused", 0},
		{errorBody{408, "", "", ""}, provider.Transient, "provider_unavailable", 0},
		{errorBody{502, "", "", ""}, provider.Transient, "provider_unavailable", 0},
	} {
		answer = c.errorBody
		calls = 0
		for name, call := range map[string]func() error{
			"text":  func() error { _, err := p.Submit(t.Context(), of(t, "nova-lite", "x")); return err },
			"image": func() error { _, err := p.Submit(t.Context(), of(t, "stable-image-core", "x")); return err },
			"video": func() error { _, err := p.Submit(t.Context(), of(t, film, "x")); return err },
			"poll":  func() error { _, err := p.Poll(t.Context(), handle); return err },
		} {
			var e *provider.Error
			if err := call(); !errors.As(err, &e) || e.Kind != c.kind || e.Code != c.code || e.RetryAfter != c.after ||
				e.Message == "" || e.Cause == nil {
				t.Errorf("%s after %+v: %v after %v; want %s %s after %v", name, c.errorBody, err, e.RetryAfter, c.kind,
					c.code, c.after)
			}
		}
		if calls != 4 {
			t.Errorf("%+v: %d calls for 4: something was repeated", c.errorBody, calls)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close() // its port is free now
	p := at(server.URL, "eu-central-1", &bucket{})
	for _, model := range []string{"nova-lite", "stable-image-core", film} {
		var e *provider.Error
		if _, err := p.Submit(t.Context(), of(t, model, "x")); !errors.As(err, &e) || e.Kind != provider.Transient ||
			e.Code != "provider_unavailable" {
			t.Errorf("%s: %v: nothing was sent", model, err)
		}
	}
}

func TestStrangeAnswers(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	p := at(server.URL, "eu-central-1", &bucket{})
	for _, c := range []struct {
		model, answer string
		kind          provider.ErrorKind
		code          string
	}{
		{"nova-lite", `{}`, provider.Transient, "text_unreadable"},
		{"nova-lite", `{"output": {"message": {"role": "assistant", "content": [{"text": "I'd rather not."}]}}, "stopReason": "end_turn"}`, provider.Transient, "text_unreadable"},
		{"nova-lite", `{"output": {"message": {"role": "assistant", "content": [{"text": "{\"title\": \"T\", \"capt"}]}}, "stopReason": "max_tokens"}`, provider.Transient, "text_unreadable"},
		{"nova-lite", `{"stopReason": "guardrail_intervened"}`, provider.Rejected, "flagged"},
		{"nova-lite", `{"stopReason": "model_context_window_exceeded"}`, provider.BadInput, "invalid_input"},
		{"nova-lite", `[`, provider.UnknownOutcome, "answer_lost"},
		{"stable-image-core", `{}`, provider.UnknownOutcome, "answer_lost"},
		{"stable-image-core", `{"images": [""]}`, provider.UnknownOutcome, "answer_lost"},
		{"stable-image-core", `{"images": ["%%%"]}`, provider.UnknownOutcome, "answer_lost"},
		{"stable-image-core", `{"images": ["aGk=", "aGk="]}`, provider.UnknownOutcome, "answer_lost"},
		{"stable-image-core", `{"finish_reasons": ["Inference error"]}`, provider.Rejected, "generation_failed"},
		{"stable-image-core", `{"finish_reasons": ["Filter reason: output image"], "images": ["aGk="]}`,
			provider.Rejected, "content_policy"},
	} {
		answer = c.answer
		var e *provider.Error
		if got, err := p.Submit(t.Context(), of(t, c.model, "x")); !errors.As(err, &e) || e.Kind != c.kind ||
			e.Code != c.code {
			t.Errorf("%s: %s: %+v, %v; want %s %s", c.model, c.answer, got, err, c.kind, c.code)
		}
	}
}
