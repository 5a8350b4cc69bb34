package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/infra/verify/harness/providertest/faulttest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/replicate"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/testdata/providers/control"
	fake "github.com/content-automation/api/testdata/providers/replicate"
	"github.com/content-automation/api/testdata/providers/sample"
)

// against returns the provider with a server behind it.
func against(t *testing.T, h http.Handler) *replicate.Provider {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return replicate.New(wire.Config{
		// On a kept connection net/http itself would repeat a question that got no answer.
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, BaseURL: server.URL,
		Key:   func(context.Context) (string, error) { return "key", nil },
		Files: wire.NewFiles(safehttp.Options{AllowLoopback: true}),
	})
}

func start(t *testing.T) (*replicate.Provider, *control.Control, *apitest.Clock) {
	t.Helper()
	c, faults := apitest.NewClock(), control.New()
	return against(t, fake.New(faults, sample.File, c.Now, 20*time.Second)), faults, c
}

const picture = "https://media.example.com/a.png?signature=1"

// requests returns requests for all capabilities that the catalog lists for the models.
func requests(t *testing.T) (all []provider.Request) {
	t.Helper()
	for _, m := range catalog.Models(catalog.Filter{}) {
		if m.Provider != replicate.Name {
			continue
		}
		can := m.Capabilities
		r := provider.Request{Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions, Prompt: "Sea",
			Seconds: can.MaxSeconds}
		if slices.Contains(can.Requires, catalog.InputImage) {
			r.ImageURL = picture
		}
		for _, ratio := range append([]string{""}, can.AspectRatios...) {
			for _, seconds := range append([]int{0}, can.Seconds...) {
				r.AspectRatio, r.Seconds, r.ClientToken = ratio, seconds, fmt.Sprint(m.ID, ratio, seconds)
				all = append(all, r)
			}
		}
		if can.FromImage {
			r.ImageURL, r.ClientToken = picture, m.ID+" from a picture"
			all = append(all, r)
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d requests", len(all))
	}
	return all
}

func TestReplicateConformance(t *testing.T) {
	p, faults, c := start(t)
	one := provider.Request{Kind: provider.KindVideo, Model: "runwayml/gen-4.5", Prompt: "Sea"}
	unsafe := one
	unsafe.Prompt, unsafe.ClientToken = "Not fit [unsafe] for anybody", "unsafe"
	providertest.Run(t, providertest.Suite{
		Provider: p, Advance: c.Add, Requests: requests(t), Failing: []provider.Request{unsafe},
		Faults: faulttest.Async{Control: faults, Name: fake.Name, Request: one, Advance: func(d time.Duration) {
			c.Add(min(d, 30*time.Minute)) // no output outlives an hour
		}, Result: control.Status}.Faults(),
	})
}

func TestReplicateWhatIsSent(t *testing.T) {
	p, faults, _ := start(t)
	if _, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindVideo, Model: "runwayml/gen4-turbo",
		Prompt: "Sea", ImageURL: picture, Seconds: 10}); err != nil {
		t.Fatal(err)
	}
	got := faults.Accepted()
	if len(got) != 1 || got[0].Model != "runwayml/gen4-turbo" ||
		fmt.Sprint(got[0].Input) != fmt.Sprint(map[string]any{"prompt": "Sea", "image": picture, "aspect_ratio": "9:16",
			"duration": 10.0}) {
		t.Errorf("sent %+v", got)
	}
}

func TestWhatAModelCannotDoIsRefused(t *testing.T) {
	p, faults, _ := start(t)
	for name, r := range map[string]provider.Request{
		"no such model":            {Model: "runwayml/gen-9"},
		"a path":                   {Model: "../predictions"},
		"no image":                 {Model: "runwayml/gen4-turbo"},
		"a length that it has not": {Model: "runwayml/gen-4.5", Seconds: 7},
	} {
		r.Kind, r.Prompt = provider.KindVideo, "Sea"
		if _, err := p.Submit(t.Context(), r); provider.KindOf(err) != provider.BadInput || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(faults.Accepted()); n > 0 {
		t.Errorf("%d accepted", n)
	}
}

func TestOutputsExpire(t *testing.T) {
	p, _, c := start(t)
	submission, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindVideo, Model: "runwayml/gen-4.5",
		Prompt: "Sea"})
	if err != nil {
		t.Fatal(err)
	}
	c.Add(time.Minute)
	result, err := p.Fetch(t.Context(), submission.Handle)
	if err != nil {
		t.Fatal(err)
	}
	c.Add(2 * time.Hour)
	_, opening := result.Media[0].Open(t.Context())
	_, fetching := p.Fetch(t.Context(), submission.Handle)
	for step, err := range map[string]error{"open": opening, "fetch": fetching} {
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Rejected || e.Code != "result_expired" {
			t.Errorf("%s: %v", step, err)
		}
	}
}

func TestACanceledPredictionIsOne(t *testing.T) {
	p, _, _ := start(t)
	submission, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindVideo, Model: "runwayml/gen-4.5",
		Prompt: "Sea"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cancel(t.Context(), submission.Handle); err != nil {
		t.Fatal(err)
	}
	status, err := p.Poll(t.Context(), submission.Handle)
	if err != nil || status.State != provider.Canceled {
		t.Errorf("%+v, %v", status, err)
	}
	if _, err := p.Fetch(t.Context(), submission.Handle); provider.KindOf(err) != provider.Rejected {
		t.Errorf("fetched: %v", err)
	}
}

// Answers that the fake never returns.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		state  provider.State // "": asking failed
		kind   provider.ErrorKind
		code   string
		files  int
	}{
		{200, `{"status":"succeeded","output":"https://a.example.com/1"}`, provider.Succeeded, 0, "", 1},
		{200, `{"status":"succeeded","output":["https://a.example.com/1"]}`, provider.Succeeded, 0, "", 1},
		{200, `{"status":"succeeded","output":null,"data_removed":true}`, provider.Succeeded, provider.Rejected,
			"result_expired", 0},
		{200, `{"status":"succeeded","output":null}`, provider.Succeeded, provider.Transient,
			"provider_answer_invalid", 0},
		{200, `{"status":"succeeded","output":[]}`, provider.Succeeded, provider.Transient,
			"provider_answer_invalid", 0},
		{200, `{"status":"succeeded","output":{"video":"x"}}`, provider.Succeeded, provider.Transient,
			"provider_answer_invalid", 0},
		{200, `{"status":"starting"}`, provider.Queued, provider.Transient, "not_ready", 0},
		{200, `{"status":"processing"}`, provider.Running, provider.Transient, "not_ready", 0},
		{200, `{"status":"failed","error":"out of memory"}`, provider.Failed, provider.Rejected,
			"generation_failed", 0},
		{200, `{"status":"failed","error":"… flagged as sensitive … (E005)"}`, provider.Failed, provider.Rejected,
			"content_policy", 0},
		{200, `{"status":"failed","error":null}`, provider.Failed, provider.Rejected, "generation_failed", 0},
		{200, `{"status":"aborted"}`, provider.Canceled, provider.Rejected, "canceled", 0},
		{200, `{"status":"done"}`, "", provider.Transient, "provider_answer_invalid", 0},
		{200, `{}`, "", provider.Transient, "provider_answer_invalid", 0},
		{404, `{"detail":"Not found"}`, "", provider.BadInput, "unknown_generation", 0},
		{401, `{"detail":"Unauthenticated"}`, "", provider.Quota, "provider_access", 0},
		{500, ``, "", provider.Transient, "provider_unavailable", 0},
	} {
		p := against(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		check := func(step string, err error) {
			t.Helper()
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Code != c.code {
				t.Errorf("%s %s: %v, want %s %s", step, c.body, err, c.kind, c.code)
			}
		}
		status, err := p.Poll(t.Context(), "replicate:abc")
		if c.state == "" {
			check("poll", err)
		} else if err != nil || status.State != c.state || (status.Failure != nil) != (c.state == provider.Failed ||
			c.state == provider.Canceled) {
			t.Errorf("%s: %+v, %v", c.body, status, err)
		}
		result, err := p.Fetch(t.Context(), "replicate:abc")
		if c.files == 0 {
			check("fetch", err)
		} else if err != nil || len(result.Media) != c.files {
			t.Errorf("%s: %+v, %v", c.body, result, err)
		}
	}
}

func TestAnIDThatIsNoneIsALostAnswer(t *testing.T) {
	for _, body := range []string{`{}`, `{"id":"../x"}`, `{"id":1}`, `null`} {
		p := against(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, body)
		}))
		_, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindVideo, Model: "runwayml/gen-4.5",
			Prompt: "Sea"})
		if provider.KindOf(err) != provider.UnknownOutcome {
			t.Errorf("%s: %v", body, err)
		}
	}
}
