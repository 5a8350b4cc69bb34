package item

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
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
	var err error
	if rules.Limits, err = w.limits(ctx, db, t); err != nil {
		return nil, err
	}
	if !w.repeats && !sandbox {
		if rules.Past, err = pastTexts(ctx, db, w.FactoryID, w.ID, w.origin()); err != nil {
			return nil, err
		}
	}
	found := guard.Check(w.fields(t), rules)
	if sandbox {
		found = slices.DeleteFunc(found, func(f guard.Finding) bool { return f.Code == guard.Language })
	}
	if len(found) == 0 {
		return nil, nil
	}
	refusal := &generate.Refusal{Code: provider.FailureCode(found[0].Code), Problems: []string{guard.Reasons(found)}}
	first := slices.DeleteFunc(slices.Clone(found), func(f guard.Finding) bool { return f.Code != found[0].Code })
	refusal.Message = "The text was refused twice: " + guard.Reasons(first) + ". " + advice[found[0].Code]
	return refusal, nil
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

// advice says what callers can do about each code.
var advice = map[guard.Code]string{
	guard.Unsupported: "Add what is true to the prompt, the product or the factory, or regenerate the item.",
	guard.Forbidden:   "Regenerate the item, or change forbidden_words of the factory.",
	guard.Language:    "Regenerate the item, or change its language.",
	guard.TooLong:     "Regenerate the item, or ask for a shorter text.",
	guard.Repetitive:  "Change the prompt, so that the item says something new.",
}

// rules returns what the texts of the item may state and must comply with.
func (r prompter) rules(now time.Time) guard.Rules {
	rules := guard.Rules{Language: r.Language, Now: now, Forbidden: r.Brief.Forbidden, Sourced: r.Brief.Sourced,
		Facts: []string{r.Brief.Name, r.Brief.Voice, r.Prompt}}
	if r.Given.Has(Script) {
		rules.Facts = append(rules.Facts, r.Script)
		for _, s := range r.Scenes {
			rules.Facts = append(rules.Facts, s.OnScreen)
		}
	}
	for _, text := range plainTexts {
		if r.Given.Has(text.name) {
			rules.Facts = append(rules.Facts, *text.of(&r.Texts))
		}
	}
	for _, i := range r.Given.Slides {
		rules.Facts = append(rules.Facts, r.Slides[i].Text, r.Slides[i].Body)
	}
	if r.PublishAt != nil {
		rules.Facts = append(rules.Facts, r.PublishAt.Format(time.DateOnly))
	}
	if plan, err := json.Marshal(r.Slot); err == nil && r.Slot != nil {
		rules.Facts = append(rules.Facts, string(plan))
	}
	rules.Facts = append(rules.Facts, originFacts(r.Origin)...)
	for _, s := range r.Told {
		rules.Facts = append(rules.Facts, s.Title, s.Text, s.URL)
		if s.PublishedAt != nil {
			rules.Facts = append(rules.Facts, s.PublishedAt.Format(time.DateOnly))
		}
	}
	if p := r.Brief.Product; p != nil {
		if r.Brief.Prices == PricesNone {
			rules.Unpriced = p.stated()
		} else {
			rules.Facts, rules.Prices = append(rules.Facts, p.stated()...), p.prices()
		}
	}
	return rules
}

// Invents reports whether texts for the item state what none of its inputs has, or have a forbidden word.
func (r prompter) Invents(now time.Time, texts ...string) bool {
	rules := r.rules(now)
	rules.Sourced = false // topics name no sources
	var all []guard.Field
	for _, text := range texts {
		all = append(all, guard.Field{Text: text})
	}
	return slices.ContainsFunc(guard.Check(all, rules), func(f guard.Finding) bool {
		return f.Code == guard.Unsupported || f.Code == guard.Forbidden
	})
}

// stated returns what a product and its promotion state, in words.
func (p *Product) stated() []string {
	all := []string{p.Name, p.Description, p.URL}
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		value := p.Attributes[name]
		all = append(all, name+": "+value)
		if _, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", "."), 64); err == nil {
			// The name may have the unit, as in weight_g and Drop (mm).
			parts := func(r rune) bool { return strings.ContainsRune("_ ()[],", r) }
			for _, unit := range strings.FieldsFunc(name, parts) {
				all = append(all, value+" "+unit)
			}
		}
	}
	if i := p.Promotion; i != nil {
		all = append(all, i.Name, i.Message, i.StartsAt.Format(time.DateOnly), i.EndsAt.Format(time.DateOnly))
		if now, was := p.reduced(), p.Price; was.Amount > 0 && (was.Amount-now.Amount)*100%was.Amount == 0 {
			all = append(all, fmt.Sprintf("%d %%", (was.Amount-now.Amount)*100/was.Amount))
		}
	}
	return all
}

// fields returns the texts that the writer has written and that readers see or hear. Those of the caller are not
// checked.
func (r prompter) fields(t provider.Text) (all []guard.Field) {
	add := func(path, text string) {
		if text != "" {
			all = append(all, guard.Field{Path: path, Text: text})
		}
	}
	for _, text := range plainTexts {
		if !r.Given.Has(text.name) {
			add("/"+string(text.name), *text.made(&t))
		}
	}
	for i, s := range t.Slides {
		if !r.givenSlide(i) {
			add(fmt.Sprintf("/slides/%d/text", i), s.Heading)
			add(fmt.Sprintf("/slides/%d/body", i), s.Body)
		}
		add(fmt.Sprintf("/slides/%d/alt_text", i), s.Alt)
	}
	for i, p := range t.Pictures {
		add(fmt.Sprintf("/pictures/%d/alt_text", i), p.Alt)
	}
	for i, s := range t.Scenes {
		if !r.Given.Has(Script) {
			add(fmt.Sprintf("/scenes/%d/text", i), s.Text)
			add(fmt.Sprintf("/scenes/%d/on_screen", i), s.OnScreen)
		}
	}
	if !r.Given.Has(Hashtags) {
		for i, tag := range t.Hashtags {
			all = append(all, guard.Field{Path: fmt.Sprintf("/hashtags/%d", i), Text: tag, Tag: true})
		}
	}
	return all
}

// limits returns the limits of the platforms that the item may be published on. A platform that divides a long caption
// takes both parts, and one without a list of hashtags has them in the caption.
func (w *work) limits(ctx context.Context, db *store.DB, t provider.Text) (all []guard.Limit, err error) {
	targets, err := w.platforms(ctx, db)
	for _, p := range targets {
		rule, taken := p.Capabilities.Kinds[platform.Kind(w.Kind)], 0
		if !p.Capabilities.Hashtags.Tags && len(t.Hashtags) > 0 {
			taken = rule.Caption.Unit.Length("\n\n#" + strings.Join(t.Hashtags, " #"))
		}
		caption, title := rule.Caption, rule.Title
		caption.Max = max(caption.Max+rule.Rest.Max-taken, 0)
		all = append(all, guard.Limit{Path: "/caption", Text: caption, Target: p.Capabilities.Label},
			guard.Limit{Path: "/title", Text: title, Target: p.Capabilities.Label})
	}
	return all, err
}

// The items of the table that stand for the channel's texts: a signature of each, by the id of its item and the number
// of the attempt. The transaction that makes an item generated writes its signature. Each is an item of its own, so
// that the items of a plan that end at the same time do not wait for each other.
const (
	textKind = "content_text"
	// keepText is the time for which a signature is kept: a text that is older may be repeated.
	keepText = 365 * 24 * time.Hour
)

type signed struct {
	Signature guard.Signature `json:"signature"`
}

func textsPartition(factoryID string) string { return "content_texts#" + factoryID }

// sign adds the signature of the item's texts to the transaction.
func (w *work) sign(tx *store.Tx, now time.Time, t provider.Text) error {
	signature := guard.Sign(w.fields(t))
	if signature == "" || w.item.Owner.Mode == tenant.Test {
		return nil
	}
	doc, err := json.Marshal(signed{signature})
	if err != nil {
		return fmt.Errorf("item: signature of %s: %w", w.ID, err)
	}
	tx.Create(store.Item{Key: store.Key{PK: textsPartition(w.FactoryID), SK: fmt.Sprintf("%s#%d", w.ID, w.Attempt)},
		Kind: textKind, Owner: w.item.Owner, Doc: doc, ExpireAt: now.Add(keepText)}, nil)
	return nil
}

// pastTexts returns the signatures of the channel's latest texts, without those of some items.
func pastTexts(ctx context.Context, db *store.DB, factoryID string, without ...string) (all []guard.Past, err error) {
	page, err := db.List(ctx,
		store.Query{Index: store.Table, Partition: textsPartition(factoryID), Limit: guard.MaxPast})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		var s signed
		itemID, _, _ := strings.Cut(it.SK, "#")
		if slices.Contains(without, itemID) {
			continue
		}
		if err := it.Decode(&s); err != nil {
			return nil, err
		}
		all = append(all, guard.Past{ID: itemID, Signature: s.Signature})
	}
	return all, nil
}

// platforms returns the platforms of the accounts that the item may be published on: its own accounts and those of its
// factory, as they are now.
func (w *work) platforms(ctx context.Context, db *store.DB) (all []registry.Row, err error) {
	accounts, err := accountsOf(ctx, db, w.item.Owner, w.Record)
	if err != nil {
		return nil, err
	}
	for _, it := range accounts {
		p, _ := registry.Find(it.Filters["platform"])
		if _, takes := p.Capabilities.Kinds[platform.Kind(w.Kind)]; takes {
			all = append(all, p)
		}
	}
	return all, nil
}
