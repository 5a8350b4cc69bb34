package item

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
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
	return &work{item: it, maker: AttemptAt(r).maker, signer: l.Sign, reader: l.Reader, repeats: l.Repeats}, nil
}

// work is the generation of a content item.
type work struct {
	item store.Item
	maker
	signer  Signer
	reader  Reader
	repeats bool
	look    generate.Look // of its finished media
}

var (
	_ generate.Composing = (*work)(nil)
	_ generate.Crediting = (*work)(nil)
)

func (w *work) Waits() int {
	if !w.Runs() {
		return 0
	}
	return w.Attempt
}

func (w *work) Ticket() *generate.Ticket { return &w.Record.Ticket }

func (w *work) Request(n int, made []generate.Made) (provider.Request, error) {
	w.settle(made)
	req, err := w.request(n, made, w.signer)
	return w.rehearsed(req), err
}

// rehearsed adds the rehearsal of the item to a request.
func (w *work) rehearsed(req provider.Request) provider.Request {
	if s := w.Sandbox; s != nil {
		req.Rehearsal = s.Request(s.Outcome, w.Accepted)
	}
	return req
}

func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is the least progress, in percent, that is worth a write. Beyond lastProgress, the end is near.
const (
	progressStep = 20
	lastProgress = 90
)

func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.Record.Progress+progressStep || percent > lastProgress {
		return false
	}
	w.Record.Progress = percent
	w.Touch(now)
	return true
}

func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.Made, cost int64) error {
	before := w.Counts()
	if t := w.chosenText(made); t.Caption != "" {
		if err := w.sign(tx, now, t); err != nil {
			return err
		}
		w.Sources = w.quoted(t)
		w.hold(t, now)
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

// hold has the item wait for an approval if the guards find something in its texts that a person can decide, and notes
// what they have found. Its texts were written anew once for that.
func (w *work) hold(t provider.Text, now time.Time) {
	rules := w.rules(now)
	rules.Sourced = false
	found := slices.DeleteFunc(guard.Check(w.fields(t), rules), func(f guard.Finding) bool { return !f.Decidable() })
	var steered []string
	for _, reason := range w.Approval.Reasons {
		if w.Approval.State != Approved && (reason == SteeredFactory || reason == SteeredProduct) {
			steered = append(steered, reason)
		}
	}
	switch held := len(w.Approval.Reasons) > 0; {
	case len(found)+len(steered) > 0:
		w.Approval = ApprovalIn(ApprovalPending, append(steered, guard.Listed(found)...)...)
	case held && w.Approval.State != Approved: // by an earlier attempt; what its factory requires is seen later
		w.Approval = ApprovalIn(ApprovalNone)
	}
}

// sign adds the signature of the item's texts to the transaction.
func (w *work) sign(tx *store.Tx, now time.Time, t provider.Text) error {
	signature := guard.Sign(w.fields(t))
	if signature == "" || w.item.Owner.Mode == tenant.Test {
		return nil
	}
	doc, err := json.Marshal(signed{signature})
	if err != nil {
		return fmt.Errorf("item: signature of %s: %w", w.ID, err)
	}
	tx.Create(store.Item{Key: store.Key{PK: textsPartition(w.FactoryID), SK: fmt.Sprintf("%s#%d", w.ID, w.Attempt)},
		Kind: textKind, Owner: w.item.Owner, Doc: doc, ExpireAt: now.Add(keepText)}, nil)
	return nil
}

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

func (w *work) Cancel(tx *store.Tx, now time.Time, charged int64, made []generate.Made) error {
	if err := w.Stop(tx, now, charged, made); err != nil {
		return err
	}
	return w.Notify(tx, w.item.Owner, event.ContentCanceled)
}

func (w *work) Item() (store.Item, error) {
	w.Index(&w.item)
	return w.item, w.item.Encode(w.Record)
}

// Reader reads sources. Workers have one: the package source/fetch.
type Reader interface {
	Read(ctx context.Context, s source.Source, cached source.Cache) (source.Cache, error)
}

// platforms returns the platforms of the accounts that the item may be published on: its own accounts and those of its
// factory, as they are now.
func (w *work) platforms(ctx context.Context, db *store.DB) (all []registry.Row, err error) {
	accounts, err := accountsOf(ctx, db, w.item.Owner, w.Record)
	if err != nil {
		return nil, err
	}
	for _, it := range accounts {
		p, _ := registry.Find(it.Filters["platform"])
		if _, takes := p.Capabilities.Kinds[platform.Kind(w.Kind)]; takes {
			all = append(all, p)
		}
	}
	return all, nil
}

func (w *work) Credit(made []generate.Made) generate.Credit {
	c := generate.Credit{Line: w.Brief.Name, Prompt: string(w.PromptVersion), Generated: w.Provided() && w.AIGenerated}
	if b := w.Brief.Brand; b != nil && b.Name != "" {
		c.Line = b.Name
	}
	if w.chosenText(made).Caption != "" {
		c.Prompt = prompt.Version(tasks[w.Shape])
	}
	return c
}
