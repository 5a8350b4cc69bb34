package item

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

var _ generate.Checking = (*work)(nil)

// Check implements generate.Checking: the guards decide whether a text can be used. The writer of the sandbox repeats
// itself, does not translate, and quotes sources that nobody has read: its texts are checked for claims, words and
// lengths. What they refuse, it writes anew without its samples, so that the requested outcome stays the same.
func (w *work) Check(ctx context.Context, db *store.DB, now time.Time, t provider.Text) (*generate.Refusal, error) {
	rules, sandbox := w.rules(now), w.item.Owner.Mode == tenant.Test
	rules.Sources = len(w.quoted(t))
	rules.Sourced = rules.Sourced && !sandbox
	rows, err := w.platforms(ctx, db)
	if err != nil {
		return nil, err
	}
	rules.Limits = w.bounds(rows, t)
	if !w.repeats && !sandbox {
		if rules.Past, err = pastTexts(ctx, db, w.FactoryID, w.ID, w.origin()); err != nil {
			return nil, err
		}
	}
	found := guard.Check(w.fields(t), rules)
	for _, label := range w.lacking(rows, t) {
		found = append(found, guard.Finding{Code: guard.TooLong, Path: "/caption", Text: t.Caption,
			What: "needs a short version for " + label})
	}
	if sandbox {
		found = slices.DeleteFunc(found, func(f guard.Finding) bool { return f.Code == guard.Language })
	}
	if len(found) == 0 {
		return nil, nil
	}
	refusal := &generate.Refusal{Problems: []string{guard.Reasons(found)}}
	final := slices.DeleteFunc(slices.Clone(found), guard.Finding.Decidable)
	if refusal.Held = len(final) == 0; refusal.Held {
		final = found
	}
	refusal.Code = provider.FailureCode(final[0].Code)
	first := slices.DeleteFunc(slices.Clone(final), func(f guard.Finding) bool { return f.Code != final[0].Code })
	refusal.Message = "The text was refused twice: " + guard.Reasons(first) + ". " + advice[final[0].Code]
	return refusal, nil
}

// advice says what callers can do about each code.
var advice = map[guard.Code]string{
	guard.Unfinished:  "Regenerate the item.",
	guard.Unsupported: "Add what is true to the prompt, the product or the factory, or regenerate the item.",
	guard.Forbidden:   "Regenerate the item, or change forbidden_words or voice of the factory.",
	guard.Language:    "Regenerate the item, or change its language.",
	guard.TooLong:     "Regenerate the item, or ask for a shorter text.",
	guard.Repetitive:  "Change the prompt, so that the item says something new.",
}

var _ generate.Moderated = (*work)(nil)

// Publishes implements generate.Moderated: the texts that readers see or hear, also of variants. A second look is for
// the service alone.
func (w *work) Publishes(n int, made generate.Made) string {
	switch {
	case made.Text != nil:
		var all []string
		for _, f := range w.fields(*made.Text) {
			all = append(all, f.Text)
		}
		return strings.Join(all, "\n")
	case n < len(w.Parts) && w.Parts[n].Role == roleAdapt:
		return string(made.Object)
	}
	return ""
}

var _ generate.Inspecting = (*work)(nil)

// Inspect implements generate.Inspecting: the chosen scenes must make a short video.
func (w *work) Inspect(n int, object json.RawMessage) (problems []string) {
	if n < len(w.Parts) && w.Parts[n].Role == roleExcerpt && w.Excerpt != nil {
		_, problems = w.chosen(object)
	}
	return problems
}

var _ generate.Reviewing = (*work)(nil)

// Skips implements generate.Reviewing: a text that passes the second look is not written again, a text that is alone is
// not compared, and scenes that were not chosen are not copied.
func (w *work) Skips(n int, made []generate.Made) bool {
	w.settle(made)
	if n >= len(w.Parts) {
		return false
	}
	switch p := w.Parts[n]; p.Role {
	case roleRewrite:
		v, ok := w.verdict(made)
		return !ok || v.Passes(w.Quality == QualityBest)
	case roleChoose, roleChooseBack, roleCompare, roleCompareBack:
		_, _, ok := w.pair(p, made)
		return !ok
	default:
		return w.leftOut(p)
	}
}

// spared are the parts without which the text stands, and scenes are chosen without a model.
var spared = []role{roleReview, roleRewrite, roleExcerpt, roleSecond, roleChoose, roleChooseBack, roleCompare,
	roleCompareBack}

func (w *work) Spares(n int) bool {
	return n < len(w.Parts) && slices.Contains(spared, w.Parts[n].Role)
}

// Composition implements generate.Composing: the finished media of the item.
func (w *work) Composition(_ int, made []generate.Made) (generate.Composition, error) {
	if s := w.Sandbox; s != nil && s.Outcome == generate.OutcomeFailed {
		// No provider has rehearsed the failure, since all other parts are reused.
		return nil, provider.FailureOf(cmp.Or(s.FailureCode, provider.FailedGeneration))
	}
	if w.Provided() {
		return withNotice(w.ownComposition(), shownNotice(w.Record)), nil
	}
	w.settle(made)
	shown := *w.Record
	r := AttemptAt(&shown)
	switch l := r.Brief.Logo; {
	case w.look.Plain:
		r.Brief.Brand, r.Brief.Badge = r.Brief.Brand.Plain(), nil
	case l != nil && w.look.Place != "":
		r.Brief.Brand = r.Brief.Brand.At(&l.File, w.look.Place)
	}
	c, err := r.composition(made)
	if v, ok := c.(generate.Video); ok && w.look.Plain {
		v.Intro, v.Outro = nil, nil // what was made for the time between them cannot fill theirs
		c = v
	}
	return withNotice(c, shownNotice(w.Record)), err
}
