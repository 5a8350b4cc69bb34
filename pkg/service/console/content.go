package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const contentPath = "/settings/content-items"

func addContent(open func(string, func(*request) error)) {
	open("GET "+contentPath+"/{id}", func(r *request) error { return r.showItem(http.StatusOK, "") })
	open("POST "+contentPath+"/{id}/decide", decide)
}

// content is a content item as the API answers it.
type content struct {
	ID        string      `json:"id"`
	Version   int64       `json:"version"`
	FactoryID string      `json:"factory_id"`
	Kind      string      `json:"kind"`
	Prompt    string      `json:"prompt"`
	Title     string      `json:"title"`
	Caption   string      `json:"caption"`
	Hashtags  []string    `json:"hashtags"`
	Script    string      `json:"script"`
	Previews  []preview   `json:"previews"`
	Approval  approval    `json:"approval"`
	Media     []mediaFile `json:"media"`
	PublishAt *time.Time  `json:"publish_at"`
	State     string      `json:"state"`
	Failure   *struct {
		Message string `json:"message"`
	} `json:"failure"`
	Publications []struct {
		ID              string     `json:"id"`
		Platform        string     `json:"platform"`
		SocialAccountID string     `json:"social_account_id"`
		State           string     `json:"state"`
		URL             *string    `json:"url"`
		PublishedAt     *time.Time `json:"published_at"`
		Failure         *trouble   `json:"failure"`
	} `json:"publications"`
}

// approval is whether an item may be published.
type approval struct {
	State string     `json:"state"`
	Note  *string    `json:"note"`
	By    *string    `json:"by"`
	At    *time.Time `json:"at"`
}

// preview is what an item is on a platform or an account.
type preview struct {
	Platform        string   `json:"platform"`
	SocialAccountID *string  `json:"social_account_id"`
	Title           string   `json:"title"`
	Caption         string   `json:"caption"`
	Rest            string   `json:"rest"`
	Hashtags        []string `json:"hashtags"`
	MediaIDs        []string `json:"media_ids"`
}

// mediaFile is a file of an item.
type mediaFile struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Type string `json:"type"`
	URL  string `json:"url"`
	// Thumbnail is the address of a small picture of it, or nil.
	Thumbnail *string `json:"thumbnail_url"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	AltText   string  `json:"alt_text"`
	// Provenance is nil for files that say nothing of their origin.
	Provenance *struct {
		Source string `json:"digital_source_type"`
		Signer string `json:"signer"`
	} `json:"provenance"`
}

// Small returns the address of the thumbnail, or of the file if it has none.
func (f mediaFile) Small() string {
	if f.Thumbnail != nil {
		return *f.Thumbnail
	}
	return f.URL
}

// tones are the tones of the states of items, approvals, publications and automations.
var tones = map[string]string{"approved": "good", "pending": "warn", "changes_requested": "bad", "published": "good",
	"scheduled": "good", "failed": "bad", "active": "good", "planned": "warn"}

// Tone returns the tone of a state.
func (*view) Tone(state string) string { return tones[state] }

// Word translates a state or a kind of the API.
func (v *view) Word(value string) string { return strings.ReplaceAll(v.T(value), "_", " ") }

// Open reports whether the item can be decided about.
func (c content) Open() bool { return c.State == "generated" || c.State == "scheduled" }

// Name returns a text by which people know the item.
func (c content) Name() string {
	for _, text := range []string{c.Title, c.Caption, c.Prompt} {
		if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
			return line
		}
	}
	return c.ID
}

// Final returns the files that are published.
func (c content) Final() (all []mediaFile) {
	for _, f := range c.Media {
		if (f.Role == "final" || f.Role == "") && (f.Type == "image" || f.Type == "video") {
			all = append(all, f)
		}
	}
	return all
}

// Made says how the finished media were made, as far as their files do, in a text to translate.
func (c content) Made() string {
	for _, f := range c.Final() {
		switch {
		case f.Provenance == nil:
		case strings.HasSuffix(f.Provenance.Source, "/trainedAlgorithmicMedia"):
			return "AI models have made it."
		case strings.HasSuffix(f.Provenance.Source, "/compositeWithTrainedAlgorithmicMedia"):
			return "AI models have made parts of it."
		default:
			return "No part was generated."
		}
	}
	return ""
}

// Signer is the name in the certificate of the finished media, or empty.
func (c content) Signer() string {
	for _, f := range c.Final() {
		if f.Provenance != nil {
			return f.Provenance.Signer
		}
	}
	return ""
}

// Picture returns a file whose Small is a picture of the item, or nil. A video is one by its thumbnail.
func (c content) Picture() *mediaFile {
	for _, role := range []string{"final", "", "poster", "cover"} {
		for _, f := range c.Media {
			if f.Role == role && (f.Type == "image" || f.Type == "video" && f.Thumbnail != nil) {
				return &f
			}
		}
	}
	return nil
}

// post is what a card of a preview shows.
type post struct {
	Platform, Handle, Title, Caption, Rest string
	Hashtags                               []string
	Media                                  []mediaFile
}

// posts returns the item as each platform shows it, or as it is if no platform is planned.
func (r *request) posts(c content) (all []post, err error) {
	handles, err := r.handles()
	if err != nil {
		return nil, err
	}
	for _, p := range c.Previews {
		one := post{Platform: p.Platform, Title: p.Title, Caption: p.Caption, Rest: p.Rest, Hashtags: p.Hashtags}
		if p.SocialAccountID != nil {
			one.Handle = handles[*p.SocialAccountID]
		}
		for _, id := range p.MediaIDs {
			f, err := r.file(c, id)
			if err != nil {
				return nil, err
			}
			if f.URL != "" {
				one.Media = append(one.Media, f)
			}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		all = []post{{Title: c.Title, Caption: c.Caption, Hashtags: c.Hashtags, Media: c.Final()}}
	}
	return all, nil
}

// file returns a file of an item. A variant may have files of its own, which the item does not list.
func (r *request) file(c content, id string) (f mediaFile, err error) {
	if i := slices.IndexFunc(c.Media, func(f mediaFile) bool { return f.ID == id }); i >= 0 {
		return c.Media[i], nil
	}
	err = r.api.get(r.Context(), "/v1/media/"+url.PathEscape(id), nil, &f)
	if missing(err) {
		return mediaFile{}, nil
	}
	return f, err
}

// permitMedia lets the page show files of the service, which are on the host of a bucket.
func (r *request) permitMedia(files ...mediaFile) {
	sources := ""
	for _, f := range files {
		u, err := url.Parse(f.URL)
		if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") {
			continue
		}
		if origin := " " + u.Scheme + "://" + u.Host; !strings.Contains(sources+" ", origin+" ") {
			sources += origin
		}
	}
	if sources != "" {
		r.w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "img-src 'self'", "media-src"+sources+"; img-src 'self'"+sources, 1))
	}
}

// listAll reads a list whose pages have at most 100 rows, up to a number of rows.
func listAll[T any](ctx context.Context, a api, path string, query url.Values, most int) (all []T, err error) {
	q := url.Values{"limit": {"100"}}
	for name, values := range query {
		q[name] = values
	}
	for {
		var some []T
		next, err := a.list(ctx, path, q, &some)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); next == "" || len(all) >= most {
			return all, nil
		}
		q.Set("cursor", next)
	}
}

// mostNames bounds the rows of the lists from which people choose.
const mostNames = 500

// named is something with a name: a factory or a profile.
type named struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Email     string  `json:"email"`
	Type      string  `json:"type"`
	ProfileID *string `json:"profile_id"`
}

// names are the factories and profiles of the account.
type names struct{ Factories, Profiles []named }

func (r *request) names() (n names, err error) {
	if n.Factories, err = listAll[named](r.Context(), r.api, "/v1/factories", nil, mostNames); err != nil {
		return n, err
	}
	n.Profiles, err = listAll[named](r.Context(), r.api, "/v1/profiles", nil, mostNames)
	return n, err
}

// Factory returns the name of a factory, or its id.
func (n names) Factory(id string) string { return nameOf(n.Factories, id) }

// Profile returns the name of a profile, or its id.
func (n names) Profile(id string) string { return nameOf(n.Profiles, id) }

// ProfileOf returns the name of the profile of a factory, or an empty text.
func (n names) ProfileOf(factory string) string {
	for _, f := range n.Factories {
		if f.ID == factory && f.ProfileID != nil {
			return n.Profile(*f.ProfileID)
		}
	}
	return ""
}

func nameOf(all []named, id string) string {
	for _, one := range all {
		if one.ID == id {
			return one.Name
		}
	}
	return id
}

// handles returns the names of the social accounts on their platforms, by their ids.
func (r *request) handles() (map[string]string, error) {
	all, err := listAll[socialAccount](r.Context(), r.api, "/v1/social/accounts", nil, mostNames)
	found := map[string]string{}
	for _, a := range all {
		found[a.ID] = a.Handle
	}
	return found, err
}

func (r *request) showItem(status int, message string) error {
	var c content
	if err := r.api.get(r.Context(), r.apiPath("content-items"), nil, &c); err != nil {
		return err
	}
	posts, err := r.posts(c)
	if err != nil {
		return err
	}
	var files []mediaFile
	for _, p := range posts {
		files = append(files, p.Media...)
	}
	r.permitMedia(files...)
	v := r.view("Content item", approvalsPath)
	v.Error = message
	v.Data = map[string]any{"Item": c, "Names": callersOf(r, true), "Posts": posts, "Note": r.PostFormValue("note")}
	return r.show(status, "content-item", v)
}

// decide approves an item, or requests changes. It is refused if the item has changed since the person saw it.
func decide(r *request) error {
	note := strings.TrimSpace(r.PostFormValue("note"))
	action, body := "/approve", map[string]any{}
	if r.PostFormValue("decision") == "changes_requested" {
		if action = "/request-changes"; note == "" {
			return r.showItem(http.StatusUnprocessableEntity,
				mark(r, "note", "Write in the note what is to be changed."))
		}
	}
	if note != "" {
		body["note"] = note
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err := a.change(r.Context(), http.MethodPost, r.apiPath("approvals")+action, r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showItem(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(approvalsPath + "?done=" + strings.TrimPrefix(action, "/"))
}
