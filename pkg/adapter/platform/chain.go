package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// ErrMore is returned by a Make whose call has made no post and has changed the state: Prepare is called again.
var ErrMore = errors.New("chain: the post needs another call")

// Ref names a visible post.
type Ref struct {
	ID   string `json:"id,omitempty"`
	Hash string `json:"hash,omitempty"` // of its content, where the platform wants it in replies
	URL  string `json:"url,omitempty"`
}

// Work is a publication in progress. S is the state of the adapter. The handle has all but the members of the present
// step.
type Work[S any] struct {
	HasBegun  bool `json:"begun"`
	Own       S    `json:"own"`
	PostsMade int  `json:"made,omitempty"`  // number of visible posts of the publication
	First     Ref  `json:"first,omitzero"`  // the post
	Last      Ref  `json:"last,omitzero"`   // the latest reply of the thread, or the post
	Looks     int  `json:"looks,omitempty"` // reads of the post after it was made
	// More are the ids of the posts after the first, in their order.
	More []string `json:"more,omitempty"`

	// Account publishes Post.
	Account Account `json:"-"`
	Post    Post    `json:"-"`
	// SentAt is the start of the call that Find looks for.
	SentAt time.Time `json:"-"`
	// Wait is the time from Begin, Make or Find to the next step.
	Wait time.Duration `json:"-"`
	// Warning is the requested part that the post lacks, or nil.
	Warning *Warning `json:"-"`

	texts ArrangedText
}

// Text returns the text of the next post: a part of the caption, or the first comment.
func (w *Work[S]) Text() string {
	if posts := w.texts.Posts(); w.PostsMade < len(posts) {
		return posts[w.PostsMade]
	}
	return lineEnds.Replace(w.Post.Options.FirstComment)
}

// Same reports whether two texts are equal apart from white space, Unicode form (NFC) and escapes of HTML, which
// platforms change.
func Same(a, b string) bool {
	plain := func(s string) string {
		return strings.Join(strings.Fields(norm.NFC.String(html.UnescapeString(s))), " ")
	}
	return plain(a) == plain(b)
}

// IsComment reports whether the next post is the first comment.
func (w *Work[S]) IsComment() bool {
	return w.Post.Options.FirstComment != "" && w.PostsMade == w.texts.Parts()
}

// complete reports whether all posts are made.
func (w *Work[S]) complete() bool { return w.PostsMade >= w.texts.Parts() && !w.IsComment() }

// posts returns the posts that were made so far.
func (w *Work[S]) posts() PublishedPost {
	return PublishedPost{ID: w.First.ID, URL: w.First.URL, More: strings.Join(w.More, ",")}
}

// end returns the step that ends the publication.
func (w *Work[S]) end() Step {
	return Step{Next: StageDone, Post: w.posts(), Warning: w.Warning}
}

// Steps makes the calls of a
type Steps[S any] interface {
	// Prepare prepares the next post, and reports whether the post can be made. If not, Prepare is called again after
	// the wait. It makes nothing visible, and may be repeated. It sets w.Made if it finds that the post was made.
	Prepare(ctx context.Context, w *Work[S]) (ready bool, wait time.Duration, err error)

	// Make makes the next post with one call.
	Make(ctx context.Context, w *Work[S]) (Ref, error)

	// Find looks for the next post, whose answer was lost. The stage is StageDone if it exists, without a Ref if only
	// that is known; StageReconcile if it is not visible yet; StageCheck if the next step can tell; or StageFinalize if
	// making it again is harmless.
	Find(ctx context.Context, w *Work[S]) (Ref, Stage, error)
}

// Beginner is a platform with something to read or to open before the first Prepare.
type Beginner[S any] interface {
	// Begin begins a publication. It makes nothing visible.
	Begin(ctx context.Context, w *Work[S]) error
}

// Ender is a platform whose posts have something to wait for or to read after they were made.
type Ender[S any] interface {
	// End reads the post w.First, and reports whether the publication has ended. If not, End is
	// called again after the wait.
	End(ctx context.Context, w *Work[S]) (ended bool, wait time.Duration, err error)
}

// Chain implements the steps of Publisher, and says what the platform is.
type Chain[S any] struct {
	Steps Steps[S]
	ID    string // of the platform
	Caps  Capabilities
	// Every is the time between two looks for a post whose answer was lost, if looking costs money.
	Every time.Duration
}

// Name implements Adapter.
func (c Chain[S]) Name() string { return c.ID }

// Capabilities implements Adapter.
func (c Chain[S]) Capabilities() Capabilities { return c.Caps }

func (c Chain[S]) work(a Account, p Post) *Work[S] {
	return &Work[S]{HasBegun: true, Account: a, Post: p, texts: Arrange(p, c.Caps)}
}

func (c Chain[S]) parse(a Account, p Post, h Handle) (*Work[S], error) {
	w := c.work(a, p)
	w.HasBegun = false
	if err := h.Decode(w); err != nil {
		return nil, err
	}
	if !w.HasBegun || w.PostsMade < 0 {
		return nil, Reject(CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// Start implements Publisher. It prepares the post if there is nothing to begin.
func (c Chain[S]) Start(ctx context.Context, a Account, p Post) (Step, error) {
	w := c.work(a, p)
	b, ok := c.Steps.(Beginner[S])
	if !ok {
		return c.prepare(ctx, w)
	}
	if err := b.Begin(ctx, w); err != nil {
		return Step{}, err
	}
	return Go(StageCheck, w, w.Wait)
}

// Check implements Publisher. It prepares the next post, or ends the publication.
func (c Chain[S]) Check(ctx context.Context, a Account, p Post, h Handle) (Step,
	error) {
	w, err := c.parse(a, p, h)
	if err != nil {
		return Step{}, err
	}
	if w.complete() {
		return c.end(ctx, w)
	}
	return c.prepare(ctx, w)
}

func (c Chain[S]) prepare(ctx context.Context, w *Work[S]) (Step, error) {
	before := w.PostsMade
	ready, wait, err := c.Steps.Prepare(ctx, w)
	if err != nil {
		return c.unwritten(w, err)
	}
	next := StageCheck
	if ready {
		next = StageFinalize
	}
	step, err := Go(next, w, wait)
	if w.PostsMade > before {
		step.Post = w.posts()
	}
	return step, err
}

func (c Chain[S]) end(ctx context.Context, w *Work[S]) (Step, error) {
	if e, ok := c.Steps.(Ender[S]); ok {
		w.Looks++
		ended, wait, err := e.End(ctx, w)
		if err != nil {
			return Step{}, err
		}
		if !ended {
			return Go(StageCheck, w, wait)
		}
	}
	return w.end(), nil
}

// Finalize implements Publisher. It makes the next post.
func (c Chain[S]) Finalize(ctx context.Context, a Account, p Post,
	h Handle) (Step, error) {
	w, err := c.parse(a, p, h)
	if err != nil {
		return Step{}, err
	}
	if w.complete() {
		return c.end(ctx, w)
	}
	ref, err := c.Steps.Make(ctx, w)
	if errors.Is(err, ErrMore) {
		return Go(StageCheck, w, w.Wait)
	}
	if err != nil {
		return c.unwritten(w, err)
	}
	return c.afterPost(w, ref)
}

// unwritten returns the step after the next post was refused. A first comment that is refused does
// not fail the publication.
func (c Chain[S]) unwritten(w *Work[S], err error) (Step, error) {
	kind := KindOf(err)
	if !w.IsComment() || kind == Retry || kind == Expired || kind == Unknown || kind == Unclear {
		return Step{}, err
	}
	return c.without(err), nil
}

// Leave implements Leaver. A publication may lack its first comment.
func (c Chain[S]) Leave(a Account, p Post, h Handle, refused error) (Step, bool) {
	w, err := c.parse(a, p, h)
	if err != nil || !w.IsComment() {
		return Step{}, false
	}
	return c.without(refused), true
}

// without returns the step that ends a publication without its first comment.
func (c Chain[S]) without(refused error) Step {
	return Step{Next: StageDone, Warning: Warn(CommentNotWritten,
		c.Caps.Label+" has not taken the first comment.", refused)}
}

// afterPost returns the step after the next post was made.
func (c Chain[S]) afterPost(w *Work[S], ref Ref) (Step, error) {
	comment := w.IsComment()
	if w.PostsMade == 0 {
		w.First = ref
	} else {
		w.More = append(w.More, ref.ID)
	}
	if !comment {
		w.Last = ref
	}
	w.PostsMade++
	// An adapter that has the address of a post before its comment has read the post.
	if _, waits := c.Steps.(Ender[S]); w.complete() && (!waits || w.PostsMade > 1 && w.First.URL != "") {
		return w.end(), nil
	}
	step, err := Go(StageCheck, w, w.Wait)
	step.Post = w.posts()
	return step, err
}

// Reconcile implements Publisher.
func (c Chain[S]) Reconcile(ctx context.Context, a Account, p Post, h Handle,
	begun time.Time) (Step, error) {
	w, err := c.parse(a, p, h)
	if err != nil {
		return Step{}, err
	}
	w.SentAt = begun
	ref, next, err := c.Steps.Find(ctx, w)
	if kind := KindOf(err); w.IsComment() && (err != nil && kind != Retry &&
		kind != Expired || err == nil && next == StageReconcile) {
		return CommentInDoubt(), nil
	}
	switch {
	case err != nil:
		return Step{}, err
	case next == StageDone && ref.ID == "":
		return w.end(), nil
	case next == StageDone:
		return c.afterPost(w, ref)
	case next == StageReconcile:
		w.Wait = c.Every
	}
	return Go(next, w, w.Wait)
}

const (
	// reconcileFor is how long Next looks for the outcome of a lost answer. It looks every reconcileEvery, unless the
	// adapter says otherwise, and at least minLooks times after an outage.
	reconcileFor   = 15 * time.Minute
	reconcileEvery = 10 * time.Second
	minLooks       = 5
	// maxDoubts bounds how often Next looks for the outcome of one publication.
	maxDoubts = 5
	// maxRestarts bounds how often a publication begins again.
	maxRestarts = 3
	// maxUnclear bounds how often a call that posts nothing is made although the platform refuses it for a reason that
	// the adapter does not know.
	maxUnclear = 3
	// unclearEvery is the time before the second such call, and half of the time before the third.
	unclearEvery = 20 * time.Second
)

// Progress is the state of a publication. Its task stores it between steps. The zero value has not begun.
type Progress struct {
	Stage  Stage  `json:"stage,omitempty"`
	Handle Handle `json:"handle,omitempty"`
	// SentAt is the start of a call that makes a post, until its outcome is known.
	SentAt time.Time `json:"sent_at,omitzero"`
	Looks  int       `json:"looks,omitempty"` // number of looks for that outcome
	// Doubts counts the lost answers of the present handle. It is kept because a worker that seems dead may still post.
	Doubts   int `json:"doubts,omitempty"`
	Restarts int `json:"restarts,omitempty"`
	// Unclear counts refusals for reasons that the adapter does not know, one after another.
	Unclear int `json:"unclear,omitempty"`
	// Refusals counts such refusals of the present call that makes a post, after each of which the call is made again.
	Refusals int           `json:"refusals,omitempty"`
	Post     PublishedPost `json:"post,omitzero"`
	// Refusal is the answer to the call of SentAt, or nil if that answer was lost.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Words are what the platform has said in the answer to the call of SentAt.
	Words string `json:"words,omitempty"`
	// Warning is the last warning of a step, or nil if there was none.
	Warning *Warning `json:"warning,omitempty"`
}

// Refusal is an answer that refuses a post for a reason that the adapter does not know. The post may exist
// nevertheless, and is looked for.
type Refusal struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Words   string `json:"words,omitempty"`
}

// final returns the error of a refused post that was looked for, and does not exist.
func (r *Refusal) final() *Error { return Reject(r.Code, r.Message).Saying(r.Words) }

// Done reports whether the post is published.
func (p Progress) Done() bool { return p.Stage == StageDone }

// Retry returns the progress from which a failed publication is tried again. That is the start if
// nothing was posted and nothing is in doubt, and the present step otherwise. So a post whose
// outcome is unknown stays unknown, and is not made again.
func (p Progress) Retry() Progress {
	if p.SentAt.IsZero() && p.Doubts == 0 && p.Post == (PublishedPost{}) {
		return Progress{}
	}
	return p
}

// Next takes the next step of a publication. It returns the progress to store, and how long to wait
// before the following step. The caller stores the progress even if there is an error.
//
// The function keep stores a progress. Next calls it before a call that makes a post, and makes that call only if keep
// has succeeded. So keep must store on condition that no other worker has taken the step, as a lease does.
//
// An error whose kind is final ends the publication. After any other error the caller calls Next again later, and after
// Expired with a fresh token. If Next cannot find the outcome of a lost answer, the error is of the kind Unknown.
func Next(ctx context.Context, a Publisher, acct Account, post Post, p Progress, now time.Time,
	keep func(context.Context, Progress) error) (Progress, time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return p, 0, Later(CodeCanceled, "The step was canceled.").Because(err)
	}
	var step Step
	var err error
	switch {
	case !p.SentAt.IsZero():
		return reconcile(ctx, a, acct, post, p, now)
	case p.Stage == StageDone:
		return p, 0, nil
	case p.Stage == "", p.Stage == StageStart:
		step, err = a.Start(ctx, acct, post)
	case p.Stage == StageCheck:
		step, err = a.Check(ctx, acct, post, p.Handle)
	case p.Stage == StageFinalize:
		p.SentAt = now
		if err := keep(ctx, p); err != nil {
			return p, 0, fmt.Errorf("platform: keep the progress: %w", err)
		}
		step, err = a.Finalize(ctx, acct, post, p.Handle)
		kind := KindOf(err)
		if err != nil && (kind == Unknown || kind == Restart || kind == Unclear || !classified(err)) {
			// The next step looks for the outcome, because media may be gone after another worker has posted them.
			p.Refusal, p.Words = refusal(err), WordsOf(err)
			return p, reconcileEvery, nil
		}
		if p = p.afterAnswer(); err == nil {
			p.Refusals = 0
		}
	default:
		return p, 0, Reject(CodeInvalidHandle,
			"The publication is not known.").Because(fmt.Errorf("the stage %q is none", p.Stage))
	}
	if KindOf(err) == Unclear {
		if p, err = p.unclear(err); KindOf(err) == BadContent {
			if left, ok := leave(a, acct, post, p.Handle, err); ok {
				return p.afterStep(left), left.Wait, nil
			}
		}
	}
	if kind := KindOf(err); err != nil && p.Doubts > 0 && p.Post == (PublishedPost{}) &&
		(kind == Restart || kind.Final()) {
		// Another worker may have posted, so look for its post before the publication fails or begins again.
		p.SentAt = now
		if kind == Reconnect || p.Doubts >= maxDoubts {
			return p, 0, Lost(err)
		}
		return p, reconcileEvery, nil
	}
	if err != nil {
		return p.afterError(err)
	}
	p.Unclear = 0
	return p.afterStep(step), step.Wait, nil
}

// Leaver is a Publisher whose publications may lack a part that the platform refuses, such as a first comment.
type Leaver interface {
	// Leave returns the step that goes on without the next part of a publication, and false if the part is needed.
	Leave(a Account, p Post, h Handle, refused error) (Step, bool)
}

// leave returns the step without the part that the platform has refused, and false if there is none.
func leave(a Publisher, acct Account, post Post, h Handle, refused error) (Step, bool) {
	l, ok := a.(Leaver)
	if !ok {
		return Step{}, false
	}
	return l.Leave(acct, post, h, refused)
}

// refusal returns the refusal that an error is, or nil.
func refusal(err error) *Refusal {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unclear {
		return nil
	}
	return &Refusal{e.Code, e.Message, e.Words}
}

// reconcile looks for the outcome of a call whose answer was lost.
func reconcile(ctx context.Context, a Publisher, acct Account, post Post, p Progress, now time.Time) (Progress,
	time.Duration, error) {
	step, err := a.Reconcile(ctx, acct, post, p.Handle, p.SentAt)
	if p.Refusal != nil && err == nil && step.Warning != nil {
		// What Reconcile leaves out because it may exist, was refused, and is not there.
		if left, ok := leave(a, acct, post, p.Handle, p.Refusal.final()); ok {
			step = left
		}
	}
	if p.Looks++; p.Looks == 1 {
		p.Doubts++
	}
	late := now.Sub(p.SentAt) >= reconcileFor && p.Looks >= minLooks
	found := step.Post != (PublishedPost{}) && step.Post != p.Post
	switch kind := KindOf(err); {
	case err == nil && p.Refusal != nil && !found && (step.Next == StageFinalize || step.Next == StageCheck):
		// The call may be made again, but not for ever.
		if p.Refusals++; p.Refusals >= maxUnclear {
			p.Doubts = 0
			refused := p.Refusal.final()
			if left, ok := leave(a, acct, post, p.Handle, refused); ok {
				return p.afterAnswer().afterStep(left), left.Wait, nil
			}
			return p.afterAnswer(), 0, refused
		}
		return p.afterAnswer().afterStep(step), max(step.Wait, time.Duration(p.Refusals)*unclearEvery), nil
	case err == nil && step.Next != StageReconcile:
		return p.afterAnswer().afterStep(step), step.Wait, nil
	case err == nil && !late:
		step.Wait = cmp.Or(step.Wait, reconcileEvery)
		return p, step.Wait, nil
	case err == nil && p.Refusal != nil && p.Doubts == 1:
		p.Doubts = 0 // the platform has refused the only call, and does not have the post
		refused := p.Refusal.final()
		return p.afterAnswer(), 0, refused
	case err == nil:
		return p, 0, Lost(errors.New("nothing was found in time")).Saying(p.Words)
	case kind == BadContent, kind == Restart:
		p.Doubts = 0 // nothing was or will be posted
		return p.afterAnswer().afterError(err)
	case kind == Unknown, kind == Reconnect, late:
		// Nothing can be read without a connection, and the post may exist.
		lost := Lost(err).Saying(cmp.Or(WordsOf(err), p.Words))
		if p.Refusal != nil {
			lost.Message = "The platform has refused the post for a reason that the service does not know, and the " +
				"service cannot see whether it exists. Look at the account."
			lost.Words = p.Refusal.Words
		}
		return p, 0, lost
	default:
		return p, 0, err
	}
}

// afterAnswer returns the progress after the outcome of the call is known.
func (p Progress) afterAnswer() Progress {
	p.SentAt, p.Looks, p.Refusal, p.Words = time.Time{}, 0, nil, ""
	return p
}

func (p Progress) afterStep(step Step) Progress {
	p.Stage, p.Handle = step.Next, step.Handle
	if step.Post != (PublishedPost{}) {
		p.Post = step.Post
	}
	if step.Warning != nil {
		p.Warning = step.Warning
	}
	if p.Done() {
		p.Handle = ""
	}
	return p
}

func (p Progress) afterError(err error) (Progress, time.Duration, error) {
	if KindOf(err) != Restart {
		return p, 0, err
	}
	var e *Error
	errors.As(err, &e)
	if p.Restarts >= maxRestarts || p.Post != (PublishedPost{}) {
		return p, 0, Reject(CodeMediaRefused, "The platform could not process the media.").Saying(e.Words).Because(err)
	}
	return Progress{Restarts: p.Restarts + 1}, max(e.RetryAfter, reconcileEvery), nil
}

// unclear returns the progress and the error after a refusal for an unknown reason of a call that posts nothing.
func (p Progress) unclear(err error) (Progress, error) {
	var e *Error
	errors.As(err, &e)
	if p.Unclear++; p.Unclear >= maxUnclear {
		return p, Reject(e.Code, e.Message).Saying(e.Words).Because(err)
	}
	return p, Later(e.Code, e.Message).Saying(e.Words).WithWait(time.Duration(p.Unclear) * unclearEvery).Because(err)
}

func classified(err error) bool {
	var e *Error
	return errors.As(err, &e)
}
