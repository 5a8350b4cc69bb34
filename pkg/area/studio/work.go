package studio

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// Loader opens generations for their work.
type Loader struct {
	// Sign signs the addresses of files that providers fetch.
	Sign func(media.File) (string, error)
}

var _ generate.Loader = Loader{}

// Open reads a generation.
func (l Loader) Open(it store.Item) (generate.Work, error) {
	r, err := Decode(&it)
	if err != nil {
		return nil, err
	}
	return &work{it, r, l.Sign}, nil
}

// work is the work of a generation.
type work struct {
	item store.Item
	*Record
	sign func(media.File) (string, error)
}

var _ generate.Composing = (*work)(nil)

func (w *work) Waits() int {
	if w.Runs() {
		return Attempt
	}
	return 0
}

func (w *work) Ticket() *generate.Ticket { return &w.Record.Ticket }

func (w *work) Request(int, []generate.Made) (provider.Request, error) {
	in := w.Input
	for member, file := range w.Given {
		url, err := w.sign(file)
		if err != nil {
			return provider.Request{}, err
		}
		*in.File(member) = url
	}
	req := in.Request(w.Kind)
	if w.Kind == provider.KindAvatar {
		req.Spoken = time.Duration(w.Given[AudioMember].DurationSeconds * float64(time.Second))
	}
	if s := w.Sandbox; s != nil {
		req.Rehearsal = s.Request(s.Outcome, w.CreatedAt.Time)
	}
	return req, nil
}

// Composition implements generate.Composing: the files of the model stay as they are, and are signed.
func (w *work) Composition(_ int, made []generate.Made) (generate.Composition, error) {
	return generate.Whole(made[0].Files), nil
}

// Gave implements generate.Composing: the caller's own files are not among those that are signed.
func (w *work) Gave(*provider.Error) bool { return false }

func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is the least progress that is worth a write.
const progressStep = 10

func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.Record.Progress+progressStep {
		return false
	}
	w.Record.Progress = min(percent, 99) // 100 means ready
	w.Touch(now)
	return true
}

func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.Made, cost int64) error {
	w.State, w.Record.Progress, w.CostCredits = Generated, 100, cost
	w.Files = made[len(made)-1].Files
	w.Touch(now)
	return w.notify(tx, event.StudioGenerated)
}

func (w *work) Fail(tx *store.Tx, now time.Time, f generate.Failure) error {
	w.State, w.Failure = Failed, &Failure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.CostCredits = f.Cost
	w.Touch(now)
	return w.notify(tx, event.StudioFailed)
}

// Cancel implements generate.Work. No event reports it.
func (w *work) Cancel(_ *store.Tx, now time.Time, charged int64, _ []generate.Made) error {
	w.State, w.CostCredits, w.Record.Ticket = Canceled, charged, generate.Ticket{}
	w.Touch(now)
	return nil
}

func (w *work) Item() (store.Item, error) { return w.Into(w.item) }

// notify adds the event of the generation's end to the transaction.
func (w *work) notify(tx *store.Tx, t event.Type) error {
	shown := w.Generation
	shown.Media = []media.View{}
	e, err := event.New(w.UpdatedAt.Time, w.item.Owner, t, shown, w.Files)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}
