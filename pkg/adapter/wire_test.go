package adapter_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/adapter/wire"
)

// A secret that the excerpt would cut in two is left out as a whole.
func TestARefusalHasNoSecret(t *testing.T) {
	a := wire.Answer{Status: http.StatusBadRequest, Body: []byte(strings.Repeat("x", 508) + "secret-0001")}
	if text := a.Refusal("", "secret-0001").Error(); strings.Contains(text, "secr") ||
		!strings.HasPrefix(text, `status 400: "xxx`) || len(text) > 540 {
		t.Errorf("%d: %s", len(text), text)
	}
}

func TestStatusesHaveKinds(t *testing.T) {
	for status, want := range map[int]wire.Kind{
		302: wire.Unavailable, 400: wire.Refused, 401: wire.Unauthorized, 402: wire.Unpaid, 403: wire.Forbidden,
		404: wire.Refused, 408: wire.Unavailable, 422: wire.Refused, 425: wire.Unavailable, 429: wire.Limited,
		500: wire.Unavailable, 599: wire.Unavailable, 999: wire.Unavailable,
	} {
		if got := wire.KindOf(status); got != want {
			t.Errorf("%d is of kind %d, want %d", status, got, want)
		}
	}
}

// answering answers each request with a text.
type wireAnswering string

func (a wireAnswering) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// An answer has at most as many values as a decoder can hold; the sides that adapters call may be those of strangers.
func TestWorstCaseAnswers(t *testing.T) {
	type post struct {
		ID, Title, Text, URL, State string
		Figures                     [16]int64
		At                          time.Time
	}
	const most = 1 << 20
	for name, c := range map[string]struct {
		body  string
		fails bool
	}{
		"objects":                 {"[" + strings.Repeat("{},", most/3-1) + "{}]", true},
		"objects up to the bound": {"[" + strings.Repeat("{},", 49_000) + "{}]", false},
		"numbers":                 {"[" + strings.Repeat("0,", most/2-2) + "0]", true},
		"depth":                   {strings.Repeat("[", most), true},
		"depth of objects":        {strings.Repeat(`{"a":`, most/5), true},
		"a text":                  {`{"id":"` + strings.Repeat("a", most-20) + `"}`, false},
		"no JSON":                 {"<p>" + strings.Repeat(",", most-3), false},
	} {
		cost.AtMost(t, name, func() {
			answer, fault := wire.Do(t.Context(), wireAnswering(c.body), wire.Call{Method: http.MethodGet, URL: "https://a.example"})
			if (fault != nil) != c.fails {
				t.Errorf("%s: %v", name, fault)
			}
			if fault == nil {
				var posts []post
				_ = json.Unmarshal(answer.Body, &posts) // one of them is no list
			}
		})
	}
}
