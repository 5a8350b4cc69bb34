package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// provider finds the provider of the current call.
func (w *Worker) provider(t *turn) (provider.Provider, error) {
	if w.Providers == nil {
		return nil, fmt.Errorf("generate: part %d of %s is not for this function", t.n, t.ID)
	}
	p, err := w.Providers.For(t.call().Provider, t.Mode)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Rejected, Code: string(errs.ProviderUnavailable),
			Message: "The provider of the model is no longer available.", Cause: err}
	}
	return p, nil
}

// make begins a part that is no text: it copies a file, or submits a call.
func (w *Worker) make(ctx context.Context, t *turn) (o task.Outcome, err error) {
	work, begun, err := w.begin(ctx, t, &o)
	if err != nil || !begun {
		return o, err
	}
	if t.Parts[t.n].Copy != nil {
		if writing, ok := work.(Writing); ok && writing.LeavesOut(t.n, t.results()) {
			return o, t.call().move(skipped)
		}
		o.Join = w.showProgress(t, work, t.n == t.first())
		return o, w.copyFile(ctx, t)
	}
	q := Question{Request: func(context.Context, *store.DB) (provider.Request, error) {
		return work.Request(t.n, t.results())
	}}
	return o, w.submit(ctx, t, work, q, &o)
}

// submit starts a call. If the provider takes no client token, the step takes a lease first, so that a message that
// arrives twice submits once. If a function dies with the lease, the call is submitted again once the lease has ended.
// That may start a second generation, which the service pays for and counts, never the customer.
func (w *Worker) submit(ctx context.Context, t *turn, work Work, q Question, o *task.Outcome) error {
	p, err := w.provider(t)
	if err != nil {
		return err
	}
	if wait, err := w.pace(ctx, t); err != nil || wait > 0 {
		*o = postpone(t, wait)
		return err
	}
	req, err := w.request(ctx, t, q)
	if err != nil {
		return err
	}
	c, all := t.call(), p.Capabilities()
	if !all.ClientToken {
		if t.Interrupted {
			c.lose()
		}
		if err := t.Lease(ctx, t.run); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, all.SubmitTime())
	defer cancel()
	sub, err := p.Submit(limited, req)
	if c.Endpoint != "" && unknownModel(err) {
		// The trained model was removed since the work was accepted.
		c.Endpoint = ""
		if req, err = w.request(ctx, t, q); err == nil {
			sub, err = p.Submit(limited, req)
		}
	}
	t.observe(err)
	switch {
	case err == nil:
	case c.unreadable(err) || t.flagged(err):
		return nil
	case q.spares(err):
		return c.move(skipped)
	case ctx.Err() == nil && limited.Err() != nil && !all.ClientToken:
		return &provider.Error{Kind: provider.UnknownOutcome, Code: "no_answer",
			Message: "The provider did not answer in time.", Cause: err}
	default:
		return err
	}
	if sub.Result != nil {
		ok, err := w.accept(ctx, t, q, *sub.Result)
		if q.spares(err) {
			return c.move(skipped)
		}
		if err != nil || !ok {
			return err
		}
	} else if err := c.move(submitted); err != nil {
		return err
	}
	c.Handle, c.Bills, c.StandIn = sub.Handle, all.Unstoppable, sub.StandIn
	o.Join = w.showProgress(t, work, t.n == t.first() && t.i == 0)
	if sub.Handle != "" {
		o.Undo = func(ctx context.Context, now *task.Task) { w.cancelUnknown(ctx, p, t, sub.Handle, now) }
	}
	return nil
}

// request returns the request of the current call.
func (w *Worker) request(ctx context.Context, t *turn, q Question) (provider.Request, error) {
	req, err := q.Request(ctx, w.DB)
	if err != nil {
		return req, err
	}
	c := t.call()
	req.Kind, req.Account = t.Parts[t.n].Kind, string(t.Account)
	// The token is the same whenever the same call of the same attempt is submitted.
	req.ClientToken = fmt.Sprintf("%s-%d-%d", t.Subject, t.Attempt, t.n)
	if c.Name != First {
		req.ClientToken += "-" + c.Name
	}
	if c.Repair != nil {
		req.Repair = c.Repair
		req.ClientToken += fmt.Sprintf("-%t-%t", c.MendTried, c.Refused)
	}
	if c.Model == "" {
		return req, nil
	}
	m, ok := catalog.FindIn(c.Model, c.PricedIn)
	if !ok {
		return req, fmt.Errorf("generate: the catalog has lost the model %q", c.Model)
	}
	req.Model, req.Options, req.Resolution = cmp.Or(c.Endpoint, m.ProviderModel), m.ProviderOptions,
		m.Capabilities.Resolution
	if m.Kind == provider.KindVideo || m.Kind == provider.KindMusic {
		req.Seconds = m.Length(req.Seconds) // the length that the price is for
	}
	if c.Credits > 0 && req.Repair == nil && req.Form == nil { // the service bears what a repair costs
		asked, err := m.PriceOf(req)
		if err != nil {
			return req, err
		}
		c.Extra = m.Excess(c.Credits, asked)
	}
	return req, nil
}

// cancelUnknown cancels a generation that the task does not know: the task was canceled, or taken over, while the
// generation was submitted.
func (w *Worker) cancelUnknown(ctx context.Context, p provider.Provider, t *turn, h provider.Handle,
	now *task.Task) {
	if now != nil {
		known := task.Step{Task: *now}
		var r run
		if known.Decode(&r) == nil && t.n < len(r.Parts) && r.Parts[t.n].Calls[t.i].Handle == h {
			return // only the answer to the task's write was lost
		}
	}
	metric.Count("DisownedGenerations", "provider", p.Name())
	if err := p.Cancel(ctx, h); err != nil {
		slog.Warn("disowned generation not canceled", "task", t.ID, "part", t.n, "provider", p.Name(), "error", err)
	}
}

// poll reads the progress of a part from its provider.
func (w *Worker) poll(ctx context.Context, t *turn) (o task.Outcome, err error) {
	p, err := w.provider(t)
	if err != nil {
		return o, err
	}
	c, before := t.call(), t.percent()
	status, err := p.Poll(ctx, c.Handle)
	if err != nil {
		t.observe(err)
		return o, err
	}
	switch {
	case status.State == provider.Succeeded:
		c.Progress = 100
		if err := c.move(ready); err != nil {
			return o, err
		}
	case status.State.Final():
		if status.Failure != nil {
			if t.flagged(status.Failure) {
				return o, nil
			}
			return o, status.Failure
		}
		return o, &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
			Message: "The provider ended the generation without a result."}
	default:
		c.Progress = max(c.Progress, status.Progress)
		if o.Wait = status.Wait; o.Wait == 0 {
			o.Wait = task.Jitter(kinds[t.Parts[t.n].Kind].poll)
		}
	}
	if t.percent() == before {
		return o, nil // no progress to show: the resource need not be read
	}
	work, err := w.work(ctx, t.Step, t.Attempt)
	if err != nil {
		return o, err
	}
	o.Join = w.showProgress(t, work, false)
	return o, nil
}

// fetch fetches the result of a call, and stores it.
func (w *Worker) fetch(ctx context.Context, t *turn, q Question) error {
	p, err := w.provider(t)
	if err != nil {
		return err
	}
	result, err := p.Fetch(ctx, t.call().Handle)
	if err != nil {
		t.observe(err)
		return err
	}
	_, err = w.accept(ctx, t, q, result)
	return err
}

// storeFiles stores the result of a call, with its files. If they were stored before, they are replaced.
func (w *Worker) storeFiles(ctx context.Context, t *turn, q Question, result provider.Result) error {
	part, c := &t.Parts[t.n], t.call()
	made := PartResult{Text: result.Text, Object: result.Object, Marks: result.Marks}
	place := placeOf(t.Owner, t.Subject, t.Attempt)
	first, said := t.firstFile(t.n), c.statement()
	for i, f := range result.Media {
		saved, err := w.saveFile(ctx, place, first+i, f, &said)
		if err != nil {
			return err
		}
		if err := checkFile(part.Kind, saved); err != nil {
			return err
		}
		made.Files = append(made.Files, saved)
	}
	if want := kinds[part.Kind].file; want != "" && len(made.Files) == 0 ||
		want == "" && made.Text == nil && made.Object == nil {
		return errs.New(errs.UnsupportedMedia, "The provider returned no result.")
	}
	if part.Kind == provider.KindText { // which is bounded beforehand
		if c.Answer = &made; w.moderates(t, q) {
			return c.move(held)
		}
		return c.move(done)
	}
	if err := c.measure(made, result.Characters); err != nil {
		return err
	}
	part.Result = made
	return c.move(done)
}

// copyFile stores a copy of the file of another resource as the result of a part.
func (w *Worker) copyFile(ctx context.Context, t *turn) error {
	part := &t.Parts[t.n]
	body, err := w.Objects.Open(ctx, part.Copy.Key)
	if errs.CodeOf(err) == errs.NotFound {
		return &provider.Error{Kind: provider.Rejected, Code: string(provider.FailedGeneration), Cause: err,
			Message: "The files to use again were deleted meanwhile. Create the content without reuse."}
	}
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := w.Objects.Save(ctx, placeOf(t.Owner, t.Subject, t.Attempt), t.firstFile(t.n), body, nil)
	if err != nil {
		return err
	}
	part.Result = PartResult{Files: []media.File{f}}
	return t.call().move(done)
}

// measure notes the cost of a call beyond its price, from its result. The sizes of pictures do not matter: the adapters
// choose them.
func (c *call) measure(made PartResult, characters int) error {
	m, ok := catalog.FindIn(c.Model, c.PricedIn)
	if !ok || c.Credits == 0 || m.Kind == provider.KindText {
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
	c.Extra = max(c.Extra, m.Excess(c.Credits, cost))
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

// checkFile refuses a file that was read without error, but is not of the requested type.
func checkFile(kind provider.Kind, f media.File) error {
	want := kinds[kind].file
	visible, lasting := want == media.Image || want == media.Video, want == media.Video || want == media.Audio
	if f.Type != want || visible && (f.Width < 1 || f.Height < 1) || lasting && f.DurationSeconds <= 0 {
		return errs.New(errs.UnsupportedMedia, "The provider's file is not of the type %s.", want)
	}
	return nil
}

// stop asks the provider of the current call to stop. A failure costs the service, not the customer, so it is tried
// once.
func (w *Worker) stop(ctx context.Context, t *turn) {
	if t.n == len(t.Parts) || !t.call().is(submitted) {
		return
	}
	p, err := w.provider(t)
	if err == nil {
		err = p.Cancel(ctx, t.call().Handle)
	}
	if err != nil {
		slog.Warn("generation not stopped at its provider", "task", t.ID, "part", t.n, "error", err)
	}
}

// removeResults removes the files of an attempt that ended without a result. No caller can reach them any more, so a
// failure only leaves waste.
func (w *Worker) removeResults(ctx context.Context, t *turn) {
	if !t.hasResults() {
		return
	}
	if err := w.Objects.Remove(ctx, placeOf(t.Owner, t.Subject, t.Attempt)); err != nil {
		slog.Warn("files of an attempt not removed", "task", t.ID, "error", err)
	}
}

// hasResults reports whether a part of the attempt may have stored files.
func (t *turn) hasResults() bool {
	return slices.ContainsFunc(t.Parts, func(p part) bool {
		return kinds[p.Kind].file != "" && (p.Calls[0].is(ready) || len(p.Result.Files) > 0)
	})
}

// pace returns the time until the current call may be submitted: its provider may be turned off, which waits as a
// throttled call does, or have a limit, which gives each submission a time. A later time puts off the deadline, too.
// Work of a sandbox calls no provider.
func (w *Worker) pace(ctx context.Context, t *turn) (time.Duration, error) {
	c, now := t.call(), w.Now()
	if t.Mode != tenant.Live {
		return 0, nil
	}
	state, err := pace.Of(t.providers)
	if err != nil {
		return 0, err
	}
	if state.IsOff(c.Provider, c.Model) {
		return 0, &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy,
			Message: "The provider is turned off at the moment."}
	}
	name := state.Limited(c.Provider, c.Model)
	if name == "" {
		return 0, nil
	}
	if c.Slot.IsZero() {
		if c.Slot, err = state.Take(ctx, w.DB, name, now, backoff.Chance()); err != nil {
			return 0, err
		}
	}
	wait := c.Slot.Sub(now)
	if wait <= 0 {
		c.Slot = time.Time{} // a further submission takes a place, too
	}
	return wait, nil
}

// postpone returns the outcome of a step that submits the current call after a wait.
func postpone(t *turn, wait time.Duration) task.Outcome {
	return task.Outcome{Wait: wait, Deadline: t.Deadline.Add(wait)}
}

// ProviderFailed is the metric of live calls of a provider: 1 for one that failed because of the provider or of the
// service's account there, and 0 for one that did not. Its dimension is the name of the provider.
const ProviderFailed = "ProviderFailed"

// observe counts a call of the provider of the current c.
func (t *turn) observe(cause error) {
	if t.Mode != tenant.Live || t.call().Provider == "" {
		return
	}
	var e *provider.Error
	failed := int64(0)
	switch {
	case cause == nil:
	case !errors.As(cause, &e) || e.Throttled():
		return // it tells nothing about the provider
	case e.Kind == provider.Transient || e.Kind == provider.Quota || e.Kind == provider.UnknownOutcome:
		failed = 1
	}
	metric.Measure(ProviderFailed, "provider", t.call().Provider, failed)
}

// retryOff is the time after which a caller may ask again for work of a provider that is turned off.
const retryOff = 5 * time.Minute

// target is a provider and a model for which calls wait.
type target struct {
	provider, model string
	kind            provider.Kind
}

// room refuses work that waits too long for a provider: one that is turned off, or that has so many calls before it
// that a part could not be submitted within its time.
func room(state pace.State, now time.Time, orders ...Order) error {
	calls := map[target]int{}
	for _, o := range orders {
		for _, p := range o.Parts {
			for _, c := range p.Calls() {
				if o.Mode == tenant.Live && p.Reuse == nil && c.Provider != "" {
					calls[target{c.Provider, c.Model, p.Kind}]++
				}
			}
		}
	}
	for c, n := range calls {
		if state.IsOff(c.provider, c.model) {
			off := errs.New(errs.ProviderUnavailable, "The provider of the model %s is turned off at the moment. "+
				"Choose another model, or try again later. Nothing was created or spent.", c.model)
			off.RetryAfter = retryOff
			return off
		}
		may := kinds[c.kind].deadline
		if late := state.Delay(c.provider, c.model, n, now) - may; late > 0 {
			full := errs.New(errs.QueueFull, "The provider of the model %s has so many requests to answer that this "+
				"one would wait longer than %d minutes. Choose another model, or try again later. Nothing was "+
				"created or spent.", c.model, int(may.Minutes()))
			full.RetryAfter = late.Truncate(time.Second) + time.Second
			return full
		}
	}
	return nil
}

// The number of times in a row that a step may fail because a provider refuses it for its quota, and the number of lost
// answers to submissions of a part: each may have started a generation that we pay for. The deadline bounds both, too.
const (
	maxQuota = 12
	maxLost  = 3
)

// longestRetryAfter bounds the wait that a provider may request.
const longestRetryAfter = 10 * time.Minute

// stepError is the error of a step that makes the work fail.
type stepError struct {
	Failure
	cause error
}

func (f *stepError) Error() string { return string(f.Code) + ": " + f.cause.Error() }
func (f *stepError) Unwrap() error { return f.cause }

var unavailable = Failure{
	Code: provider.FailedProviderUnavailable,
	Message: "The provider could not be reached after several attempts. Nothing was charged. Try again, perhaps " +
		"with another model.",
	Retryable: true,
}

// unanswered reports whether the answer to a submission was lost.
func unanswered(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && e.Kind == provider.UnknownOutcome
}

// refused reports whether the provider has refused or failed a generation.
func refused(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected)
}

// unknownModel reports whether a provider has refused a request because it does not have the model.
func unknownModel(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && e.Kind == provider.BadInput && provider.FailureCode(e.Code) == provider.FailedModel
}

// failureOf returns the failure of the work for the error that ends its task.
func failureOf(cause error) Failure {
	var f *stepError
	switch {
	case errors.As(cause, &f):
		return f.Failure
	case errors.Is(cause, task.ErrDeadline):
		return Failure{Code: provider.FailedTimeout, Message: "The work took too long. Nothing was charged. Try " +
			"again, perhaps with another model.", Retryable: true}
	default:
		return unavailable
	}
}

// classify turns the error of a step into one that decides how to continue: by another attempt after a wait,
// or by failing the work.
func classify(t *turn, cause error) error {
	final := func(f Failure) error { return task.Permanent(&stepError{f, cause}) }
	if t.Parts[t.n].Kind.Finishes() {
		return classifyComposition(cause)
	}
	if errors.Is(cause, task.ErrDeaths) {
		return final(Failure{Code: provider.FailedSources, Message: "The sources of the factory could not be read: " +
			"what one of them has ended the work three times. Nothing was charged. Remove that source, and try again."})
	}
	var e *provider.Error
	if !errors.As(cause, &e) {
		if errs.CodeOf(cause) == errs.UnsupportedMedia {
			return final(Failure{Code: provider.FailedUnsupportedMedia,
				Message: "The provider's result could not be read. Nothing was charged. Try again, perhaps with " +
					"another model.", Retryable: true})
		}
		return cause
	}
	retry := &task.RetryError{Err: cause, After: min(e.RetryAfter, longestRetryAfter)}
	switch e.Kind {
	case provider.BadInput, provider.Rejected:
		advice := " Nothing was charged. Change the request, or choose another model."
		if e.Kind == provider.Rejected && e.Code != provider.CodeContentPolicy {
			advice = " Nothing was charged. Try again, perhaps with another model."
		}
		return final(Failure{Code: provider.FailureCode(e.Code), Message: e.Message + advice,
			Retryable: e.Kind == provider.Rejected})
	case provider.UnknownOutcome:
		if t.call().lose(); t.call().LostAnswers >= maxLost {
			return final(unavailable)
		}
	case provider.Quota:
		if retry.MaxFailures = maxQuota; e.RetryAfter == 0 {
			retry.After = task.Jitter(time.Minute)
		}
	}
	return retry
}
