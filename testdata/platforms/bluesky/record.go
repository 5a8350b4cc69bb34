package bluesky

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Record is a post.
type Record struct {
	Type      string           `json:"$type"`
	Text      string           `json:"text"`
	CreatedAt time.Time        `json:"createdAt"`
	Langs     []string         `json:"langs"`
	Facets    []Facet          `json:"facets"`
	Embed     *embed           `json:"embed"`
	Reply     *map[string]link `json:"reply"`
}

// Facet is a link, a hashtag or a mention in a text.
type Facet struct {
	Index struct {
		Start int `json:"byteStart"`
		End   int `json:"byteEnd"`
	} `json:"index"`
	Features []map[string]string `json:"features"`
}

type link struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

type embed struct {
	Type   string `json:"$type"`
	Images []item `json:"images"`
	Items  []item `json:"items"`
	Video  *given `json:"video"`
	Alt    string `json:"alt"`
	Ratio  *ratio `json:"aspectRatio"`
}

type item struct {
	Type  string `json:"$type"`
	Image given  `json:"image"`
	Alt   string `json:"alt"`
	Ratio *ratio `json:"aspectRatio"`
}

func (f *Fake) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Repo, Collection, Rkey string
		Record                 Record
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || body.Repo != DID || body.Collection != "app.bsky.feed.post" ||
		!tid.MatchString(body.Rkey) {
		invalid(w)
		return
	}
	f.mu.Lock()
	content, ok := f.check(body.Record)
	problem := bounds(body.Record)
	if _, taken := f.records[body.Rkey]; !ok || taken || problem != "" {
		f.mu.Unlock()
		if problem != "" {
			wrong(w, problem)
			return
		}
		invalid(w)
		return
	}
	f.records[body.Rkey] = body.Record
	f.mu.Unlock()
	ref := refOf(body.Rkey)
	if reply := body.Record.Reply; reply != nil {
		if c, ok := f.FindComment((*reply)["parent"].URI); ok {
			f.AddComment(control.Comment{ID: ref.URI, Post: c.Post, Parent: c.ID, Text: body.Record.Text, Own: true})
			control.JSON(w, http.StatusOK, ref)
			return
		}
	}
	f.Publish(control.Post{ID: ref.URI, Account: DID, Content: content})
	control.JSON(w, http.StatusOK, ref)
}

func refOf(key string) link {
	return link{"at://" + DID + "/app.bsky.feed.post/" + key, "bafyrei" + key}
}

// check returns the content of a record, and whether the platform takes it. The caller holds mu.
func (f *Fake) check(r Record) (string, bool) {
	content := r.Text
	if r.Type != "app.bsky.feed.post" || r.CreatedAt.IsZero() {
		return "", false
	}
	for _, facet := range r.Facets {
		start, end := facet.Index.Start, facet.Index.End
		if start < 0 || end <= start || end > len(r.Text) || !utf8.ValidString(r.Text[start:end]) ||
			len(facet.Features) == 0 {
			return "", false
		}
		content += " [" + r.Text[start:end] + "]"
	}
	if r.Reply != nil {
		for _, name := range []string{"root", "parent"} {
			to := (*r.Reply)[name]
			key := to.URI[strings.LastIndexByte(to.URI, '/')+1:]
			if known, ok := f.linkOf(to.URI); ok && known == to {
				continue // a reply to a reader
			}
			if _, ok := f.records[key]; !ok || to != refOf(key) {
				return "", false
			}
		}
		content = "reply " + content
	}
	e := r.Embed
	if e == nil {
		return content, r.Text != ""
	}
	var files []given
	switch e.Type {
	case "app.bsky.embed.video":
		if e.Video == nil || e.Ratio == nil {
			return "", false
		}
		files = []given{*e.Video}
	case "app.bsky.embed.images", "app.bsky.embed.gallery":
		items, most := e.Images, 4
		if e.Type == "app.bsky.embed.gallery" {
			items, most = e.Items, 10
		}
		if len(items) == 0 || len(items) > most {
			return "", false
		}
		for _, i := range items {
			if i.Ratio == nil || most == 10 && i.Type != "app.bsky.embed.gallery#image" {
				return "", false
			}
			files = append(files, i.Image)
			content += " (" + i.Alt + ")"
		}
	}
	for _, g := range files {
		b, ok := f.blobs[g.Ref["$link"]]
		if !ok || g.Type != "blob" || g.MIME != b.mime || g.Size != b.size {
			return "", false
		}
		content += " " + b.sum
	}
	return content, len(files) > 0
}

// bound is a bound of a text in a lexicon: maxLength counts bytes, maxGraphemes characters.
type bound struct{ bytes, graphemes int }

// refuses returns what is wrong with a text, or "".
func (b bound) refuses(at, text string) string {
	switch {
	case len(text) > b.bytes:
		return fmt.Sprintf("string too big (maximum %d, got %d) at $.%s", b.bytes, len(text), at)
	case uniseg.GraphemeClusterCount(text) > b.graphemes:
		return fmt.Sprintf("string too big (maximum %d graphemes, got %d) at $.%s", b.graphemes,
			uniseg.GraphemeClusterCount(text), at)
	}
	return ""
}

// The bounds of app.bsky.feed.post, app.bsky.richtext.facet and the embeds.
var (
	textBound = bound{3000, 300}
	tagBound  = bound{640, 64}
	altBound  = bound{10_000, 1000} // of the video; that of an image has none in the lexicon
)

// bounds returns which bound of the lexicons a record exceeds, or "".
func bounds(r Record) string {
	if problem := textBound.refuses("text", r.Text); problem != "" {
		return problem
	}
	if len(r.Langs) > 3 {
		return "array too big (maximum 3) at $.langs"
	}
	for _, facet := range r.Facets {
		for _, feature := range facet.Features {
			problem := ""
			switch feature["$type"] {
			case "app.bsky.richtext.facet#tag":
				if problem = tagBound.refuses("facets.features.tag", feature["tag"]); feature["tag"] == "" {
					problem = "missing required field at $.facets.features.tag"
				}
			case "app.bsky.richtext.facet#link":
				if u, err := url.Parse(feature["uri"]); err != nil || u.Scheme == "" || len(feature["uri"]) > 8192 {
					problem = "invalid uri at $.facets.features.uri"
				}
			case "app.bsky.richtext.facet#mention":
				if !strings.HasPrefix(feature["did"], "did:") {
					problem = "invalid did at $.facets.features.did"
				}
			default:
				problem = "unknown union type at $.facets.features"
			}
			if problem != "" {
				return problem
			}
		}
	}
	if r.Embed != nil && r.Embed.Type == "app.bsky.embed.video" {
		return altBound.refuses("embed.alt", r.Embed.Alt)
	}
	return ""
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f.mu.Lock()
	record, ok := f.records[q.Get("rkey")]
	f.mu.Unlock()
	if !ok || q.Get("repo") != DID || q.Get("collection") != "app.bsky.feed.post" {
		refuse(w, http.StatusBadRequest, "RecordNotFound")
		return
	}
	ref := refOf(q.Get("rkey"))
	control.JSON(w, http.StatusOK, map[string]any{"uri": ref.URI, "cid": ref.CID, "value": record})
}

// Records returns the records, by their keys.
func (f *Fake) Records() map[string]Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]Record{}
	for key, r := range f.records {
		all[key] = r
	}
	return all
}

// remove deletes a record. One that does not exist is no error.
func (f *Fake) remove(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["repo"] != DID ||
		body["collection"] != "app.bsky.feed.post" {
		invalid(w)
		return
	}
	f.mu.Lock()
	delete(f.records, body["rkey"])
	f.mu.Unlock()
	f.Remove(refOf(body["rkey"]).URI)
	control.JSON(w, http.StatusOK, map[string]string{})
}

func (f *Fake) posts(w http.ResponseWriter, r *http.Request) {
	found := []any{}
	for _, uri := range r.URL.Query()["uris"] {
		ref, ok := f.linkOf(uri)
		if !ok {
			continue
		}
		found = append(found, map[string]any{"uri": uri, "cid": ref.CID, "likeCount": 7, "repostCount": 2, "quoteCount": 1,
			"replyCount": 3, "bookmarkCount": 4})
	}
	control.JSON(w, http.StatusOK, map[string]any{"posts": found})
}
