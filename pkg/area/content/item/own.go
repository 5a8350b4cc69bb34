package item

import (
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// The sources of the media and texts of an item.
const (
	SourceGenerated = "generated"
	SourceProvided  = "provided"
)

// The ways to fit the caller's pictures and videos to the shape of their kind.
const (
	FitNone = "none"
	FitPad  = "pad"  // the whole picture, before a background
	FitCrop = "crop" // the middle of the picture
)

// The bounds of a video that is fitted.
const (
	LeastFitted = time.Second
	MostFitted  = 3 * time.Minute
)

// ownShape is the name of the pipeline of items whose media the caller provides.
const ownShape = "own"

// Provided reports whether the media and texts of the item are the caller's.
func (r *Record) Provided() bool { return r.Source == SourceProvided }

// Fitted reports whether the caller's pictures or video are composed to fit.
func (r *Record) Fitted() bool { return r.Fit != nil && *r.Fit != FitNone }

// Provide makes the caller's files the media of the item, and plans what is left to do: nothing, unless they are to be
// fitted, or texts are to be adapted.
func (r *Record) Provide(files []media.File) {
	r.Shape, r.Parts, r.Credits = ownShape, nil, 0
	r.Own = files
	r.Given.Title, r.Given.Caption, r.Given.Hashtags = true, true, true
	if len(r.Own) > 0 && r.Fitted() {
		r.Parts = append(r.Parts, part{Part: generate.Part{Kind: provider.KindCompose, Provider: generate.Composed},
			Role: roleFinal})
		return
	}
	r.Files = r.own(media.Final) // which the item also shows while its texts are adapted
}

// own returns the caller's files with a role.
func (r *Record) own(as media.Role) []media.File {
	files := slices.Clone(r.Own)
	for i := range files {
		files[i].Role = as
	}
	return files
}

// Finished reports whether nothing is left to be made of a new item.
func (r *Record) Finished() bool { return len(r.Parts) == 0 }

// Finish ends a new item of which nothing is left to be made. It is generated at once.
func (r *Record) Finish(tx *store.Tx, now time.Time, o tenant.Owner) error {
	at := r.UpdatedAt
	r.State, r.GeneratedAt, r.Progress = Generated, &at, 100
	r.note(Past{At: at, Made: 1})
	return errors.Join(generate.ExpireLater(tx, now, o, r.ID), r.Notify(tx, o, event.ContentGenerated),
		r.autoPublish(tx, now, o))
}

// CheckAgain refuses another attempt at an item of the caller's media of which nothing was to be made.
func (r *Record) CheckAgain() error {
	if len(r.Parts) > 0 {
		return nil
	}
	return errs.New(errs.InvalidState, "The media and texts of the content item are your own, so there is nothing to "+
		"generate. Change its texts by PATCH /v1/content-items/{content_item_id}, or create another item.").
		With(errs.StateContext{State: string(r.State), Allowed: []string{string(Update), string(Delete)}})
}

// ownComposition returns the composition that fits the caller's pictures or video. A video keeps its length and sound.
func (r *Record) ownComposition() generate.Composition {
	whole := *r.Fit == FitPad
	if own := &r.Own[0]; r.Kind != Carousel && own.Type == media.Video {
		v := generate.Video{Format: generate.Portrait, Language: r.Language}
		if r.Format != nil && *r.Format == FormatLong {
			v.Format = generate.Landscape
		}
		v.Scenes = []generate.Scene{{Clip: own, Length: seconds(*own), Whole: whole}}
		return v
	}
	if r.Kind != Carousel {
		use := generate.Post
		if r.Kind == Story {
			use = generate.Story
		}
		return generate.Picture{Use: use, File: &r.Own[0], Language: r.Language, Whole: whole}
	}
	c := generate.Carousel{Language: r.Language}
	for i := range r.Own {
		c.Slides = append(c.Slides, generate.Slide{File: &r.Own[i], Whole: whole})
	}
	return c
}

// MediaIDs returns the ids of the caller's media that the item shows, each once.
func (r *Record) MediaIDs() []string {
	ids := slices.Clone(r.OwnIDs)
	for _, v := range r.Variants {
		ids = append(ids, v.Media...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
