package worker_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const liveKey = "svc_live_hunter2"

// stage is an API that makes something for each provider.
type stage struct {
	*world
	// states are the states of what was made, by idempotency key, and bodies what it was made of.
	states map[string]string
	bodies map[string]map[string]any
	// after is the state of what is made by the first call with each key, by the path of the call.
	after map[string]string
	// only has the providers to probe, as a list in JSON.
	only string
}

const models = `[
	{"id":"ultra","provider":"fal","kind":"image","state":"available","price":{"credits":6,"per":1}},
	{"id":"schnell","provider":"fal","kind":"image","state":"available","price":{"credits":3,"per":10}},
	{"id":"edit","provider":"fal","kind":"image","state":"available","price":{"credits":1,"per":10},
		"capabilities":{"requires":["image"]}},
	{"id":"free","provider":"fal","kind":"image","state":"preview","price":null},
	{"id":"nova","provider":"bedrock","kind":"text","state":"available","price":{"credits":8,"per":25}},
	{"id":"core","provider":"bedrock","kind":"image","state":"available","price":{"credits":4,"per":1}},
	{"id":"flash","provider":"elevenlabs","kind":"voice","state":"available","price":{"credits":4,"per":1}},
	{"id":"gen-4","provider":"replicate","kind":"video","state":"unavailable","price":{"credits":5,"per":1}}]`

func newStage(t *testing.T) *stage {
	s := &stage{world: newWorld(t), states: map[string]string{}, bodies: map[string]map[string]any{},
		after: map[string]string{"/v1/studio/images": "generating", "/v1/studio/voices": "generating",
			"/v1/content-items": "queued"}}
	s.has = true
	plain := s.server.Config.Handler
	s.server.Close()
	s.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+liveKey {
			plain.ServeHTTP(rw, r)
			return
		}
		s.serveLive(rw, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *stage) serveLive(rw http.ResponseWriter, r *http.Request) {
	once := r.Header.Get("Idempotency-Key")
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	call := r.Method + " " + r.URL.Path
	data := ""
	switch {
	case call == "GET /v1/factories":
		data = `[{"id":"fac_1"}]`
	case call == "GET /v1/catalog/models":
		data = models
	case s.reject[call] != 0:
		rw.WriteHeader(s.reject[call])
		return
	case r.Method == http.MethodPost:
		if _, again := s.states[once]; !again {
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				s.Error(err)
			}
			s.states[once], s.bodies[once] = s.after[r.URL.Path], body
		}
		data = fmt.Sprintf(`{"id":%q,"state":"queued"}`, once)
	case s.states[id] == "deleted":
		rw.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodDelete:
		s.states[id], data = "deleted", `{}`
	case s.states[id] == "failed":
		data = fmt.Sprintf(`{"id":%q,"state":"failed","failure":{"code":"provider_access","message":"No."}}`, id)
	default:
		data = fmt.Sprintf(`{"id":%q,"state":%q}`, id, s.states[id])
	}
	_, _ = rw.Write([]byte(`{"data":` + data + `}`))
}

// at runs the canary at a time of the day, and returns the providers that have failed, and the metric.
func (s *stage) at(clock string) (failed []string, counted string) {
	s.Helper()
	at, err := time.Parse("15:04", clock)
	if err != nil {
		s.Fatal(err)
	}
	day := time.Date(2026, 5, 4, at.Hour(), at.Minute(), 0, 0, time.UTC)
	s.clock.Add(day.Sub(s.clock.Now()))
	s.metric.Reset()
	r, err := s.run(fmt.Sprintf(`{"base_url":%q,"key":%q,"live_key":%q,"live_providers":%s}`, s.server.URL, key,
		liveKey, cmp.Or(s.only, "[]")))
	if err != nil || r.Error != "" {
		s.Fatalf("%+v, %v", r, err)
	}
	for n := range 5 {
		if strings.Contains(s.metric.String(), fmt.Sprintf(`"ProviderProbesFailed":%d,`, n)) {
			counted = fmt.Sprint(n)
		}
	}
	return r.Providers, counted
}

// Each provider is asked once a day for the cheapest thing that it makes.
func TestEachProviderIsProbedOnceADay(t *testing.T) {
	s := newStage(t)
	if failed, counted := s.at("03:55"); len(failed) > 0 || counted != "" || len(s.states) > 0 {
		t.Errorf("before the time of day: %v, %q, %v", failed, counted, s.states)
	}
	if failed, counted := s.at("04:00"); len(failed) > 0 || counted != "" {
		t.Errorf("nothing is known yet: %v, %q", failed, counted)
	}
	for once, want := range map[string]string{"probe-fal-2026-05-04": "schnell",
		"probe-elevenlabs-2026-05-04": "flash"} {
		if s.bodies[once]["model"] != want {
			t.Errorf("%s: %v", once, s.bodies[once])
		}
	}
	if b := s.bodies["probe-bedrock-2026-05-04"]; b["quality"] != "draft" || b["factory_id"] != "fac_1" ||
		len(s.bodies) != 3 {
		t.Errorf("%v", s.bodies)
	}
	s.states["probe-fal-2026-05-04"] = "generated"
	if failed, counted := s.at("04:05"); len(failed) > 0 || counted != "0" {
		t.Errorf("one is ready: %v, %q", failed, counted)
	}
	s.states["probe-elevenlabs-2026-05-04"] = "failed"
	if failed, counted := s.at("04:10"); !slices.Equal(failed, []string{"elevenlabs"}) || counted != "1" {
		t.Errorf("one has failed: %v, %q", failed, counted)
	}
	s.states["probe-elevenlabs-2026-05-04"] = "deleted"
	if failed, counted := s.at("04:25"); !slices.Equal(failed, []string{"bedrock"}) || counted != "1" {
		t.Errorf("one was not ready in time: %v, %q", failed, counted)
	}
	if failed, counted := s.at("04:30"); len(failed) > 0 || counted != "" || len(s.states) != 3 {
		t.Errorf("after the time of day: %v, %q, %v", failed, counted, s.states)
	}
}

func TestOnlySomeProvidersAreProbed(t *testing.T) {
	s := newStage(t)
	s.only = `["fal"]`
	if s.at("04:00"); len(s.bodies) != 1 || s.bodies["probe-fal-2026-05-04"] == nil {
		t.Errorf("%v", s.bodies)
	}
}

func TestAProbeThatIsRefusedHasFailed(t *testing.T) {
	for call, want := range map[string][]string{
		"POST /v1/studio/images": {"fal"}, "GET /v1/studio/generations/probe-fal-2026-05-04": {"fal"},
	} {
		s := newStage(t)
		s.reject[call] = http.StatusPaymentRequired
		if failed, counted := s.at("04:00"); !slices.Equal(failed, want) || counted != "1" {
			t.Errorf("%s: %v, %q", call, failed, counted)
		}
	}
	for _, bad := range []string{`{"live_key":"svc_live_x"}`,
		`{"base_url":"https://a.example","key":"svc_test_x","live_key":"svc_test_x"}`} {
		if _, err := newWorld(t).run(bad); err == nil {
			t.Errorf("%s is a target", bad)
		}
	}
}
