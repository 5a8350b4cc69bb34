package item

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

// check decides whether a text can be used: the guards do. The writer of the sandbox repeats
// itself, does not translate, and quotes sources that nobody has read: its texts are checked for claims, words and
// lengths. What they refuse, it writes anew without its samples, so that the requested outcome stays the same.
func (w *work) check(ctx context.Context, db *store.DB, now time.Time, m generate.Made) (*generate.Refusal, error) {
	t, rules, sandbox := *m.Text, w.rules(now), w.item.Owner.Mode == tenant.Test
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
