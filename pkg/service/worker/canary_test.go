package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// world is a service that generates an item after so many looks, or does something else.
type world struct {
	*testing.T
	clock  *apitest.Clock
	db     *store.DB
	calls  []string
	looks  int
	has    bool              // a factory
	reject map[string]int    // status by call
	answer map[string]string // data by call
	server *httptest.Server
	metric bytes.Buffer
}

const key = "svc_test_hunter2"

func newWorld(t *testing.T) *world {
	w := &world{T: t, clock: apitest.NewClock(), reject: map[string]int{}, answer: map[string]string{}}
	w.db = storetest.Open(t, w.clock.Now)
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	before := metric.SetOutput(&w.metric)
	t.Cleanup(func() { metric.SetOutput(before) })
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + r.URL.Path
	w.calls = append(w.calls, call)
	if signed := r.URL.Path == "/file.png"; !signed && r.Header.Get("Authorization") != "Bearer "+key || signed &&
		r.Header.Get("Authorization") != "" {
		w.Errorf("%s has the header %q", call, r.Header.Get("Authorization"))
	}
	if status := w.reject[call]; status != 0 {
		rw.Header().Set("X-Request-Id", "r-1")
		rw.WriteHeader(status)
		return
	}
	data, known := w.answer[call]
	if !known {
		switch call {
		case "GET /v1/factories":
			if data = `[]`; w.has {
				data = `[{"id":"fac_1"}]`
			}
		case "POST /v1/factories":
			data = `{"id":"fac_2"}`
		case "POST /v1/content-items":
			data = `{"id":"cnt_1","state":"queued","media":null}`
		case "GET /v1/content-items/cnt_1":
			if w.looks--; w.looks > 0 {
				data = `{"id":"cnt_1","state":"generating"}`
			} else {
				data = `{"id":"cnt_1","state":"generated","media":[{"url":"` + w.server.URL +
					`/file.png?signature=hunter2"}]}`
			}
		case "GET /file.png":
			_, _ = rw.Write([]byte("png"))
			return
		default:
			data = `{}`
		}
	}
	_, _ = rw.Write([]byte(`{"data":` + data + `}`))
}

func (w *world) run(target string) (worker.ProbeResult, error) {
	w.Helper()
	c := worker.Canary{
		Target: func(context.Context) (string, error) { return target, nil }, HTTP: w.server.Client(), DB: w.db,
		Now: w.clock.Now,
		Wait: func(_ context.Context, d time.Duration) error {
			if w.clock.Add(d); w.looks < -50 {
				return context.DeadlineExceeded
			}
			return nil
		},
	}
	return c.Run(w.Context())
}

func (w *world) target() string {
	return fmt.Sprintf(`{"base_url":%q,"key":%q}`, w.server.URL+"/", key)
}

// probes returns how many probes were counted, and how many failed.
func (w *world) probes() (all, failed int64) {
	w.Helper()
	c, err := account.ReadStack(w.Context(), w.db, w.clock.Now())
	if err != nil {
		w.Fatal(err)
	}
	return c.Probes.Calls, c.Probes.Failed
}

func TestAProbeDoesTheWholeJob(t *testing.T) {
	w := newWorld(t)
	w.looks = 3
	r, err := w.run(w.target())
	if err != nil || r.Error != "" || r.MS != 6000 {
		t.Errorf("%+v, %v", r, err)
	}
	look := "GET /v1/content-items/cnt_1"
	want := []string{"GET /v1/factories", "POST /v1/factories", "POST /v1/content-items", look, look, look,
		"GET /file.png", "DELETE /v1/content-items/cnt_1"}
	if strings.Join(w.calls, ", ") != strings.Join(want, ", ") {
		t.Errorf("it called %v", w.calls)
	}
	if all, failed := w.probes(); all != 1 || failed != 0 {
		t.Errorf("%d probes, %d failed", all, failed)
	}
	if got := w.metric.String(); !strings.Contains(got, `"ProbesFailed":0`) ||
		!strings.Contains(got, `"ProbeMilliseconds":6000`) {
		t.Error(got)
	}
	w.has, w.calls = true, nil
	if _, err := w.run(w.target()); err != nil || strings.Contains(strings.Join(w.calls, ","), "POST /v1/factories") {
		t.Errorf("a second factory: %v, %v", w.calls, err)
	}
}

func TestAProbeThatFailsIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *world)
		says  string
	}{
		"the gateway fails": {func(w *world) { w.reject["POST /v1/content-items"] = 503 },
			"POST /v1/content-items: status 503, request r-1"},
		"the key is refused": {func(w *world) { w.reject["GET /v1/factories"] = 401 }, "status 401"},
		"no JSON":            {func(w *world) { w.answer["GET /v1/factories"] = "x" }, "no JSON"},
		"the item fails": {func(
			w *world) {
			w.answer["GET /v1/content-items/cnt_1"] = `{"id":"cnt_1","state":"failed"}`
		}, "cnt_1 is failed"},
		"the file is not there": {func(w *world) { w.reject["GET /file.png"] = 403 }, "fetch the media: status 403"},
		"it takes too long": {func(w *world) {
			w.answer["GET /v1/content-items/cnt_1"] = `{"id":"cnt_1","state":"queued"}`
			w.looks = -100
		}, "cnt_1 is still queued"},
		"the service is not up":   {func(w *world) { w.server.Close() }, "GET /v1/factories"},
		"the item is not deleted": {func(w *world) { w.reject["DELETE /v1/content-items/cnt_1"] = 500 }, "DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.spoil(w)
			r, err := w.run(w.target())
			if err != nil || !strings.Contains(r.Error, c.says) || strings.Contains(r.Error, "hunter2") {
				t.Errorf("%+v, %v", r, err)
			}
			if all, failed := w.probes(); all != 1 || failed != 1 ||
				!strings.Contains(w.metric.String(), `"ProbesFailed":1`) {
				t.Errorf("%d probes, %d failed, %s", all, failed, w.metric.String())
			}
		})
	}
}

func TestWithoutATargetNothingIsProbed(t *testing.T) {
	w := newWorld(t)
	if r, err := w.run(`{}`); err != nil || !r.Idle || len(w.calls) > 0 {
		t.Errorf("%+v, %v, %v", r, err, w.calls)
	}
	for _, bad := range []string{`x`, `{"base_url":"https://a.example"}`,
		`{"base_url":"https://a.example","key":"svc_live_hunter2"}`, `{"url":"x"}`} {
		if r, err := w.run(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %+v, %v", bad, r, err)
		}
	}
	c := worker.Canary{Target: func(context.Context) (string, error) { return "", errors.New("no secret") }}
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("the secret cannot be read, and nobody hears of it")
	}
	// A canary that waits for its target is not silent, but no probe is counted for the level of service.
	if all, _ := w.probes(); all != 0 || strings.Count(w.metric.String(), `"ProbesFailed":0`) != 1 ||
		strings.Contains(w.metric.String(), "ProbeMilliseconds") {
		t.Errorf("%d probes, %s", all, w.metric.String())
	}
}

// Once a week, the canary compares the catalog with the models of Bedrock, and counts those that end.
func TestTheModelsAreComparedOnceAWeek(t *testing.T) {
	var out bytes.Buffer
	t.Cleanup(func(before io.Writer) func() { return func() { metric.SetOutput(before) } }(metric.SetOutput(&out)))
	for at, want := range map[string]bool{"2026-11-30T03:02:00Z": true, "2026-11-30T03:07:00Z": false,
		"2026-12-01T03:02:00Z": false} {
		out.Reset()
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		c := worker.Canary{Target: func(context.Context) (string, error) { return "{}", nil },
			Now:   func() time.Time { return now },
			Offer: catalog.NewOffer("bedrock", "eu-central-1", func() time.Time { return now }),
			Lives: func(context.Context) (map[string]provider.Life, error) {
				asked++
				return map[string]provider.Life{"amazon.nova-lite-v1:0": {Legacy: true}}, nil
			}}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if counted := strings.Contains(out.String(), worker.ModelEnds); counted != want || (asked == 1) != want {
			t.Errorf("at %s: counted %v, asked %d times", at, counted, asked)
		}
	}
}
