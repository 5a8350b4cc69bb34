package publication

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
)

// topics maps the types of factories to the topics of their posts.
var topics = map[string]platform.Topic{"musician": platform.TopicMusic, "news": platform.TopicNews}

// post returns the post of a publication, as far as the item determines it.
func post(r *item.Record, pub *item.Publication, limits platform.Capabilities) (p platform.Post, err error) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	files, poster := words.Files, words.Poster
	p = platform.Post{
		Key: pub.ID, Kind: platform.Kind(r.Kind), Topic: topics[r.Brief.Type], Title: string(words.Title),
		Caption: string(words.Caption), Hashtags: words.Hashtags, Language: r.Language,
	}
	var alt []string
	if pub.Options != nil {
		if p.Options, alt, err = limits.Wishes(pub.Options.RawMessage); err != nil {
			return p, err
		}
	}
	p.Options.Generated = p.Options.Generated || r.AIGenerated
	images := 0
	for _, f := range files {
		m := fileOf(f)
		if limits.Supports(p.Kind, platform.OptionAlt) {
			m.Alt = provider.Clip(f.Alt, limits.Alt.Max)
		}
		if !m.Video() && images < len(alt) {
			m.Alt = alt[images]
			images++
		}
		p.Media = append(p.Media, m)
	}
	if poster != nil && len(files) > 0 && files[0].Type == media.Video && p.Options.CoverAt == 0 {
		cover := fileOf(*poster)
		p.Cover = &cover
	}
	if words.Captions != nil && limits.Supports(p.Kind, platform.OptionCaptions) {
		captions := fileOf(*words.Captions)
		p.Captions = &captions
	}
	p.Rehearsal.Hook = cmp.Or(r.Experiment.Arm(experiment.FactorHook), string(r.HookKind))
	if s := r.Rehearsed; s != nil {
		p.Rehearsal.Delay = time.Duration(s.DelaySeconds) * time.Second
		if p.Rehearsal.Code = s.FailureCode; s.Outcome == item.PublicationFailed && s.FailureCode == "" {
			p.Rehearsal.Code = platform.CodeContentRefused
		}
	}
	return p, nil
}

func fileOf(f media.File) platform.Media {
	m := platform.Media{MIME: f.MIMEType, Bytes: f.Bytes, Width: f.Width, Height: f.Height,
		Duration: time.Duration(f.DurationSeconds * float64(time.Second))}
	if f.Movie != nil {
		m.Movie = *f.Movie
	}
	return m
}

// Files reads the files that are posted.
type Files interface {
	// Range starts reading a part of the object of a key.
	Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// URL signs the address of the object of a key.
	URL(ctx context.Context, key, mimeType string) (string, error)
}

// Sums tells what the objects are that are posted. The files of a service have it.
type Sums interface {
	// Sum returns the SHA-256 of the object of a key, in hexadecimal. It fails with not_found if there is none.
	Sum(ctx context.Context, key string) (string, error)
}

// sent returns the files of a post as they are stored, and a *platform.Error if one of them is not the one that its
// item says: what was approved and documented is then not what would be sent.
func sent(ctx context.Context, r *item.Record, pub *item.Publication, files Files) (all []DossierFile, err error) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	checked := slices.Clone(words.Files)
	for _, beside := range []*media.File{words.Poster, words.Captions} {
		if beside != nil {
			checked = append(checked, *beside)
		}
	}
	sums, ok := files.(Sums)
	for i, f := range checked {
		sum := f.SHA256
		if ok {
			if sum, err = sums.Sum(ctx, f.Key); errs.CodeOf(err) == errs.NotFound {
				return nil, platform.Reject(platform.CodeMediaRefused, "The file "+f.ID+" is gone. Regenerate the "+
					"item, or "+
					"replace its media, and publish it again.")
			}
			if err != nil {
				return nil, err
			}
		}
		if sum != f.SHA256 {
			return nil, platform.Reject(platform.CodeMediaRefused, "The file "+f.ID+" is stored with another "+
				"content than "+
				"its sha256 says, so that it was not sent. Regenerate the item, or replace its media.")
		}
		if i < len(words.Files) {
			all = append(all, DossierFile{f.ID, f.MIMEType, f.Bytes, sum})
		}
	}
	return all, nil
}

// open makes the files of a post readable.
func open(ctx context.Context, p *platform.Post, r *item.Record, pub *item.Publication, files Files) error {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	posted, poster := words.Files, words.Poster
	add := func(m *platform.Media, f media.File) (err error) {
		m.URL, err = files.URL(ctx, f.Key, f.MIMEType)
		m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
			return files.Range(ctx, f.Key, offset, length)
		}
		return err
	}
	for i, f := range posted {
		if err := add(&p.Media[i], f); err != nil {
			return err
		}
	}
	if p.Captions != nil {
		if err := add(p.Captions, *words.Captions); err != nil {
			return err
		}
	}
	if p.Cover != nil {
		return add(p.Cover, *poster)
	}
	return nil
}

// Fit returns the reasons for which the platform of a publication does not take the item, and apart from them the
// choices that it asks of the person who posts, and that nobody has made. Members of the item are named by their
// pointers, as in a patch of the item, and options as in the body of publish.
func Fit(r *item.Record, pub *item.Publication, limits platform.Capabilities) (found, choices []errs.Detail) {
	p, err := post(r, pub, limits)
	if err != nil {
		return []errs.Detail{{Param: "/options/" + pub.Platform, Message: "cannot be read: send the options again"}}, nil
	}
	from := r.Words(pub.Platform, pub.SocialAccountID).From
	details := func(problems []platform.Problem) (all []errs.Detail) {
		for _, problem := range problems {
			at := pointer(problem)
			member, _, _ := strings.Cut(at[1:], "/")
			if variant := from[member]; variant != "" {
				at = "/variants/" + variant + at
			}
			all = append(all, errs.Detail{Param: at, Message: problem.Message})
		}
		return all
	}
	problems := append(platform.Fit(pub.Platform, p, limits), uncovered(p, from["cover"], limits)...)
	if limits.Asks != nil {
		choices = details(limits.Asks(p))
	}
	if limits.Refuses != nil {
		problems = append(problems, limits.Refuses(p)...)
	}
	found = details(problems)
	if r.Branded && limits.Plain && from["media"] == "" {
		found = append(found, errs.Detail{Param: "/media", Message: limits.Label +
			" permits no logo and no name of a brand in media, and those of the item show them. Attach an account of " +
			limits.Label + " to the factory, and set no place for it in logo_places, then regenerate the item: its " +
			"media are made without them."})
	}
	return found, choices
}

// Halved returns warnings about the hashtags that the platform of a publication shows in part, or as plain text.
func Halved(r *item.Record, pub *item.Publication, limits platform.Capabilities) (all []item.PublicationWarning) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	for _, p := range platform.Halved(pub.Platform, platform.Post{Hashtags: words.Hashtags}, limits) {
		all = append(all, item.PublicationWarning{Code: platform.HashtagNotShown, Message: p.Message})
	}
	return all
}

// Recut returns warnings about the videos whose edit list the platform of a publication does not follow.
func Recut(r *item.Record, pub *item.Publication, limits platform.Capabilities) (all []item.PublicationWarning) {
	p, err := post(r, pub, limits)
	if err != nil {
		return nil // which Fit returns
	}
	for _, found := range platform.Recut(pub.Platform, p, limits) {
		all = append(all, item.PublicationWarning{Code: platform.EditListIgnored, Message: found.Message})
	}
	return all
}

// uncovered returns why a post cannot show the cover of the variant with the key.
func uncovered(p platform.Post, key string, limits platform.Capabilities) []platform.Problem {
	message := ""
	switch {
	case key == "":
	case !limits.Supports(p.Kind, platform.OptionCover):
		message = limits.Label + " takes no cover of its own for the kind " + string(p.Kind) + "."
	case p.Options.CoverAt > 0:
		message = "The option cover_at_seconds names another cover: send one of the two."
	case len(p.Media) > 0 && !p.Media[0].Video():
		message = "A cover is that of a video."
	}
	if message == "" {
		return nil
	}
	return []platform.Problem{{Param: "cover", Message: message}}
}

// pointer returns the pointer of the member that a problem names.
func pointer(p platform.Problem) string {
	name := strings.NewReplacer("[", "/", "]", "", ".", "/").Replace(p.Param)
	switch {
	case name == "options/cover_at":
		name += "_seconds"
	case strings.HasSuffix(name, "/alt_text"):
		name = "options/alt_text"
	}
	if rest, ok := strings.CutPrefix(name, "options/"); ok {
		return "/options/" + p.Platform + "/" + rest
	}
	return "/" + name
}
