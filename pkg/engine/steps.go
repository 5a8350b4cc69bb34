package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/metric"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
)

// leaseMargin is how much longer a claim holds than the submission may take: time
// to write what came of it.
const leaseMargin = 10 * time.Second

// provider finds the provider of a part.
func (w *Worker) provider(r *run, n int) (provider.Provider, error) {
	p, err := w.providers.For(r.Parts[n].Provider, r.Mode)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Code: string(errs.ProviderUnavailable), Message: "The provider of the model is not available any more.", Cause: err}
	}
	return p, nil
}

// submit starts a part. A provider that takes no client token is asked under a
// claim, so that a message that comes twice submits once; where a function dies
// with the claim, the part is submitted again once that has ended. That may make a
// second generation, which costs us and is counted, never the customer.
func (w *Worker) submit(ctx context.Context, t *turn, n int) error {
	r := &t.run
	p, err := w.provider(r, n)
	if err != nil {
		return err
	}
	work, err := w.work(ctx, r)
	if err != nil {
		return err
	}
	if work == nil {
		return w.orphaned(ctx, t)
	}
	req, err := w.request(work, r, n)
	if err != nil {
		return err
	}
	all := p.Capabilities()
	within := all.SubmitTime()
	if !all.ClientToken {
		if r.Claim != nil {
			r.lost(n) // whoever had it died
		}
		r.Claim = &claim{w.name(), w.now().Add(within + leaseMargin)}
		if err := w.save(ctx, t, running, nil); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	sub, err := p.Submit(limited, req)
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil && !all.ClientToken {
			return &provider.Error{Kind: provider.UnknownOutcome, Code: "no_answer", Message: "The provider did not answer in time.", Cause: err}
		}
		return err
	}
	if sub.Result != nil {
		if err := w.keep(ctx, r, n, *sub.Result); err != nil {
			return err
		}
	}
	r.Parts[n].Handle = sub.Handle
	r.Failures = 0
	r.advance(w.now(), 0)
	err = w.insist(ctx, t, w.shows(work, r, n == 0))
	if errors.Is(err, errMoved) && sub.Handle != "" {
		w.disown(ctx, p, r, n, sub.Handle)
	}
	return err
}

// insist is save for what must not be forgotten: a generation that runs. It is tried
// for as long as the function has time.
func (w *Worker) insist(ctx context.Context, t *turn, change change) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for try := 1; ; try++ {
		err := w.save(ctx, t, running, change)
		if err == nil || errors.Is(err, errMoved) {
			return err
		}
		if ended := backoff.Wait(ctx, try, first, longest); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// request is what part n asks for.
func (w *Worker) request(work Work, r *run, n int) (provider.Request, error) {
	req, err := work.Request(n, r.made())
	if err != nil {
		return req, err
	}
	req.Kind, req.ClientToken = r.Parts[n].Kind, r.token(n)
	if id := r.Parts[n].Model; id != "" {
		m, ok := catalog.Find(id)
		if !ok {
			return req, fmt.Errorf("engine: the catalog has lost the model %q", id)
		}
		req.Model, req.Options = m.ProviderModel, m.ProviderOptions
		if m.Kind == provider.KindVideo || m.Kind == provider.KindMusic {
			req.Seconds = m.Length(req.Seconds) // what the price is for
		}
	}
	return req, nil
}

// disown cancels a generation that this run does not know: the run was canceled,
// or taken over, while it was submitted.
func (w *Worker) disown(ctx context.Context, p provider.Provider, r *run, n int, h provider.Handle) {
	now, err := w.read(ctx, r.ID)
	if err == nil && now != nil && n < len(now.run.Parts) && now.run.Parts[n].Handle == h {
		return // its answer was lost, that is all
	}
	metric.Count("DisownedGenerations", "provider", p.Name())
	if err := p.Cancel(ctx, h); err != nil {
		slog.Warn("disowned generation not canceled", "run", r.ID, "part", n, "provider", p.Name(), "error", err)
	}
}

// poll asks how far a part is.
func (w *Worker) poll(ctx context.Context, t *turn, n int) error {
	r := &t.run
	p, err := w.provider(r, n)
	if err != nil {
		return err
	}
	part, before := &r.Parts[n], r.percent()
	status, err := p.Poll(ctx, part.Handle)
	if err != nil {
		return err
	}
	wait := time.Duration(0)
	switch {
	case status.State == provider.Succeeded:
		part.Ready, part.Progress = true, 100
	case status.State.Final():
		if status.Failure != nil {
			return status.Failure
		}
		return &provider.Error{Kind: provider.Rejected, Code: "generation_failed", Message: "The provider ended the generation without a result."}
	default:
		part.Progress = max(part.Progress, status.Progress)
		if wait = status.Wait; wait == 0 {
			wait = jitter(kinds[part.Kind].poll)
		}
	}
	r.Failures = 0
	r.advance(w.now(), wait)
	if r.percent() == before {
		return w.save(ctx, t, running, nil) // nothing to show: the resource need not be read
	}
	work, err := w.work(ctx, r)
	if err != nil {
		return err
	}
	return w.save(ctx, t, running, w.shows(work, r, false))
}

// store fetches what a part has made, and keeps it.
func (w *Worker) store(ctx context.Context, t *turn, n int) error {
	r := &t.run
	p, err := w.provider(r, n)
	if err != nil {
		return err
	}
	result, err := p.Fetch(ctx, r.Parts[n].Handle)
	if err != nil {
		return err
	}
	if err := w.keep(ctx, r, n, result); err != nil {
		return err
	}
	r.Failures = 0
	r.advance(w.now(), 0)
	return w.save(ctx, t, running, nil)
}

// keep stores a part's files. Stored again they replace themselves.
func (w *Worker) keep(ctx context.Context, r *run, n int, result provider.Result) error {
	part := &r.Parts[n]
	made := Made{Text: result.Text}
	place := placeOf(r.Job, r.Attempt)
	first := r.firstFile(n)
	for i, f := range result.Media {
		saved, err := w.saveFile(ctx, place, first+i, f)
		if err != nil {
			return err
		}
		if err := accepted(part.Kind, saved); err != nil {
			return err
		}
		made.Files = append(made.Files, saved)
	}
	if want := kinds[part.Kind].file; want != "" && len(made.Files) == 0 || want == "" && made.Text == nil {
		return errs.New(errs.UnsupportedMedia, "The provider answered without a result.")
	}
	part.Made, part.Done = made, true
	return nil
}

func (w *Worker) saveFile(ctx context.Context, place media.Place, n int, f provider.File) (media.File, error) {
	body, err := f.Open(ctx)
	if err != nil {
		return media.File{}, err
	}
	defer body.Close()
	return w.objects.Save(ctx, place, n, body)
}

// accepted refuses a file that was read well, but is not what was asked for.
func accepted(kind provider.Kind, f media.File) error {
	want := kinds[kind].file
	visible, lasting := want == media.Image || want == media.Video, want == media.Video || want == media.Audio
	if f.Type != want || visible && (f.Width < 1 || f.Height < 1) || lasting && f.DurationSeconds <= 0 {
		return errs.New(errs.UnsupportedMedia, "The provider's file is no %s.", want)
	}
	return nil
}

// finish ends the run well: the resource, its events, its charge and its place
// among the waiting work, all at once.
func (w *Worker) finish(ctx context.Context, t *turn) error {
	made := t.run.made()
	return w.end(ctx, t, func(tx *store.Tx, work Work) ([]store.Item, error) {
		ledger.Charge(tx, w.now(), t.run.Account, work.Ticket().Hold)
		return work.Succeed(w.now(), made)
	})
}

// fail ends the run badly: likewise, but the money is released.
func (w *Worker) fail(ctx context.Context, t *turn, f Failure, cause error) error {
	logFailure(&t.run, f, cause)
	if n := t.run.current(); n < len(t.run.Parts) && t.run.Parts[n].Handle != "" && !t.run.Parts[n].Ready && f.Code == string(errs.Timeout) {
		w.stop(ctx, &t.run, n) // nobody will want it any more
	}
	w.clear(ctx, &t.run)
	return w.end(ctx, t, func(tx *store.Tx, work Work) ([]store.Item, error) {
		if err := ledger.Release(tx, w.now(), t.run.Account, work.Ticket().Hold); err != nil {
			return nil, err
		}
		return work.Fail(w.now(), f)
	})
}

// end writes the last step.
func (w *Worker) end(ctx context.Context, t *turn, settle func(tx *store.Tx, work Work) ([]store.Item, error)) error {
	t.run.advance(w.now(), 0)
	return w.save(ctx, t, ended, func(tx *store.Tx, work Work) error {
		events, err := settle(tx, work)
		if err != nil {
			return err
		}
		for _, e := range events {
			tx.Create(e, nil)
		}
		leave(tx, t.run.Owner)
		return nil
	})
}

// abandon ends a run that was canceled: whoever canceled it has settled its money;
// the provider is told, as far as it listens.
func (w *Worker) abandon(ctx context.Context, t *turn) error {
	if n := t.run.current(); n < len(t.run.Parts) && t.run.Parts[n].Handle != "" && !t.run.Parts[n].Ready {
		w.stop(ctx, &t.run, n)
	}
	w.clear(ctx, &t.run)
	t.run.advance(w.now(), 0)
	return w.save(ctx, t, ended, nil)
}

// orphaned ends a run whose resource does not wait for it, although nobody has
// canceled it. Only a fault of ours makes one; its money stays held for a person
// to look at.
func (w *Worker) orphaned(ctx context.Context, t *turn) error {
	now, err := w.read(ctx, t.run.ID)
	if err != nil {
		return err
	}
	if now == nil || now.item.Version != t.item.Version {
		return errMoved
	}
	slog.Error("run without a resource", "run", t.run.ID, "subject", t.run.Subject)
	t.run.advance(w.now(), 0)
	return w.save(ctx, t, ended, nil)
}

// stop asks a provider to stop. That it does not costs us, not the customer, so it
// is tried once.
func (w *Worker) stop(ctx context.Context, r *run, n int) {
	p, err := w.provider(r, n)
	if err == nil {
		err = p.Cancel(ctx, r.Parts[n].Handle)
	}
	if err != nil {
		slog.Warn("generation not stopped at its provider", "run", r.ID, "part", n, "error", err)
	}
}
