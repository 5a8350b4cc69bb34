package item

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/record/resource"
)

// Reprice has an item show its product as it is now: its texts state the prices of now, and what else they say stays.
// The next attempt makes what shows a price again. It refuses a text in which a price cannot be replaced.
func (r *Record) Reprice(now *Product, at time.Time) error {
	was := r.Brief.Product
	p := newRepricing(was, now, r.Item.Language)
	invented := r.Invents(at, r.statedTexts()...)
	if r.ShowsPrices() {
		if err := r.eachText(p.text); err != nil {
			return err
		}
	}
	r.Brief.Product = now
	r.Item.ProductID, r.Item.PromotionID = now.IDs()
	if !invented && r.Invents(at, r.statedTexts()...) {
		return p.refusal("they state what it does not have any more")
	}
	return nil
}

// RepriceCaption returns the text of a post with the prices of now. It reports false if the price of now cannot be
// shown so: a price cannot be replaced, or the media of the item show it, too.
func (r *Record) RepriceCaption(caption string, was, now *Product) (string, bool) {
	p := newRepricing(was, now, r.Item.Language)
	if offer := writerOf(r).offer(); offer != nil && offer.Price != nil || r.mediaState(p) {
		return caption, false
	}
	text, err := p.text(caption)
	return text, err == nil
}

// mediaState reports whether texts that are drawn or spoken in the media state a price that has changed.
func (r *Record) mediaState(p *repricing) bool {
	copied := *r
	copied.Item.Variants, copied.Item.Caption = nil, ""
	if !r.Item.InMedia() {
		copied.Item.Title = ""
	}
	changed := false
	err := copied.eachText(func(text string) (string, error) {
		now, err := p.text(text)
		changed = changed || now != text
		return now, err
	})
	return changed || err != nil
}

// statedTexts returns the texts that readers see or hear.
func (r *Record) statedTexts() (all []string) {
	copied := *r
	_ = copied.eachText(func(text string) (string, error) { // it returns no error
		all = append(all, text)
		return text, nil
	})
	return all
}

// eachText replaces the texts that readers see or hear. It changes no list or map that others may have.
func (r *Record) eachText(replace func(string) (string, error)) error {
	var found error
	change := func(text string) string {
		if text == "" || found != nil {
			return text
		}
		text, found = replace(text)
		return text
	}
	for _, one := range plainTexts {
		of := one.of(&r.Item.Texts)
		*of = resource.Text(change(string(*of)))
	}
	r.Item.Script = resource.Text(change(string(r.Item.Script)))
	r.Item.Slides = slices.Clone(r.Item.Slides)
	for i := range r.Item.Slides {
		s := &r.Item.Slides[i]
		s.Text, s.Body = change(s.Text), resource.Text(change(string(s.Body)))
	}
	r.Item.Scenes = slices.Clone(r.Item.Scenes)
	for i := range r.Item.Scenes {
		s := &r.Item.Scenes[i]
		s.Text, s.OnScreen = change(s.Text), resource.Text(change(string(s.OnScreen)))
	}
	r.Item.Variants = maps.Clone(r.Item.Variants)
	for key, v := range r.Item.Variants {
		for _, of := range []**string{&v.Title, &v.Caption} {
			if *of != nil {
				text := change(**of)
				*of = &text
			}
		}
		r.Item.Variants[key] = v
	}
	return found
}

// repricing replaces the prices of a product in texts.
type repricing struct {
	name, lang, currency string
	// prices are the amounts of now by those that texts state. An amount of -1 has none.
	prices map[int64]int64
	// percent is the percentage that texts state, and nowPercent that of now. 0: none.
	percent, nowPercent int64
	now                 *Product
}

// newRepricing returns how the prices of a product are replaced by those of now.
func newRepricing(was, now *Product, lang string) *repricing {
	p := &repricing{name: was.Name, lang: lang, currency: was.Price.Currency, prices: map[int64]int64{}, now: now}
	set := func(from, to int64) {
		if other, ok := p.prices[from]; ok && other != to {
			to = -1 // the amount has two meanings
		}
		p.prices[from] = to
	}
	old, oldBefore := was.shown()
	price, before := now.shown()
	if set(old.Amount, price.Amount); oldBefore.Amount > 0 {
		p.percent = law.Percent(oldBefore, old)
		if before.Amount > 0 {
			p.nowPercent = law.Percent(before, price)
			set(oldBefore.Amount, before.Amount)
			set(oldBefore.Amount-old.Amount, before.Amount-price.Amount)
		} else {
			set(oldBefore.Amount, -1)
			set(oldBefore.Amount-old.Amount, -1)
		}
	}
	return p
}

func (p *repricing) refusal(why string) error {
	return errs.Invalid("/reuse", "cannot replace the price of %s in the texts: %s. Correct them, or leave reuse out",
		p.name, why)
}

var percentages = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)([\s\x{a0}\x{202f}]?%)`) })

// text returns a text with the prices of now.
func (p *repricing) text(text string) (string, error) {
	stated := money.In(text)
	replaced := slices.ContainsFunc(stated, func(s money.Statement) bool {
		to, ok := p.of(s)
		return ok && to >= 0
	})
	price, _ := p.now.shown()
	for i := len(stated) - 1; i >= 0; i-- {
		s := stated[i]
		to, ok := p.of(s)
		switch {
		case !ok, !replaced && slices.Contains(s.Means(), price): // it states the price of now
			continue
		case to < 0 || p.now.Price.Currency != p.currency || s.To > len(text) || text[s.From:s.To] != s.Text:
			return text, p.refusal(fmt.Sprintf("%q has none of now", s.Text))
		}
		written := money.In(money.Price{Amount: to, Currency: p.currency}.In(p.lang))
		if len(written) != 1 {
			return text, p.refusal(fmt.Sprintf("%q has none of now", s.Text))
		}
		text = text[:s.From] + written[0].Text + text[s.To:]
	}
	if p.percent == 0 || p.percent == p.nowPercent {
		return text, nil
	}
	lost := false
	text = percentages().ReplaceAllStringFunc(text, func(part string) string {
		m := percentages().FindStringSubmatch(part)
		if m[1] != strconv.FormatInt(p.percent, 10) {
			return part
		}
		lost = lost || p.nowPercent == 0
		return strconv.FormatInt(p.nowPercent, 10) + m[2]
	})
	if lost {
		return text, p.refusal("the promotion has ended")
	}
	return text, nil
}

// of returns the amount of now that a statement becomes. It reports false if the statement is no price of the product.
func (p *repricing) of(s money.Statement) (to int64, ok bool) {
	for from, now := range p.prices {
		changed := from != now || p.now.Price.Currency != p.currency
		if changed && slices.Contains(s.Means(), money.Price{Amount: from, Currency: p.currency}) {
			return now, true
		}
	}
	return 0, false
}
