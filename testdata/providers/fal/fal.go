// Package fal is a fake of fal's queue. It checks requests strictly by the schemas of the models
// that the service uses, lets them wait and run for a while, and returns real media as their
// results.
//
// As at fal, a request that a model would refuse still enters the queue. Its result is the
// refusal.
package fal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/testdata/providers/control"
)

// Name is the provider's name in faults.
const Name = "fal"

// Fake serves fal's queue and its files.
type Fake struct {
	control *control.Control
	samples control.Samples
	now     func() time.Time
	jobs    *control.Jobs[request]
}

// request is a queued request.
type request struct {
	app     string // owner and alias, which are the path for its status
	output  output
	refusal []detail // the errors in its input
	gone    time.Time
}

// New makes a fake whose requests take a duration, or control.JobTime if that is 0.
func New(c *control.Control, samples control.Samples, now func() time.Time, took time.Duration) *Fake {
	return &Fake{control: c, samples: samples, now: now, jobs: control.NewJobs[request](now, took)}
}

const maxBody = 1 << 20

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	n := len(parts)
	if r.Method == http.MethodGet && n == 4 && parts[0] == "files" {
		f.control.Handle(Name, control.Media, f.media)(w, r)
		return
	}
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Key "); !ok || key == "" {
		answer(w, http.StatusUnauthorized,
			map[string]any{"detail": "Authentication is required to access this application"})
		return
	}
	switch {
	case n < 4 || parts[2] != "requests":
		if r.Method != http.MethodPost {
			answer(w, http.StatusMethodNotAllowed, map[string]any{"detail": "Method Not Allowed"})
			return
		}
		f.control.Handle(Name, control.Submit, f.submit)(w, r)
	case r.Method == http.MethodGet && n == 5 && parts[4] == "status":
		f.control.Handle(Name, control.Status, f.status)(w, r)
	case r.Method == http.MethodGet && n == 4:
		f.control.Handle(Name, control.Result, f.result)(w, r)
	case r.Method == http.MethodPut && n == 5 && parts[4] == "cancel":
		f.control.Handle(Name, control.Cancel, f.cancel)(w, r)
	default:
		answer(w, http.StatusMethodNotAllowed, map[string]any{"detail": "Method Not Allowed"})
	}
}

func (f *Fake) submit(w http.ResponseWriter, r *http.Request) {
	endpoint := strings.Trim(r.URL.Path, "/")
	s, ok := schemas[endpoint]
	if !ok {
		answer(w, http.StatusNotFound, map[string]any{"detail": fmt.Sprintf("Application %q not found", endpoint)})
		return
	}
	var input map[string]any
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &input)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		answer(w, http.StatusUnprocessableEntity,
			map[string]any{"detail": []detail{{Loc: []string{"body"}, Msg: "Input should be a valid JSON object",
				Type: "json_invalid"}}})
		return
	}
	asked := request{app: app(endpoint), refusal: s.check(input), gone: f.now().Add(time.Hour)}
	if keep := r.Header.Get("X-Fal-Object-Lifecycle-Preference"); keep != "" {
		var preference struct {
			Seconds float64 `json:"expiration_duration_seconds"`
		}
		if err := json.Unmarshal([]byte(keep), &preference); err != nil || preference.Seconds <= 0 {
			answer(w, http.StatusBadRequest, map[string]any{"detail": "Invalid object lifecycle preference",
				"error_type": "bad_request"})
			return
		}
		asked.gone = f.now().Add(time.Duration(preference.Seconds * float64(time.Second)))
	}
	id := uuid.Must(uuid.NewV4()).String()
	if asked.refusal == nil {
		asked.output = s.output(input)
		f.control.Accept(control.Acceptance{
			Provider: Name, Operation: control.Submit, ID: id, Model: endpoint, Prompt: s.promptOf(input), Input: input,
		})
	}
	f.jobs.Start(id, asked, control.JobFails(r.Context()))
	at := control.Base(r) + "/" + asked.app + "/requests/" + id
	answer(w, http.StatusOK, map[string]any{
		"status": "IN_QUEUE", "request_id": id, "queue_position": 0,
		"response_url": at, "status_url": at + "/status", "cancel_url": at + "/cancel",
	})
}

// app returns the part of an endpoint that the paths for its requests begin with.
func app(endpoint string) string {
	parts := strings.SplitN(endpoint, "/", 3)
	return parts[0] + "/" + parts[1]
}

// find returns the request of a call. If there is none, it writes the error.
func (f *Fake) find(w http.ResponseWriter, r *http.Request) (control.Job[request], control.Phase, bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	job, phase, _, found := f.jobs.Find(parts[3])
	if !found || job.Work.app != parts[0]+"/"+parts[1] {
		answer(w, http.StatusNotFound, map[string]any{"detail": "Request not found"})
		return job, "", false
	}
	return job, phase, true
}

func (f *Fake) status(w http.ResponseWriter, r *http.Request) {
	job, phase, ok := f.find(w, r)
	if !ok {
		return
	}
	at := control.Base(r) + "/" + job.Work.app + "/requests/" + job.ID
	out := map[string]any{"request_id": job.ID, "response_url": at, "status_url": at + "/status",
		"cancel_url": at + "/cancel"}
	code := http.StatusAccepted
	switch {
	case phase == control.Waiting:
		out["status"], out["queue_position"] = "IN_QUEUE", 0
	case phase == control.Working:
		out["status"], out["logs"] = "IN_PROGRESS", nil
	default:
		out["status"], out["logs"], code = "COMPLETED", nil, http.StatusOK
	}
	answer(w, code, out)
}

func (f *Fake) result(w http.ResponseWriter, r *http.Request) {
	job, phase, ok := f.find(w, r)
	if !ok {
		return
	}
	switch {
	case !phase.Final():
		answer(w, http.StatusBadRequest, map[string]any{"detail": "Request is still in progress"})
	case phase == control.Canceled:
		answer(w, 499, map[string]any{"detail": "Request was cancelled by the client",
			"error_type": "client_cancelled"})
	case job.Work.refusal != nil:
		answer(w, http.StatusUnprocessableEntity, map[string]any{"detail": job.Work.refusal})
	case phase == control.Failed:
		answer(w, http.StatusInternalServerError, map[string]any{"detail": "The runner encountered an error",
			"error_type": "runner_server_error"})
	default:
		out, err := f.made(r, job)
		if err != nil {
			answer(w, http.StatusInternalServerError, map[string]any{"detail": err.Error()})
			return
		}
		answer(w, http.StatusOK, out)
	}
}

func (f *Fake) cancel(w http.ResponseWriter, r *http.Request) {
	job, _, ok := f.find(w, r)
	if !ok {
		return
	}
	if canceled, _ := f.jobs.Cancel(job.ID); !canceled {
		answer(w, http.StatusBadRequest, map[string]any{"status": "ALREADY_COMPLETED"})
		return
	}
	answer(w, http.StatusAccepted, map[string]any{"status": "CANCELLATION_REQUESTED"})
}

// answer writes a response.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone
}
