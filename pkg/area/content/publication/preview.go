package publication

import (
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/record/resource"
)

// Preview returns what a publication posts, or will post, as its platform arranges and counts it. Without an account,
// it is what the platform gets of any account.
func Preview(r *item.Record, pub *item.Publication, limits platform.Capabilities) item.Preview {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	post := platform.Post{Kind: platform.Kind(r.Item.Kind), Title: string(words.Title), Caption: string(words.Caption),
		Hashtags: words.Hashtags, Media: make([]platform.Media, len(words.Files)),
		Options: platform.Options{Own: options(pub, limits)}}
	rule, text := limits.Rule(post), platform.Arrange(post, limits)
	p := item.Preview{Platform: pub.Platform, Text: resource.Text(text.Body), Rest: resource.Text(text.Rest),
		Hashtags: []string{},
		MediaIDs: []string{}, Counts: []item.Count{}}
	if pub.SocialAccountID != "" {
		accountID := pub.SocialAccountID
		p.SocialAccountID = &accountID
	}
	if len(text.Tags) > 0 {
		p.Hashtags = text.Tags
	}
	for _, f := range words.Files {
		p.MediaIDs = append(p.MediaIDs, f.ID)
	}
	count := func(of, s string, limit platform.Text) {
		unit := limit.Unit
		if unit == "" {
			unit = platform.Runes
		}
		p.Counts = append(p.Counts, item.Count{Of: of, Count: limit.Length(s), Max: limit.Max, Unit: string(unit)})
	}
	if rule.Title.Max > 0 {
		p.Title = resource.Text(text.Title)
		count("title", text.Title, rule.Title)
	}
	limit := rule.Caption
	if len(words.Files) == 0 && rule.Rest.Max > 0 {
		limit = rule.Rest
	}
	count("caption", text.Body, limit)
	if text.Rest != "" {
		count("rest", text.Rest, rule.Rest)
	}
	p.Counts = append(p.Counts,
		item.Count{Of: "hashtags", Count: len(words.Hashtags), Max: limits.Hashtags.Max, Unit: "hashtags"},
		item.Count{Of: "media", Count: len(words.Files), Max: rule.MaxMedia, Unit: "media"})
	return p
}

// options returns the platform's own options of a publication, or nil.
func options(pub *item.Publication, limits platform.Capabilities) any {
	if pub.Options == nil {
		return nil
	}
	o, _, err := limits.Wishes(pub.Options.RawMessage)
	if err != nil {
		return nil
	}
	return o.Own
}

// Previews returns the previews of an item: one for each publication, or else for each variant.
func Previews(r *item.Record, capabilities func(platform string) (platform.Capabilities, bool)) []item.Preview {
	all := []item.Preview{}
	add := func(pub item.Publication) {
		if limits, ok := capabilities(pub.Platform); ok {
			all = append(all, Preview(r, &pub, limits))
		}
	}
	for _, pub := range r.Item.Publications {
		add(pub)
	}
	if len(all) > 0 {
		return all
	}
	for _, key := range r.Item.VariantKeys() {
		if of := r.VariantPlatforms[key]; of != "" {
			add(item.Publication{Platform: of, SocialAccountID: key})
		} else {
			add(item.Publication{Platform: key})
		}
	}
	return all
}
