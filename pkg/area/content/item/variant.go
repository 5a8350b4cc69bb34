package item

import (
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/media"
)

// MaxVariants bounds the variants of an item.
const MaxVariants = 30

// Variant is what differs from the item on a platform or a social account. A member that is nil is as that of the
// item.
type Variant struct {
	Title    *string  `json:"title" doc:"Title there. Null: the item's"`
	Caption  *string  `json:"caption" doc:"Text of the post there. Null: the item's"`
	Hashtags []string `json:"hashtags" doc:"Hashtags there, without the #. Null: the item's"`
	Media    []string `json:"media" doc:"Ids of your media that are published there, in order. Null: the item's"`
	// Adapted reports whether the text model wrote the texts.
	Adapted bool `json:"adapted" doc:"Whether the text model wrote its texts"`
	// PromptVersion is kept for as long as the texts are those of the model.
	PromptVersion string `json:"prompt_version" doc:"Version of the prompt that the text model wrote its texts with. Empty if it did not write them" example:"adapt.1"`
}

// Words are the texts and files of a post, and the variants that they come from.
type Words struct {
	Texts
	Files  []media.File
	Poster *media.File
	// From has the keys of the variants of members that differ from the item: title, caption, hashtags and media.
	From map[string]string
}

// Words returns what is posted to an account of a platform. The variant of the account goes before the variant of its
// platform.
func (r *Record) Words(platform, accountID string) Words {
	w := Words{Texts: r.Texts, From: map[string]string{}}
	w.Files, w.Poster = r.Posted()
	for _, key := range []string{platform, accountID} {
		v, ok := r.Variants[key]
		if !ok || key == "" {
			continue
		}
		if v.Title != nil {
			w.Title, w.From["title"] = *v.Title, key
		}
		if v.Caption != nil {
			w.Caption, w.From["caption"] = *v.Caption, key
		}
		if v.Hashtags != nil {
			w.Hashtags, w.From["hashtags"] = v.Hashtags, key
		}
		if v.Media != nil {
			w.Files, w.Poster, w.From["media"] = nil, nil, key
			for _, id := range v.Media {
				w.Files = append(w.Files, r.VariantFiles[id])
			}
		}
	}
	return w
}

// Preview is what is published, or will be, on a platform or a social account, as the platform counts it.
type Preview struct {
	Platform        string   `json:"platform" doc:"Platform"`
	SocialAccountID *string  `json:"social_account_id" doc:"Social account. Null: any account of the platform"`
	Title           string   `json:"title" doc:"Title. Empty where the platform has none"`
	Text            string   `json:"caption" doc:"Text, with the hashtags where they belong to it"`
	Rest            string   `json:"rest" doc:"End of a long text, which is published as a message of its own. Empty: none"`
	Hashtags        []string `json:"hashtags" nullable:"false" doc:"Hashtags that the platform has beside the text"`
	MediaIDs        []string `json:"media_ids" nullable:"false" doc:"Ids of the files, in order"`
	Counts          []Count  `json:"counts" nullable:"false" doc:"Lengths as the platform counts them"`
}

// Count is the length of a part of a post.
type Count struct {
	Of    string `json:"of" enum:"title,caption,rest,hashtags,media" doc:"Part of the post"`
	Count int    `json:"count" doc:"Length, or number"`
	Max   int    `json:"max" doc:"The most that the platform takes"`
	Unit  string `json:"unit" enum:"characters,utf16_units,bytes,graphemes,characters_and_bytes_of_emoji,weighted_characters,hashtags,media" doc:"Unit of the platform"`
}

// VariantKeys returns the platforms and accounts that have variants, sorted.
func (r *Record) VariantKeys() []string { return slices.Sorted(maps.Keys(r.Variants)) }
