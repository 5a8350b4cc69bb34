package studio

import (
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// Loader opens generations for the engine.
type Loader struct{}

var _ generate.Loader = Loader{}

// Open reads a generation.
func (Loader) Open(it store.Item) (generate.Work, error) {
	r, err := decode(&it)
	if err != nil {
		return nil, err
	}
	return &work{it, r}, nil
}

// work is a generation in the hands of the engine.
type work struct {
	item store.Item
	*record
}

var _ generate.Work = (*work)(nil)

// Waits implements generate.Work.
func (w *work) Waits() int {
	if w.runs() {
		return attempt
	}
	return 0
}

// Ticket implements generate.Work.
func (w *work) Ticket() *generate.Ticket { return &w.record.Ticket }

// Request implements generate.Work.
func (w *work) Request(int, []generate.Made) (provider.Request, error) {
	req := w.Input.request(w.Kind)
	if s := w.Sandbox; s != nil {
		req.Rehearsal = provider.Rehearsal{Fail: s.Outcome == string(Failed), Start: w.CreatedAt, Delay: time.Duration(s.DelaySeconds) * time.Second}
	}
	return req, nil
}

// Start implements generate.Work.
func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is how much further a generation must be before it is written.
const progressStep = 10

// Progress implements generate.Work.
func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.record.Progress+progressStep {
		return false
	}
	w.record.Progress = min(percent, 99) // 100 is for what is ready
	w.Touch(now)
	return true
}

// Succeed implements generate.Work.
func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.Made) error {
	w.State, w.record.Progress, w.CostCredits = Generated, 100, w.Credits
	w.Files = made[0].Files
	w.Touch(now)
	return w.notify(tx, event.StudioGenerated)
}

// Fail implements generate.Work.
func (w *work) Fail(tx *store.Tx, now time.Time, f generate.Failure) error {
	w.State, w.Failure = Failed, &Failure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.Touch(now)
	return w.notify(tx, event.StudioFailed)
}

// Item implements generate.Work.
func (w *work) Item() (store.Item, error) {
	w.item.Filters = w.filters()
	return w.item, w.item.Encode(w.record)
}

// notify adds the event of the generation's end to the transaction.
func (w *work) notify(tx *store.Tx, t event.Type) error {
	shown := w.Generation
	shown.Media = []media.View{}
	e, err := event.New(w.UpdatedAt, w.item.Owner, t, shown, w.Files)
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}
