package item

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// The qualities of texts. Items of media of the caller have none.
const (
	QualityDraft    = "draft"
	QualityStandard = "standard"
	QualityBest     = "best"
)

// Qualities are the names of all qualities, the cheapest first.
var Qualities = []string{QualityDraft, QualityStandard, QualityBest}

// textShare is the part of the price of an item that its texts may have in the quality standard: one in so many. They
// may have the cheapest price in any case.
const textShare = 10

// manner is a way to write texts: by a model, with a second look or without.
type manner struct {
	model    catalog.Model
	endpoint string
	reviewed bool
}

// polish chooses the way in which the texts of a planned item are written. draft takes the planned model without a
// second look, and best takes the best model with one. standard takes the best way whose price is in proportion to
// that of the other parts. A model that the factory names writes in every quality.
func (r Attempt) polish(offer catalog.Offer, live bool) error {
	i := slices.IndexFunc(r.Parts, func(p part) bool { return p.Role == roleText || p.Role == roleScript })
	if i < 0 || r.Parts[i].Reuse != nil || r.Quality == "" || r.Quality == QualityDraft {
		return nil
	}
	text := r.Parts[i]
	planned, _ := catalog.Find(text.Model)
	ways := []manner{{planned, text.Endpoint, true}}
	if own, _ := r.Brief.model(provider.KindText); own == "" {
		ways = nil
		for _, m := range offer.Writers(r.Quality, live) {
			ways = append(ways, manner{model: m, reviewed: true})
			if r.Quality == QualityStandard {
				ways = append(ways, manner{model: m})
			}
		}
		ways = append(ways, manner{planned, "", true})
	}
	price, err := r.priceAround(i)
	if err != nil {
		return err
	}
	for _, way := range ways {
		parts, credits, err := r.written(text, way)
		if err != nil {
			return err
		}
		if r.Quality == QualityStandard && credits > price/textShare {
			continue
		}
		if !live {
			for n := range parts {
				parts[n].Credits = 0
			}
			credits = 0
		}
		r.Credits += credits - text.Credits
		r.Parts = slices.Concat(r.Parts[:i], parts, r.Parts[i+1:])
		return nil
	}
	return nil // the planned way is the cheapest one
}

// priceAround returns the price of the item with a live key, without its texts.
func (r Attempt) priceAround(text int) (credits int64, err error) {
	for n, p := range r.Parts {
		if m, ok := catalog.Find(p.Model); ok && n != text && m.Price != nil {
			price, err := m.PriceOf(r.foreseen(p))
			if err != nil {
				return 0, err
			}
			credits += price
		}
	}
	return credits, nil
}

// written returns the parts that write the texts in a way, and their price with a live key.
func (r Attempt) written(text part, way manner) (parts []part, credits int64, err error) {
	text.Model, text.Provider, text.Endpoint = way.model.ID, way.model.Provider, way.endpoint
	parts = []part{text}
	if way.reviewed {
		review, rewrite := text, text
		review.Role, review.Endpoint, rewrite.Role = roleReview, "", roleRewrite
		parts = append(parts, review, rewrite)
	}
	for n := range parts {
		if parts[n].Credits, err = way.model.PriceOf(r.foreseen(parts[n])); err != nil {
			return nil, 0, err
		}
		credits += parts[n].Credits
	}
	return parts, credits, nil
}

// judge sets the request for a second look at a text.
func (r prompter) judge(req *provider.Request, text provider.Text) {
	written := r.ofWriter(req)
	look := prompt.Judge(prompt.Review{Writing: written, Text: text})
	req.System, req.User, req.PromptVersion = "", "", look.Version
	req.Prompt = look.User
	req.Form = &provider.Form{System: look.System, Tokens: prompt.ReviewTokens, Sample: prompt.Approval}
}

var _ generate.Reviewing = (*work)(nil)

// Skips implements generate.Reviewing: a text that passes the second look is not written again, and scenes that were
// not chosen are not copied.
func (w *work) Skips(n int, made []generate.Made) bool {
	w.settle(made)
	if n >= len(w.Parts) || w.Parts[n].Role != roleRewrite {
		return n < len(w.Parts) && w.leftOut(w.Parts[n])
	}
	v, ok := verdict(made)
	return !ok || v.Passes(w.Quality == QualityBest)
}

// Spares implements generate.Reviewing: the text stands if the second look fails, and scenes are chosen without a
// model.
func (w *work) Spares(n int) bool {
	return n < len(w.Parts) && slices.Contains([]role{roleReview, roleRewrite, roleExcerpt}, w.Parts[n].Role)
}

// verdict returns the result of the second look.
func verdict(made []generate.Made) (prompt.Verdict, bool) {
	for _, m := range slices.Backward(made) {
		if m.Object != nil {
			v, err := prompt.ParseVerdict(m.Object)
			return v, err == nil
		}
	}
	return prompt.Verdict{}, false
}

// rewrite has the writer mend what the second look has found.
func (r prompter) rewrite(req *provider.Request, made []generate.Made) {
	text := written(made)
	v, _ := verdict(made)
	answer, _ := json.Marshal(text) // it has texts only
	req.Repair = &provider.Repair{Answer: string(answer), Problems: v.Problems}
}

// longestAnswer stands for a text that is not written yet, in prices. It has as many bytes as the tokens of an answer.
func longestAnswer(req provider.Request) provider.Text {
	req.Form, req.Repair = nil, nil
	return provider.Text{Caption: string(slices.Repeat([]byte("x"), provider.TextTokens(req).Output))}
}

// QualityOf returns the quality of an item, by the choice of its caller and of its factory.
func QualityOf(asked, usual string) string { return cmp.Or(asked, usual, QualityStandard) }
