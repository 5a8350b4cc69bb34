package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// providers returns a double for each name of a provider.
type providers struct{}

// For returns a provider.
func (providers) For(name string, _ tenant.Mode) (provider.Provider, error) {
	return double{name}, nil
}

// double is a provider. It counts the submissions.
type double struct{ name string }

var _ provider.Provider = double{}

// generation is a generation of a provider.
type generation struct {
	kind     provider.Kind
	polls    int
	fails    bool
	canceled bool
}

// submission is a submission that a provider has received.
type submission struct {
	by *invocation
	// unheard reports whether the answer of the submission did not arrive.
	unheard atomic.Bool
}

// maxStalls is the number of slow attempts at calls after which a function counts as cut off from the table: its
// lease may end although it lives.
const maxStalls = 2

// excused reports whether another submission of the same work may follow: no function knows of this one, or could
// record it in time.
func (s *submission) excused() bool {
	return s.unheard.Load() || s.by.crashed || s.by.stalls.Load() >= maxStalls
}

// takesTokens are the providers that recognize a submission by its client token.
var takesTokens = map[string]bool{"fal": true}

// Name implements provider.Provider.
func (p double) Name() string { return p.name }

// Capabilities implements provider.Provider.
func (p double) Capabilities() provider.Capabilities {
	return provider.Capabilities{ClientToken: takesTokens[p.name]}
}

func problem(kind provider.ErrorKind) *provider.Error {
	return &provider.Error{Kind: kind, Code: "simulated", Message: "Simulated."}
}

// busy is the answer of a provider that throttles.
func busy() *provider.Error {
	return &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy, Message: "Simulated."}
}

// full reports whether the providers make as many generations as they make at the same time.
func (w *world) full() bool {
	n := 0
	for _, g := range w.generations {
		if g.polls > 0 && !g.canceled {
			n++
		}
	}
	return !w.calm && w.faults.AtOnce > 0 && n >= w.faults.AtOnce
}

// Submit implements provider.Provider.
func (p double) Submit(ctx context.Context, req provider.Request) (out provider.Submission, err error) {
	inv := invocationOf(ctx)
	w := inv.world
	lost := problem(provider.UnknownOutcome)
	if takesTokens[p.name] {
		lost = problem(provider.Transient)
	}
	s := &submission{by: inv}
	var answer provider.Submission
	err = pass(ctx, &call{
		kind: toProvider, key: "Submit " + p.name + " " + req.ClientToken, refused: problem(provider.Quota), lost: lost,
		throttled: busy(),
		unheard:   func() { s.unheard.Store(true) },
		do: func() error {
			if w.full() {
				return busy()
			}
			if takesTokens[p.name] {
				answer.Handle = provider.Handle(req.ClientToken)
				if w.generations[answer.Handle] != nil {
					return nil
				}
			} else {
				w.submissions[req.ClientToken] = append(w.submissions[req.ClientToken], s)
				answer.Handle = provider.Handle(fmt.Sprint(req.ClientToken, "/", len(w.submissions[req.ClientToken])))
			}
			if req.Form != nil {
				answer = provider.Submission{Result: w.filled(req.Form)}
				return nil
			}
			if req.Kind == provider.KindText {
				answer = provider.Submission{Result: &provider.Result{Text: &provider.Text{
					Title: "Title", Caption: "Caption", Hashtags: []string{"tag"}, Slides: many(provider.Slide{Heading: "Slide"},
						req.Slides),
					Scenes: many(provider.Scene{Text: "A script that is spoken.", Visual: "A view"}, req.Scenes),
				}}}
				return nil
			}
			w.generations[answer.Handle] = &generation{kind: req.Kind, polls: w.random.IntN(4), fails: !w.calm &&
				chance(w.random, w.faults.Provider)}
			return nil
		},
	})
	return answer, err
}

func many[T any](s T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// Poll implements provider.Provider.
func (p double) Poll(ctx context.Context, h provider.Handle) (out provider.Status, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Poll " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			switch g := w.generations[h]; {
			case g == nil:
				return problem(provider.BadInput)
			case g.polls > 0:
				g.polls--
				out = provider.Status{State: provider.Running, Progress: 100 / (g.polls + 2),
					Wait: time.Duration(1+w.random.IntN(8)) * time.Second}
			case g.fails:
				out = provider.Status{State: provider.Failed, Failure: problem(provider.Rejected)}
			default:
				out = provider.Status{State: provider.Succeeded, Progress: 100}
			}
			return nil
		}})
	return out, err
}

// Fetch implements provider.Provider.
func (p double) Fetch(ctx context.Context, h provider.Handle) (out provider.Result, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Fetch " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			g := w.generations[h]
			if g == nil {
				return problem(provider.BadInput)
			}
			out = provider.Result{Media: []provider.File{{Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(string(g.kind))), nil
			}}}}
			return nil
		}})
	return out, err
}

// Cancel implements provider.Provider.
func (p double) Cancel(ctx context.Context, h provider.Handle) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toProvider, key: "Cancel " + string(h), refused: problem(provider.Transient),
		lost: problem(provider.Transient), do: func() error {
			if g := w.generations[h]; g != nil {
				g.canceled = true
			}
			return nil
		}})
}

// objects stores files. It keeps only their keys.
type objects struct{}

// Save implements engine.Objects.
func (objects) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	_ *provenance.Statement) (media.File, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return media.File{}, err
	}
	w := invocationOf(ctx).world
	f := media.File{ID: place.ID(n), Key: place.Key(n, "bin"), MIMEType: "application/octet-stream",
		Bytes: int64(len(b)), SHA256: "0"}
	switch provider.Kind(b) {
	case provider.KindImage:
		f.Type, f.MIMEType, f.Width, f.Height = media.Image, "image/jpeg", 8, 8
	case provider.KindVideo, provider.KindAvatar:
		f.Type, f.MIMEType, f.Width, f.Height, f.DurationSeconds = media.Video, "video/mp4", 8, 8, 8
	case provider.KindVoice, provider.KindMusic:
		f.Type, f.DurationSeconds = media.Audio, 8
	default:
		f.Type = media.Captions
	}
	err = pass(ctx, &call{kind: toObjects, key: "Save " + f.Key, refused: errRefused, lost: errLost, do: func() error {
		w.files[f.Key], w.sums[f.Key] = true, f.SHA256
		return nil
	}})
	return f, err
}

// Remove implements engine.Objects.
func (objects) Remove(ctx context.Context, place media.Place) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Remove " + place.Prefix(), refused: errRefused, lost: errLost,
		do: func() error {
			for key := range w.files {
				if strings.HasPrefix(key, place.Prefix()) {
					delete(w.files, key)
				}
			}
			return nil
		}})
}

// bedrockAPI is the part of Bedrock's API that trains models.
type bedrockAPI struct{}

var _ tune.Client = bedrockAPI{}

// customization is a job that trains a model, with its model and deployment. All three have the same name.
type customization struct {
	token string
	// over is the time at which the job ends, unless it is stopped before; stopped is the time at which the stop is
	// complete.
	over, stopped time.Time
	fails         bool
	// unread reports whether its samples were missing.
	unread  bool
	deleted bool // whether the model was deleted
	deployment
}

// deployment makes the model of a job callable. Its zero value means that there is none.
type deployment struct {
	token string
	over  time.Time
	fails bool
	// gone is the time at which its deletion is complete.
	gone time.Time
}

const (
	// tuning is the longest time of a job, and deploying that of a deployment.
	tuning    = 90 * time.Second
	deploying = 20 * time.Second
	// stopping is the longest time until a job has stopped, or a deployment is gone.
	stopping = 10 * time.Second
)

func (c *customization) status() string {
	switch now := time.Now(); {
	case !c.stopped.IsZero() && now.Before(c.stopped):
		return tune.JobStopping
	case !c.stopped.IsZero():
		return tune.JobStopped
	case now.Before(c.over):
		return tune.JobInProgress
	case c.fails:
		return tune.JobFailed
	default:
		return tune.JobCompleted
	}
}

// hasModel reports whether there is a model, deployed or not.
func (c *customization) hasModel() bool {
	return c.status() == tune.JobCompleted && !c.deleted
}

// exists reports whether there is a deployment.
func (d *deployment) exists() bool {
	return !d.over.IsZero() && (d.gone.IsZero() || time.Now().Before(d.gone))
}

func (d *deployment) status() string {
	switch {
	case time.Now().Before(d.over):
		return tune.DeploymentCreating
	case d.fails:
		return tune.DeploymentFailed
	default:
		return tune.DeploymentActive
	}
}

// apiError returns the SDK's error for a call that the API refuses.
func apiError(status int, code string) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "Simulated."},
	}
}

func errMissing() error  { return apiError(http.StatusNotFound, "ResourceNotFoundException") }
func errConflict() error { return apiError(http.StatusBadRequest, "ConflictException") }

// control makes a call about the job with a name. The job is nil if there is none.
func control(ctx context.Context, call string, name string, do func(*world, *customization) error) error {
	w := invocationOf(ctx).world
	return pass(ctx, newControl(w, call, name, do))
}

func newControl(w *world, name, of string, do func(*world, *customization) error) *call {
	return &call{
		kind: toProvider, key: name + " " + of, refused: apiError(http.StatusTooManyRequests, "ThrottlingException"),
		lost: errLost,
		do:   func() error { return do(w, w.jobs[of]) },
	}
}

// takes draws the end of an operation.
func (w *world) takes(most time.Duration) time.Time {
	return time.Now().Add(between(w.random, time.Second, most))
}

// fails draws whether the provider fails.
func (w *world) fails() bool { return !w.calm && chance(w.random, w.faults.Provider) }

// CreateModelCustomizationJob implements tune.Client. A known token starts no second job, and a name is used once.
func (bedrockAPI) CreateModelCustomizationJob(ctx context.Context, in tune.NewJob) error {
	return control(ctx, "CreateModelCustomizationJob", in.Name, func(w *world, job *customization) error {
		switch {
		case job == nil:
			samples := strings.TrimPrefix(in.Samples.URI, "s3://media/")
			job = &customization{token: in.Token, over: w.takes(tuning), fails: w.fails(), unread: !w.files[samples]}
			job.fails = job.fails || job.unread
			w.jobs[in.Name] = job
		case in.Token == "" || in.Token != job.token:
			return errConflict()
		}
		return nil
	})
}

// GetModelCustomizationJob implements tune.Client.
func (bedrockAPI) GetModelCustomizationJob(ctx context.Context, name string) (out tune.Job, err error) {
	err = control(ctx, "GetModelCustomizationJob", name, func(_ *world, job *customization) error {
		if job == nil {
			return errMissing()
		}
		if out.Status = job.status(); out.Status == tune.JobCompleted {
			out.Model = name
		}
		return nil
	})
	return out, err
}

// StopModelCustomizationJob implements tune.Client.
func (bedrockAPI) StopModelCustomizationJob(ctx context.Context, name string) error {
	return control(ctx, "StopModelCustomizationJob", name, func(w *world, job *customization) error {
		switch {
		case job == nil:
			return errMissing()
		case job.status() != tune.JobInProgress:
			return errConflict()
		}
		job.stopped = w.takes(stopping)
		return nil
	})
}

// CreateCustomModelDeployment implements tune.Client.
func (bedrockAPI) CreateCustomModelDeployment(ctx context.Context, in tune.NewDeployment) error {
	return control(ctx, "CreateCustomModelDeployment", in.Name, func(w *world, job *customization) error {
		switch {
		case job == nil || !job.hasModel():
			return errMissing()
		case !job.exists():
			job.deployment = deployment{token: in.Token, over: w.takes(deploying), fails: w.fails()}
		case in.Token == "" || in.Token != job.deployment.token:
			return apiError(http.StatusBadRequest, "ValidationException") // the name is taken
		}
		return nil
	})
}

// GetCustomModelDeployment implements tune.Client.
func (bedrockAPI) GetCustomModelDeployment(ctx context.Context, name string) (out tune.Deployment, err error) {
	out.ARN = name
	err = control(ctx, "GetCustomModelDeployment", name, func(_ *world, job *customization) error {
		if job == nil || !job.exists() {
			return errMissing()
		}
		out.Status = job.deployment.status()
		return nil
	})
	return out, err
}

// DeleteCustomModelDeployment implements tune.Client. The deletion takes a while.
func (bedrockAPI) DeleteCustomModelDeployment(ctx context.Context, name string) error {
	return control(ctx, "DeleteCustomModelDeployment", name, func(w *world, job *customization) error {
		switch {
		case job == nil || !job.exists():
			return errMissing()
		case !job.gone.IsZero() || job.deployment.status() == tune.DeploymentCreating:
			return errConflict()
		}
		job.gone = w.takes(stopping)
		return nil
	})
}

// DeleteCustomModel implements tune.Client. It does not delete a deployed model.
func (bedrockAPI) DeleteCustomModel(ctx context.Context, name string) error {
	return control(ctx, "DeleteCustomModel", name, func(_ *world, job *customization) error {
		switch {
		case job == nil || !job.hasModel():
			return errMissing()
		case job.exists():
			return errConflict()
		}
		job.deleted = true
		return nil
	})
}

// Put implements training.Objects.
func (objects) Put(ctx context.Context, f media.File, _ io.ReadSeeker) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Put " + f.Key, refused: errRefused, lost: errLost, do: func() error {
		w.files[f.Key], w.sums[f.Key] = true, f.SHA256
		return nil
	}})
}

// PutNew implements transfer.Objects. No import brings a file.
func (o objects) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return o.Put(ctx, f, content)
}

// Sum implements publication.Sums.
func (objects) Sum(ctx context.Context, key string) (sum string, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toObjects, key: "Sum " + key, refused: errRefused, do: func() error {
		var ok bool
		if sum, ok = w.sums[key]; !ok {
			return errs.New(errs.NotFound, "There is no file %s.", key)
		}
		return nil
	}})
	return sum, err
}

// Delete implements training.Objects.
func (objects) Delete(ctx context.Context, key string) error {
	w := invocationOf(ctx).world
	return pass(ctx, &call{kind: toObjects, key: "Delete " + key, refused: errRefused, lost: errLost, do: func() error {
		delete(w.files, key)
		return nil
	}})
}

// composer is a double of the engine of compositions. It takes time, fails, or hangs until its function is killed.
type composer struct{}

var _ generate.Composer = composer{}

var errComposition = errors.New("simulate: the engine failed")

// ofCaller is the share of failures that the caller's input causes.
const ofCaller = 0.5

// cut is the course of one composition.
type cut struct {
	err   error
	hangs bool
	takes time.Duration
}

// Compose implements generate.Composer.
func (composer) Compose(ctx context.Context, what generate.Composition, _ generate.Origin, progress func(int),
	save generate.Save) error {
	w := invocationOf(ctx).world
	var c cut
	err := pass(ctx, &call{kind: toObjects, key: "compose", refused: errComposition, lost: errComposition,
		do: func() error {
			read := 0
			what.Files(func(f *media.File) {
				if w.files[f.Key] {
					read++
				}
			})
			if read == 0 {
				return errComposition
			}
			c.takes = time.Second + between(w.random, 0, time.Minute)
			if w.calm {
				return nil
			}
			if chance(w.random, w.faults.Provider) {
				short := provider.FailureOf(provider.FailedInputTooShort)
				if chance(w.random, ofCaller) {
					short.Part = "/brand/logo" // which the caller provides
				}
				c.err = short
			}
			c.hangs = chance(w.random, w.faults.Crash)
			return nil
		}})
	if err != nil {
		return err
	}
	if c.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	const looks = 10
	for n := range looks {
		if err := backoff.Sleep(ctx, c.takes/looks); err != nil {
			return err
		}
		progress(100 * (n + 1) / looks)
	}
	if c.err != nil {
		return c.err
	}
	if whole, ok := what.(generate.UnchangedFiles); ok {
		for _, f := range whole {
			kind := provider.Kind(f.Type)
			if f.Type == media.Audio {
				kind = provider.KindMusic
			}
			if err := save(media.File{}, strings.NewReader(string(kind)), nil); err != nil {
				return err
			}
		}
		return nil
	}
	final := provider.KindImage
	switch what.(type) {
	case generate.Video, generate.MusicClip:
		final = provider.KindVideo
	}
	for _, f := range []struct {
		role media.Role
		kind provider.Kind
	}{{media.Final, final}, {media.Poster, provider.KindImage}} {
		if err := save(media.File{Role: f.role}, strings.NewReader(string(f.kind)), []byte("thumbnail")); err != nil {
			return err
		}
	}
	return nil
}

// trainers is the number of callers of which one trains models.
const trainers = 4

// school is the factory with which a caller trains models. Its content exists from the beginning.
type school struct {
	id    string
	open  bool     // it was not deleted
	items []string // paths of its content
}

// factories returns the factories of the caller.
func (c *caller) factories() []string {
	all := []string{c.factory}
	for _, other := range []string{c.school.id, c.shop} {
		if other != "" {
			all = append(all, other)
		}
	}
	return all
}

// found creates the school. It has few items more than a training needs, so that some trainings lack samples once
// items are deleted.
func (c *caller) found() {
	var f struct{ ID string }
	if c.call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "School"}, &f) != http.StatusCreated {
		return
	}
	c.school = school{id: f.ID, open: true}
	tx := &store.Tx{}
	for n := range training.MinSamples + c.random.IntN(4) {
		now := time.Now()
		var r item.Record
		must(json.Unmarshal([]byte(`{"parts":[{"kind":"text","role":"text","model":"nova-micro",
			"provider":"bedrock"}]}`), &r.Attempt))
		r.Item = item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, nil), FactoryID: f.ID,
			Kind: item.Post, State: item.Generated, Attempt: 1, Content: item.Content{Prompt: "A shoe"}, Language: "en",
			Texts: item.Texts{Title: resource.Text(fmt.Sprint("Shoe ", n)), Caption: "A new shoe.",
				Hashtags: []string{}}}
		it, err := r.Entry(c.principal.Owner)
		must(err)
		tx.Create(it, nil)
		c.school.items = append(c.school.items, "/v1/content-items/"+r.Item.ID)
	}
	must(c.world.db().Commit(context.Background(), tx))
}

// train starts a training, or deletes an item that it learns from, or deletes the school.
func (c *caller) train() {
	path := "/v1/factories/" + c.school.id
	switch n := c.random.IntN(20); {
	case n < 2:
		c.school.open = c.call(http.MethodDelete, path, nil, nil) != http.StatusOK
	case n == 2:
		c.call(http.MethodDelete, c.school.items[c.random.IntN(len(c.school.items))], nil, nil)
	default:
		c.call(http.MethodPost, path+"/training", object{}, nil)
	}
}

// trained is the last state of an accepted training.
type trained struct{ training.Training }

// observeTraining counts the trainings that have ended.
func (w *world) observeTraining(c memtable.Change) {
	var t trained
	must(json.Unmarshal([]byte(textOf(c.New, "doc")), &t))
	known := w.trainings[t.ID]
	if w.trainings[t.ID] = &t; known != nil && known.State != t.State &&
		(t.State == training.Completed || t.State == training.Failed) {
		w.ends[string(t.State)+" "+t.ID]++
	}
}

// checkTrainings checks that all trainings have ended, that each was charged its cost, and that the provider has
// only the model of the last completed one.
func (w *world) checkTrainings(fail func(format string, args ...any)) {
	charged, deleted, models := map[string]int64{}, map[string]bool{}, map[string]catalog.TunedModel{}
	for _, it := range w.items() {
		doc := []byte(textOf(it, "doc"))
		switch textOf(it, "kind") {
		case ledger.Kind:
			var e ledger.Entry
			must(json.Unmarshal(doc, &e))
			charged[e.Subject] -= e.Credits
		case "factory":
			deleted[textOf(it, "pk")] = stateOf(it) == "deleted"
		case catalog.TrainedKind:
			var m catalog.TunedModel
			must(json.Unmarshal(doc, &m))
			if other, ok := models[m.FactoryID]; ok {
				fail("%s has the models of %s and %s", m.FactoryID, m.TrainingID, other.TrainingID)
			}
			models[m.FactoryID] = m
		}
	}
	last := map[string]string{}
	for id, t := range w.trainings {
		if t.State == training.Completed && !deleted[t.FactoryID] {
			last[t.FactoryID] = max(last[t.FactoryID], id)
		}
	}
	jobs := map[string]string{}
	for id, t := range w.trainings {
		name := strings.ReplaceAll(id, "_", "-")
		jobs[name] = id
		switch {
		case t.State != training.Completed && t.State != training.Failed && t.State != training.Canceled:
			fail("%s is %s", id, t.State)
		case t.State == training.Completed && (t.CostCredits == 0 || w.jobs[name] == nil || w.jobs[name].fails):
			fail("%s is completed, has cost %d, and its job is %+v", id, t.CostCredits, w.jobs[name])
		case t.State != training.Completed && t.CostCredits != 0:
			fail("%s is %s, and has cost %d", id, t.State, t.CostCredits)
		}
		if charged[id] != t.CostCredits {
			fail("%s has cost %d, and was charged %d", id, t.CostCredits, charged[id])
		}
		if w.files[training.Prefix+name+"/samples.jsonl"] {
			fail("the samples of %s are left", id)
		}
		if last[t.FactoryID] != models[t.FactoryID].TrainingID {
			fail("%s has the model of %q, not of %q", t.FactoryID, models[t.FactoryID].TrainingID, last[t.FactoryID])
		}
	}
	for name, j := range w.jobs {
		id, ok := jobs[name]
		switch {
		case !ok:
			fail("the job %s is of no training", name)
		case j.unread && w.trainings[id].State != training.Canceled:
			fail("the job of %s had no samples", id)
		case last[w.trainings[id].FactoryID] == id &&
			!(j.hasModel() && j.exists() && models[w.trainings[id].FactoryID].Endpoint == name):
			fail("the model of %s is not ready", id)
		case last[w.trainings[id].FactoryID] != id && (j.hasModel() || j.exists() || time.Now().Before(j.over) &&
			j.stopped.IsZero()):
			fail("%s, which is %s, has left something at the provider", id, w.trainings[id].State)
		}
	}
}
