package platform

import (
	"context"
	"errors"
	"strings"
	"time"
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
	Begun bool `json:"begun"`
	Own   S    `json:"own"`
	Made  int  `json:"made,omitempty"`  // number of visible posts of the publication
	First Ref  `json:"first,omitzero"`  // the post
	Last  Ref  `json:"last,omitzero"`   // the latest reply of the thread, or the post
	Looks int  `json:"looks,omitempty"` // reads of the post after it was made
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

	texts Arranged
}

// Text returns the text of the next post: a part of the caption, or the first comment.
func (w *Work[S]) Text() string {
	if posts := w.texts.Posts(); w.Made < len(posts) {
		return posts[w.Made]
	}
	return w.Post.Options.FirstComment
}

// IsComment reports whether the next post is the first comment.
func (w *Work[S]) IsComment() bool {
	return w.Post.Options.FirstComment != "" && w.Made == w.texts.Parts()
}

// complete reports whether all posts are made.
func (w *Work[S]) complete() bool { return w.Made >= w.texts.Parts() && !w.IsComment() }

// published returns the posts that were made so far.
func (w *Work[S]) published() Published {
	return Published{ID: w.First.ID, URL: w.First.URL, More: strings.Join(w.More, ",")}
}

// done returns the step that ends the publication.
func (w *Work[S]) done() Step {
	return Step{Next: StageDone, Post: w.published(), Warning: w.Warning}
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
	return &Work[S]{Begun: true, Account: a, Post: p, texts: Arrange(p, c.Caps)}
}

func (c Chain[S]) parse(a Account, p Post, h Handle) (*Work[S], error) {
	w := c.work(a, p)
	w.Begun = false
	if err := h.Decode(w); err != nil {
		return nil, err
	}
	if !w.Begun || w.Made < 0 {
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
	before := w.Made
	ready, wait, err := c.Steps.Prepare(ctx, w)
	if err != nil {
		return c.unwritten(w, err)
	}
	next := StageCheck
	if ready {
		next = StageFinalize
	}
	step, err := Go(next, w, wait)
	if w.Made > before {
		step.Post = w.published()
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
	return w.done(), nil
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
	return c.made(w, ref)
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

// made returns the step after the next post was made.
func (c Chain[S]) made(w *Work[S], ref Ref) (Step, error) {
	comment := w.IsComment()
	if w.Made == 0 {
		w.First = ref
	} else {
		w.More = append(w.More, ref.ID)
	}
	if !comment {
		w.Last = ref
	}
	w.Made++
	// An adapter that has the address of a post before its comment has read the post.
	if _, waits := c.Steps.(Ender[S]); w.complete() && (!waits || w.Made > 1 && w.First.URL != "") {
		return w.done(), nil
	}
	step, err := Go(StageCheck, w, w.Wait)
	step.Post = w.published()
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
		return w.done(), nil
	case next == StageDone:
		return c.made(w, ref)
	case next == StageReconcile:
		w.Wait = c.Every
	}
	return Go(next, w, w.Wait)
}
