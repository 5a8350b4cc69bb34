package bedrock

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
)

func TestTheGuardrailFlagsTexts(t *testing.T) {
	w := newWorld(t, "eu-central-1")
	g := w.Guardrail(fake.Guardrail)
	for text, want := range map[string]bool{"A calm text about nets. 👟": false, "Say " + fake.Flagged + ".": true} {
		if flagged, err := g.Moderate(t.Context(), text); err != nil || flagged != want {
			t.Errorf("%q: flagged %t, %v", text, flagged, err)
		}
	}
	if _, err := w.Guardrail("another:1").Moderate(t.Context(), "x"); err == nil {
		t.Error("a guardrail that does not exist has moderated a text")
	}
}

// Without an answer that can be read, a text counts as not moderated, and no call is repeated.
func TestAModerationWithoutAnAnswer(t *testing.T) {
	w := newWorld(t, "eu-central-1")
	g := w.Guardrail(fake.Guardrail)
	for _, kind := range []control.Kind{control.RateLimited, control.ServerError, control.Garbage, control.Drop,
		control.DropAfterAccept} {
		w.control.Queue(Name, control.Guard, control.Fault{Kind: kind})
		var e *provider.Error
		if flagged, err := g.Moderate(t.Context(), "x"); !errors.As(err, &e) || flagged || e.Kind != provider.Transient {
			t.Errorf("%s: flagged %t, %v", kind, flagged, err)
		}
	}
	if flagged, err := g.Moderate(t.Context(), "x"); err != nil || flagged {
		t.Errorf("afterwards: %t, %v", flagged, err)
	}
	for _, answer := range []string{`{}`, `{"action": "MAYBE"}`, `[`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(answer))
		}))
		if flagged, err := at(server.URL, "eu-central-1", nil).Guardrail("a:1").Moderate(t.Context(), "x"); err == nil ||
			flagged {
			t.Errorf("%s: flagged %t, %v", answer, flagged, err)
		}
		server.Close()
	}
}
