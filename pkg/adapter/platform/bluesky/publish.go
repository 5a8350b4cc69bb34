package bluesky

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	collection = "app.bsky.feed.post"
	// processing is the time between two looks at a video.
	processing = 10 * time.Second
	// uploadAgain is the time before the second upload of a video, and half of the time before the third.
	uploadAgain = time.Minute
	// maxMentions bounds the names that a post looks up.
	maxMentions = 10
	// maxUploads bounds how often the video or the images of a post are uploaded.
	maxUploads = 3
)

var errIncomplete = errors.New("a member is missing")

// state is the adapter's part of a handle.
type state struct {
	At       int64             `json:"at"` // Unix microseconds, from which keys and times are derived
	Files    []blob            `json:"files,omitempty"`
	Job      string            `json:"job,omitempty"`     // that processes the video
	Uploads  int               `json:"uploads,omitempty"` // of the files, all together
	Names    map[string]string `json:"names,omitempty"`   // the accounts that the texts mention
	Mentions bool              `json:"mentions,omitempty"`
}

type blob struct {
	Link string `json:"link"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
}

// wire returns the blob as a record has it.
func (b blob) wire() map[string]any {
	return map[string]any{"$type": "blob", "ref": map[string]string{"$link": b.Link}, "mimeType": b.MIME,
		"size": b.Size}
}

// blobAnswer is a blob as the platform answers it.
type blobAnswer struct {
	Ref struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIME string `json:"mimeType"`
	Size int64  `json:"size"`
}

func (g blobAnswer) blob() blob { return blob{g.Ref.Link, g.MIME, g.Size} }

// Begin implements platform.Steps. It chooses the keys of the records.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[state]) error {
	w.Own.At = p.Client.Now().UnixMicro()
	if len(w.Post.Media) == 0 || !w.Post.Media[0].Video() {
		return nil
	}
	var limits struct {
		Can  *bool  `json:"canUpload"`
		Left *int64 `json:"remainingDailyVideos"`
		fault
	}
	token, err := p.service(ctx, w.Account, "did:web:video.bsky.app", "app.bsky.video.getUploadLimits")
	if err != nil {
		return err
	}
	call := wire.Call{Name: "getUploadLimits", Method: http.MethodGet, Bearer: token,
		URL: p.Client.Base(videos) + "/xrpc/app.bsky.video.getUploadLimits"}
	if err := p.Client.JSON(ctx, call, p.classifyVideo, &limits); err != nil || limits.Can != nil && *limits.Can {
		return err
	}
	if limits.Can == nil {
		return p.Client.GarbledError(call, errIncomplete)
	}
	if limits.Left != nil && *limits.Left <= 0 {
		return platform.Full(time.Hour).Saying(limits.Message)
	}
	e := videoMeans(limits.Error + " " + limits.Message)
	if e == nil {
		e = videoMeans("unconfirmed_email") // the usual reason
	}
	return e.Saying(limits.Message)
}

// Prepare implements platform.Steps. It looks up the mentioned accounts, and uploads one file.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	if !s.Mentions {
		if err := p.lookUp(ctx, w.Account, w.Post, s); err != nil {
			return false, 0, err
		}
		s.Mentions = true
	}
	if len(s.Files) == len(w.Post.Media) {
		return true, 0, nil
	}
	m := w.Post.Media[len(s.Files)]
	if m.Video() {
		return p.prepareVideo(ctx, w, m)
	}
	uploaded, err := p.image(ctx, w.Account, m)
	if err != nil {
		return false, 0, err
	}
	s.Files = append(s.Files, uploaded)
	return len(s.Files) == len(w.Post.Media), 0, nil
}

// prepareVideo uploads the video, or looks at its processing. The blob counts, whatever the state of the processing is
// (bsky-docs #367). After a failure that may pass, the video is uploaded again.
func (p *Platform) prepareVideo(ctx context.Context, w *platform.Work[state], m platform.Media) (ready bool,
	wait time.Duration, err error) {
	s := &w.Own
	var now progress
	if s.Job != "" {
		now, err = p.job(ctx, s.Job)
	} else if now, err = p.video(ctx, w.Account, w.Post.Key, m); err == nil {
		s.Uploads++
	}
	switch {
	case err != nil:
		return false, 0, err
	case now.Blob != nil && now.Blob.Ref.Link != "":
		s.Files = append(s.Files, now.Blob.blob())
		return len(s.Files) == len(w.Post.Media), 0, nil
	case now.State != "JOB_STATE_FAILED":
		s.Job = now.Job
		return false, processing, nil
	case now.lasts() || s.Uploads >= maxUploads:
		return false, 0, unprocessed(now.words())
	}
	s.Job = ""
	return false, time.Duration(s.Uploads) * uploadAgain, nil
}

// lookUp finds the accounts that the post mentions. A name that nobody has stays plain text.
func (p *Platform) lookUp(ctx context.Context, a platform.Account, post platform.Post, s *state) error {
	found := texts.Bluesky.Mentions(post.Caption + " " + post.Options.FirstComment)
	for _, m := range found[:min(len(found), maxMentions)] {
		name := strings.ToLower(m.Text)
		if s.Names[name] != "" {
			continue
		}
		var who struct {
			DID string `json:"did"`
		}
		err := p.Get(ctx, a.Token.Access, "com.atproto.identity.resolveHandle", url.Values{"handle": {name}}, &who)
		if kind := platform.KindOf(err); err != nil && (kind == platform.BadContent || kind == platform.Unclear) {
			continue
		}
		if err != nil {
			return err
		}
		if s.Names == nil {
			s.Names = map[string]string{}
		}
		s.Names[name] = who.DID
	}
	return nil
}

func (p *Platform) image(ctx context.Context, a platform.Account, m platform.Media) (blob, error) {
	call := p.Call(http.MethodPost, "com.atproto.repo.uploadBlob", a.Token.Access)
	call.Body, call.Timeout = wire.Range(ctx, m, 0, m.Bytes), wire.UploadTimeout
	var answer struct {
		Blob blobAnswer `json:"blob"`
	}
	if err := p.Send(ctx, call, &answer); err != nil {
		return blob{}, err
	}
	if answer.Blob.Ref.Link == "" {
		return blob{}, p.Client.GarbledError(call, errIncomplete)
	}
	return answer.Blob.blob(), nil
}

// service returns a token with which another service acts for the account.
func (p *Platform) service(ctx context.Context, a platform.Account, audience, method string) (platform.Secret, error) {
	var answer struct {
		Token platform.Secret `json:"token"`
	}
	until := strconv.FormatInt(p.Client.Now().Add(30*time.Minute).Unix(), 10)
	err := p.Get(ctx, a.Token.Access, "com.atproto.server.getServiceAuth",
		url.Values{"aud": {audience}, "lxm": {method}, "exp": {until}}, &answer)
	return answer.Token, err
}

// host returns the identity of the server that keeps the account's data.
func (p *Platform) host(ctx context.Context, a platform.Account) (string, error) {
	var answer struct {
		Document struct {
			Services []struct {
				ID       string `json:"id"`
				Endpoint string `json:"serviceEndpoint"`
			} `json:"service"`
		} `json:"didDoc"`
	}
	if err := p.Get(ctx, a.Token.Access, "com.atproto.server.getSession", nil, &answer); err != nil {
		return "", err
	}
	for _, s := range answer.Document.Services {
		if u, err := url.Parse(s.Endpoint); strings.HasSuffix(s.ID, "#atproto_pds") && err == nil && u.Host != "" {
			return "did:web:" + u.Hostname(), nil
		}
	}
	return "", platform.Busy().Because(errors.New("bluesky: the session names no server"))
}

// progress is the state of the processing of a video: app.bsky.video.defs#jobStatus.
type progress struct {
	Job     string      `json:"jobId"`
	State   string      `json:"state"`
	Blob    *blobAnswer `json:"blob"`
	Error   string      `json:"error"`
	Failure string      `json:"failureCode"`
	Message string      `json:"message"`
}

// video uploads a video for processing. Bluesky knows a video that it has processed before.
func (p *Platform) video(ctx context.Context, a platform.Account, key string, m platform.Media) (progress, error) {
	host, err := p.host(ctx, a)
	if err != nil {
		return progress{}, err
	}
	token, err := p.service(ctx, a, host, "com.atproto.repo.uploadBlob")
	if err != nil {
		return progress{}, err
	}
	call := wire.Call{Name: "uploadVideo", Method: http.MethodPost, Bearer: token,
		URL:   p.Client.Base(videos) + "/xrpc/app.bsky.video.uploadVideo",
		Query: url.Values{"did": {a.ID}, "name": {key + ".mp4"}}, Body: wire.Range(ctx, m, 0, m.Bytes),
		Timeout: wire.UploadTimeout}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return progress{}, err
	}
	var made struct {
		progress
		Status *progress `json:"jobStatus"`
	}
	unreadable := json.Unmarshal(answer.Body, &made)
	if made.Status != nil {
		made.progress = *made.Status
	}
	if known := answer.Status == http.StatusConflict && made.Job != ""; !known {
		if err := p.Client.Check(call, answer, p.classifyVideo); err != nil {
			return progress{}, err
		}
	}
	if unreadable != nil || made.Job == "" {
		return progress{}, p.Client.GarbledError(call, errors.Join(unreadable, errIncomplete))
	}
	return made.progress, nil
}

// job reads the state of the processing of a video.
func (p *Platform) job(ctx context.Context, id string) (progress, error) {
	var answer struct {
		Status progress `json:"jobStatus"`
	}
	call := wire.Call{Name: "getJobStatus", Method: http.MethodGet,
		URL: p.Client.Base(videos) + "/xrpc/app.bsky.video.getJobStatus", Query: url.Values{"jobId": {id}}}
	err := p.Client.JSON(ctx, call, p.classifyVideo, &answer)
	answer.Status.Job = cmp.Or(answer.Status.Job, id)
	return answer.Status, err
}

// key returns the key of the n-th record: a TID of the AT Protocol.
func (s state) key(post platform.Post, n int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(post.Key)) // a hash takes all
	return tid(uint64(s.At+int64(n))<<10 | uint64(h.Sum32()&1023))
}

const alphabet = "234567abcdefghijklmnopqrstuvwxyz"

// tid writes a TID: a time in microseconds, and ten bits that tell clocks apart.
func tid(v uint64) string {
	key := make([]byte, 13)
	for i := range key {
		key[12-i] = alphabet[v&31]
		v >>= 5
	}
	return string(key)
}

// following returns the key of the n-th record after the one of a key.
func following(key string, n int) string {
	var v uint64
	for i := range len(key) {
		v = v<<5 | uint64(max(strings.IndexByte(alphabet, key[i]), 0))
	}
	return tid(v + uint64(n)<<10)
}

// Make implements platform.Steps. A repeat with the key of an existing record fails.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (platform.Ref, error) {
	call := p.Call(http.MethodPost, "com.atproto.repo.createRecord", w.Account.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"repo": w.Account.ID, "collection": collection, "rkey": w.Own.key(w.Post, w.PostsMade),
		"record": content(w)}
	var made record
	var lacking bool
	err := p.Client.JSON(ctx, call, func(a wire.Answer) *platform.Error {
		var f fault
		lacking = !a.OK() && a.Status < 500 && json.Unmarshal(a.Body, &f) == nil && f.Error == "BlobNotFound"
		return p.classify(a)
	}, &made)
	if lacking && w.Own.Uploads < maxUploads && w.PostsMade == 0 && len(w.Own.Files) > 0 {
		// The server has removed the files, which it keeps for some time only: they are uploaded again.
		w.Own.Files, w.Own.Job, w.Own.Uploads = nil, "", w.Own.Uploads+1
		return platform.Ref{}, platform.ErrMore
	}
	if lacking {
		return platform.Ref{}, mediaRefused().Because(err).Saying(wordsOf(err))
	}
	if err != nil {
		if platform.KindOf(err) == platform.BadContent {
			// Another worker may have made the record.
			ref, stage, unread := p.Find(ctx, w)
			if unread == nil && stage == platform.StageDone {
				return ref, nil
			}
		}
		return platform.Ref{}, err
	}
	if made.URI == "" || made.CID == "" {
		return platform.Ref{}, p.Client.GarbledError(call, errIncomplete)
	}
	return made.ref(w.Account), nil
}

// wordsOf returns the words of a refusal.
func wordsOf(err error) string {
	var e *platform.Error
	if errors.As(err, &e) {
		return e.Words
	}
	return ""
}

type record struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

func (r record) ref(a platform.Account) platform.Ref {
	key := r.URI[strings.LastIndexByte(r.URI, '/')+1:]
	return platform.Ref{ID: r.URI, Hash: r.CID, URL: "https://bsky.app/profile/" + a.ID + "/post/" + key}
}

// Find implements platform.Steps.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (platform.Ref, platform.Stage, error) {
	var found record
	err := p.Get(ctx, w.Account.Token.Access, "com.atproto.repo.getRecord", url.Values{"repo": {w.Account.ID},
		"collection": {collection}, "rkey": {w.Own.key(w.Post, w.PostsMade)}}, &found)
	switch {
	case platform.CodeOf(err) == platform.CodePostNotFound:
		return platform.Ref{}, platform.StageFinalize, nil
	case err != nil:
		return platform.Ref{}, "", err
	case found.URI == "" || found.CID == "":
		return platform.Ref{}, "", platform.Busy().Because(errIncomplete)
	}
	return found.ref(w.Account), platform.StageDone, nil
}

// content returns the record of the next post.
func content(w *platform.Work[state]) map[string]any {
	text := w.Text()
	r := map[string]any{"$type": collection, "text": text,
		"createdAt": time.UnixMicro(w.Own.At).Add(time.Duration(w.PostsMade) * time.Millisecond).UTC().
			Format("2006-01-02T15:04:05.000Z")}
	if w.Post.Language != "" {
		r["langs"] = []string{w.Post.Language}
	}
	if facets := w.Own.facets(text); len(facets) > 0 {
		r["facets"] = facets
	}
	if w.PostsMade > 0 {
		parent := w.Last
		if w.IsComment() {
			parent = w.First
		}
		r["reply"] = map[string]any{"root": strong(w.First), "parent": strong(parent)}
	} else if len(w.Post.Media) > 0 {
		r["embed"] = embed(w.Post, w.Own.Files)
	}
	return r
}

func strong(r platform.Ref) map[string]string { return map[string]string{"uri": r.ID, "cid": r.Hash} }

// embed returns the media of a post.
func embed(post platform.Post, files []blob) map[string]any {
	if m := post.Media[0]; m.Video() {
		return map[string]any{"$type": "app.bsky.embed.video", "video": files[0].wire(), "alt": m.Alt,
			"aspectRatio": ratio(m)}
	}
	list, kind := "images", "app.bsky.embed.images"
	if len(post.Media) > gallery {
		list, kind = "items", "app.bsky.embed.gallery"
	}
	var all []map[string]any
	for i, m := range post.Media {
		item := map[string]any{"image": files[i].wire(), "alt": m.Alt, "aspectRatio": ratio(m)}
		if list == "items" {
			item["$type"] = kind + "#image"
		}
		all = append(all, item)
	}
	return map[string]any{"$type": kind, list: all}
}

func ratio(m platform.Media) map[string]int {
	return map[string]int{"width": max(m.Width, 1), "height": max(m.Height, 1)}
}

// facets returns the links, hashtags and mentions of a text. Their positions are counted in bytes.
func (s state) facets(text string) (all []map[string]any) {
	add := func(start, end int, feature map[string]string) {
		all = append(all, map[string]any{"index": map[string]int{"byteStart": start, "byteEnd": end},
			"features": []map[string]string{feature}})
	}
	for _, l := range texts.Bluesky.Links(text) {
		// Bluesky refuses a post for an address that is none, and shows it as plain text without a facet.
		if u, err := url.Parse(l.Address(text)); err == nil && u.Host != "" {
			add(l.Start, l.End, map[string]string{"$type": "app.bsky.richtext.facet#link", "uri": l.Address(text)})
		}
	}
	for _, t := range texts.Bluesky.Hashtags(text) {
		add(t.Start, t.End, map[string]string{"$type": "app.bsky.richtext.facet#tag", "tag": t.Text})
	}
	for _, t := range texts.Bluesky.Cashtags(text) {
		add(t.Start, t.End, map[string]string{"$type": "app.bsky.richtext.facet#tag",
			"tag": "$" + strings.ToUpper(t.Text)})
	}
	for _, m := range texts.Bluesky.Mentions(text) {
		if did := s.Names[strings.ToLower(m.Text)]; did != "" {
			add(m.Start, m.End, map[string]string{"$type": "app.bsky.richtext.facet#mention", "did": did})
		}
	}
	return all
}

// threadDepth is the depth of replies that are read.
const threadDepth = "6"

// threadPost is a post in a thread. A post that is gone or blocked has no address.
type threadPost struct {
	Post struct {
		URI    string `json:"uri"`
		Author struct {
			DID    string `json:"did"`
			Handle string `json:"handle"`
			Name   string `json:"displayName"`
		} `json:"author"`
		Record struct {
			Text      string    `json:"text"`
			CreatedAt time.Time `json:"createdAt"`
		} `json:"record"`
		Replies int `json:"replyCount"`
	} `json:"post"`
	Replies []threadPost `json:"replies"`
}

// Comments implements platform.CommentReader. The replies to a post are one page, which lacks those below threadDepth.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	_ string) (page platform.CommentPage, err error) {
	var answer struct {
		Thread threadPost `json:"thread"`
	}
	err = p.Get(ctx, a.Token.Access, "app.bsky.feed.getPostThread", url.Values{"uri": {post.ID},
		"depth": {threadDepth}, "parentHeight": {"0"}}, &answer)
	if err != nil {
		return page, err
	}
	var add func(of []threadPost, parent string)
	add = func(of []threadPost, parent string) {
		for _, t := range of {
			if t.Post.URI == "" {
				continue
			}
			page.Comments = append(page.Comments, platform.Comment{ID: t.Post.URI, ParentID: parent,
				Author: platform.Author{Handle: "@" + t.Post.Author.Handle, Name: t.Post.Author.Name},
				Text:   t.Post.Record.Text, At: t.Post.Record.CreatedAt, Own: t.Post.Author.DID == a.ID})
			page.Partial = page.Partial || t.Post.Replies > len(t.Replies)
			add(t.Replies, t.Post.URI)
		}
	}
	add(answer.Thread.Replies, "")
	return page, nil
}

// Reply implements platform.Replier. Its record names the hashes of the post and of the comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	var answer struct {
		Posts []record `json:"posts"`
	}
	err := p.Get(ctx, a.Token.Access, "app.bsky.feed.getPosts", url.Values{"uris": {r.Post.ID, r.To.ID}}, &answer)
	if err != nil {
		return "", err
	}
	refs := map[string]record{}
	for _, one := range answer.Posts {
		refs[one.URI] = one
	}
	root, parent := refs[r.Post.ID], refs[r.To.ID]
	if root.CID == "" || parent.CID == "" {
		return "", platform.CommentGone()
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Key)) // a hash takes all
	text := map[string]any{"$type": collection, "text": r.Text, "createdAt": r.At.UTC().Format(
		"2006-01-02T15:04:05.000Z"),
		"reply": map[string]record{"root": root, "parent": parent}}
	if facets := (state{}).facets(r.Text); len(facets) > 0 {
		text["facets"] = facets
	}
	call := p.Call(http.MethodPost, "com.atproto.repo.createRecord", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"repo": a.ID, "collection": collection, "record": text,
		"rkey": tid(uint64(r.At.UnixMicro())<<10 | uint64(h.Sum32()&1023))}
	var made record
	if err := p.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if made.URI == "" {
		return "", p.Client.GarbledError(call, errors.New("there is no address"))
	}
	return made.URI, nil
}
