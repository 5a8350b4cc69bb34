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
	"github.com/content-automation/api/pkg/record/ledger"
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
	m := makerOf(r)
	return &work{item: it, record: r, writer: m.writer, maker: m, signer: l.Sign, reader: l.Reader,
		repeats: l.Repeats}, nil
}

// work is the generation of a content item.
type work struct {
	item    store.Item
	record  *Record
	writer  *writer
	maker   *maker
	signer  Signer
	reader  Reader
	repeats bool
	look    generate.Look // of its finished media
}

var (
	_ generate.Composing = (*work)(nil)
	_ generate.Crediting = (*work)(nil)
)

func (w *work) WaitsForAttempt() int {
	if !w.record.Item.Runs() {
		return 0
	}
	return w.record.Item.Attempt
}

func (w *work) Ticket() *generate.Ticket { return &w.record.Attempt.Ticket }

func (w *work) About() ledger.About { return w.record.About() }

func (w *work) Request(n int, made []generate.PartResult) (provider.Request, error) {
	w.maker.settle(made)
	req, err := w.maker.request(n, made, w.signer)
	return w.withRehearsal(req), err
}

// withRehearsal adds the rehearsal of the item to a request.
func (w *work) withRehearsal(req provider.Request) provider.Request {
	if s := w.record.Attempt.Sandbox; s != nil {
		req.Rehearsal = s.Request(s.Outcome, w.record.Attempt.AcceptedAt)
	}
	return req
}

func (w *work) Start(now time.Time) {
	w.record.Item.State = Generating
	w.record.Item.Touch(now)
}

// progressStep is the least progress, in percent, that is worth a write. Beyond lastProgress, the end is near.
const (
	progressStep = 20
	lastProgress = 90
)

func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.record.Item.Progress+progressStep || percent > lastProgress {
		return false
	}
	w.record.Item.Progress = percent
	w.record.Item.Touch(now)
	return true
}

func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.PartResult, cost int64) error {
	before := w.record.Counts()
	if t := w.writer.chosenText(made); t.Caption != "" {
		if err := w.sign(tx, now, t); err != nil {
			return err
		}
		w.record.Item.Sources = w.writer.quotedSources(t)
		w.hold(t, now)
	}
	w.maker.settle(made)
	w.maker.assemble(made, now)
	w.record.Item.Touch(now)
	at := w.record.Item.UpdatedAt
	w.record.Item.GeneratedAt, w.record.Item.Progress = &at, 100
	w.record.Item.CostCredits += cost
	past := Past{At: at, Made: 1, Credits: cost}
	if w.record.Attempt.Sandbox != nil && w.record.Attempt.Sandbox.Outcome == string(Published) {
		past.Published = 1
	}
	w.record.note(past)
	w.record.Item.State = Generating // the first step may also be the last
	if err := errors.Join(w.record.Item.Move(Generated), w.record.Notify(tx, w.item.Owner,
		event.ContentGenerated)); err != nil {
		return err
	}
	if past.Published > 0 {
		w.record.Item.PublishedAt = &at
		if err := errors.Join(w.record.Item.Move(Publishing), w.record.Item.Move(Published),
			w.record.Notify(tx, w.item.Owner, event.ContentPublished)); err != nil {
			return err
		}
	}
	w.record.Count(tx, now, before)
	if w.record.Item.State != Generated {
		return nil
	}
	return w.record.autoPublish(tx, now, w.item.Owner)
}

// hold has the item wait for an approval if the guards find something in its texts that a person can decide, and notes
// what they have found. Its texts were written anew once for that.
func (w *work) hold(t provider.Text, now time.Time) {
	rules := w.writer.rules(now)
	rules.NeedsSource = false
	found := slices.DeleteFunc(guard.Check(w.writer.fields(t), rules),
		func(f guard.Finding) bool { return !f.Decidable() })
	var steered []string
	for _, reason := range w.record.Item.Approval.Reasons {
		if w.record.Item.Approval.State != Approved && (reason == SteeredFactory || reason == SteeredProduct) {
			steered = append(steered, reason)
		}
	}
	switch held := len(w.record.Item.Approval.Reasons) > 0; {
	case len(found)+len(steered) > 0:
		w.record.Item.Approval = ApprovalIn(ApprovalPending, append(steered, guard.ListFindings(found)...)...)
	// by an earlier attempt; what its factory requires is seen later
	case held && w.record.Item.Approval.State != Approved:
		w.record.Item.Approval = ApprovalIn(ApprovalNone)
	}
}

// sign adds the signature of the item's texts to the transaction.
func (w *work) sign(tx *store.Tx, now time.Time, t provider.Text) error {
	signature := guard.Sign(w.writer.fields(t))
	if signature == "" || w.item.Owner.Mode == tenant.Test {
		return nil
	}
	doc, err := json.Marshal(textSignature{signature})
	if err != nil {
		return fmt.Errorf("item: signature of %s: %w", w.record.Item.ID, err)
	}
	tx.Create(store.Item{Key: store.Key{PK: textsPartition(w.record.Item.FactoryID),
		SK: fmt.Sprintf("%s#%d", w.record.Item.ID, w.record.Item.Attempt)},
		Kind: textKind, Owner: w.item.Owner, Doc: doc, ExpireAt: now.Add(keepText)}, nil)
	return nil
}

func (w *work) Fail(tx *store.Tx, now time.Time, f generate.Failure) error {
	before := w.record.Counts()
	w.record.Item.State = Generating // it may fail before its first step is taken
	if err := w.record.Item.Move(Failed); err != nil {
		return err
	}
	w.record.Item.Failure = &Failure{Stage: string(f.Stage), Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.record.Item.Touch(now)
	w.record.Item.CostCredits += f.Cost
	w.maker.keep(f.Results)
	w.record.note(Past{At: w.record.Item.UpdatedAt, Failed: 1, Credits: f.Cost})
	w.record.Count(tx, now, before)
	return w.record.Notify(tx, w.item.Owner, event.ContentFailed)
}

func (w *work) Cancel(tx *store.Tx, now time.Time, charged int64, made []generate.PartResult) error {
	if err := w.record.Stop(tx, now, charged, made); err != nil {
		return err
	}
	return w.record.Notify(tx, w.item.Owner, event.ContentCanceled)
}

func (w *work) Item() (store.Item, error) {
	w.record.Index(&w.item)
	return w.item, w.item.Encode(w.record)
}

// Reader reads sources. Workers have one: the package source/fetch.
type Reader interface {
	Read(ctx context.Context, s source.Source, cached source.Cache) (source.Cache, error)
}

// platforms returns the platforms of the accounts that the item may be published on: its own accounts and those of its
// factory, as they are now.
func (w *work) platforms(ctx context.Context, db *store.DB) (all []registry.Row, err error) {
	accounts, err := accountsOf(ctx, db, w.item.Owner, w.record)
	if err != nil {
		return nil, err
	}
	for _, it := range accounts {
		p, _ := registry.Find(it.Filters["platform"])
		if _, takes := p.Capabilities.Kinds[platform.Kind(w.record.Item.Kind)]; takes {
			all = append(all, p)
		}
	}
	return all, nil
}

func (w *work) Credit(made []generate.PartResult) generate.Credit {
	c := generate.Credit{Line: w.record.Brief.Name, Prompt: string(w.record.Item.PromptVersion),
		Generated: w.record.Item.Provided() && w.record.Item.AIGenerated}
	if b := w.record.Brief.Brand; b != nil && b.Name != "" {
		c.Line = b.Name
	}
	if w.writer.chosenText(made).Caption != "" {
		c.Prompt = prompt.Version(tasks[w.record.Attempt.Shape])
	}
	return c
}
