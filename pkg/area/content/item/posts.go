package item

import (
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Words are the texts and files of a post, and the variants that they come from.
type Words struct {
	Texts
	Files  []media.File
	Poster *media.File
	// Captions are the captions of the video of the item, or nil.
	Captions *media.File
	// From has the keys of the variants of members that differ from the item: title, caption, hashtags, media and
	// cover.
	From map[string]string
}

// Words returns what is posted to an account of a platform. The variant of the account goes before the variant of its
// platform. The caption ends with the lines that rules of law require.
func (r *Record) Words(platform, accountID string) Words {
	w := Words{Texts: r.Item.Texts, From: map[string]string{}}
	w.Files, w.Poster = r.PostedFiles()
	if i := slices.IndexFunc(r.Files, func(f media.File) bool { return f.Role == media.Subtitles }); i >= 0 {
		w.Captions = &r.Files[i]
	}
	for _, key := range []string{platform, accountID} {
		v, ok := r.Item.Variants[key]
		if !ok || key == "" {
			continue
		}
		if v.Title != nil {
			w.Title, w.From["title"] = resource.Text(*v.Title), key
		}
		if v.Caption != nil {
			w.Caption, w.From["caption"] = resource.Text(*v.Caption), key
		}
		if v.Hashtags != nil {
			w.Hashtags, w.From["hashtags"] = v.Hashtags, key
		}
		if v.Media != nil {
			w.Files, w.Poster, w.Captions, w.From["media"] = nil, nil, nil, key
			for _, id := range v.Media {
				w.Files = append(w.Files, r.VariantFiles[id])
			}
		}
		if v.Cover != nil {
			cover := r.VariantFiles[*v.Cover]
			w.Poster, w.From["cover"] = &cover, key
		}
	}
	w.Caption = resource.Text(WithNotices(r, string(w.Caption), platform))
	return w
}

// VariantKeys returns the platforms and accounts that have variants, sorted.
func (r *Item) VariantKeys() []string { return slices.Sorted(maps.Keys(r.Variants)) }

// PostedFiles returns the files that are published, in order, and the poster, if there is one.
func (r *Record) PostedFiles() (files []media.File, poster *media.File) {
	for _, role := range []media.Role{media.Final, media.Slide} {
		for i, f := range r.Files {
			if f.Role == role && (f.Type == media.Image || f.Type == media.Video) {
				files = append(files, f)
			}
			if f.Role == media.Poster {
				poster = &r.Files[i]
			}
		}
		if len(files) > 0 || r.Item.Kind != Carousel {
			break
		}
	}
	return files, poster
}

// Shown returns the publication as its own GET shows it, with the factory of its item. It is the item at its
// ReadingsKey.
func (p *Publication) Shown(factoryID string, limits platform.Capabilities, it store.Item) (PublishedPost, error) {
	history, err := History(it)
	return PublishedPost{*p, factoryID, limits.Edits, limits.Deletes, history}, err
}
