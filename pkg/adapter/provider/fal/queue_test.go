package fal

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// said is an answer of the queue.
type said struct {
	status int
	body   string
}

// queue plays a queue that returns certain answers, by method and path.
func queue(t *testing.T, answers map[string]said) *Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			t.Errorf("asked for %s %s", r.Method, r.URL.Path)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(server.Close)
	return New(wire.Config{
		BaseURL: server.URL, Now: func() time.Time { return noon },
		Key: func(context.Context) (string, error) { return "key", nil },
	})
}

func handleOf(t *testing.T, w work) provider.Handle {
	t.Helper()
	h, err := w.handle()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHandlesLeadNowhereElse(t *testing.T) {
	good := work{Model: "fal-ai/flux/schnell", Request: "764cabcf-b745", Kind: provider.KindImage, Count: 1}
	if got, err := parse(handleOf(t, good)); err != nil || got != good {
		t.Fatalf("got %+v, %v", got, err)
	}
	p := queue(t, nil)
	for name, change := range map[string]func(*work){
		"a model that climbs":   func(w *work) { w.Model = "fal-ai/../../admin" },
		"a model without owner": func(w *work) { w.Model = "flux" },
		"a host":                func(w *work) { w.Model = "//evil.example.com/x" },
		"a query":               func(w *work) { w.Model = "fal-ai/flux?x=1" },
		"a request that climbs": func(w *work) { w.Request = "../../x" },
		"a request with a path": func(w *work) { w.Request = "a/b" },
		"no request":            func(w *work) { w.Request = "" },
		"no kind":               func(w *work) { w.Kind = "sculpture" },
		"no files":              func(w *work) { w.Count = 0 },
		"many files":            func(w *work) { w.Count = 1 << 30 },
	} {
		w := good
		change(&w)
		if _, err := p.Poll(t.Context(), handleOf(t, w)); provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parse(provider.Handle(base64.RawURLEncoding.EncodeToString([]byte("[]")))); err == nil {
		t.Error("a list was taken")
	}
}

func TestARequestIDThatIsNoneIsALostAnswer(t *testing.T) {
	for _, body := range []string{`{}`, `{"request_id":""}`, `{"request_id":"../../x"}`, `{"request_id":7}`, `[]`} {
		p := queue(t, map[string]said{"POST /fal-ai/flux/schnell": {200, body}})
		_, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux/schnell",
			Prompt: "Sea"})
		if provider.KindOf(err) != provider.UnknownOutcome {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestRefusalsOfASubmission(t *testing.T) {
	for _, c := range []struct {
		said
		kind provider.ErrorKind
		code string
	}{
		{said{403, `{"detail":"User is locked. Reason: Exhausted balance."}`}, provider.Quota, "provider_quota"},
		{said{403, `{"detail":"Forbidden"}`}, provider.Quota, "provider_access"},
		{said{404, `{"detail":"Application not found"}`}, provider.BadInput, "unsupported_model"},
		{said{422, `{"detail":[{"loc":["body","prompt"],"msg":"…","type":"content_policy_violation"}]}`},
			provider.BadInput, "content_policy"},
		{said{422, `{"detail":[{"loc":["body","image_url"],"msg":"…","type":"file_download_error"}]}`},
			provider.BadInput, "input_unreadable"},
		{said{422, `{"detail":[{"loc":["body","prompt"],"msg":"…","type":"missing"}]}`}, provider.BadInput,
			"provider_refused"},
		{said{503, `{"detail":"…","error_type":"runner_scheduling_failure"}`}, provider.Transient,
			"provider_unavailable"},
		{said{502, `<html>`}, provider.Transient, "provider_unavailable"},
	} {
		p := queue(t, map[string]said{"POST /fal-ai/flux/schnell": c.said})
		_, err := p.Submit(t.Context(), provider.Request{Kind: provider.KindImage, Model: "fal-ai/flux/schnell",
			Prompt: "Sea"})
		var e *provider.Error
		if !as(err, &e) || e.Kind != c.kind || e.Code != c.code {
			t.Errorf("%v: got %v", c.said, err)
		}
	}
}

// as finds the provider's error in an error.
func as(err error, e **provider.Error) bool { return errors.As(err, e) }

// How a request ended is in its result.
func TestHowARequestEnded(t *testing.T) {
	const path = "GET /fal-ai/flux/requests/a1"
	w := work{Model: "fal-ai/flux/schnell", Request: "a1", Kind: provider.KindImage, Count: 2}
	two := `{"images":[{"url":"https://a.example.com/1"},{"url":"https://a.example.com/2"}]`
	for _, c := range []struct {
		said
		state provider.State // "": asking failed
		kind  provider.ErrorKind
		code  string
	}{
		{said{200, two + `}`}, provider.Succeeded, 0, ""},
		{said{200, two + `,"has_nsfw_concepts":[false,false]}`}, provider.Succeeded, 0, ""},
		{said{200, two + `,"has_nsfw_concepts":[false,true]}`}, provider.Failed, provider.Rejected, "content_policy"},
		{said{200, `{"images":[{"url":"https://a.example.com/1"}]}`}, "", provider.Transient,
			"provider_answer_invalid"},
		{said{200, `{"images":[{"url":"https://a.example.com/1"},{}]}`}, "", provider.Transient,
			"provider_answer_invalid"},
		{said{200, `{"video":{"url":"https://a.example.com/1"}}`}, "", provider.Transient, "provider_answer_invalid"},
		{said{422, `{"detail":[{"loc":["body","prompt"],"msg":"…","type":"content_policy_violation"}]}`},
			provider.Failed, provider.BadInput, "content_policy"},
		{said{422, `{"detail":[{"loc":["body","prompt"],"msg":"…","type":"string_too_long"}]}`}, provider.Failed,
			provider.BadInput, "provider_refused"},
		{said{500, `{"detail":"…","error_type":"runner_server_error"}`}, provider.Failed, provider.Rejected,
			"generation_failed"},
		{said{504, `{"detail":[{"loc":["body"],"msg":"…","type":"generation_timeout"}]}`}, provider.Failed,
			provider.Rejected, "generation_failed"},
		{said{500, `Internal Server Error`}, "", provider.Transient, "provider_unavailable"},
		{said{404, `{"detail":"Not found"}`}, provider.Failed, provider.Rejected, "result_expired"},
		{said{499, `{"detail":"…","error_type":"client_cancelled"}`}, provider.Canceled, provider.Rejected, "canceled"},
		{said{401, `{}`}, "", provider.Quota, "provider_access"},
	} {
		p := queue(t, map[string]said{path: c.said, path + "/status": {200, `{"status":"COMPLETED"}`}})
		status, err := p.Poll(t.Context(), handleOf(t, w))
		if c.state == "" {
			var e *provider.Error
			if !as(err, &e) || e.Kind != c.kind || e.Code != c.code {
				t.Errorf("%v: polled as %+v, %v", c.said, status, err)
			}
			continue
		}
		if err != nil || status.State != c.state {
			t.Errorf("%v: polled as %+v, %v", c.said, status, err)
			continue
		}
		result, err := p.Fetch(t.Context(), handleOf(t, w))
		if c.state == provider.Succeeded {
			if err != nil || len(result.Media) != 2 || status.Progress != 100 {
				t.Errorf("%v: %+v, %v", c.said, result, err)
			}
			continue
		}
		var e *provider.Error
		if status.Failure == nil || status.Failure.Kind != c.kind || status.Failure.Code != c.code {
			t.Errorf("%v: failed as %v", c.said, status.Failure)
		}
		if !as(err, &e) || e.Kind != provider.Rejected || e.Code != c.code {
			t.Errorf("%v: fetched as %v", c.said, err)
		}
	}
}

func TestFetchingTooEarly(t *testing.T) {
	const path = "GET /fal-ai/flux/requests/a1"
	w := work{Model: "fal-ai/flux/schnell", Request: "a1", Kind: provider.KindImage, Count: 1, Began: noon.Unix()}
	for _, early := range []said{
		{400, `{"detail":"Request is still in progress"}`}, {202, `{"status":"IN_PROGRESS","logs":null}`},
		{202, `{"status":"IN_QUEUE","queue_position":3}`},
	} {
		p := queue(t, map[string]said{path: early, path + "/status": {202, `{"status":"IN_PROGRESS"}`}})
		_, err := p.Fetch(t.Context(), handleOf(t, w))
		var e *provider.Error
		if !as(err, &e) || e.Kind != provider.Transient || e.Code != "not_ready" || e.RetryAfter != time.Second {
			t.Errorf("%v: %v", early, err)
		}
	}
}

func TestStatusesOfAnotherWorldAreNone(t *testing.T) {
	const path = "GET /fal-ai/flux/requests/a1/status"
	for _, body := range []string{`{"status":"DONE"}`, `{}`, `null`} {
		p := queue(t, map[string]said{path: {200, body}})
		_, err := p.Poll(t.Context(), handleOf(t, work{Model: "fal-ai/flux/schnell", Request: "a1",
			Kind: provider.KindImage, Count: 1}))
		if provider.KindOf(err) != provider.Transient || err == nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	p := queue(t, map[string]said{path: {404, `{"detail":"Request not found"}`}})
	if _, err := p.Poll(t.Context(),
		handleOf(t, work{Model: "fal-ai/flux/schnell", Request: "a1", Kind: provider.KindImage,
			Count: 1})); provider.KindOf(err) != provider.BadInput {
		t.Errorf("unknown: %v", err)
	}
}

func TestCanceling(t *testing.T) {
	for _, c := range []struct {
		said
		kind provider.ErrorKind
	}{
		{said{202, `{"status":"CANCELLATION_REQUESTED"}`}, 0},
		{said{400, `{"status":"ALREADY_COMPLETED"}`}, 0},
		{said{404, `{"status":"NOT_FOUND"}`}, provider.BadInput},
		{said{400, `{"detail":"no"}`}, provider.BadInput},
		{said{500, ``}, provider.Transient},
	} {
		p := queue(t, map[string]said{"PUT /bytedance/seedance-2.0/requests/a1/cancel": c.said})
		err := p.Cancel(t.Context(), handleOf(t, work{Model: "bytedance/seedance-2.0/text-to-video", Request: "a1",
			Kind: provider.KindVideo, Count: 1}))
		if (err == nil) != (c.kind == 0) || err != nil && provider.KindOf(err) != c.kind {
			t.Errorf("%v: %v", c.said, err)
		}
	}
}

func TestQuestionsBecomeRarer(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		-time.Minute: time.Second, 0: time.Second, 8 * time.Second: 2 * time.Second, 40 * time.Second: 10 * time.Second,
		time.Hour: 15 * time.Second,
	} {
		if got := (work{Began: noon.Unix()}).wait(noon.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
}

func TestImageSizes(t *testing.T) {
	for _, ratio := range []string{"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"} {
		for megapixels := range 5 {
			size, err := imageSize(ratio, megapixels)
			if megapixels == 0 {
				if provider.KindOf(err) != provider.BadInput {
					t.Errorf("%s without pixels: %v, %v", ratio, size, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", ratio, err)
			}
			w, h := size["width"].(int), size["height"].(int)
			var across, down int
			if _, err := fmt.Sscanf(ratio, "%d:%d", &across, &down); err != nil {
				t.Fatal(err)
			}
			shape := float64(w*down) / float64(h*across)
			if shape < 0.99 || shape > 1.01 || w*h > megapixels<<20 || w*h < megapixels<<20*8/10 ||
				w%32 != 0 || h%32 != 0 {
				t.Errorf("%s of %d megapixels is %d x %d", ratio, megapixels, w, h)
			}
		}
	}
	for _, ratio := range []string{"", "1", "0:1", "1:0", "-1:1", "a:b", "1:1000"} {
		if size, err := imageSize(ratio, 1); provider.KindOf(err) != provider.BadInput || err == nil {
			t.Errorf("%q: %v, %v", ratio, size, err)
		}
	}
}
