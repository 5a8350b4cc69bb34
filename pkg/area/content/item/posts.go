package item

import (
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/media"
)

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

// VariantKeys returns the platforms and accounts that have variants, sorted.
func (r *Record) VariantKeys() []string { return slices.Sorted(maps.Keys(r.Variants)) }

// Posted returns the files that are published, in order, and the poster, if there is one.
func (r *Record) Posted() (files []media.File, poster *media.File) {
	for _, role := range []media.Role{media.Final, media.Slide} {
		for i, f := range r.Files {
			if f.Role == role && (f.Type == media.Image || f.Type == media.Video) {
				files = append(files, f)
			}
			if f.Role == media.Poster {
				poster = &r.Files[i]
			}
		}
		if len(files) > 0 || r.Kind != Carousel {
			break
		}
	}
	return files, poster
}

// Publication returns the publication of an id, or nil if there is none.
func (r *Record) Publication(id string) *Publication {
	return r.publicationWhere(func(p Publication) bool { return p.ID == id })
}

// PublicationTo returns the publication to a social account, or nil if there is none.
func (r *Record) PublicationTo(accountID string) *Publication {
	return r.publicationWhere(func(p Publication) bool { return p.SocialAccountID == accountID })
}

func (r *Record) publicationWhere(is func(Publication) bool) *Publication {
	if i := slices.IndexFunc(r.Publications, is); i >= 0 {
		return &r.Publications[i]
	}
	return nil
}

// PostOf returns a publication of the item as its own GET shows it.
func (r *Record) PostOf(pub *Publication, limits platform.Capabilities) PublishedPost {
	return PublishedPost{*pub, r.FactoryID, limits.Edits, limits.Deletes,
		history(r.Postings[pub.ID].Readings)}
}

// maxReadings bounds the readings of the metrics of a publication that are kept. The schedule has 92.
const maxReadings = 120

// NoteMetrics adds the metrics of a publication to its readings.
func (o *Outlets) NoteMetrics(pub *Publication) {
	if o.Postings == nil {
		o.Postings = map[string]Posting{}
	}
	out := o.Postings[pub.ID]
	out.Readings = append(out.Readings, reading(*pub.Metrics))
	out.Readings = out.Readings[max(0, len(out.Readings)-maxReadings):]
	o.Postings[pub.ID] = out
}

// MetricsAt returns the metrics of a publication at its first reading at or after an age, or its last metrics if there
// is no such reading.
func (o *Outlets) MetricsAt(pub *Publication, age time.Duration) *Metrics {
	if pub.PublishedAt == nil {
		return nil
	}
	for _, read := range o.Postings[pub.ID].Readings {
		if read.ReadAt.Sub(pub.PublishedAt.Time) >= age {
			m := Metrics(read)
			return &m
		}
	}
	return pub.Metrics
}
