package platformtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Trouble is a column of the matrix of duplicates.
type Trouble string

// The troubles other than the faults of a fake.
const (
	// CrashBefore kills the worker before the step has an effect. For a call that makes a post,
	// the worker dies after it has stored the right to make the post.
	CrashBefore Trouble = "crash before"
	// CrashAfter kills the worker after the step, before its outcome is stored.
	CrashAfter Trouble = "crash after"
	// Twice delivers the message of the step again after the step.
	Twice Trouble = "message twice"
	// TwoWorkers lets two workers take the step at once.
	TwoWorkers Trouble = "two workers"
	// Stalled stops a worker before the call that makes a post. The worker loses its lease, and
	// continues after a second worker has ended the publication.
	Stalled Trouble = "stalled worker"
	// Late is like Stalled, but the worker continues after the first step of the second worker.
	Late Trouble = "late worker"
	// TokenExpired ends the access token before the step.
	TokenExpired Trouble = "token expired"
)

// Troubles returns all columns.
func Troubles() []Trouble {
	all := []Trouble{CrashBefore, CrashAfter, Twice, TwoWorkers, Stalled, Late, TokenExpired}
	for _, f := range Faults() {
		all = append(all, Trouble(f))
	}
	return all
}

// Row is one step of a publication with the result of the publication for each trouble.
type Row struct {
	Post    string
	Step    string
	Results map[Trouble]string
}

// walk is a publication without trouble.
type walk struct {
	stages []string // of each step
	calls  []int    // number of calls before each step, and at the end
	posts  []string
}

// walked publishes a post without trouble.
func (s Suite) walked(ctx context.Context, post platform.Post) (w walk, err error) {
	f := s.New()
	defer f.Close()
	d := newDriver(f, post)
	for !d.ended() {
		stage := d.progress.Stage
		stage = cmp.Or(stage, platform.StageStart)
		w.stages = append(w.stages, string(stage))
		w.calls = append(w.calls, f.Fake.Calls())
		if len(w.stages) > maxSteps {
			return w, fmt.Errorf("it has not ended after %d steps", maxSteps)
		}
		if err := d.commit(ctx, d.work(ctx, nothing)); err != nil {
			return w, err
		}
		if n := len(d.progress.Handle); n > platform.MaxHandle {
			return w, fmt.Errorf("a handle of %d bytes", n)
		}
	}
	w.calls = append(w.calls, f.Fake.Calls())
	w.posts = f.Fake.Posts()
	if d.failure != nil {
		return w, d.failure
	}
	if len(w.posts) == 0 {
		return w, fmt.Errorf("published, but there is no post")
	}
	return w, nil
}

// Matrix runs each step of each post with each trouble.
func (s Suite) Matrix(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, named := range s.Posts {
		if named.Post.Caption != "" {
			named.Post.Caption += "\n\n\nAnd  more" // which some platforms keep in another form
		}
		w, err := s.walked(ctx, named.Post)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", named.Name, err)
		}
		for i, stage := range w.stages {
			row := Row{named.Name, fmt.Sprintf("%d %s", i+1, stage), map[Trouble]string{}}
			for _, t := range Troubles() {
				result, err := s.meet(ctx, named.Post, w, i, t)
				if err != nil {
					return nil, fmt.Errorf("%s, step %s, %s: %w", named.Name, row.Step, t, err)
				}
				row.Results[t] = result
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// meet publishes a post with trouble in one step, and returns the result. It tries a fault on each
// of the step's calls.
func (s Suite) meet(ctx context.Context, post platform.Post, w walk, step int, t Trouble) (string, error) {
	if !slices.Contains(Faults(), Fault(t)) {
		return s.once(ctx, post, w, step, func(ctx context.Context, d *driver) error { return d.suffer(ctx, t) })
	}
	if w.calls[step] == w.calls[step+1] {
		return "–", nil // the step makes no call
	}
	var results []string
	for call := w.calls[step] + 1; call <= w.calls[step+1]; call++ {
		result, err := s.once(ctx, post, w, step, func(ctx context.Context, d *driver) error {
			d.Fake.Fail(call, Fault(t))
			return d.impatient(ctx)
		})
		if err != nil {
			return "", fmt.Errorf("call %d: %w", call-w.calls[step], err)
		}
		results = append(results, result)
	}
	return join(results), nil
}

// once publishes a post, and calls a function in place of one step.
func (s Suite) once(ctx context.Context, post platform.Post, w walk, step int,
	instead func(context.Context, *driver) error) (string, error) {
	f := s.New()
	defer f.Close()
	d := newDriver(f, post)
	if err := d.until(ctx, step); err != nil {
		return "", err
	}
	if err := instead(ctx, d); err != nil {
		return "", err
	}
	if err := d.run(ctx); err != nil {
		return "", err
	}
	return d.result(w.posts)
}

// Impatient returns a context that is canceled when the fake delays a call. The function stop ends
// it after the calls have ended.
func Impatient(ctx context.Context, f Fake) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-f.Waiting():
			cancel()
		case <-bounded.Done():
		}
	}()
	return bounded, func() {
		cancel()
		<-ended // otherwise the goroutine would take a value of the next context
	}
}

// impatient takes a step, and cancels it when the fake delays a call.
func (d *driver) impatient(ctx context.Context) error {
	bounded, stop := Impatient(ctx, d.Fake)
	o := d.work(bounded, nothing)
	stop()
	d.Fake.Calm()
	return d.commit(ctx, o)
}

// suffer takes a step with a trouble of the worker or of the queue.
func (d *driver) suffer(ctx context.Context, t Trouble) error {
	switch t {
	case CrashBefore:
		if d.progress.Stage == platform.StageFinalize {
			d.work(ctx, func() error { return errCrash })
		}
		d.leased = false // the lease ends with the worker
		return nil
	case CrashAfter:
		d.work(ctx, nothing)
		d.leased = false
		return nil
	case Twice:
		o := d.work(ctx, nothing)
		if err := d.commit(ctx, o); err != nil {
			return err
		}
		// The message is dropped unread, because the number of the step has changed.
		return d.commit(ctx, o)
	case TwoWorkers:
		first := d.progress
		o := d.work(ctx, nothing)
		// The second worker reads the same stored state, and commits first.
		second := d.again(ctx, first)
		if err := d.commit(ctx, second); err != nil {
			return err
		}
		return d.commit(ctx, o)
	case Stalled, Late:
		if d.progress.Stage != platform.StageFinalize {
			return nil
		}
		d.work(ctx, func() error {
			d.leased = false // the lease has ended
			if t == Late {
				return d.commit(ctx, d.work(ctx, nothing))
			}
			return d.run(ctx)
		})
		return nil
	case TokenExpired:
		d.Fake.Expire()
	}
	return nil
}

// again takes a step from a progress that was read earlier.
func (d *driver) again(ctx context.Context, read platform.Progress) outcome {
	now := d.progress
	d.progress = read
	o := d.work(ctx, nothing)
	d.progress = now
	return o
}

// Table returns the matrix as a table of Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| Post | Step |")
	for _, t := range Troubles() {
		b.WriteString(" " + string(t) + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(Troubles())) + "\n")
	for _, r := range rows {
		b.WriteString("| " + r.Post + " | " + r.Step + " |")
		for _, t := range Troubles() {
			b.WriteString(" " + r.Results[t] + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
