package area_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/estimate"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
)

func TestATrainingBecomesTheModelOfItsFactory(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(60)
	before, _, _ := w.credits(c)
	var priced estimate.Estimate
	c.Call(http.MethodPost, "/v1/balance/estimates", object{"operation": "startTraining", "factory_id": factory,
		"body": object{}}).Into(t, http.StatusOK, &priced)
	a := c.Call(http.MethodPost, trainingPath(factory), object{"metadata": object{"campaign": "spring"}})
	var made training.Training
	a.Into(t, http.StatusAccepted, &made)
	if made.State != training.Queued || made.Samples != 60 || made.BaseModel != "llama-3.3-70b" ||
		made.FactoryID != factory || made.ReservedCredits == 0 || made.ReservedCredits != priced.Credits ||
		made.ModelID != nil || made.Metadata["campaign"] != "spring" {
		t.Errorf("started is %+v, estimated %+v", made, priced)
	}
	if a.Header.Get("Location") != trainingPath(factory) || a.Header.Get("Retry-After") == "" {
		t.Errorf("headers %v", a.Header)
	}
	if now, _, held := w.credits(c); now != before-made.ReservedCredits || held != 1 {
		t.Errorf("of %d credits %d are left", before, now)
	}
	w.until(c, factory, training.Running)
	w.engine.Drain()

	got := w.get(c, factory)
	if got.State != training.Completed || got.Progress != 100 || got.Samples != 60 ||
		got.CostCredits != made.ReservedCredits || got.ReservedCredits != 0 || got.Failure != nil ||
		got.ModelID == nil || !id.Valid(id.Model, *got.ModelID) {
		t.Fatalf("ended is %+v", got)
	}
	if now, sum, held := w.credits(c); now != before-got.CostCredits || sum != now || held != 0 {
		t.Errorf("the balance is %d, its entries %d, of which %d held", now, sum, held)
	}
	if e := w.events(made.ID); e[event.TrainingCompleted] != 1 || len(e) != 1 {
		t.Errorf("events %v", e)
	}
	if it, err := w.DB.Get(t.Context(), training.Key(factory)); err != nil || !analytics.Passes(it.Kind,
		it.Filters["state"]) {
		t.Errorf("analytics would not count the training: %+v, %v", it.Filters, err)
	}
	// Its name is its token, and the file of samples is gone.
	jobs := w.accepted(fake.Train)
	if name := strings.ReplaceAll(made.ID, "_", "-"); len(jobs) != 1 || jobs[0].ClientToken != name ||
		jobs[0].Model != "meta.llama3-3-70b-instruct-v1:0:128k" {
		t.Errorf("jobs %+v", jobs)
	}
	if len(w.bucket.objects) != 0 || w.bucket.stored != 1 {
		t.Errorf("%d files were stored, and left are %v", w.bucket.stored, w.bucket.objects)
	}

	// The factory can use it, and generation then calls its deployment, at the price of the
	// base model.
	post := object{"factory_id": factory, "kind": "post", "prompt": "Another shoe"}
	c.Call(http.MethodPatch, "/v1/factories/"+factory, object{"models": object{"text": "llama-3.3-70b"}}).Into(t,
		http.StatusOK, new(object))
	var base, own item.Item
	c.Call(http.MethodPost, "/v1/content-items", post).Into(t, http.StatusAccepted, &base)
	c.Call(http.MethodPatch, "/v1/factories/"+factory, object{"models": object{"text": *got.ModelID}}).Into(t,
		http.StatusOK, new(object))
	c.Call(http.MethodPost, "/v1/content-items", post).Into(t, http.StatusAccepted, &own)
	w.engine.Drain()
	c.Call(http.MethodGet, "/v1/content-items/"+own.ID, nil).Into(t, http.StatusOK, &own)
	if own.State != item.Generated || own.CostCredits == 0 || own.CostCredits != base.ReservedCredits {
		t.Errorf("%+v %+v; with the base model it costs %d", own, own.Failure, base.ReservedCredits)
	}
	deployment := w.accepted(fake.Deploy)[0].ID
	called := map[string]int{}
	for _, text := range w.accepted(control.Submit) {
		called[text.Model]++
	}
	if called[deployment] != 1 || called["meta.llama3-3-70b-instruct-v1:0"] != 1 {
		t.Errorf("called were %v", called)
	}
	// No other factory can.
	other := w.newFactory(c)
	c.Call(http.MethodPatch, "/v1/factories/"+other, object{"models": object{"text": *got.ModelID}}).Refused(t,
		http.StatusUnprocessableEntity, errs.UnsupportedModel, "/models/text")
	c.Call(http.MethodPatch, "/v1/factories/"+factory, object{"models": object{"image": *got.ModelID}}).Refused(t,
		http.StatusUnprocessableEntity, errs.UnsupportedModel, "/models/image")
}

func TestSamplesAreWhatGenerationAsksAndReads(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(50)
	w.start(c, factory, object{})
	w.until(c, factory, training.Running)
	lines := bytes.Split(bytes.TrimSpace(w.bucket.last), []byte("\n"))
	if len(lines) != 50 {
		t.Fatalf("%d samples", len(lines))
	}
	var sample struct {
		SchemaVersion string
		System        []struct{ Text string }
		Messages      []struct {
			Role    string
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(lines[0], &sample); err != nil {
		t.Fatal(err)
	}
	asked := w.accepted(control.Submit)[0].Input
	system := asked["system"].([]any)[0].(map[string]any)["text"].(string)
	if sample.SchemaVersion != "bedrock-conversation-2024" || sample.System[0].Text != system ||
		!strings.Contains(sample.Messages[0].Content[0].Text, "Its tone is dry") {
		t.Errorf("the system's prompt is %q, in generation %q", sample.System, system)
	}
	// Words that mark turns would fail the training; & and < stay as they are.
	if user := sample.Messages[0]; user.Role != "user" || !strings.HasPrefix(user.Content[0].Text, `{"request":"A shoe & a (video)"`) ||
		!bytes.Contains(lines[0], []byte("A shoe & a (video)")) {
		t.Errorf("asked is %+v", user)
	}
	var answer struct {
		Title, Caption string
		Hashtags       []string
	}
	if err := json.Unmarshal([]byte(sample.Messages[1].Content[0].Text), &answer); err != nil ||
		sample.Messages[1].Role != "assistant" || answer.Title == "" || answer.Caption == "" ||
		len(answer.Hashtags) == 0 {
		t.Errorf("answered is %+v, %v", sample.Messages[1], err)
	}
}

func TestFewerThanFiftySamplesAreRefusedWithTheirNumber(t *testing.T) {
	w := newTrainingWorld(t)
	w.fill(w.Caller, w.factory, 49)
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post", "prompt": "x",
		"sandbox": object{"outcome": "failed"}}).Into(t, http.StatusAccepted, new(object))
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post", "prompt": "x",
		"sandbox": object{"delay_seconds": 60}}).Into(t, http.StatusAccepted, new(object))
	w.engine.Step()
	a := w.Call(http.MethodPost, trainingPath(w.factory), object{}) // one has failed, and one is being generated
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "")
	if !strings.Contains(a.Error.Message, "texts: 49.") || !strings.Contains(a.Error.Message, "50") {
		t.Errorf("refused with %q", a.Error.Message)
	}
	w.engine.Drain()
	if got := w.start(w.Caller, w.factory, object{}); got.Samples != 50 || got.ReservedCredits != 0 {
		t.Errorf("%+v", got)
	}
}

func TestOnlyTheNewestThousandItemsAreLearned(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(1100)
	w.Faults.Reset()
	made := w.start(c, factory, object{})
	// One read of the factory, its training and its funds, and pages of items.
	if calls := w.Faults.Operations(); made.Samples != training.MaxSamples ||
		calls != "BatchGetItem Query Query Query Query TransactWriteItems" {
		t.Errorf("%d samples, by %s", made.Samples, calls)
	}
}

func TestAFactoryHasOneTrainingAtATime(t *testing.T) {
	w := newTrainingWorld(t)
	w.fill(w.Caller, w.factory, 50)
	w.start(w.Caller, w.factory, object{})
	a := w.Call(http.MethodPost, trainingPath(w.factory), object{})
	a.Refused(t, http.StatusConflict, errs.InvalidState, "")
	a.Context(t, `{"state":"queued","allowed":[]}`)
	w.engine.Drain()
	w.start(w.Caller, w.factory, object{})
}

func TestWhatCannotBeTrainedIsRefused(t *testing.T) {
	w := newTrainingWorld(t)
	live, factory := w.live(50)
	w.fill(w.Caller, w.factory, 50)
	for model, want := range map[string]string{"flux-pro-1.1": "makes image",
		"gpt-oss-120b": "nova-micro, nova-lite, nova-pro, llama-3.3-70b", "mdl_x": "There is no model",
		"nova-lite": "us-east-1"} {
		a := live.Call(http.MethodPost, trainingPath(factory), object{"base_model": model})
		a.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "/base_model")
		if !strings.Contains(a.Error.Message, want) {
			t.Errorf("%s: %q", model, a.Error.Message)
		}
	}
	if got := w.start(w.Caller, w.factory, object{"base_model": "nova-lite"}); got.BaseModel != "nova-lite" {
		t.Errorf("%+v", got)
	}
	live.Call(http.MethodPost, trainingPath(factory), object{"sandbox": object{}}).Refused(t, http.StatusUnprocessableEntity,
		errs.ValidationFailed, "/sandbox")
	live.Call(http.MethodPost, trainingPath(factory), object{"epochs": 3}).Refused(t, http.StatusUnprocessableEntity,
		errs.ValidationFailed, "/epochs")
	w.Call(http.MethodPost, trainingPath(w.factory), object{"sandbox": object{"failure_code": "timeout"}}).Refused(t,
		http.StatusUnprocessableEntity, errs.ValidationFailed, "/sandbox/failure_code")
	live.Call(http.MethodPost, trainingPath(w.factory), object{}).Refused(t, http.StatusNotFound, errs.NotFound, "")
	live.Call(http.MethodPost, trainingPath("fac_x"), object{}).Refused(t, http.StatusNotFound, errs.NotFound, "")
	live.Call(http.MethodGet, trainingPath(factory), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	asked := func(body object) object {
		return object{"operation": "startTraining", "factory_id": factory, "body": body}
	}
	live.Call(http.MethodPost, "/v1/balance/estimates", asked(object{"base_model": "nova-lite"})).Refused(t,
		http.StatusUnprocessableEntity, errs.UnsupportedModel, "/body/base_model")
	live.Call(http.MethodPost, "/v1/balance/estimates", asked(object{"sandbox": object{}})).Refused(t,
		http.StatusUnprocessableEntity, errs.ValidationFailed, "/body/sandbox")
	live.Call(http.MethodPost, "/v1/balance/estimates",
		object{"operation": "startTraining", "body": object{}}).Refused(t, http.StatusUnprocessableEntity,
		errs.ValidationFailed, "/factory_id")
	live.Call(http.MethodPatch, "/v1/factories/"+factory, object{"state": "paused"}).Into(t, http.StatusOK, new(object))
	live.Call(http.MethodPost, "/v1/balance/estimates", asked(object{})).Refused(t, http.StatusConflict,
		errs.InvalidState, "")
	a := live.Call(http.MethodPost, trainingPath(factory), object{})
	a.Refused(t, http.StatusConflict, errs.InvalidState, "")
	a.Context(t, `{"state":"paused","allowed":["update"]}`)
	if balance, sum, held := w.credits(live); balance != sum || held != 0 {
		t.Errorf("%d, %d, %d", balance, sum, held)
	}
	poor := w.Stranger().Live()
	w.topUp(poor, 20)
	factory = w.newFactory(poor)
	w.fill(poor, factory, 50)
	poor.Call(http.MethodPost, trainingPath(factory), object{}).Refused(t, http.StatusPaymentRequired,
		errs.InsufficientBalance, "")
}

func TestTheSandboxRehearsesEachOutcome(t *testing.T) {
	w := newTrainingWorld(t)
	w.fill(w.Caller, w.factory, 50)
	at := w.Now()
	w.start(w.Caller, w.factory, object{"sandbox": object{"delay_seconds": 30}})
	w.engine.Drain()
	got := w.get(w.Caller, w.factory)
	if got.State != training.Completed || got.CostCredits != 0 || got.ModelID == nil ||
		w.Now().Sub(at) < 30*time.Second || w.Now().Sub(at) > time.Minute {
		t.Errorf("%+v after %v", got, w.Now().Sub(at))
	}
	// The model works in the sandbox.
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"models": object{"text": *got.ModelID}}).Into(t,
		http.StatusOK, new(object))
	w.fill(w.Caller, w.factory, 1)
	for _, code := range []string{"", "training_failed", "training_refused", "not_enough_samples",
		"provider_unavailable", "timeout"} {
		rehearsal := object{"outcome": "failed"}
		if code != "" {
			rehearsal["failure_code"] = code
		}
		made := w.start(w.Caller, w.factory, object{"sandbox": rehearsal})
		w.engine.Drain()
		if code == "" {
			code = "training_failed"
		}
		got := w.get(w.Caller, w.factory)
		if got.State != training.Failed || got.Failure == nil || string(got.Failure.Code) != code ||
			got.Failure.Message == "" || got.ModelID != nil {
			t.Errorf("%s: %+v %+v", code, got, got.Failure)
		}
		if e := w.events(made.ID); e[event.TrainingFailed] != 1 || len(e) != 1 {
			t.Errorf("%s: events %v", code, e)
		}
	}
	for outcome, status := range map[string]int{"insufficient_balance": 402, "spend_limit_reached": 402,
		"rate_limited": 429} {
		w.Call(http.MethodPost, trainingPath(w.factory), object{"sandbox": object{"outcome": outcome}}).Refused(t, status,
			errs.Code(outcome), "")
	}
	if jobs := w.accepted(fake.Train); len(jobs) != 0 {
		t.Errorf("the sandbox has trained %v", jobs)
	}
}

func TestAFailedTrainingCostsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*trainingWorld)
		took    time.Duration
		want    training.FailureCode
		after   time.Duration
	}{
		"the job fails": {func(w *trainingWorld) {
			w.control.Queue(fake.Name, fake.Train,
				control.Fault{Kind: control.JobFailed})
		}, time.Minute, training.FailedTraining, 0},
		"the deployment fails": {func(w *trainingWorld) {
			w.control.Queue(fake.Name, fake.Deploy,
				control.Fault{Kind: control.JobFailed})
		}, time.Minute, training.FailedRefused, 0},
		"Bedrock refuses it": {func(w *trainingWorld) {
			w.control.Queue(fake.Name, fake.Train, control.Fault{Kind: control.ServerError, Status: 400})
		}, time.Minute, training.FailedRefused, 0},
		"it takes too long": {func(*trainingWorld) {}, 100 * time.Hour, training.FailedTimeout, training.Deadline},
		"nothing is known of it": {func(w *trainingWorld) {
			w.control.Queue(fake.Name, fake.TrainStatus, control.Fault{Kind: control.ResultExpired, Status: 400})
		}, time.Minute, training.FailedRefused, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldTaking(t, c.took)
			caller, factory := w.live(50)
			before, _, _ := w.credits(caller)
			at := w.Now()
			c.arrange(w)
			made := w.start(caller, factory, object{})
			w.engine.Drain()
			got := w.get(caller, factory)
			if got.State != training.Failed || got.Failure == nil || got.Failure.Code != c.want ||
				got.CostCredits != 0 ||
				got.ReservedCredits != 0 || got.ModelID != nil {
				t.Errorf("%+v %+v", got, got.Failure)
			}
			if now, sum, held := w.credits(caller); now != before || sum != now || held != 0 {
				t.Errorf("the balance is %d of %d, its entries %d, of which %d held", now, before, sum, held)
			}
			if e := w.events(made.ID); e[event.TrainingFailed] != 1 || len(e) != 1 {
				t.Errorf("events %v", e)
			}
			if w.Now().Sub(at) < c.after {
				t.Errorf("it failed after %v", w.Now().Sub(at))
			}
			w.nothingLeft(made.ID)
			// Another one can follow.
			w.start(caller, factory, object{})
		})
	}
}

// nothingLeft checks that neither a running job, nor a model, nor samples are left of a
// training.
func (w *trainingWorld) nothingLeft(trainingID string) {
	w.T.Helper()
	name := strings.ReplaceAll(trainingID, "_", "-")
	if status, answer := w.ask("/model-customization-jobs/" + name); status == http.StatusOK &&
		strings.Contains(answer, `"status":"InProgress"`) {
		w.T.Errorf("the job runs: %s", answer)
	}
	if status, answer := w.ask("/model-customization/custom-model-deployments/" + name); status != http.StatusNotFound {
		w.T.Errorf("the deployment is %d %s", status, answer)
	}
	if len(w.bucket.objects) > 0 {
		w.T.Errorf("left are %d files", len(w.bucket.objects))
	}
}

func TestDeletingTheFactoryEndsItsTraining(t *testing.T) {
	for _, state := range []training.State{training.Queued, training.Running, training.Completed} {
		t.Run(string(state), func(t *testing.T) {
			w := newTrainingWorld(t)
			c, factory := w.live(50)
			before, _, _ := w.credits(c)
			made := w.start(c, factory, object{})
			w.until(c, factory, state)
			cost := w.get(c, factory).CostCredits
			w.end(c, factory)
			w.end(c, factory)
			w.engine.Drain()
			w.end(c, factory)
			got := w.get(c, factory)
			if want := map[bool]training.State{true: training.Completed,
				false: training.Canceled}[state == training.Completed]; got.State != want || got.CostCredits != cost ||
				got.ReservedCredits != 0 {
				t.Errorf("%+v", got)
			}
			if now, sum, held := w.credits(c); now != before-cost || sum != now || held != 0 {
				t.Errorf("the balance is %d of %d, its entries %d, of which %d held", now, before, sum, held)
			}
			if e := w.events(made.ID); state != training.Completed && len(e) > 0 {
				t.Errorf("events %v", e)
			}
			w.nothingLeft(made.ID)
		})
	}
}

// A training of a factory that is deleted while it is accepted finds that out by itself.
func TestATrainingOfADeletedFactoryEndsByItself(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(50)
	before, _, _ := w.credits(c)
	made := w.start(c, factory, object{})
	w.remove(factory)
	w.engine.Drain()
	if got := w.stored(factory); got.State != training.Canceled {
		t.Errorf("%+v", got)
	}
	if now, sum, held := w.credits(c); now != before || sum != now || held != 0 {
		t.Errorf("the balance is %d of %d, its entries %d, of which %d held", now, before, sum, held)
	}
	if jobs := w.accepted(fake.Train); len(jobs) > 0 {
		t.Errorf("trained was %v", jobs)
	}
	w.nothingLeft(made.ID)
}

func TestOneJobIsBegunWhateverIsLost(t *testing.T) {
	for _, kind := range []control.Kind{control.RateLimited, control.ServerError, control.Garbage, control.Drop,
		control.DropAfterAccept} {
		for _, operation := range []string{fake.Train, fake.TrainStatus, fake.Deploy} {
			t.Run(fmt.Sprint(kind, " of ", operation), func(t *testing.T) {
				w := newTrainingWorld(t)
				c, factory := w.live(50)
				w.control.Queue(fake.Name, operation, control.Fault{Kind: kind, Times: 3})
				w.start(c, factory, object{})
				w.engine.Drain()
				if got := w.get(c, factory); got.State != training.Completed {
					t.Errorf("%+v %+v", got, got.Failure)
				}
				if jobs, deployments := w.accepted(fake.Train), w.accepted(fake.Deploy); len(jobs) != 1 ||
					len(deployments) != 1 {
					t.Errorf("%d jobs and %d deployments", len(jobs), len(deployments))
				}
			})
		}
	}
}

func TestALaterTrainingReplacesTheModel(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(50)
	first := w.start(c, factory, object{})
	w.until(c, factory, training.Completed)
	model := *w.get(c, factory).ModelID
	c.Call(http.MethodPatch, "/v1/factories/"+factory, object{"models": object{"text": model}}).Into(t,
		http.StatusOK, new(object))
	var early item.Item
	c.Call(http.MethodPost, "/v1/content-items", object{"factory_id": factory, "kind": "post",
		"prompt": "Early"}).Into(t, http.StatusAccepted, &early)
	w.engine.Step() // accepted with the first model
	second := w.start(c, factory, object{})
	w.engine.Drain()
	if got := w.get(c, factory); got.ID != second.ID || got.ModelID == nil || *got.ModelID != model {
		t.Fatalf("%+v", got)
	}
	w.nothingLeft(first.ID)
	if status, _ := w.ask("/model-customization/custom-model-deployments/" + strings.ReplaceAll(second.ID, "_",
		"-")); status != http.StatusOK {
		t.Errorf("the second deployment answers %d", status)
	}
	// Work that was planned with the first model falls back to the base model.
	var again item.Item
	c.Call(http.MethodPost, "/v1/content-items/"+early.ID+"/regenerate", object{}).Into(t, http.StatusAccepted, &again)
	w.engine.Drain()
	c.Call(http.MethodGet, "/v1/content-items/"+early.ID, nil).Into(t, http.StatusOK, &again)
	if again.State != item.Generated {
		t.Errorf("%+v %+v", again, again.Failure)
	}
	texts := w.accepted(control.Submit)
	if last := texts[len(texts)-1]; last.Model != "meta.llama3-3-70b-instruct-v1:0" {
		t.Errorf("called was %s", last.Model)
	}
}

// Items that are deleted after a training was accepted are not learned, and not charged.
func TestDeletedItemsAreNotLearned(t *testing.T) {
	w := newTrainingWorld(t)
	c, factory := w.live(60)
	made := w.start(c, factory, object{})
	w.deleteItems(c, factory, 5)
	w.engine.Drain()
	if got := w.get(c, factory); got.State != training.Completed || got.Samples != 55 ||
		got.CostCredits >= made.ReservedCredits {
		t.Errorf("%+v, reserved were %d", got, made.ReservedCredits)
	}
	if now, sum, held := w.credits(c); sum != now || held != 0 {
		t.Errorf("the balance is %d, its entries %d, of which %d held", now, sum, held)
	}
	w.start(c, factory, object{})
	w.deleteItems(c, factory, 6)
	w.engine.Drain()
	if got := w.get(c, factory); got.State != training.Failed || got.Failure.Code != training.FailedSamples {
		t.Errorf("%+v", got)
	}
}
