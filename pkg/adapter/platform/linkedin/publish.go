package linkedin

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	processing = 15 * time.Second // between two looks at a file
	// unread is how long an image usually takes, whose state members may not read.
	unread = 5 * time.Second
	most   = 100 // longest id of a post
)

// state is the adapter's part of a handle.
type state struct {
	Files []string `json:"files,omitempty"` // URNs
	URN   string   `json:"urn,omitempty"`   // of the next file, which LinkedIn has but may not have processed
	Began int64    `json:"began,omitempty"` // when the publication began, in Unix seconds
}

// files returns the files of a post, which are one document if its options say so. The document is made when it is
// uploaded.
func files(post platform.Post) []platform.Media {
	if optionsOf(post.Options).Document && post.Kind == platform.KindCarousel {
		return []platform.Media{{MIME: pdfMIME}}
	}
	return post.Media
}

// edge returns the part of the interface that takes a file.
func edge(m platform.Media) string {
	switch {
	case m.MIME == pdfMIME:
		return "documents"
	case m.Video():
		return "videos"
	default:
		return "images"
	}
}

// Prepare implements platform.Steps. It uploads a file, or looks at one.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s, all := &w.Own, files(w.Post)
	if s.Began == 0 {
		s.Began = p.Client.Now().Unix()
	}
	if len(s.Files) == len(all) {
		return true, 0, nil
	}
	m := all[len(s.Files)]
	if s.URN == "" {
		if m.MIME == pdfMIME {
			if m, err = Document(ctx, w.Post.Media); err != nil {
				return false, 0, err
			}
		}
		s.URN, err = p.upload(ctx, w.Account, m)
		return false, 0, err
	}
	wait = unread
	if m.Video() || strings.HasPrefix(w.Account.ID, organization) {
		available, err := p.available(ctx, w.Account, m, s.URN)
		if err != nil || !available {
			return false, processing, err
		}
		wait = 0
	}
	s.Files = append(s.Files, s.URN)
	s.URN = ""
	return len(s.Files) == len(all), wait, nil
}

// upload uploads a file, and returns its URN. LinkedIn states the parts of a video.
func (p *Platform) upload(ctx context.Context, a platform.Account, m platform.Media) (urn string, err error) {
	var answer struct {
		Value struct {
			Image    string `json:"image"`
			Document string `json:"document"`
			Video    string `json:"video"`
			URL      string `json:"uploadUrl"`
			Token    string `json:"uploadToken"`
			Parts    []struct {
				URL   string `json:"uploadUrl"`
				First int64  `json:"firstByte"`
				Last  int64  `json:"lastByte"`
			} `json:"uploadInstructions"`
		} `json:"value"`
	}
	owner := map[string]any{"owner": a.ID}
	if m.Video() {
		owner["fileSizeBytes"], owner["uploadCaptions"], owner["uploadThumbnail"] = m.Bytes, false, false
	}
	call := p.Call(http.MethodPost, "/rest/"+edge(m)+"?action=initializeUpload", a.Token.Access)
	call.JSON = map[string]any{"initializeUploadRequest": owner}
	if err := p.Send(ctx, call, &answer); err != nil {
		return "", err
	}
	v := answer.Value
	urn = v.Image + v.Document + v.Video
	if !strings.HasPrefix(urn, "urn:li:") || m.Video() && len(v.Parts) == 0 {
		return "", p.Client.Garbled(call, errIncomplete)
	}
	if !m.Video() {
		_, err := p.put(ctx, a, v.URL, wire.Range(ctx, m, 0, m.Bytes))
		return urn, err
	}
	var tags []string
	for _, part := range v.Parts {
		if part.First < 0 || part.Last < part.First || part.Last >= m.Bytes {
			return "", p.Client.Garbled(call, errIncomplete)
		}
		tag, err := p.put(ctx, a, part.URL, wire.Range(ctx, m, part.First, part.Last-part.First+1))
		if err != nil {
			return "", err
		}
		if tag == "" {
			return "", p.Client.Garbled(call, errIncomplete)
		}
		tags = append(tags, tag)
	}
	call = p.Call(http.MethodPost, "/rest/videos?action=finalizeUpload", a.Token.Access)
	call.JSON = map[string]any{"finalizeUploadRequest": map[string]any{"video": urn, "uploadToken": v.Token,
		"uploadedPartIds": tags}}
	return urn, p.Send(ctx, call, nil)
}

// put uploads a part of a file, and returns its tag.
func (p *Platform) put(ctx context.Context, a platform.Account, address string, body *wire.Body) (string, error) {
	call := wire.Call{Name: "upload", Method: http.MethodPut, URL: address, Bearer: a.Token.Access, Body: body,
		Timeout: wire.UploadTimeout}
	if !p.Client.Trusts(address, "linkedin.com") {
		return "", p.Client.Garbled(call, errIncomplete)
	}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return "", err
	}
	return answer.Header.Get("ETag"), p.Client.Check(call, answer, p.refused(publishes, false))
}

// available reports whether a file can be posted.
func (p *Platform) available(ctx context.Context, a platform.Account, m platform.Media, urn string) (bool, error) {
	var answer struct {
		Status string `json:"status"`
		Reason string `json:"processingFailureReason"`
	}
	err := p.read(ctx, a.Token.Access, "/rest/"+edge(m)+"/"+url.PathEscape(urn), nil, &answer)
	switch {
	case platform.Denied(err):
		return true, nil // the file may be ready; the post tells
	case platform.CodeOf(err) == platform.CodePostNotFound:
		return false, platform.Again(err)
	case err == nil && answer.Status == "PROCESSING_FAILED":
		return false, platform.Reject(platform.CodeMediaRefused, "LinkedIn could not process the file.").
			Saying(answer.Reason)
	}
	return answer.Status == "AVAILABLE", err
}

// escape writes a text as LinkedIn's format for texts with mentions.
var escape = strings.NewReplacer(`\`, `\\`, `<`, `\<`, `>`, `\>`, `#`, `\#`, `~`, `\~`, `_`, `\_`, `|`, `\|`, `[`, `\[`,
	`]`, `\]`, `*`, `\*`, `(`, `\(`, `)`, `\)`, `{`, `\{`, `}`, `\}`, `@`, `\@`)

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	if w.IsComment() {
		call := p.Call(http.MethodPost, "/rest/socialActions/"+url.PathEscape(w.First.ID)+"/comments",
			w.Account.Token.Access)
		call.Posts = true
		call.JSON = map[string]any{"actor": w.Account.ID, "object": w.First.ID,
			"message": map[string]string{"text": w.Text()}}
		return ref, p.Send(ctx, call, nil)
	}
	call := p.Call(http.MethodPost, "/rest/posts", w.Account.Token.Access)
	call.Posts, call.JSON = true, body(w)
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return ref, err
	}
	if err := p.Client.Check(call, answer, p.refused(publishes, true)); err != nil {
		if _, m := problemOf(answer); m == duplicate {
			return p.twinOf(w, answer, err)
		}
		return ref, err
	}
	id := answer.Header.Get("X-Restli-Id")
	if !strings.HasPrefix(id, "urn:li:") || len(id) > most {
		return ref, p.Client.Garbled(call, errIncomplete)
	}
	return refOf(id), nil
}

// twinOf returns the post that a refused duplicate names, if it is younger than the publication: an earlier attempt
// has made it. Otherwise the refusal stands.
func (p *Platform) twinOf(w *platform.Work[state], answer wire.Answer, err error) (platform.Ref, error) {
	urn := urns().FindString(string(answer.Body))
	if urn == "" || w.Own.Began == 0 || bornAt(urn).Before(time.Unix(w.Own.Began, 0).Add(-time.Minute)) {
		return platform.Ref{}, err
	}
	return refOf(urn), nil
}

func refOf(id string) platform.Ref { return platform.Ref{ID: id, URL: site + "/feed/update/" + id} }

func body(w *platform.Work[state]) map[string]any {
	a, post, visibility := w.Account, w.Post, "PUBLIC"
	own := optionsOf(post.Options)
	if post.Options.Privacy == platform.Friends && strings.HasPrefix(a.ID, member) {
		visibility = "CONNECTIONS"
	}
	body := map[string]any{
		"author": a.ID, "commentary": commentary(w.Text(), own.Mentions), "visibility": visibility,
		"distribution": map[string]any{"feedDistribution": "MAIN_FEED", "targetEntities": []string{},
			"thirdPartyDistributionChannels": []string{}},
		"lifecycleState": "PUBLISHED", "isReshareDisabledByAuthor": false,
	}
	all := files(post)
	one := func(i int) map[string]any {
		m := map[string]any{"id": w.Own.Files[i]}
		switch {
		case all[i].Alt != "":
			m["altText"] = all[i].Alt
		case edge(all[i]) != "images" && post.Title != "":
			m["title"] = post.Title
		case edge(all[i]) == "documents":
			m["title"] = "Document" // LinkedIn requires one
		}
		return m
	}
	switch len(all) {
	case 0:
		own.content(body)
	case 1:
		body["content"] = map[string]any{"media": one(0)}
	default:
		var images []map[string]any
		for i := range all {
			images = append(images, one(i))
		}
		body["content"] = map[string]any{"multiImage": map[string]any{"images": images}}
	}
	return body
}

// Find implements platform.Steps. It looks at the newest posts of an organisation.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	if !strings.HasPrefix(w.Account.ID, organization) || w.IsComment() {
		return ref, "", platform.Lost(nil)
	}
	var list struct {
		Elements []struct {
			ID         string `json:"id"`
			Commentary string `json:"commentary"`
			At         int64  `json:"createdAt"` // Unix milliseconds
		} `json:"elements"`
	}
	err = p.read(ctx, w.Account.Token.Access, "/rest/posts", url.Values{"q": {"author"}, "author": {w.Account.ID},
		"count": {"20"}, "sortBy": {"CREATED"}}, &list)
	if platform.KindOf(err) == platform.BadContent {
		return ref, "", platform.Lost(err) // the post may exist although LinkedIn does not show it
	}
	if err != nil {
		return ref, "", err
	}
	for _, e := range list.Elements {
		if e.Commentary == commentary(w.Text(), optionsOf(w.Post.Options).Mentions) && len(e.ID) <= most &&
			!time.UnixMilli(e.At).Before(w.SentAt.Add(-time.Minute)) {
			return refOf(e.ID), platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	call := p.Call(http.MethodPost, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "PARTIAL_UPDATE")
	call.JSON = map[string]any{"patch": map[string]any{"$set": map[string]string{"commentary": commentary(text,
		optionsOf(post.Options).Mentions)}}}
	return p.Client.JSON(ctx, call, p.refused(publishes, true), nil)
}

// Delete implements platform.Deleter. LinkedIn accepts the deletion of a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	call := p.Call(http.MethodDelete, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "DELETE")
	return platform.Except(platform.CodePostNotFound, p.Client.JSON(ctx, call, p.refused(reads, false), nil))
}
