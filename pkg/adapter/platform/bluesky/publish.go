package bluesky

import (
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
	// maxMentions bounds the names that a post looks up.
	maxMentions = 10
)

var errIncomplete = errors.New("a member is missing")

// state is the adapter's part of a handle.
type state struct {
	At       int64             `json:"at"` // Unix microseconds, from which keys and times are derived
	Files    []blob            `json:"files,omitempty"`
	Job      string            `json:"job,omitempty"`   // that processes the video
	Names    map[string]string `json:"names,omitempty"` // the accounts that the texts mention
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

// given is a blob as the platform answers it.
type given struct {
	Ref struct {
		Link string `json:"$link"`
	} `json:"ref"`
	MIME string `json:"mimeType"`
	Size int64  `json:"size"`
}

func (g given) blob() blob { return blob{g.Ref.Link, g.MIME, g.Size} }

// Begin implements platform.Steps. It chooses the keys of the records.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[state]) error {
	w.Own.At = p.Client.Now().UnixMicro()
	if len(w.Post.Media) == 0 || !w.Post.Media[0].Video() {
		return nil
	}
	var limits struct {
		Can  bool   `json:"canUpload"`
		Left *int64 `json:"remainingDailyVideos"`
	}
	token, err := p.service(ctx, w.Account, "did:web:video.bsky.app", "app.bsky.video.getUploadLimits")
	if err != nil {
		return err
	}
	call := wire.Call{Name: "getUploadLimits", Method: http.MethodGet, Bearer: token,
		URL: p.Client.Base(videos) + "/xrpc/app.bsky.video.getUploadLimits"}
	switch err := p.Send(ctx, call, &limits); {
	case err != nil:
		return err
	case !limits.Can && limits.Left != nil && *limits.Left <= 0:
		return platform.Full(time.Hour)
	case !limits.Can:
		return platform.Reject(platform.CodeMissingPermission, "Bluesky takes no videos of the account. Its e-mail "+
			"address must be confirmed.")
	}
	return nil
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
	var uploaded blob
	switch {
	case s.Job != "":
		if uploaded, err = p.job(ctx, s.Job); err == nil && uploaded.Link == "" {
			return false, processing, nil
		}
	case m.Video():
		uploaded, s.Job, err = p.video(ctx, w.Account, w.Post.Key, m)
	default:
		uploaded, err = p.image(ctx, w.Account, m)
	}
	if err != nil {
		return false, 0, err
	}
	if uploaded.Link == "" {
		return false, processing, nil
	}
	s.Files = append(s.Files, uploaded)
	return len(s.Files) == len(w.Post.Media), 0, nil
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
		if platform.KindOf(err) == platform.BadContent {
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
		Blob given `json:"blob"`
	}
	if err := p.Send(ctx, call, &answer); err != nil {
		return blob{}, err
	}
	if answer.Blob.Ref.Link == "" {
		return blob{}, p.Client.Garbled(call, errIncomplete)
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

// progress is the state of the processing of a video.
type progress struct {
	Job   string `json:"jobId"`
	State string `json:"state"`
	Blob  *given `json:"blob"`
}

// video uploads a video for processing. Bluesky knows a video that it has processed before.
func (p *Platform) video(ctx context.Context, a platform.Account, key string, m platform.Media) (blob, string, error) {
	host, err := p.host(ctx, a)
	if err != nil {
		return blob{}, "", err
	}
	token, err := p.service(ctx, a, host, "com.atproto.repo.uploadBlob")
	if err != nil {
		return blob{}, "", err
	}
	call := wire.Call{Name: "uploadVideo", Method: http.MethodPost, Bearer: token,
		URL:   p.Client.Base(videos) + "/xrpc/app.bsky.video.uploadVideo",
		Query: url.Values{"did": {a.ID}, "name": {key + ".mp4"}}, Body: wire.Range(ctx, m, 0, m.Bytes),
		Timeout: wire.UploadTimeout}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return blob{}, "", err
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
		if err := p.Client.Check(call, answer, p.refused); err != nil {
			return blob{}, "", err
		}
	}
	if unreadable != nil || made.Job == "" {
		return blob{}, "", p.Client.Garbled(call, errors.Join(unreadable, errIncomplete))
	}
	done, err := made.result()
	return done, made.Job, err
}

// job reads the state of the processing of a video.
func (p *Platform) job(ctx context.Context, id string) (blob, error) {
	var answer struct {
		Status progress `json:"jobStatus"`
	}
	call := wire.Call{Name: "getJobStatus", Method: http.MethodGet,
		URL: p.Client.Base(videos) + "/xrpc/app.bsky.video.getJobStatus", Query: url.Values{"jobId": {id}}}
	if err := p.Send(ctx, call, &answer); err != nil {
		return blob{}, err
	}
	return answer.Status.result()
}

// result returns the processed video, or the zero value while it is processed.
func (j progress) result() (blob, error) {
	switch {
	case j.State == "JOB_STATE_FAILED":
		return blob{}, platform.Reject(platform.CodeMediaRefused, "Bluesky could not process the video.")
	case j.Blob == nil:
		return blob{}, nil
	default:
		return j.Blob.blob(), nil
	}
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
	call.JSON = map[string]any{"repo": w.Account.ID, "collection": collection, "rkey": w.Own.key(w.Post, w.Made),
		"record": content(w)}
	var made record
	if err := p.Send(ctx, call, &made); err != nil {
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
		return platform.Ref{}, p.Client.Garbled(call, errIncomplete)
	}
	return made.ref(w.Account), nil
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
		"collection": {collection}, "rkey": {w.Own.key(w.Post, w.Made)}}, &found)
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
