// Package replicate is a fake of Replicate's HTTP API. It checks predictions strictly by the
// schemas of the models that the service uses, lets them start and run for a while, and returns
// real media as their outputs, which it keeps for an hour.
package replicate

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
	"github.com/content-automation/api/testdata/providers/strict"
)

// Name is the provider's name in faults.
const Name = "replicate"

// keep is the time for which outputs are kept.
const keep = time.Hour

// Fake serves the API and its files.
type Fake struct {
	control *control.Control
	samples control.Samples
	now     func() time.Time
	jobs    *control.Jobs[prediction]
	mux     *http.ServeMux
}

// prediction is a requested prediction.
type prediction struct {
	model string
	input map[string]any
	ratio string
	error string // the model's error, if it fails
}

// New makes a fake whose predictions take a duration, or control.JobTime if that is 0.
func New(c *control.Control, samples control.Samples, now func() time.Time, took time.Duration) *Fake {
	f := &Fake{control: c, samples: samples, now: now, jobs: control.NewJobs[prediction](now, took),
		mux: http.NewServeMux()}
	operation := func(pattern, name string, h http.HandlerFunc) {
		handle := c.Handle(Name, name, h)
		f.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok || key == "" {
				refuse(w, http.StatusUnauthorized, "Unauthenticated", "You did not pass a valid authentication token")
				return
			}
			handle(w, r)
		})
	}
	operation("POST /v1/models/{owner}/{name}/predictions", control.Submit, f.create)
	operation("GET /v1/predictions/{id}", control.Status, f.get)
	operation("POST /v1/predictions/{id}/cancel", control.Cancel, f.cancel)
	f.mux.HandleFunc("GET /files/{id}/{name}", c.Handle(Name, control.Media, f.media))
	return f
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.mux.ServeHTTP(w, r) }

// input is the input of the models of Runway.
type input struct {
	Prompt      *string `json:"prompt"`
	Image       *string `json:"image"`
	AspectRatio *string `json:"aspect_ratio"`
	Duration    *int    `json:"duration"`
	Seed        *int    `json:"seed"`
}

// needsImage says of each model whether it requires a picture.
var needsImage = map[string]bool{"runwayml/gen-4.5": false, "runwayml/gen4-turbo": true}

var ratios = []string{"16:9", "9:16", "4:3", "3:4", "1:1", "21:9"}

// check returns the error in an input, or "".
func (in input) check(needsImage bool) string {
	switch {
	case in.Prompt == nil:
		return "- input: prompt is required"
	case *in.Prompt == "":
		return "- input.prompt: must not be empty"
	case in.Image == nil && needsImage:
		return "- input: image is required"
	case in.AspectRatio != nil && !slices.Contains(ratios, *in.AspectRatio):
		return "- input.aspect_ratio: must be one of " + strings.Join(ratios, ", ")
	case in.Duration != nil && *in.Duration != 5 && *in.Duration != 10:
		return "- input.duration: must be one of 5, 10"
	}
	if in.Image != nil {
		if u, err := url.Parse(*in.Image); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return "- input.image: does not match format 'uri'"
		}
	}
	return ""
}

// unsafe is a text that the content filter finds in a prompt.
const unsafe = "[unsafe]"

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	model := r.PathValue("owner") + "/" + r.PathValue("name")
	picture, ok := needsImage[model]
	if !ok {
		refuse(w, http.StatusNotFound, "Not found", "The requested resource could not be found.")
		return
	}
	var body struct {
		Input  *input   `json:"input"`
		Hook   string   `json:"webhook"`
		Events []string `json:"webhook_events_filter"`
	}
	sent, err := strict.JSON(r, &body)
	wrong := "- input is required"
	if err != nil {
		wrong = "- " + err.Error()
	} else if body.Input != nil {
		wrong = body.Input.check(picture)
	}
	if wrong != "" {
		refuse(w, http.StatusUnprocessableEntity, "Input validation failed", wrong)
		return
	}
	id := strings.ReplaceAll(uuid.Must(uuid.NewV4()).String(), "-", "")[:26]
	asked := prediction{model: model, ratio: ratios[0]}
	asked.input, _ = sent["input"].(map[string]any)
	if body.Input.AspectRatio != nil {
		asked.ratio = *body.Input.AspectRatio
	}
	fails := control.JobFails(r.Context())
	if asked.error = "Prediction failed: the model ended unexpectedly (E001)"; strings.Contains(*body.Input.Prompt,
		unsafe) {
		asked.error, fails = "The input or output was flagged as sensitive. Please try again with different inputs. "+
			"(E005)", true
	}
	f.control.Accept(control.Acceptance{
		Provider: Name, Operation: control.Submit, ID: id, Model: model, Prompt: *body.Input.Prompt, Input: asked.input,
	})
	f.jobs.Start(id, asked, fails)
	f.show(w, r, http.StatusCreated, id)
}

func (f *Fake) get(w http.ResponseWriter, r *http.Request) {
	f.show(w, r, http.StatusOK, r.PathValue("id"))
}

func (f *Fake) cancel(w http.ResponseWriter, r *http.Request) {
	f.jobs.Cancel(r.PathValue("id"))
	f.show(w, r, http.StatusOK, r.PathValue("id"))
}

// statuses are Replicate's names for the phases.
var statuses = map[control.Phase]string{
	control.Waiting: "starting", control.Working: "processing", control.Succeeded: "succeeded",
	control.Failed: "failed", control.Canceled: "canceled",
}

// show answers with a prediction.
func (f *Fake) show(w http.ResponseWriter, r *http.Request, status int, id string) {
	job, phase, _, found := f.jobs.Find(id)
	if !found {
		refuse(w, http.StatusNotFound, "Not found", "The requested resource could not be found.")
		return
	}
	at := control.Base(r)
	out := map[string]any{
		"id": id, "model": job.Work.model, "version": "hidden", "status": statuses[phase], "input": job.Work.input,
		"output": nil, "error": nil, "logs": "", "data_removed": false,
		"created_at": job.Began.UTC().Format(time.RFC3339Nano),
		"urls": map[string]any{"get": at + "/v1/predictions/" + id,
			"cancel": at + "/v1/predictions/" + id + "/cancel"},
	}
	switch {
	case phase.Final() && f.removed(job):
		out["input"], out["logs"], out["data_removed"] = map[string]any{}, nil, true
	case phase == control.Succeeded:
		name, _, err := f.samples(sample.Video, job.Work.ratio, 0)
		if err != nil {
			refuse(w, http.StatusInternalServerError, "Internal server error", err.Error())
			return
		}
		out["output"] = fmt.Sprintf("%s/files/%s/%s", at, id, name)
	case phase == control.Failed:
		out["error"] = job.Work.error
	}
	answer(w, status, out)
}

func (f *Fake) removed(job control.Job[prediction]) bool { return f.now().Sub(job.Ends) >= keep }

// media serves an output. Like Replicate's files, it needs no credential.
func (f *Fake) media(w http.ResponseWriter, r *http.Request) {
	job, phase, _, found := f.jobs.Find(r.PathValue("id"))
	if !found || phase != control.Succeeded || f.removed(job) {
		http.NotFound(w, r)
		return
	}
	name, content, err := f.samples(sample.Video, job.Work.ratio, 0)
	if err != nil || name != r.PathValue("name") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(content) // the caller may have gone
}

func refuse(w http.ResponseWriter, status int, title, detail string) {
	answer(w, status, map[string]any{"title": title, "detail": detail, "status": status})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone
}
