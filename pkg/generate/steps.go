package generate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/task"
)

// provider finds the provider of the current part.
func (w *Worker) provider(a *attempt) (provider.Provider, error) {
	if w.Providers == nil {
		return nil, fmt.Errorf("generate: part %d of %s is not for this function", a.n, a.ID)
	}
	p, err := w.Providers.For(a.Parts[a.n].Provider, a.Mode)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Code: string(errs.ProviderUnavailable),
			Message: "The provider of the model is no longer available.", Cause: err}
	}
	return p, nil
}

// submit starts a part. If the provider takes no client token, the step takes a lease first, so that a message that
// arrives twice submits once. If a function dies with the lease, the part is submitted again once the lease has ended.
// That may start a second generation, which the service pays for and counts, never the customer.
func (w *Worker) submit(ctx context.Context, a *attempt) (o task.Outcome, err error) {
	var p provider.Provider
	if a.Parts[a.n].Copy == nil {
		if p, err = w.provider(a); err != nil {
			return o, err
		}
	}
	work, factory, err := w.begins(ctx, a)
	if err != nil {
		return o, err
	}
	if work == nil {
		return o, task.ErrOrphaned
	}
	switch factory {
	case factoryrecord.StatePaused:
		return w.postpone(a), nil
	case factoryrecord.StateDeleted:
		return w.end(a), nil
	}
	if reviewing, ok := work.(Reviewing); ok && reviewing.Skips(a.n, a.made()) {
		return o, a.Parts[a.n].move(done)
	}
	if a.Parts[a.n].Copy != nil {
		o.Join = w.shows(a, work, a.n == a.first())
		return o, w.copyFile(ctx, a)
	}
	if done, err := w.prepare(ctx, a, work, &o); done || err != nil {
		return o, err
	}
	if recalling, ok := work.(Recalling); ok && a.Parts[a.n].Kind == provider.KindText {
		if err := recalling.Recall(ctx, w.DB); err != nil {
			return o, err
		}
	}
	if wait, err := w.pace(ctx, a); err != nil || wait > 0 {
		return postponed(a, wait), err
	}
	req, err := w.request(work, a)
	if err != nil {
		return o, err
	}
	all := p.Capabilities()
	if !all.ClientToken {
		if a.Interrupted {
			a.lost(a.n)
		}
		if err := a.Lease(ctx, a.run); err != nil {
			return o, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, all.SubmitTime())
	defer cancel()
	sub, err := p.Submit(limited, req)
	if a.Parts[a.n].Endpoint != "" && unknownModel(err) {
		// The trained model was removed since the work was accepted.
		a.Parts[a.n].Endpoint = ""
		if req, err = w.request(work, a); err == nil {
			sub, err = p.Submit(limited, req)
		}
	}
	a.observe(err)
	if err != nil && (a.Parts[a.n].unreadable(err) || a.Parts[a.n].flagged(err)) {
		return o, nil
	}
	if spares(work, a.n, err) {
		return o, a.Parts[a.n].move(done)
	}
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil && !all.ClientToken {
			return o, &provider.Error{Kind: provider.UnknownOutcome, Code: "no_answer",
				Message: "The provider did not answer in time.", Cause: err}
		}
		return o, err
	}
	if sub.Result != nil {
		ok, err := w.check(ctx, a, work, *sub.Result)
		if err != nil && spares(work, a.n, err) {
			return o, a.Parts[a.n].move(done)
		}
		if !ok {
			return o, err
		}
		if err := w.storeFiles(ctx, a, *sub.Result); err != nil {
			return o, err
		}
	} else if err := a.Parts[a.n].move(submitted); err != nil {
		return o, err
	}
	first := a.n == a.first()
	a.Parts[a.n].Handle, a.Parts[a.n].Bills, a.Parts[a.n].StandIn = sub.Handle, all.Unstoppable, sub.StandIn
	o.Join = w.shows(a, work, first)
	if sub.Handle != "" {
		o.Undo = func(ctx context.Context, now *task.Task) { w.cancelUnknown(ctx, p, a, sub.Handle, now) }
	}
	return o, nil
}

// request returns the request of the current part.
func (w *Worker) request(work Work, a *attempt) (provider.Request, error) {
	req, err := work.Request(a.n, a.made())
	if err != nil {
		return req, err
	}
	part := &a.Parts[a.n]
	req.Kind, req.ClientToken, req.Account = part.Kind, token(a.Subject, a.Attempt, a.n), string(a.Account)
	if part.Repair != nil {
		req.Repair = part.Repair
		req.ClientToken += fmt.Sprintf("-%t-%t", part.Mended, part.Refused)
	}
	if id := part.Model; id != "" {
		m, ok := catalog.FindIn(id, part.PricedIn)
		if !ok {
			return req, fmt.Errorf("generate: the catalog has lost the model %q", id)
		}
		req.Model, req.Options, req.Resolution = cmp.Or(part.Endpoint, m.ProviderModel), m.ProviderOptions,
			m.Capabilities.Resolution
		if m.Kind == provider.KindVideo || m.Kind == provider.KindMusic {
			req.Seconds = m.Length(req.Seconds) // the length that the price is for
		}
		if part.Credits > 0 && req.Repair == nil && req.Form == nil { // the service bears what a repair costs
			asked, err := m.PriceOf(req)
			if err != nil {
				return req, err
			}
			part.Extra = m.Excess(part.Credits, asked)
		}
	}
	return req, nil
}

// cancelUnknown cancels a generation that the task does not know: the task was canceled, or taken over, while the
// generation was submitted.
func (w *Worker) cancelUnknown(ctx context.Context, p provider.Provider, a *attempt, h provider.Handle,
	now *task.Task) {
	if now != nil {
		known := task.Step{Task: *now}
		var r run
		if known.Decode(&r) == nil && a.n < len(r.Parts) && r.Parts[a.n].Handle == h {
			return // only the answer to the task's write was lost
		}
	}
	metric.Count("DisownedGenerations", "provider", p.Name())
	if err := p.Cancel(ctx, h); err != nil {
		slog.Warn("disowned generation not canceled", "task", a.ID, "part", a.n, "provider", p.Name(), "error", err)
	}
}

// poll reads the progress of a part from its provider.
func (w *Worker) poll(ctx context.Context, a *attempt) (o task.Outcome, err error) {
	p, err := w.provider(a)
	if err != nil {
		return o, err
	}
	part, before := &a.Parts[a.n], a.percent()
	status, err := p.Poll(ctx, part.Handle)
	if err != nil {
		a.observe(err)
		return o, err
	}
	switch {
	case status.State == provider.Succeeded:
		part.Progress = 100
		if err := part.move(ready); err != nil {
			return o, err
		}
	case status.State.Final():
		if status.Failure != nil {
			if part.flagged(status.Failure) {
				return o, nil
			}
			return o, status.Failure
		}
		return o, &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
			Message: "The provider ended the generation without a result."}
	default:
		part.Progress = max(part.Progress, status.Progress)
		if o.Wait = status.Wait; o.Wait == 0 {
			o.Wait = task.Jitter(kinds[part.Kind].poll)
		}
	}
	if a.percent() == before {
		return o, nil // no progress to show: the resource need not be read
	}
	work, err := w.work(ctx, a.Step, a.Attempt)
	if err != nil {
		return o, err
	}
	o.Join = w.shows(a, work, false)
	return o, nil
}

// store fetches the result of a part, and stores it.
func (w *Worker) store(ctx context.Context, a *attempt) (o task.Outcome, err error) {
	p, err := w.provider(a)
	if err != nil {
		return o, err
	}
	result, err := p.Fetch(ctx, a.Parts[a.n].Handle)
	if err != nil {
		a.observe(err)
		return o, err
	}
	if ok, err := w.check(ctx, a, nil, result); !ok {
		return o, err
	}
	return o, w.storeFiles(ctx, a, result)
}

// storeFiles stores a part's files. If they were stored before, they are replaced.
func (w *Worker) storeFiles(ctx context.Context, a *attempt, result provider.Result) error {
	part := &a.Parts[a.n]
	made := Made{Text: result.Text, Object: result.Object, Marks: result.Marks}
	place := placeOf(a.Owner, a.Subject, a.Attempt)
	first, said := a.firstFile(a.n), part.statement()
	for i, f := range result.Media {
		saved, err := w.saveFile(ctx, place, first+i, f, &said)
		if err != nil {
			return err
		}
		if err := accepted(part.Kind, saved); err != nil {
			return err
		}
		made.Files = append(made.Files, saved)
	}
	if want := kinds[part.Kind].file; want != "" && len(made.Files) == 0 ||
		want == "" && made.Text == nil && made.Object == nil {
		return errs.New(errs.UnsupportedMedia, "The provider returned no result.")
	}
	if err := part.measure(made, result.Characters); err != nil {
		return err
	}
	part.Made = made
	if w.moderates(a, made) {
		return part.move(held)
	}
	return part.move(done)
}

// copyFile stores a copy of the file of another resource as the result of a part.
func (w *Worker) copyFile(ctx context.Context, a *attempt) error {
	part := &a.Parts[a.n]
	body, err := w.Objects.Open(ctx, part.Copy.Key)
	if errs.CodeOf(err) == errs.NotFound {
		return &provider.Error{Kind: provider.Rejected, Code: string(provider.FailedGeneration), Cause: err,
			Message: "The files to use again were deleted meanwhile. Create the content without reuse."}
	}
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := w.Objects.Save(ctx, placeOf(a.Owner, a.Subject, a.Attempt), a.firstFile(a.n), body, nil)
	if err != nil {
		return err
	}
	part.Made = Made{Files: []media.File{f}}
	return part.move(done)
}

// measure notes the cost of a part beyond its price, from its result. The sizes of pictures do not matter: the adapters
// choose them.
func (p *part) measure(made Made, characters int) error {
	m, ok := catalog.FindIn(p.Model, p.PricedIn)
	if !ok || p.Credits == 0 || p.Kind == provider.KindText {
		return nil // texts are bounded beforehand
	}
	q := catalog.Quantity{Images: len(made.Files), Tracks: len(made.Files), Characters: characters}
	for _, f := range made.Files {
		q.Length += time.Duration(f.DurationSeconds * float64(time.Second))
	}
	cost, err := m.Cost(q)
	if err != nil {
		return err
	}
	p.Extra = max(p.Extra, m.Excess(p.Credits, cost))
	return nil
}

func (w *Worker) saveFile(ctx context.Context, place media.Place, n int, f provider.File,
	s *provenance.Statement) (media.File, error) {
	body, err := f.Open(ctx)
	if err != nil {
		return media.File{}, err
	}
	defer body.Close()
	return w.Objects.Save(ctx, place, n, body, s)
}

// accepted refuses a file that was read without error, but is not of the requested type.
func accepted(kind provider.Kind, f media.File) error {
	want := kinds[kind].file
	visible, lasting := want == media.Image || want == media.Video, want == media.Video || want == media.Audio
	if f.Type != want || visible && (f.Width < 1 || f.Height < 1) || lasting && f.DurationSeconds <= 0 {
		return errs.New(errs.UnsupportedMedia, "The provider's file is not of the type %s.", want)
	}
	return nil
}

// stop asks the provider of the current part to stop. A failure costs the service, not the customer, so it is tried
// once.
func (w *Worker) stop(ctx context.Context, a *attempt) {
	if a.n = a.current(); a.n == len(a.Parts) || !a.Parts[a.n].is(submitted) {
		return
	}
	p, err := w.provider(a)
	if err == nil {
		err = p.Cancel(ctx, a.Parts[a.n].Handle)
	}
	if err != nil {
		slog.Warn("generation not stopped at its provider", "task", a.ID, "part", a.n, "error", err)
	}
}

// removeResults removes the files of an attempt that ended without a result. No caller can reach them any more, so a
// failure only leaves waste.
func (w *Worker) removeResults(ctx context.Context, a *attempt) {
	if !a.hasResults() {
		return
	}
	if err := w.Objects.Remove(ctx, placeOf(a.Owner, a.Subject, a.Attempt)); err != nil {
		slog.Warn("files of an attempt not removed", "task", a.ID, "error", err)
	}
}

// hasResults reports whether a part of the attempt may have stored files.
func (a *attempt) hasResults() bool {
	return slices.ContainsFunc(a.Parts, func(p part) bool {
		return kinds[p.Kind].file != "" && (p.is(ready) || len(p.Made.Files) > 0)
	})
}
