package training

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
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
	// Failure is why the training failed, for the log.
	Failure string
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
	return map[task.Kind]task.Handler{Train: task.Func(w.train), Remove: task.Func(w.remove)}
}

// Begin adds to the transaction a training of an owner that was accepted: its record, in
// the place of the factory's earlier one if there is one, and its task.
func Begin(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, earlier store.Item) error {
	it, err := r.entry(o, earlier)
	if err != nil {
		return err
	}
	tx.Put(it)
	t := task.Task{
		Message: task.Message{ID: r.taskID(), Kind: Train, Queue: topology.Train,
			Subject: r.FactoryID, Owner: o},
		Deadline: now.Add(Deadline),
	}
	if r.Sandbox != nil {
		t.DueAt = now.Add(time.Duration(r.Sandbox.DelaySeconds) * time.Second)
	}
	return task.Create(tx, now, t, nil)
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

// train carries out a training. If it fails, the amount that the provider was paid counts as lost.
func (w *Worker) train(ctx context.Context, s *task.Run) error {
	_, r, err := w.read(ctx, s)
	if err != nil && !errors.Is(err, errNoFactory) {
		return err
	}
	var learned lesson
	var endpoint string
	switch {
	case errors.Is(err, errNoFactory): // the training was accepted at the moment of the deletion
		return s.End(func(ctx context.Context, tx *store.Tx) error {
			it, r, err := w.read(ctx, s)
			if !errors.Is(err, errNoFactory) {
				return cmp.Or(err, task.ErrMoved)
			}
			return r.cancel(tx, w.Now(), it)
		})
	case s.Cause() != nil:
		err = task.Permanent(s.Cause())
	case s.Mode == tenant.Test:
		learned, err = lesson{r.Samples, r.Tokens}, r.Sandbox.failure()
	default:
		learned, endpoint, err = w.learn(ctx, s, r)
		err = classify(err)
	}
	if task.Waits(err) {
		return err
	}
	var model string
	if err := s.Recall("model", &model); err != nil {
		return err
	}
	return s.End(func(ctx context.Context, tx *store.Tx) error {
		it, r, failed := w.waiting(ctx, s)
		if failed != nil {
			return failed
		}
		if err != nil {
			return r.fail(tx, w.Now(), it, err, model != "" || r.State == Running && errors.Is(err, task.ErrDeadline))
		}
		return w.finish(ctx, tx, it, r, learned, endpoint)
	})
}

// failure returns the error that a test key wants, if any.
func (b *Rehearsal) failure() error {
	if b == nil || b.Outcome != string(Failed) {
		return nil
	}
	return fail(cmp.Or(b.FailureCode, FailedTraining), nil)
}

// lesson is what a model learns from.
type lesson struct {
	Samples int `json:"samples"`
	Tokens  int `json:"tokens"`
}

// The waits between two polls: they grow with the number of polls.
const (
	firstPoll   = 5 * time.Second
	longestPoll = 5 * time.Minute
)

// learn has the provider train the model of a live training, and returns the endpoint by which it is called.
func (w *Worker) learn(ctx context.Context, s *task.Run, r *Record) (learned lesson, endpoint string, err error) {
	base, ok := catalog.Find(r.BaseModel)
	switch {
	case w.Trainer == nil:
		return learned, "", fail(FailedRefused, errors.New("job: nothing is trained here"))
	case !ok || base.Training == nil:
		return learned, "", fail(FailedRefused, errors.New("job: the model can be trained no more"))
	}
	learned, err = task.Repeat(ctx, s, "samples", func(ctx context.Context) (lesson, error) {
		return w.store(ctx, s, r)
	})
	if err != nil {
		return learned, "", err
	}
	if r.State == Queued {
		if err := w.Trainer.Begin(ctx, Order{Name: nameOf(r.ID), Model: base.Training.ProviderModel,
			Parameters: base.Training.Parameters, Samples: samplesOf(r.ID),
			Output: Folder(r.ID) + "output/"}); err != nil {
			return learned, "", err
		}
		s.Also(w.change(s, func(r *Record) { r.State, r.Samples = Running, learned.Samples }))
		return learned, "", s.Sleep(task.Jitter(firstPoll))
	}
	model, err := task.Repeat(ctx, s, "model", func(ctx context.Context) (string, error) {
		status, err := w.Trainer.Find(ctx, nameOf(r.ID))
		switch {
		case err != nil:
			return "", err
		case status.Failure != "":
			return "", fail(FailedTraining, errors.New(status.Failure))
		case status.Model != "":
			return status.Model, w.Objects.Delete(ctx, samplesOf(r.ID))
		}
		const shown = 10 // the least progress that is worth a write
		if progress := min(status.Progress, 90); progress >= r.Progress+shown {
			s.Also(w.change(s, func(r *Record) { r.Progress = progress }))
		}
		return "", poll(s, "polls")
	})
	if err == nil {
		endpoint, err = w.Trainer.Deploy(ctx, nameOf(r.ID), model)
	}
	if err == nil && endpoint == "" {
		err = poll(s, "looks at the deployment")
	}
	return learned, endpoint, err
}

// poll ends a step before another poll, and counts it under a name.
func poll(s *task.Run, name string) error {
	n := 0
	if err := s.Recall(name, &n); err != nil {
		return err
	}
	return errors.Join(s.Keep(name, n+1), s.Sleep(task.Jitter(min(firstPoll<<min(n, 10), longestPoll))))
}

// store stores the samples. It reads the items again that were there when the training was accepted, so that items
// deleted since then are not learned.
func (w *Worker) store(ctx context.Context, s *task.Run, r *Record) (learned lesson, err error) {
	if err := s.GuardShared(ctx); err != nil {
		return learned, err
	}
	all, err := Collect(ctx, w.DB, s.Owner, r.FactoryID, r.Newest)
	if err != nil {
		return learned, err
	}
	chosen := all.first(r.Samples, r.Tokens)
	if chosen.Count() < MinSamples {
		return learned, fail(FailedSamples, nil)
	}
	content := chosen.File()
	sum := sha256.Sum256(content)
	file := media.File{Key: samplesOf(r.ID), MIMEType: "application/jsonl", Bytes: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:])}
	// Reading takes long: a copy of the message may have finished the training and removed the file.
	if err := s.Lease(ctx, nil); err != nil {
		return learned, err
	}
	return lesson{chosen.Count(), chosen.Tokens}, w.Objects.Put(ctx, file, bytes.NewReader(content))
}

// read reads the training of a step. It returns task.ErrOrphaned if the factory does not wait for the training any
// more, and errNoFactory if the factory was deleted.
func (w *Worker) read(ctx context.Context, s *task.Run) (store.Item, *Record, error) {
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
	case r.taskID() != s.ID || !r.Runs():
		err = task.ErrOrphaned
	case !factoryrecord.Usable(items[1], s.Owner):
		err = errNoFactory
	}
	return it, r, err
}

// errNoFactory reports that the factory of a training was deleted.
var errNoFactory = errors.New("job: the factory was deleted")

// waiting is read for a transaction: if something has changed since the step began, the step is taken again.
func (w *Worker) waiting(ctx context.Context, s *task.Run) (store.Item, *Record, error) {
	it, r, err := w.read(ctx, s)
	if errors.Is(err, task.ErrOrphaned) || errors.Is(err, errNoFactory) {
		err = task.ErrMoved
	}
	return it, r, err
}

// change returns the change of the training that a step commits.
func (w *Worker) change(s *task.Run, change func(*Record)) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.waiting(ctx, s)
		if err != nil {
			return err
		}
		change(r)
		return r.replace(tx, w.Now(), it)
	}
}

// replacedFor is the time for which a replaced model stays at the provider: work that was accepted before may still
// call it.
const replacedFor = time.Hour

// finish adds to the transaction that a training has ended well: the factory has its model, the catalog lists it, and
// the trained tokens are charged.
func (w *Worker) finish(ctx context.Context, tx *store.Tx, it store.Item, r *Record, learned lesson,
	endpoint string) error {
	model := catalog.TunedModel{ID: modelID(r.FactoryID), FactoryID: r.FactoryID, BaseModel: r.BaseModel,
		TrainingID: r.ID, Endpoint: endpoint}
	if err := w.give(ctx, tx, it.Owner, model); err != nil {
		return err
	}
	cost := r.Hold.Credits
	if m, ok := catalog.Find(r.BaseModel); ok && m.Training != nil {
		cost = min(cost, m.Training.Cost(learned.Tokens))
	}
	if err := ledger.Release(tx, w.Now(), it.Account, r.Hold, cost); err != nil {
		return err
	}
	r.State, r.Progress, r.Samples, r.ModelID, r.CostCredits, r.Hold = Completed, 100, learned.Samples, &model.ID, cost,
		ledger.Hold{}
	return r.end(tx, w.Now(), it, event.TrainingCompleted)
}

// give adds to the transaction that a factory has a model. The one that it had before is
// removed from the provider later.
func (w *Worker) give(ctx context.Context, tx *store.Tx, o tenant.Owner, model catalog.TunedModel) error {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(model.FactoryID), store.IDKey(model.ID))
	if err != nil {
		return err
	}
	factory, was := items[0], items[1]
	if !factoryrecord.Usable(factory, o) {
		return task.ErrMoved
	}
	raw, err := json.Marshal(model)
	if err != nil {
		return err
	}
	factory.Attributes = maps.Clone(factory.Attributes)
	if factory.Attributes == nil {
		factory.Attributes = map[string]string{}
	}
	factory.Attributes[catalog.TrainedAttribute] = string(raw)
	tx.Replace(factory)

	it, err := store.NewItem(catalog.TrainedKind, o, model.ID, model)
	if err != nil {
		return err
	}
	if it.Version = was.Version; was.Version == 0 {
		tx.Create(it, nil)
		return nil
	}
	tx.Replace(it)
	var replaced catalog.TunedModel
	if err := was.Decode(&replaced); err != nil {
		return err
	}
	return removeLater(tx, w.Now(), o, replaced.TrainingID, replacedFor)
}

// fail adds to the transaction that a training ends badly.
func (r *Record) fail(tx *store.Tx, now time.Time, it store.Item, cause error, paid bool) error {
	f := failureOf(cause)
	r.State, r.Failure = Failed, &f
	if err := r.drop(tx, now, it.Owner, paid); err != nil {
		return err
	}
	return r.end(tx, now, it, event.TrainingFailed)
}

// cancel adds to the transaction that a training whose task ends is canceled.
func (r *Record) cancel(tx *store.Tx, now time.Time, it store.Item) error {
	paid := r.State == Running
	r.State = Canceled
	if err := r.drop(tx, now, it.Owner, paid); err != nil {
		return err
	}
	return r.replace(tx, now, it)
}

// drop adds to the transaction that the money of a training is released, and that its remains are removed. Paid reports
// that the provider was paid.
func (r *Record) drop(tx *store.Tx, now time.Time, o tenant.Owner, paid bool) error {
	if paid {
		ledger.Lose(tx, now, o.Account, r.Hold.Credits)
	}
	if err := ledger.Release(tx, now, o.Account, r.Hold, 0); err != nil {
		return err
	}
	r.Hold = ledger.Hold{}
	return removeLater(tx, now, o, r.ID, 0)
}

// end adds to the transaction that a training has ended, with its event.
func (r *Record) end(tx *store.Tx, now time.Time, it store.Item, t event.Type) error {
	if err := r.replace(tx, now, it); err != nil {
		return err
	}
	return event.Add(tx, now, it.Owner, t, r.View())
}

const (
	// removing is the wait if something is left.
	removing = 30 * time.Second
	// settled is the time after which the provider is asked once more, although nothing was left: a step that was under
	// way when the training was canceled may have begun something.
	settled = 5 * time.Minute
)

// removeLater adds to the transaction the task that removes the files and models of a training at the provider. In the
// sandbox there are none.
func removeLater(tx *store.Tx, now time.Time, o tenant.Owner, trainingID string, after time.Duration) error {
	if o.Mode != tenant.Live {
		return nil
	}
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(Remove, trainingID, 1), Kind: Remove, Queue: topology.Train,
			Subject: trainingID, Owner: o}, DueAt: now.Add(after),
	}, nil)
}

// remove removes the remains of a training. It tries without end: deleted data of a customer must not stay.
func (w *Worker) remove(ctx context.Context, s *task.Run) error {
	if w.Trainer == nil {
		return nil // nothing was ever trained here
	}
	gone, err := w.Trainer.Remove(ctx, nameOf(s.Subject))
	if err == nil {
		err = w.Objects.Delete(ctx, samplesOf(s.Subject))
	}
	before := false
	if err = errors.Join(err, s.Recall("gone", &before)); err != nil {
		return task.Again(err)
	}
	if err := s.Keep("gone", gone); err != nil {
		return err
	}
	switch {
	case !gone:
		return s.Sleep(removing)
	case !before:
		return s.Sleep(settled)
	}
	return nil
}

// Cleaner ends the training of a factory that was deleted, and removes its model.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean cancels the factory's training, if it runs, and releases its money. Its trained model leaves the catalog, and
// is removed from the provider. Called again it finds nothing; more is always false.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	items, err := c.DB.GetAll(ctx, Key(factoryID), store.IDKey(modelID(factoryID)))
	if err != nil {
		return false, err
	}
	tx := &store.Tx{}
	if training := items[0]; training.Kind == ItemKind && training.Owner == o {
		r, err := Decode(&training)
		if err == nil && r.Runs() {
			err = errors.Join(c.stop(ctx, tx, r), r.cancel(tx, c.Now(), training))
		}
		if err != nil {
			return false, err
		}
	}
	if model := items[1]; model.Kind == catalog.TrainedKind && model.Owner == o {
		var trained catalog.TunedModel
		if err := model.Decode(&trained); err != nil {
			return false, err
		}
		tx.Delete(model)
		if err := removeLater(tx, c.Now(), o, trained.TrainingID, 0); err != nil {
			return false, err
		}
	}
	return false, c.DB.Commit(ctx, tx)
}

// stop adds to the transaction that the task of a training is canceled.
func (c Cleaner) stop(ctx context.Context, tx *store.Tx, r *Record) error {
	it, err := c.DB.Lookup(ctx, store.IDKey(r.taskID()))
	if err != nil || it.PK == "" {
		return err
	}
	return task.Cancel(tx, it)
}

// Discard adds to the transaction that a training of the sandbox is deleted, and the end of its work.
func (c Cleaner) Discard(ctx context.Context, tx *store.Tx, it store.Item) error {
	tx.Delete(it)
	r, err := Decode(&it)
	if err != nil || !r.Runs() {
		return err
	}
	return c.stop(ctx, tx, r)
}

// How many items a training learns from: at least, and at most, the newest ones.
const (
	MinSamples = 50
	MaxSamples = 1000
)

// Items are read in pages. The last constant bounds the reads of a factory most of whose items have no texts.
const (
	pageItems = 250
	maxPages  = 8
)

// bytesPerToken is the number of bytes of text that count as a token: few enough for
// languages that models know less well.
const bytesPerToken = 3

// Samples are the texts that a training learns from.
type Samples struct {
	// Lines are the samples as JSON: those that are worth most first, and then the newest item first.
	Lines [][]byte
	// Newest is the id of the newest item.
	Newest string
	// Tokens is the number of tokens of all samples.
	Tokens int
}

// Count is the number of samples.
func (s Samples) Count() int { return len(s.Lines) }

// File returns the samples as a file of lines.
func (s Samples) File() []byte { return append(bytes.Join(s.Lines, []byte("\n")), '\n') }

// first returns the newest samples, up to a number and to a number of tokens.
func (s Samples) first(count, tokens int) Samples {
	bounded := Samples{Newest: s.Newest}
	for _, line := range s.Lines {
		n := tokensOf(line)
		if len(bounded.Lines) == count || bounded.Tokens+n > tokens {
			break
		}
		bounded.Lines, bounded.Tokens = append(bounded.Lines, line), bounded.Tokens+n
	}
	return bounded
}

func tokensOf(line []byte) int { return (len(line) + bytesPerToken - 1) / bytesPerToken }

// Collect reads the samples of a factory: those of its newest items that are worth learning from, up
// to the one with the id newest, which may be empty. It takes a bounded number of reads.
func Collect(ctx context.Context, db *store.DB, o tenant.Owner, factoryID, newest string) (s Samples, err error) {
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(o, factoryID), To: newest,
		OneOf: map[string][]string{"state": item.WrittenStates()}, Limit: pageItems,
	}
	var all []*item.Record
	for range maxPages {
		page, err := item.List(ctx, db, q)
		if err != nil {
			return s, err
		}
		for _, r := range page.Records {
			if _, _, ok := r.WrittenTexts(); ok && len(all) < MaxSamples {
				all = append(all, r)
			}
		}
		if q.After = page.Next; q.After == nil || len(all) == MaxSamples {
			break
		}
	}
	if len(all) > 0 {
		s.Newest = all[0].Item.ID
	}
	return s, s.add(WorthLearning(all))
}

// WorthLearning returns the items to learn from: those that people have edited, have published or have liked best. If
// these are too few for a training, the newest others follow them.
func WorthLearning(all []*item.Record) []*item.Record {
	good := item.Lessons(all)
	known := map[string]bool{}
	for _, r := range good {
		known[r.Item.ID] = true
	}
	for _, r := range all {
		if !known[r.Item.ID] && len(good) < MinSamples {
			good = append(good, r)
		}
	}
	return good
}

func (s *Samples) add(all []*item.Record) error {
	for _, r := range all {
		asked, text, _ := r.WrittenTexts() // those without texts were left out
		line, err := sample(asked, text)
		if err != nil {
			return err
		}
		s.Lines, s.Tokens = append(s.Lines, line), s.Tokens+tokensOf(line)
	}
	return nil
}

// The form of a sample: a conversation of one question and its answer.
type (
	conversation struct {
		SchemaVersion string    `json:"schemaVersion"`
		System        []block   `json:"system"`
		Messages      []message `json:"messages"`
	}
	message struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}
	block struct {
		Text string `json:"text"`
	}
)

// schemaVersion names the form of samples.
const schemaVersion = "bedrock-conversation-2024"

// sample returns one sample: the prompts that generation sends for the item, and the answer that it reads.
func sample(asked provider.Request, text provider.Text) ([]byte, error) {
	answer, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	system, user := provider.TextPrompt(asked)
	return plainJSON(conversation{
		SchemaVersion: schemaVersion,
		System:        []block{{reserved.Replace(system)}},
		Messages: []message{{"user", []block{{reserved.Replace(user)}}},
			{"assistant", []block{{reserved.Replace(string(answer))}}}},
	})
}

// reserved replaces the words that mark the turns of a conversation: a sample with one of
// them fails the whole training.
var reserved = strings.NewReplacer(
	"User:", "User -", "Bot:", "Bot -", "Assistant:", "Assistant -", "System:", "System -", "<image>", "(image)",
	"<video>", "(video)", "[EOS]", "(EOS)",
)

// plainJSON encodes a value without escapes for HTML: the model would learn them.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
