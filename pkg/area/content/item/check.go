package item

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// check decides whether a text can be used: the guards do. The writer of the sandbox repeats
// itself, does not translate, and quotes sources that nobody has read: its texts are checked for claims, words and
// lengths. What they refuse, it writes anew without its samples, so that the requested outcome stays the same.
func (w *work) check(ctx context.Context, db *store.DB, now time.Time, m generate.PartResult) (*generate.Refusal,
	error) {
	t, rules, sandbox := *m.Text, w.writer.rules(now), w.item.Owner.Mode == tenant.Test
	rules.Sources = len(w.writer.quotedSources(t))
	rules.NeedsSource = rules.NeedsSource && !sandbox
	rows, err := w.platforms(ctx, db)
	if err != nil {
		return nil, err
	}
	rules.Limits = w.writer.bounds(rows, t)
	if !w.repeats && !sandbox {
		if rules.Past, err = pastTexts(ctx, db, w.record.Item.FactoryID, w.record.Item.ID,
			w.record.Item.origin()); err != nil {
			return nil, err
		}
	}
	found := guard.Check(w.writer.fields(t), rules)
	for _, label := range w.writer.lacking(rows, t) {
		found = append(found, guard.Finding{Code: guard.TooLong, Path: "/caption", Text: t.Caption,
			Kind: "needs a short version for " + label})
	}
	if sandbox {
		found = slices.DeleteFunc(found, func(f guard.Finding) bool { return f.Code == guard.Language })
	}
	if len(found) == 0 {
		return nil, nil
	}
	refusal := &generate.Refusal{Problems: []string{guard.Reasons(found)}}
	final := slices.DeleteFunc(slices.Clone(found), guard.Finding.Decidable)
	if refusal.HeldForApproval = len(final) == 0; refusal.HeldForApproval {
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
func (w *work) Composition(_ int, made []generate.PartResult) (generate.Composition, error) {
	if s := w.record.Attempt.Sandbox; s != nil && s.Outcome == generate.OutcomeFailed {
		// No provider has rehearsed the failure, since all other parts are reused.
		return nil, provider.FailureOf(cmp.Or(s.FailureCode, provider.FailedGeneration))
	}
	if w.record.Item.Provided() {
		return withNotice(w.maker.ownComposition(), shownNotice(w.record)), nil
	}
	w.maker.settle(made)
	shown := *w.record
	switch l := shown.Brief.Logo; {
	case w.look.Plain:
		shown.Brief.Brand, shown.Brief.Badge = shown.Brief.Brand.Plain(), nil
	case l != nil && w.look.Place != "":
		shown.Brief.Brand = shown.Brief.Brand.At(&l.File, w.look.Place)
	}
	c, err := makerOf(&shown).composition(made)
	if v, ok := c.(generate.Video); ok && w.look.Plain {
		v.Intro, v.Outro = nil, nil // what was made for the time between them cannot fill theirs
		c = v
	}
	return withNotice(c, shownNotice(w.record)), err
}

// Gave implements generate.Composing.
func (w *work) Gave(e *provider.Error) bool {
	r := w.record
	var n int
	text := e.Code == string(provider.FailedTextTooLong) || e.Code == string(provider.FailedScript) ||
		e.Code == string(provider.FailedInput)
	switch part := e.Part; {
	case part == "":
		return false
	case part == "/music":
		return r.Track != nil && r.Item.Music != nil && *r.Item.Music != MusicGenerated
	case part == "/cover":
		return r.OwnCover != nil && *r.Item.Cover != CoverGenerated
	case strings.HasPrefix(part, "/brand/"), part == "/intro", part == "/outro":
		return true
	case part == "/path" && text && r.Item.Kind == Post:
		return r.CallerTexts.Has(Headline)
	case part == "/title", part == "/path" && text:
		return r.CallerTexts.Has(Title)
	case scan(part, "/scenes/%d/on_screen", &n):
		return r.CallerTexts.Has(Script) && r.Item.Kind == Video || r.CallerTexts.Has(Title) && r.Item.Kind == Story
	case scan(part, "/slides/%d/body", &n):
		return r.CallerTexts.slide(n)
	case part == "/path":
		return r.Attempt.photo(1) != nil
	case scan(part, "/slides/%d", &n) && text:
		return r.CallerTexts.slide(n)
	case scan(part, "/slides/%d", &n), scan(part, "/scenes/%d/picture", &n):
		return r.Attempt.photo(n+1) != nil
	default:
		return r.fromCaller(part)
	}
}

// scan reads the number in a JSON pointer.
func scan(pointer, format string, n *int) bool {
	_, err := fmt.Sscanf(pointer, format, n)
	return err == nil && fmt.Sprintf(format, *n) == pointer
}

// fromCaller reports whether the file of a key is one that the caller has brought in.
func (r *Record) fromCaller(key string) bool {
	is := func(f *media.File) bool { return f != nil && f.Key == key }
	if is(r.Track) || is(r.OwnCover) || is(r.Brief.Intro) || is(r.Brief.Outro) ||
		r.Brief.Logo != nil && is(&r.Brief.Logo.File) ||
		r.Brief.Brand != nil && is(r.Brief.Brand.Logo) {
		return true
	}
	return slices.ContainsFunc(r.Attempt.ProductPhotos, func(p shownPhoto) bool { return p.File.Key == key })
}
