package platform

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Ref names a visible post.
type Ref struct {
	ID   string `json:"id,omitempty"`
	Hash string `json:"hash,omitempty"` // of its content, where the platform wants it in replies
	URL  string `json:"url,omitempty"`
}

// Work is the state of a publication, which its handle has. S is the state of the adapter.
type Work[S any] struct {
	Begun bool `json:"begun"`
	Own   S    `json:"own"`
	Made  int  `json:"made,omitempty"`  // number of visible posts of the publication
	First Ref  `json:"first,omitzero"`  // the post
	Last  Ref  `json:"last,omitzero"`   // the latest reply of the thread, or the post
	Looks int  `json:"looks,omitempty"` // reads of the post after it was made
	// More are the ids of the posts after the first, in their order.
	More []string `json:"more,omitempty"`
	// Wait is the time from Begin to the first Prepare.
	Wait time.Duration `json:"-"`
}

// published returns the posts that were made so far.
func (w Work[S]) published() Published {
	return Published{ID: w.First.ID, URL: w.First.URL, More: strings.Join(w.More, ",")}
}

// Steps makes the calls of a platform.
type Steps[S any] interface {
	Capabilities() Capabilities

	// Begin begins a publication. It makes nothing visible.
	Begin(ctx context.Context, a Account, p Post, w *Work[S]) error

	// Prepare prepares the next post, and reports whether the post can be made. If not, Prepare is
	// called again after the wait. It makes nothing visible, and may be repeated.
	Prepare(ctx context.Context, a Account, p Post, w *Work[S]) (ready bool, wait time.Duration,
		err error)

	// Make makes the next post with one call.
	Make(ctx context.Context, a Account, p Post, w Work[S]) (Ref, error)

	// Find looks for the next post, whose answer was lost. The stage is StageDone if it exists, without a Ref if only
	// that is known; StageReconcile if it is not visible yet; or StageFinalize if making it again is harmless.
	Find(ctx context.Context, a Account, p Post, w Work[S], begun time.Time) (Ref, Stage,
		error)
}

// Ender is a platform whose posts have something to wait for or to read after they were made.
type Ender[S any] interface {
	// End reads the post w.First, and reports whether the publication has ended. If not, End is
	// called again after the wait.
	End(ctx context.Context, a Account, p Post, w *Work[S]) (ended bool, wait time.Duration,
		err error)
}

// Chain implements the steps of platform.Publisher.
type Chain[S any] struct {
	Steps Steps[S]
	// Every is the time between two looks for a post whose answer was lost, if looking costs money.
	Every time.Duration
}

// Text returns the text of the next post: a part of the caption, or the first comment.
func (c Chain[S]) Text(p Post, w Work[S]) string {
	posts := Arrange(p, c.Steps.Capabilities()).Posts()
	if w.Made >= len(posts) {
		return p.Options.FirstComment
	}
	return posts[w.Made]
}

// parts returns the number of posts, without the first comment.
func (c Chain[S]) parts(p Post) int {
	return Arrange(p, c.Steps.Capabilities()).Parts()
}

// IsComment reports whether the next post is the first comment.
func (c Chain[S]) IsComment(p Post, w Work[S]) bool {
	return p.Options.FirstComment != "" && w.Made == c.parts(p)
}

// complete reports whether all posts are made.
func (c Chain[S]) complete(p Post, w Work[S]) bool {
	return w.Made >= c.parts(p) && !c.IsComment(p, w)
}

func parse[S any](h Handle) (w Work[S], err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if !w.Begun || w.Made < 0 || w.Made > 0 && w.First.ID == "" {
		return w, Reject(CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// Start implements platform.Publisher.
func (c Chain[S]) Start(ctx context.Context, a Account, p Post) (Step, error) {
	w := Work[S]{Begun: true}
	if err := c.Steps.Begin(ctx, a, p, &w); err != nil {
		return Step{}, err
	}
	return Go(StageCheck, w, w.Wait)
}

// Check implements platform.Publisher. It prepares the next post, or ends the publication.
func (c Chain[S]) Check(ctx context.Context, a Account, p Post, h Handle) (Step,
	error) {
	w, err := parse[S](h)
	if err != nil {
		return Step{}, err
	}
	if c.complete(p, w) {
		return c.end(ctx, a, p, w)
	}
	ready, wait, err := c.Steps.Prepare(ctx, a, p, &w)
	if err != nil {
		return c.unwritten(p, w, err)
	}
	if !ready {
		return Go(StageCheck, w, wait)
	}
	return Go(StageFinalize, w, wait)
}

// end ends a publication.
func (c Chain[S]) end(ctx context.Context, a Account, p Post, w Work[S]) (Step, error) {
	if e, ok := c.Steps.(Ender[S]); ok {
		w.Looks++
		ended, wait, err := e.End(ctx, a, p, &w)
		if err != nil {
			return Step{}, err
		}
		if !ended {
			return Go(StageCheck, w, wait)
		}
	}
	return Step{Next: StageDone, Post: w.published()}, nil
}

// Finalize implements platform.Publisher. It makes the next post.
func (c Chain[S]) Finalize(ctx context.Context, a Account, p Post,
	h Handle) (Step, error) {
	w, err := parse[S](h)
	if err != nil {
		return Step{}, err
	}
	if c.complete(p, w) {
		return c.end(ctx, a, p, w)
	}
	ref, err := c.Steps.Make(ctx, a, p, w)
	if err != nil {
		return c.unwritten(p, w, err)
	}
	return c.made(p, w, ref)
}

// unwritten returns the step after the next post was refused. A first comment that is refused does
// not fail the publication.
func (c Chain[S]) unwritten(p Post, w Work[S], err error) (Step, error) {
	kind := KindOf(err)
	if !c.IsComment(p, w) || kind == Retry || kind == Expired || kind == Unknown {
		return Step{}, err
	}
	return Step{Next: StageDone, Warning: Warn(CommentNotWritten,
		c.Steps.Capabilities().Label+" has not taken the first comment.", err)}, nil
}

// made returns the step after the next post was made.
func (c Chain[S]) made(p Post, w Work[S], ref Ref) (Step, error) {
	comment := c.IsComment(p, w)
	if w.Made == 0 {
		w.First = ref
	} else {
		w.More = append(slices.Clone(w.More), ref.ID)
	}
	if !comment {
		w.Last = ref
	}
	w.Made++
	step, err := Go(StageCheck, w, 0)
	// An adapter that has the address of a post before its comment has read the post.
	if _, waits := c.Steps.(Ender[S]); c.complete(p, w) && (!waits || w.Made > 1 && w.First.URL != "") {
		step = Step{Next: StageDone}
	}
	step.Post = w.published()
	return step, err
}

// Reconcile implements platform.Publisher.
func (c Chain[S]) Reconcile(ctx context.Context, a Account, p Post, h Handle,
	begun time.Time) (Step, error) {
	w, err := parse[S](h)
	if err != nil {
		return Step{}, err
	}
	ref, next, err := c.Steps.Find(ctx, a, p, w, begun)
	if kind := KindOf(err); c.IsComment(p, w) && (err != nil && kind != Retry &&
		kind != Expired || err == nil && next == StageReconcile) {
		return CommentInDoubt(), nil
	}
	if err != nil {
		return Step{}, err
	}
	if next == StageDone && ref.ID == "" {
		return Step{Next: next, Post: w.published()}, nil
	}
	if next == StageDone {
		return c.made(p, w, ref)
	}
	wait := c.Every
	if next == StageFinalize {
		wait = 0
	}
	return Go(next, w, wait)
}
