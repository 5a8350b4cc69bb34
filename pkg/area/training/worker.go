package training

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks.
const (
	Train  task.Kind = "training"        // carries out a training
	Remove task.Kind = "training.remove" // removes the files and models of a training at the provider
)

// Deadline bounds the duration of a training.
const Deadline = 48 * time.Hour

// Order is a training for a provider.
type Order struct {
	// Name identifies the training and the model. Each name is trained once, however often Begin is called.
	Name string
	// Model is the provider's own id of the base model, and Parameters are the settings of the training.
	Model      string
	Parameters map[string]string
	// Samples is the key of the file of samples, and Output the key of the folder that the provider may write to.
	Samples, Output string
}

// Status is the progress of a training.
type Status struct {
	// Progress is 0 to 100.
	Progress int
	// Model is the provider's id of the trained model. It is empty until it is trained.
	Model string
	// Failed is why the training failed, for the log.
	Failed string
}

// Trainer trains models. Its methods are idempotent, and return errors of type
// *provider.Error for everything that the provider answers.
type Trainer interface {
	// Begin begins a training.
	Begin(ctx context.Context, o Order) error
	// Find returns how far a training is.
	Find(ctx context.Context, name string) (Status, error)
	// Deploy makes a trained model ready for use under a name. The endpoint is the id by
	// which it is called; it is empty as long as the model is not ready.
	Deploy(ctx context.Context, name, model string) (endpoint string, err error)
	// Remove stops the training of a name, and removes its model. It reports whether
	// nothing is left; otherwise it is to be called again.
	Remove(ctx context.Context, name string) (gone bool, err error)
}

// Objects stores files.
type Objects interface {
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, key string) error
}

// Worker carries out trainings.
type Worker struct {
	DB      *store.DB
	Objects Objects
	// Trainer trains live models. It is nil if the stack has none.
	Trainer Trainer
	Now     func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Train: handler{w}, Remove: remover{w}}
}

// run is the payload of a Train task.
type run struct {
	TrainingID string `json:"training_id"`
	// Samples and Tokens describe the file, once it is stored.
	Samples int `json:"samples,omitempty"`
	Tokens  int `json:"tokens,omitempty"`
	// Begun reports that the provider has begun, and Polls counts how often it was asked since.
	Begun bool `json:"begun,omitempty"`
	Polls int  `json:"polls,omitempty"`
	// Model is the provider's id of the trained model, and Endpoint the id to call it by.
	Model    string `json:"model,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
}

// Begin adds to the transaction a training of an owner that was accepted: its record, in
// the place of the factory's earlier one if there is one, and its task.
func Begin(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, earlier store.Item) error {
	it, err := r.entry(o, earlier)
	if err != nil {
		return err
	}
	if earlier.Version > 0 {
		tx.Replace(it)
	} else {
		tx.Create(it, nil)
	}
	t := task.Task{
		Message: task.Message{ID: task.ID(Train, r.ID, 1), Kind: Train, Queue: topology.Train,
			Subject: r.FactoryID, Owner: o},
		Deadline: now.Add(Deadline),
	}
	if r.Sandbox != nil {
		t.DueAt = now.Add(time.Duration(r.Sandbox.DelaySeconds) * time.Second)
	}
	return task.Create(tx, now, t, run{TrainingID: r.ID})
}

// Reserve adds to the transaction the reservation that pays for the training.
func (r *Record) Reserve(tx *store.Tx, now time.Time, o tenant.Owner, credits int64, payer ledger.Payer,
	b ledger.Balance) (err error) {
	r.Hold, err = ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: r.ID,
		About: r.about(), Credits: credits, Payer: payer}, b)
	return err
}

// nameOf is the name of a training at the provider, which takes no underscores.
func nameOf(trainingID string) string { return strings.ReplaceAll(trainingID, "_", "-") }

// Prefix begins the keys of the files of trainings. The bucket removes them after some days.
const Prefix = "training/"

// Folder returns the prefix of the keys of a training's files.
func Folder(trainingID string) string { return Prefix + nameOf(trainingID) + "/" }

func samplesOf(trainingID string) string { return Folder(trainingID) + "samples.jsonl" }

// handler is the handler of Train.
type handler struct{ *Worker }

// The waits between two polls: they grow with the number of polls.
const (
	firstPoll   = 5 * time.Second
	longestPoll = 5 * time.Minute
)

// Step takes the next step of a training.
func (w handler) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p run
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, err := w.read(ctx, s, p.TrainingID)
	if errors.Is(err, errNoFactory) {
		return w.abandon(s, p), nil
	}
	if err != nil {
		return o, err
	}
	if s.Mode == tenant.Test {
		return w.rehearse(s, r)
	}
	switch {
	case p.Endpoint != "":
		o, err = w.finish(s, p)
	case p.Model != "":
		o, err = w.deploy(ctx, &p)
	case p.Begun:
		o, err = w.poll(ctx, s, r, &p)
	case p.Samples > 0:
		o, err = w.begin(ctx, s, r, &p)
	default:
		o, err = w.prepare(ctx, s, r, &p)
	}
	if err != nil {
		return task.Outcome{}, classify(err)
	}
	o.Payload = p
	return o, nil
}

// rehearse ends a training of the sandbox.
func (w handler) rehearse(s *task.Step, r *Record) (o task.Outcome, err error) {
	if b := r.Sandbox; b != nil && b.Outcome == string(Failed) {
		code := b.FailureCode
		if code == "" {
			code = FailedTraining
		}
		return o, fail(code, nil)
	}
	return w.finish(s, run{TrainingID: r.ID, Samples: r.Samples, Tokens: r.Tokens})
}

// prepare stores the samples. It reads the items again that were there when the training
// was accepted, so that items deleted since then are not learned.
func (w handler) prepare(ctx context.Context, s *task.Step, r *Record, p *run) (o task.Outcome, err error) {
	if w.Trainer == nil {
		return o, fail(FailedRefused, errors.New("job: nothing is trained here"))
	}
	if err := s.GuardShared(ctx); err != nil {
		return o, err
	}
	all, err := Collect(ctx, w.DB, s.Owner, r.FactoryID, r.Newest)
	if err != nil {
		return o, err
	}
	chosen := all.first(r.Samples, r.Tokens)
	if chosen.Count() < MinSamples {
		return o, fail(FailedSamples, nil)
	}
	content := chosen.File()
	sum := sha256.Sum256(content)
	file := media.File{Key: samplesOf(r.ID), MIMEType: "application/jsonl", Bytes: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:])}
	p.Samples, p.Tokens = chosen.Count(), chosen.Tokens
	// Reading takes long: a copy of the message may have finished the training and removed the file.
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	return o, w.Objects.Put(ctx, file, bytes.NewReader(content))
}

func (w handler) begin(ctx context.Context, s *task.Step, r *Record, p *run) (o task.Outcome, err error) {
	m, ok := catalog.Find(r.BaseModel)
	if !ok || m.Training == nil {
		return o, fail(FailedRefused, errors.New("job: the model can be trained no more"))
	}
	if err := w.Trainer.Begin(ctx, Order{
		Name: nameOf(r.ID), Model: m.Training.ProviderModel, Parameters: m.Training.Parameters,
		Samples: samplesOf(r.ID), Output: Folder(r.ID) + "output/",
	}); err != nil {
		return o, err
	}
	p.Begun, o.Wait = true, task.Jitter(firstPoll)
	o.Join = w.change(s, p.TrainingID, func(r *Record) { r.State, r.Samples = Running, p.Samples })
	return o, nil
}

// poll asks how far the provider is.
func (w handler) poll(ctx context.Context, s *task.Step, r *Record, p *run) (o task.Outcome, err error) {
	status, err := w.Trainer.Find(ctx, nameOf(r.ID))
	switch {
	case err != nil:
		return o, err
	case status.Failed != "":
		return o, fail(FailedTraining, errors.New(status.Failed))
	case status.Model != "":
		p.Model, p.Polls = status.Model, 0
		return o, w.Objects.Delete(ctx, samplesOf(r.ID))
	}
	o.Wait = wait(p)
	const shown = 10 // the least progress that is worth a write
	if progress := min(status.Progress, 90); progress >= r.Progress+shown {
		o.Join = w.change(s, p.TrainingID, func(r *Record) { r.Progress = progress })
	}
	return o, nil
}

// wait counts a poll, and returns how long to wait before the next.
func wait(p *run) time.Duration {
	p.Polls++
	return task.Jitter(min(firstPoll<<min(p.Polls-1, 10), longestPoll))
}

// deploy has the model made ready for use.
func (w handler) deploy(ctx context.Context, p *run) (o task.Outcome, err error) {
	if p.Endpoint, err = w.Trainer.Deploy(ctx, nameOf(p.TrainingID), p.Model); err == nil && p.Endpoint == "" {
		o.Wait = wait(p)
	}
	return o, err
}

// read reads the training of a step. It returns task.ErrOrphaned if the factory does not
// wait for the training any more, and errNoFactory if the factory was deleted.
func (w *Worker) read(ctx context.Context, s *task.Step, trainingID string) (store.Item, *Record, error) {
	items, err := w.DB.GetAll(ctx, Key(s.Subject), factoryrecord.Key(s.Subject))
	if err != nil {
		return store.Item{}, nil, err
	}
	it := items[0]
	if it.Kind != ItemKind {
		return it, nil, task.ErrOrphaned
	}
	r, err := Decode(&it)
	switch {
	case err != nil:
	case r.ID != trainingID || !r.Runs():
		err = task.ErrOrphaned
	case !factoryrecord.Usable(items[1], s.Owner):
		err = errNoFactory
	}
	return it, r, err
}

// errNoFactory reports that the factory of a training was deleted.
var errNoFactory = errors.New("job: the factory was deleted")

// waiting is read for a transaction: if something has changed since the step began, the step is taken again.
func (w *Worker) waiting(ctx context.Context, s *task.Step, trainingID string) (store.Item, *Record, error) {
	it, r, err := w.read(ctx, s, trainingID)
	if errors.Is(err, task.ErrOrphaned) || errors.Is(err, errNoFactory) {
		err = task.ErrMoved
	}
	return it, r, err
}

// change is the Outcome.Join that changes the training.
func (w *Worker) change(s *task.Step, trainingID string, change func(*Record)) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.waiting(ctx, s, trainingID)
		if err != nil {
			return err
		}
		change(r)
		r.Touch(w.Now())
		if err := r.write(&it); err != nil {
			return err
		}
		tx.Replace(it)
		return nil
	}
}
