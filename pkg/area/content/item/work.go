package item

import (
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// Loader opens content items for their generation.
type Loader struct {
	// Sign signs the addresses of files that providers fetch.
	Sign Signer
	// Reader reads the sources of factories. It is nil in functions that write no texts.
	Reader Reader
	// Repeats permits texts that nearly repeat earlier ones. It is for fakes of providers, which know few texts.
	Repeats bool
}

var _ generate.Loader = Loader{}

// Open reads a content item.
func (l Loader) Open(it store.Item) (generate.Work, error) {
	r, err := Decode(&it)
	if err != nil {
		return nil, err
	}
	return &work{item: it, Record: r, signer: l.Sign, reader: l.Reader, repeats: l.Repeats}, nil
}

// work is the generation of a content item.
type work struct {
	item store.Item
	*Record
	signer  Signer
	reader  Reader
	repeats bool
	look    generate.Look // of its finished media
}

var _ generate.Composing = (*work)(nil)

// Waits implements generate.Work.
func (w *work) Waits() int {
	if !w.Runs() {
		return 0
	}
	return w.Attempt
}

// Ticket implements generate.Work.
func (w *work) Ticket() *generate.Ticket { return &w.Record.Ticket }

// Request implements generate.Work.
func (w *work) Request(n int, made []generate.Made) (provider.Request, error) {
	w.settle(made)
	req, err := w.request(n, made, w.signer)
	if s := w.Sandbox; s != nil {
		req.Rehearsal = s.Request(s.Outcome, w.Accepted)
	}
	return req, err
}

// Start implements generate.Work.
func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is the least progress, in percent, that is worth a write. Beyond
// lastProgress, the end is near.
const (
	progressStep = 20
	lastProgress = 90
)

// Progress implements generate.Work.
func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.Record.Progress+progressStep || percent > lastProgress {
		return false
	}
	w.Record.Progress = percent
	w.Touch(now)
	return true
}

// Succeed implements generate.Work.
func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.Made, cost int64) error {
	before := w.Counts()
	if t := written(made); t.Caption != "" {
		if err := w.sign(tx, now, t); err != nil {
			return err
		}
		w.Sources = w.quoted(t)
	}
	w.settle(made)
	w.assemble(made, now)
	w.Touch(now)
	at := w.UpdatedAt
	w.GeneratedAt, w.Record.Progress = &at, 100
	w.CostCredits += cost
	past := Past{At: at, Made: 1, Credits: cost}
	if w.Sandbox != nil && w.Sandbox.Outcome == string(Published) {
		past.Published = 1
	}
	w.note(past)
	w.State = Generating // the first step may also be the last
	if err := errors.Join(w.Move(Generated), w.Notify(tx, w.item.Owner, event.ContentGenerated)); err != nil {
		return err
	}
	if past.Published > 0 {
		w.PublishedAt = &at
		if err := errors.Join(w.Move(Publishing), w.Move(Published),
			w.Notify(tx, w.item.Owner, event.ContentPublished)); err != nil {
			return err
		}
	}
	w.Count(tx, now, before)
	if w.State != Generated {
		return nil
	}
	return w.autoPublish(tx, now, w.item.Owner)
}

// Fail implements generate.Work.
func (w *work) Fail(tx *store.Tx, now time.Time, f generate.Failure) error {
	before := w.Counts()
	w.State = Generating // it may fail before its first step is taken
	if err := w.Move(Failed); err != nil {
		return err
	}
	w.Failure = &Failure{Stage: string(f.Stage), Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.Touch(now)
	w.CostCredits += f.Cost
	w.keep(f.Made)
	w.note(Past{At: w.UpdatedAt, Failed: 1, Credits: f.Cost})
	w.Count(tx, now, before)
	return w.Notify(tx, w.item.Owner, event.ContentFailed)
}

// Item implements generate.Work.
func (w *work) Item() (store.Item, error) {
	w.Index(&w.item)
	return w.item, w.item.Encode(w.Record)
}

// Notify adds an event of the item to the transaction. It shows the item as it is
// after the transaction.
func (r *Record) Notify(tx *store.Tx, o tenant.Owner, t event.Type) error {
	shown := r.Item
	shown.Publications = r.publications()
	shown.Media, shown.Previews = []media.View{}, []Preview{}
	e, err := event.New(r.UpdatedAt.Time, o, t, shown, r.shown())
	if err == nil {
		tx.Create(e, nil)
	}
	return err
}

// assemble fills the item with the results of its parts.
func (r *Record) assemble(made []generate.Made, now time.Time) {
	r.write(made)
	r.vary(made, now)
	finished, parts := r.sort(made)
	if r.Provided() && len(finished.Files) == 0 {
		finished.Files = r.own(media.Final)
	} else if r.Provided() {
		as := media.Still
		if r.Own[0].Type == media.Video {
			as = media.Clip
		}
		parts = append(parts, r.own(as)...)
	}
	r.describe(finished.Files)
	r.Files, r.Kept, r.Branded, r.Results = append(finished.Files, parts...), nil, finished.Branded, r.results(made)
	r.showSlides()
}

// write sets the texts that were made. The texts of the caller stay.
func (r *Record) write(made []generate.Made) {
	t := r.words(made)
	if !r.Given.Title {
		r.Title = t.Title
	}
	if !r.Given.Caption {
		r.Caption, r.Draft = t.Caption, ""
	}
	if !r.Given.Hashtags {
		r.Hashtags = append([]string{}, t.Hashtags...)
	}
	if !r.Given.Headline {
		r.Headline = t.Headline
	}
	for i := range r.Slides {
		if i < len(t.Slides) && !r.givenSlide(i) {
			r.Slides[i].Text, r.Slides[i].Body = t.Slides[i].Heading, t.Slides[i].Body
		}
	}
	r.draw(t)
	if r.Given.Script {
		return
	}
	r.Script, r.Scenes = t.Script(), []Scene{}
	for _, s := range t.Scenes {
		r.Scenes = append(r.Scenes, Scene(s))
	}
}

// sort returns the finished media, and the files of the other parts with their roles.
func (r *Record) sort(made []generate.Made) (finished generate.Made, parts []media.File) {
	for n, m := range made {
		if r.Parts[n].Role == roleFinal {
			finished = m
			continue
		}
		for i := range m.Files {
			m.Files[i].Role = r.Parts[n].fileRole(r.Kind)
			m.Files[i].Alt = r.alt(m.Files[i], r.Parts[n].Number)
		}
		parts = append(parts, m.Files...)
	}
	return finished, parts
}

// showSlides sets the pictures of the slides: finished ones, in their order.
func (r *Record) showSlides() {
	n := 0
	for i := range r.Files {
		if r.Files[i].Role == media.Final && n < len(r.Slides) {
			r.Slides[n].MediaID = &r.Files[i].ID
			n++
		}
	}
}

func (r *Record) givenSlide(i int) bool { return slices.Contains(r.Given.Slides, i) }
