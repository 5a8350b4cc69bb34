package studio

import (
	"time"

	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// Area opens generations for the engine.
type Area struct{}

var _ engine.Area = Area{}

// Open reads a generation.
func (Area) Open(it store.Item) (engine.Work, error) {
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

var _ engine.Work = (*work)(nil)

// Waits implements engine.Work.
func (w *work) Waits() int {
	if w.runs() {
		return attempt
	}
	return 0
}

// Ticket implements engine.Work.
func (w *work) Ticket() *engine.Ticket { return &w.record.Ticket }

// Request implements engine.Work.
func (w *work) Request(int, []engine.Made) (provider.Request, error) {
	req := w.Input.request(w.Kind)
	if s := w.Sandbox; s != nil {
		req.Rehearsal = provider.Rehearsal{Fail: s.Outcome == string(Failed), Start: w.CreatedAt, Delay: time.Duration(s.DelaySeconds) * time.Second}
	}
	return req, nil
}

// Start implements engine.Work.
func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is how much further a generation must be before it is written.
const progressStep = 10

// Progress implements engine.Work.
func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.record.Progress+progressStep {
		return false
	}
	w.record.Progress = min(percent, 99) // 100 is for what is ready
	w.Touch(now)
	return true
}

// Succeed implements engine.Work.
func (w *work) Succeed(now time.Time, made []engine.Made) ([]store.Item, error) {
	w.State, w.record.Progress, w.CostCredits = Generated, 100, w.Credits
	w.Files = made[0].Files
	w.Touch(now)
	return w.tell(event.StudioGenerated)
}

// Fail implements engine.Work.
func (w *work) Fail(now time.Time, f engine.Failure) ([]store.Item, error) {
	w.State, w.Failure = Failed, &Failure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.Touch(now)
	return w.tell(event.StudioFailed)
}

// Item implements engine.Work.
func (w *work) Item() (store.Item, error) {
	w.item.Filters = w.filters()
	return w.item, w.item.Encode(w.record)
}

// tell makes the event of the generation's end.
func (w *work) tell(t event.Type) ([]store.Item, error) {
	shown := w.Generation
	shown.Media = []media.View{}
	told, err := event.New(w.UpdatedAt, w.item.Owner, t, shown, w.Files)
	return []store.Item{told}, err
}
