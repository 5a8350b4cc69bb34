package content

import (
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// Area opens content items for the engine.
type Area struct {
	// Sign signs the addresses of files that providers fetch.
	Sign Signer
}

var _ engine.Area = Area{}

// Open reads a content item.
func (a Area) Open(it store.Item) (engine.Work, error) {
	r, err := decode(&it)
	if err != nil {
		return nil, err
	}
	return &work{it, r, a.Sign}, nil
}

// work is a content item in the hands of the engine.
type work struct {
	item store.Item
	*record
	sign Signer
}

var _ engine.Work = (*work)(nil)

// Waits implements engine.Work.
func (w *work) Waits() int {
	if !w.runs() {
		return 0
	}
	return w.Attempt
}

// Ticket implements engine.Work.
func (w *work) Ticket() *engine.Ticket { return &w.record.Ticket }

// Request implements engine.Work.
func (w *work) Request(n int, made []engine.Made) (provider.Request, error) {
	req, err := w.request(n, made, w.sign)
	if s := w.Sandbox; s != nil {
		req.Rehearsal = provider.Rehearsal{
			Fail:  s.Outcome == string(Failed),
			Start: w.Accepted, Delay: time.Duration(s.DelaySeconds) * time.Second,
		}
	}
	return req, err
}

// Start implements engine.Work.
func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// Progress implements engine.Work: an item shows none.
func (w *work) Progress(time.Time, int) bool { return false }

// Succeed implements engine.Work.
func (w *work) Succeed(now time.Time, made []engine.Made) ([]store.Item, error) {
	w.assemble(made)
	w.Touch(now)
	at := w.UpdatedAt
	w.GeneratedAt = &at
	w.CostCredits += w.Credits
	w.State = Generating // also where the first step was the last
	if err := w.move(Generated); err != nil {
		return nil, err
	}
	generated, err := w.tell(event.ContentGenerated)
	if err != nil || w.Sandbox == nil || w.Sandbox.Outcome != string(Published) {
		return []store.Item{generated}, err
	}
	if err := errors.Join(w.move(Publishing), w.move(Published)); err != nil {
		return nil, err
	}
	w.PublishedAt = &at
	published, err := w.tell(event.ContentPublished)
	return []store.Item{generated, published}, err
}

// Fail implements engine.Work.
func (w *work) Fail(now time.Time, f engine.Failure) ([]store.Item, error) {
	w.State = Generating // it may fail before its first step is taken
	if err := w.move(Failed); err != nil {
		return nil, err
	}
	w.Failure = &Failure{Stage: "generate", Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.Touch(now)
	failed, err := w.tell(event.ContentFailed)
	return []store.Item{failed}, err
}

// Item implements engine.Work.
func (w *work) Item() (store.Item, error) {
	w.item.Filters = w.filters()
	return w.item, w.item.Encode(w.record)
}

// tell makes an event of the item. It shows the item as it will be once the
// transaction is through.
func (w *work) tell(t event.Type) (store.Item, error) {
	shown := w.record.Item
	shown.Media = []media.View{}
	return event.New(w.UpdatedAt, w.item.Owner, t, shown, w.Files)
}

// assemble fills the item from what its parts made. What the caller has given stays.
func (r *record) assemble(made []engine.Made) {
	t := written(made)
	if !r.Given.Title {
		r.Title = t.Title
	}
	if !r.Given.Caption {
		r.Caption = t.Caption
	}
	if !r.Given.Hashtags {
		r.Hashtags = append([]string{}, t.Hashtags...)
	}
	for i := range r.Slides {
		if !r.givenSlide(i) && i < len(t.Slides) {
			r.Slides[i].Text = t.Slides[i]
		}
	}
	r.Files = nil
	for n, m := range made {
		if s := r.Parts[n].Slide; s > 0 && len(m.Files) > 0 {
			r.Slides[s-1].MediaID = &m.Files[0].ID
		}
		r.Files = append(r.Files, m.Files...)
	}
}

func (r *record) givenSlide(i int) bool { return slices.Contains(r.Given.Slides, i) }
