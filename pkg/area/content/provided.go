package content

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
)

// ownMedia has the numbers and types of the media that callers may provide for each kind.
var ownMedia = map[item.Kind]struct {
	least, most int
	types       []media.Type
	takes       string
}{
	item.Post:     {0, 1, []media.Type{media.Image}, "up to one image"},
	item.Carousel: {2, 10, []media.Type{media.Image, media.Video}, "2 to 10 images or videos"},
	item.Video:    {1, 1, []media.Type{media.Video}, "one video"},
	item.Story:    {1, 1, []media.Type{media.Image, media.Video}, "one image or video"},
}

// ownRules refuses members that do not fit the source of the media.
func (b *createBody) ownRules() error {
	var found []error
	refuse := func(param string, sent bool, format string, args ...any) {
		if sent {
			found = append(found, errs.Invalid(param, format, args...))
		}
	}
	if b.Source != item.SourceProvided {
		refuse("/prompt", b.Prompt == "" && b.From == "", "is required, unless source is provided or "+
			"from_content_item_id is sent")
		const provided = "is for your own media: send source with the value provided as well"
		refuse("/media", b.Media != nil, provided)
		refuse("/fit", b.Fit != "" && b.Fit != item.FitNone, provided)
		refuse("/ai_generated", b.AIGenerated, provided)
		return errs.All(found...)
	}
	const leaveOut = "is for generated content. Leave it out with source provided"
	for _, m := range []struct {
		param string
		sent  bool
	}{
		{"/from_content_item_id", b.From != ""}, {"/prompt", b.Prompt != ""}, {"/model", b.Model != ""},
		{"/duration_seconds", b.DurationSeconds != nil},
		{"/visuals", b.Visuals != ""}, {"/music", b.Music != ""}, {"/cover", b.Cover != ""},
		{"/product_id", b.ProductID != ""}, {"/format", b.Format != ""},
	} {
		refuse(m.param, m.sent, leaveOut)
	}
	for text := range b.sent() {
		refuse("/"+text.name, text.made, leaveOut)
	}
	refuse("/sandbox", b.Sandbox != nil, "is for generated content: your own media are ready at once")
	kind, known := ownMedia[b.Kind]
	switch n := len(b.Media); {
	case !known:
		refuse("/kind", true, "must be post, video, carousel or story with source provided")
	case n < kind.least || n > kind.most:
		refuse("/media", true, "must be %s for the kind %s; there are %d", kind.takes, b.Kind, n)
	case n == 0:
		refuse("/caption", said(b.Caption) == "", "is required, as the post has no media")
		refuse("/fit", b.Fit != "" && b.Fit != item.FitNone, "needs media")
	}
	return errs.All(found...)
}

// ownMembers returns the members of a body that name the caller's media to publish.
func (b *createBody) ownMembers() (members []incoming.Member) {
	if kind, known := ownMedia[b.Kind]; known && b.Source == item.SourceProvided {
		for i, id := range b.Media {
			members = append(members, incoming.Member{Param: "/media/" + strconv.Itoa(i), Value: id,
				Type: kind.types[0], Others: kind.types[1:]})
		}
	}
	return members
}

// provide makes the media of a body those of its item.
func (a *references) provide(b *createBody, r *item.Record) error {
	r.Item.Source, r.Item.AIGenerated, r.OwnIDs = item.SourceProvided, b.AIGenerated, b.Media
	fit := item.FitNone
	if b.Fit != "" {
		fit = b.Fit
	}
	r.Item.Fit = &fit
	var files []media.File
	var found []error
	for _, m := range b.ownMembers() {
		f, err := a.media.File(m)
		if err == nil && r.Item.Fitted() && f.Type != media.Image {
			err = checkFitted(r.Item.Kind, m.Value, f)
		}
		files, found = append(files, f), append(found, err)
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	if r.Item.Kind == item.Video {
		format := item.FormatShort
		if files[0].Width > files[0].Height {
			format = item.FormatLong
		}
		r.Item.Format = &format
	}
	item.PlannerOf(r).Provide(files)
	return nil
}

// checkFitted refuses a video that cannot be fitted.
func checkFitted(kind item.Kind, mediaID string, f media.File) error {
	length := time.Duration(f.DurationSeconds * float64(time.Second))
	switch {
	case kind == item.Carousel:
		return errs.Invalid("/fit", "is for images in a carousel, and %s is a video. Leave it out", mediaID)
	case length < item.LeastFitted || length > item.MostFitted:
		return errs.Invalid("/fit", "is for videos of %.0f to %.0f seconds, and %s plays %.1f. Leave it out",
			item.LeastFitted.Seconds(), item.MostFitted.Seconds(), mediaID, f.DurationSeconds)
	}
	return nil
}

// takesOwn refuses an item of the caller's media that no account takes to which it could be published. An item whose
// accounts are named is checked as if it were scheduled.
func (s *Service) takesOwn(ctx context.Context, p *auth.Principal, accounts []string, refs references,
	r *item.Record) error {
	w := &publishRequest{s: s, read: refs.accounts}
	if len(accounts) == 0 {
		return nil
	}
	if err := w.readAccounts(ctx, accounts); err != nil {
		return err
	}
	g := publication.Gate{Record: r, By: p}
	targets, err := g.Targets(refs.owner, accounts, false, w.read, s.limits(p.Mode), nil)
	if err != nil {
		return err
	}
	var why []publication.Refusal
	for _, t := range targets {
		found := publication.Of(g.Ask(t), publication.ReasonKind, publication.ReasonPost)
		found = slices.DeleteFunc(found, func(r publication.Refusal) bool { return !ofMedia(r.Err.Param) })
		if t.Account.Platform != "" && len(found) == 0 {
			return nil
		}
		why = append(why, found...)
	}
	return publication.Refused(why)
}

// ofMedia reports whether a pointer names the kind or the media of an item.
func ofMedia(param string) bool {
	return param == "/kind" || param == "/media" || len(param) > 7 && param[:7] == "/media/"
}
