package content

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
)

// A prompt below these says too little to write from: words, and characters in scripts without spaces.
const (
	leastWords      = 6
	leastCharacters = 15
)

// mostFacts is the number of facts that a warning names.
const mostFacts = 3

// thinBrief warns that a text will be generic, and names the facts that would help most. It returns none if the prompt
// or the factory says enough, or if the caller gives the facts in another way.
func (b *createBody) thinBrief(f factory.Factory, r *item.Record) []item.Warning {
	var s struct {
		Sources, Credentials []any
		Voice                struct{ Samples []string }
	}
	_ = json.Unmarshal(f.Settings, &s) // they were checked when they were set
	words, characters := len(strings.Fields(b.Prompt)), utf8.RuneCountInString(b.Prompt)
	short := words < leastWords && characters < leastWords*leastCharacters/2
	if words == 1 { // perhaps of a script without spaces
		short = characters < leastCharacters
	}
	given := r.Brief.Product != nil || r.Origin != nil || b.slot != nil || len(r.Given.Texts)+len(r.Given.Slides) > 0
	if !short || given || f.Description != "" && f.Audience != "" {
		return []item.Warning{}
	}
	missing := []item.MissingFact{{Member: "prompt",
		Ask: "Say what has happened, where, when and with whom: a place, a number, a name."}}
	for _, fact := range []struct {
		lacks       bool
		member, ask string
	}{
		{f.Type == factory.Seller, "product_id", "Name the product: its description, price and promotion become " +
			"facts."},
		{f.Type == factory.News && len(s.Sources) == 0, "factory.settings.sources",
			"Add the addresses of sources to report from."},
		{f.Description == "", "factory.description",
			"Say what the channel is about, and what it has that others have not."},
		{f.Audience == "", "factory.audience", "Say who reads it, and what they want to know or to do."},
		{f.Type == factory.Expert && len(s.Credentials) == 0, "factory.settings.credentials",
			"Say what the expert may be asked about, and why."},
		{len(s.Voice.Samples) == 0, "factory.settings.voice.samples",
			"Add three posts of yours: texts learn their length, rhythm and address."},
	} {
		if fact.lacks {
			missing = append(missing, item.MissingFact{Member: fact.member, Ask: fact.ask})
		}
	}
	missing = slices.Clip(missing[:min(len(missing), mostFacts)])
	return []item.Warning{{Code: item.ThinBrief, Facts: missing,
		Message: "The prompt and the factory say little, so the text will be general. Add the facts, and regenerate " +
			"the item."}}
}
