package publication

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// orderFor is the time that a publication waits for earlier ones of its account, and
	// orderEvery the time between its looks.
	orderFor   = 15 * time.Minute
	orderEvery = 3 * time.Second
)

// posting is the payload of a Post task.
type posting struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	Attempt     int       `json:"attempt"`
	Began       time.Time `json:"began"`
	// Sealed is the platform.Progress: it may contain an upload address, which is as good as a password.
	Sealed []byte `json:"sealed,omitempty"`
	// Post is the post that was published at the time At. Failure is the reason if there is no post.
	Post    platform.Published       `json:"post,omitzero"`
	At      time.Time                `json:"at,omitzero"`
	Failure *item.PublicationFailure `json:"failure,omitempty"`
	// Warning names the part that the post lacks, or is nil.
	Warning *platform.Warning `json:"warning,omitempty"`
	// Region is the one whose rules of law the post follows.
	Region string        `json:"region,omitempty"`
	Rules  []DossierRule `json:"rules,omitempty"` // that it keeps
	// Files are the files as they were sent.
	Files []DossierFile `json:"files,omitempty"`
	// Granted counts the times that it has taken its uses out of the budget of its platform.
	Granted int `json:"granted,omitempty"`
	// Refused counts the tokens of the account when the platform refused its token.
	Refused int `json:"refused,omitempty"`
}

// ended reports whether nothing is left to do at the platform.
func (p *posting) ended() bool { return !p.At.IsZero() || p.Failure != nil }

// poster is the handler of Post. The lease of its task is the right to post, and its payload has
// the progress of the publication.
type poster struct{ *Worker }

// Step takes the next step at the platform. The publication ends in a separate step, so that the
// result is safe before the item changes, which other tasks write, too.
func (w poster) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p posting
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.ended() {
		return task.Outcome{Done: true, Join: w.finish(s, p)}, nil
	}
	_, r, beside, err := w.read(ctx, s, store.IDKey(p.Account))
	if err != nil {
		return o, task.Again(err)
	}
	pub := p.of(r)
	if pub == nil {
		return task.Outcome{Done: true}, nil // the item was deleted with the sandbox
	}
	progress, err := w.progress(ctx, s.Owner, p)
	if err != nil {
		return o, task.Again(err)
	}
	if progress.Stage == "" && w.Now().Sub(p.Began) < orderFor {
		if wait, err := w.follows(ctx, pub); err != nil || wait {
			return task.Outcome{Wait: task.Jitter(orderEvery)}, err
		}
	}
	o, err = w.step(ctx, s, &p, progress, r, pub, beside[0])
	if err != nil && ctx.Err() == nil && !errors.Is(err, task.ErrMoved) {
		var retry *task.RetryError
		if !errors.As(err, &retry) {
			err = task.Again(err)
		}
	}
	return o, err
}

// of returns the publication of the task, or nil if it is no longer under way.
func (p *posting) of(r *item.Record) *item.Publication {
	if r == nil {
		return nil
	}
	pub := r.Publication(p.Publication)
	if pub == nil || pub.State != item.PublicationPublishing || pub.Posting.Attempt != p.Attempt {
		return nil
	}
	return pub
}

// follows reports whether a publication with an earlier time is under way at the account, or about to be.
func (w *Worker) follows(ctx context.Context, pub *item.Publication) (bool, error) {
	place := item.PlaceAt(pub.ID, pub.Posting.At)
	page, err := w.DB.List(ctx, store.Query{
		Index: store.ByParent, Partition: item.AccountPartition(pub.SocialAccountID), To: place,
		OldestFirst: true, Limit: 1,
	})
	if err != nil {
		return false, task.Again(err)
	}
	return len(page.Items) > 0 && page.Items[0].Parent.SK < place, nil
}

// step takes the next step at the platform.
func (w poster) step(ctx context.Context, s *task.Step, p *posting, progress platform.Progress, r *item.Record,
	pub *item.Publication, accountItem store.Item) (o task.Outcome, err error) {
	var acct social.Record
	if social.Is(accountItem, s.Owner) {
		if acct, err = social.Decode(&accountItem); err != nil {
			return o, err
		}
	}
	adapter, ok := w.Platforms.Of(s.Mode, pub.Platform)
	if !ok || progress.Stage != "" && !acct.Usable() {
		return w.ends(ctx, s, p, progress, acct.Unusable())
	}
	limits := adapter.Capabilities()
	what, err := post(r, pub, limits)
	if err != nil {
		return w.ends(ctx, s, p, progress, platform.Reject(platform.CodeInvalidOption,
			"The options cannot be read. Publish again with options.").Because(err))
	}
	if progress.Stage == "" {
		read := map[string]store.Item{pub.SocialAccountID: accountItem}
		targets, refused, err := w.ask(ctx, s.Owner, r, p.Began, read, pub.SocialAccountID)
		if err != nil {
			return o, task.Again(err)
		}
		p.Region, p.Rules = r.Brief.Region, rulesOf(law.Checked(item.FactsOf(r, pub, w.Now())))
		if e := failed(targets[0].Account, refused); e != nil {
			return w.ends(ctx, s, p, progress, e)
		}
		if what, err = post(r, pub, limits); err != nil { // with the texts that the rules require
			return o, err
		}
		o, ready, err := w.grant(ctx, s.Owner, *p, progress, acct.Meter(), limits.Budget, what)
		if err != nil || !ready {
			return o, err
		}
	}
	ctx, token, err := w.Vault.Token(ctx, s.Owner, &acct)
	var gone *platform.Error
	if errors.As(err, &gone) {
		return w.ends(ctx, s, p, progress, gone)
	}
	if err != nil {
		return o, err
	}
	var changed *platform.Error
	if p.Files, err = sent(ctx, r, pub, w.Files); errors.As(err, &changed) {
		return w.ends(ctx, s, p, progress, changed)
	}
	if err == nil {
		err = open(ctx, &what, r, pub, w.Files)
	}
	if err != nil {
		return o, err
	}
	// Two workers must not upload the same post.
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	keep := func(ctx context.Context, now platform.Progress) error {
		kept := *p
		if err := w.seal(ctx, s.Owner, &kept, now); err != nil {
			return err
		}
		return s.Lease(ctx, kept)
	}
	progress, wait, err := platform.Next(ctx, adapter, token, what, progress, w.Now(), keep)
	if ctx.Err() != nil || errors.Is(err, task.ErrMoved) {
		return o, errors.Join(ctx.Err(), err)
	}
	var e *platform.Error
	switch {
	case progress.Done():
		p.Post, p.At, p.Warning, p.Sealed = progress.Post, w.Now(), progress.Warning, nil
		return task.Outcome{Payload: *p}, nil
	case err != nil && !errors.As(err, &e):
		return o, err
	case e != nil && e.Kind == platform.Reconnect:
		p.Refused = acct.Tokens
		return w.ends(ctx, s, p, progress, e)
	case e != nil && e.Kind.Final():
		return w.ends(ctx, s, p, progress, e)
	}
	if failed := w.seal(ctx, s.Owner, p, progress); failed != nil {
		return o, failed
	}
	o = task.Outcome{Payload: *p, Wait: wait}
	switch {
	case e == nil:
		return o, nil
	case e.Kind == platform.Expired:
		o.Wait = social.RefreshTime
		o.Join = w.note(social.ForPublishing, e, accountItem.Key, acct.Tokens)
		return o, nil
	}
	return o, &task.RetryError{Err: err, After: e.RetryAfter, Most: task.NoLimit}
}

// ends returns the outcome of a publication that fails. If it is in doubt whether a post
// exists, the known facts are kept for another attempt.
func (w poster) ends(ctx context.Context, s *task.Step, p *posting, progress platform.Progress,
	e *platform.Error) (o task.Outcome, err error) {
	if !progress.SentAt.IsZero() && e.Code != platform.CodeOutcomeUnknown {
		e = platform.Lost(e)
	}
	p.Failure, p.Sealed = refusal(e, again(e)), nil
	if next := progress.Retry(); next != (platform.Progress{}) {
		err = w.seal(ctx, s.Owner, p, next)
	}
	return task.Outcome{Payload: *p}, err
}

// finish returns the Outcome.Join that ends a publication, and with the last one its item.
func (w poster) finish(s *task.Step, p posting) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, beside, err := w.read(ctx, s, store.IDKey(p.Account))
		if err != nil {
			return err
		}
		if p.Refused > 0 && social.Is(beside[0], s.Owner) {
			lost := platform.NeedsReconnect(platform.Code(p.Failure.Code), p.Failure.Message)
			if p.Failure.PlatformMessage != nil {
				lost.Words = *p.Failure.PlatformMessage
			}
			if err := social.Lose(tx, w.Now(), beside[0], p.Refused, lost); err != nil {
				return err
			}
		}
		pub := p.of(r)
		if pub == nil {
			return nil
		}
		r.Brief.Region = cmp.Or(p.Region, r.Brief.Region)
		plan := planner{tx, w.Now(), s.Owner, r}
		if p.Failure != nil {
			pub.Posting.Doubt = p.Sealed
			plan.fail(pub, p.Failure)
		} else if err := w.published(ctx, plan, pub, p, beside[0]); err != nil {
			return err
		}
		if err := r.EndPublishing(tx, s.Owner, plan.now); err != nil {
			return err
		}
		return item.Replace(tx, it, r)
	}
}

func (w poster) published(ctx context.Context, plan planner, pub *item.Publication, p posting,
	of store.Item) error {
	at := resource.Instant(p.At)
	pub.State, pub.PublishedAt, pub.Failure = item.PublicationPublished, &at, nil
	if p.Warning != nil {
		pub.Warnings = append(pub.Warnings, item.PublicationWarning{Code: p.Warning.Code,
			Message: p.Warning.Message, PlatformMessage: p.Warning.PlatformMessage})
	}
	pub.PlatformPostID, pub.URL = resource.OrNil(p.Post.ID), resource.OrNil(p.Post.URL)
	if p.Post.More != "" {
		pub.Posting.More = p.Post.More
	}
	pub.Touch(plan.now)
	plan.leave(pub, false)
	adapter, ok := w.Platforms.Of(plan.Mode, pub.Platform)
	if ok {
		content := Preview(plan.r, pub, adapter.Capabilities())
		pub.Posted = &content
		if err := plan.r.WatchComments(plan.tx, plan.now, plan.Owner, pub, adapter.Capabilities()); err != nil {
			return err
		}
		if err := w.announced(ctx, plan, pub, of, adapter); err != nil {
			return err
		}
	}
	if err := w.document(ctx, plan, pub, p); err != nil {
		return err
	}
	if !ok || len(adapter.Capabilities().Metrics) == 0 || p.Post.ID == "" {
		return nil
	}
	return watch(plan, pub)
}

// Fail ends a publication that was not done in time.
func (w poster) Fail(ctx context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	var p posting
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if !p.ended() {
		progress, err := w.progress(ctx, s.Owner, p)
		if err != nil {
			return o, err
		}
		switch {
		case progress.Post != platform.Published{}:
			p.Post, p.At, p.Warning, p.Sealed = progress.Post, w.Now(), progress.Warning, nil // the rest of it is lost
		case !progress.SentAt.IsZero() || progress.Doubts > 0:
			if _, err := w.ends(ctx, s, &p, progress, platform.Lost(cause)); err != nil {
				return o, err
			}
		default:
			p.Failure, p.Sealed = failure(item.FailedTimeout, "The platform did not take the post in time. Publish "+
				"it again.", true), nil
		}
	}
	return task.Outcome{Payload: p, Join: w.finish(s, p)}, nil
}

// progress returns the progress of a publication.
func (w *Worker) progress(ctx context.Context, o tenant.Owner, p posting) (progress platform.Progress, err error) {
	if len(p.Sealed) > 0 {
		err = w.Vault.Open(ctx, o, p.Publication, p.Sealed, &progress)
	}
	return progress, err
}

// seal puts the progress into the payload.
func (w *Worker) seal(ctx context.Context, o tenant.Owner, p *posting, progress platform.Progress) (err error) {
	raw, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("publication: encode the progress of %s: %w", p.Publication, err)
	}
	p.Sealed, err = w.Vault.Seal(ctx, o, p.Publication, json.RawMessage(raw))
	return err
}
