package linkedin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/media/picture"
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
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	if !m.Video() {
		_, err := p.put(ctx, a, v.URL, wire.Range(ctx, m, 0, m.Bytes))
		return urn, err
	}
	var tags []string
	for _, part := range v.Parts {
		if part.First < 0 || part.Last < part.First || part.Last >= m.Bytes {
			return "", p.Client.GarbledError(call, errIncomplete)
		}
		tag, err := p.put(ctx, a, part.URL, wire.Range(ctx, m, part.First, part.Last-part.First+1))
		if err != nil {
			return "", err
		}
		if tag == "" {
			return "", p.Client.GarbledError(call, errIncomplete)
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
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return "", err
	}
	return answer.Header.Get("ETag"), p.Client.Check(call, answer, p.classify(publishes, false))
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
	case answer.Status == "PROCESSING_FAILED" && answer.Reason == "":
		return false, platform.Again(errors.New("linkedin: processing failed without a reason"))
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
	if err := p.Client.Check(call, answer, p.classify(publishes, true)); err != nil {
		if _, m := problemOf(answer); m == duplicate {
			return p.twinOf(w, answer, err)
		}
		return ref, err
	}
	id := answer.Header.Get("X-Restli-Id")
	if !strings.HasPrefix(id, "urn:li:") || len(id) > most {
		return ref, p.Client.GarbledError(call, errIncomplete)
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
		if platform.Same(e.Commentary, commentary(w.Text(), optionsOf(w.Post.Options).Mentions)) && len(e.ID) <= most &&
			!time.UnixMilli(e.At).Before(w.SentAt.Add(-time.Minute)) {
			return refOf(e.ID), platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	call := p.Call(http.MethodPost, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "PARTIAL_UPDATE")
	call.JSON = map[string]any{"patch": map[string]any{"$set": map[string]string{"commentary": commentary(text,
		optionsOf(post.Options).Mentions)}}}
	return p.Client.JSON(ctx, call, p.classify(changes, true), nil)
}

// Delete implements platform.Deleter. LinkedIn accepts the deletion of a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	call := p.Call(http.MethodDelete, "/rest/posts/"+url.PathEscape(post.ID), a.Token.Access)
	call.Header.Set("X-Restli-Method", "DELETE")
	return platform.Except(platform.CodePostNotFound, p.Client.JSON(ctx, call, p.classify(reads, false), nil))
}

var (
	_ = format.Define("linkedin-post", format.Format{Pattern: "^urn:li:(share|ugcPost):[0-9]{1,20}$",
		Wanted: "the URN of a post, such as urn:li:share:7000000000000000001"})
	_ = format.Define("linkedin-author", format.Format{Pattern: "^urn:li:(person|organization):[A-Za-z0-9_-]{1,64}$",
		Wanted: "the URN of a member or an organisation", Example: "urn:li:organization:5515715"})
)

// Options are the options of posts on LinkedIn, as callers send them.
type Options struct {
	platform.Visible
	platform.AltTextOption
	platform.FirstCommentOption
	platform.PollOption
	// Publishes the images of a carousel as the pages of a document, which readers turn. Its title is that of the
	// content.
	Document bool `json:"document,omitempty"`
	// URN of the post that the post shares again, in place of media.
	Reshare string `json:"reshare_of,omitempty" format:"linkedin-post"`
	// Members and organisations that the caption names. Write each as @ and its name in the caption.
	Mentions []Mention `json:"mentions,omitempty" maxItems:"20" nullable:"false"`
}

// Mention is a member or an organisation that a text names.
type Mention struct {
	// Name as it stands after the @ in the caption. For an organisation, it is the name that LinkedIn shows; for a
	// member, the whole name or a part of it.
	Name string `json:"name" minLength:"1" maxLength:"100" example:"Acme"`
	// URN of the member or the organisation. `GET /v1/publishing/lookups` with `kind=member` or `kind=organization`
	// finds it.
	ID string `json:"id" format:"linkedin-author"`
}

// optionsOf returns the options of a post.
func optionsOf(o platform.Options) Options {
	own, _ := o.Own.(Options)
	return own
}

// durations maps the hours of a poll to the values of LinkedIn.
var durations = map[int]string{24: "ONE_DAY", 72: "THREE_DAYS", 168: "SEVEN_DAYS", 336: "FOURTEEN_DAYS"}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own := optionsOf(p.Options)
	wrong := func(option platform.Option, format string, args ...any) {
		found = append(found, platform.Wrong(Name, option, format, args...))
	}
	if own.Reshare != "" && (len(p.Media) > 0 || own.Poll != nil) {
		wrong(OptionReshare, "is taken without media and without a poll.")
	}
	if poll := own.Poll; poll != nil {
		if len(p.Media) > 0 {
			wrong(platform.OptionPoll, "is taken without media.")
		}
		if poll.Question == "" {
			wrong(platform.OptionPoll+".question", "is required on LinkedIn.")
		}
		if durations[poll.DurationHours] == "" {
			wrong(platform.OptionPoll+".duration_hours", "is 24, 72, 168 or 336 on LinkedIn.")
		}
	}
	for i, m := range own.Mentions {
		if !strings.Contains(p.Caption, "@"+m.Name) {
			wrong(platform.Option(fmt.Sprintf("%s[%d].name", OptionMentions, i)), "is not in the caption: write @%s "+
				"where the mention belongs.", m.Name)
		}
	}
	return found
}

// commentary returns the text of a post. A hashtag stays one, and each @ with a name becomes a mention.
func commentary(text string, mentions []Mention) string {
	longest := slices.Clone(mentions) // of two names that begin alike, the longer one is meant
	slices.SortStableFunc(longest, func(a, b Mention) int { return len(b.Name) - len(a.Name) })
	tags := platform.WrittenTags(text)
	var b strings.Builder
	from := 0
	element := func(start, end int, format string, args ...any) {
		b.WriteString(escape.Replace(text[from:start]))
		fmt.Fprintf(&b, format, args...)
		from = end
	}
	for at := range text {
		for len(tags) > 0 && tags[0].Start < from {
			tags = tags[1:] // it is a part of a mention
		}
		switch {
		case at < from:
		case len(tags) > 0 && tags[0].Start == at:
			element(at, tags[0].End, `{hashtag|\#|%s}`, escape.Replace(tags[0].Text))
		case text[at] == '@':
			i := slices.IndexFunc(longest, func(m Mention) bool { return strings.HasPrefix(text[at+1:], m.Name) })
			if i >= 0 {
				element(at, at+1+len(longest[i].Name), "@[%s](%s)", escape.Replace(longest[i].Name), longest[i].ID)
			}
		}
	}
	b.WriteString(escape.Replace(text[from:]))
	return b.String()
}

// content adds what a post shows in place of media.
func (o Options) content(body map[string]any) {
	if o.Reshare != "" {
		body["reshareContext"] = map[string]string{"parent": o.Reshare}
	}
	if o.Poll == nil {
		return
	}
	var choices []map[string]string
	for _, c := range o.Poll.Choices {
		choices = append(choices, map[string]string{"text": c})
	}
	body["content"] = map[string]any{"poll": map[string]any{"question": o.Poll.Question, "options": choices,
		"settings": map[string]string{"duration": durations[o.Poll.DurationHours]}}}
}

// pdfMIME is the media type of a document.
const pdfMIME = "application/pdf"

// Document returns a document with JPEG images as its pages, each on a page of its own. Of the images, the headers are
// read: they say which colors they have. They are not decoded, so that the document needs no memory and its length is
// known before it is read.
func Document(ctx context.Context, images []platform.Media) (platform.Media, error) {
	spaces := make([]space, len(images))
	for i, m := range images {
		var err error
		if spaces[i], err = spaceOf(ctx, m); err != nil {
			return platform.Media{}, err
		}
	}
	parts := layout(images, spaces)
	m := platform.Media{MIME: pdfMIME}
	for _, p := range parts {
		m.Bytes += p.length()
	}
	m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		if offset < 0 || length <= 0 || offset+length > m.Bytes {
			return nil, fmt.Errorf("linkedin: the range %d+%d of %d bytes", offset, length, m.Bytes)
		}
		return &reader{ctx: ctx, parts: parts, skip: offset, left: length}, nil
	}
	return m, nil
}

// space is what the values of an image mean.
type space struct {
	components int
	// inverted is set for inks of which 0 is full, as programs of Adobe store them.
	inverted bool
	profile  []byte
}

// The headers of an image: most are short, and those with the profile of a printer are not.
const (
	shortHead = 64 << 10
	longHead  = 2 << 20
)

// spaceOf reads the headers of an image.
func spaceOf(ctx context.Context, m platform.Media) (space, error) {
	for _, most := range []int64{shortHead, longHead} {
		length := min(m.Bytes, most)
		r, err := m.Open(ctx, 0, length)
		if err != nil {
			return space{}, err
		}
		head, err := io.ReadAll(io.LimitReader(r, length))
		if err = errors.Join(err, r.Close()); err != nil {
			return space{}, fmt.Errorf("linkedin: read an image: %w", err)
		}
		if colors, ok := picture.ColorsOf(head); ok {
			return space{colors.Components, colors.Adobe && colors.Components == 4, colors.Profile}, nil
		}
	}
	return space{components: 3}, nil
}

// describe returns the entries of a dictionary that name the space. profile is the object with the profile.
func (s space) describe(profile int) string {
	name := map[int]string{1: "/DeviceGray", 4: "/DeviceCMYK"}[s.components]
	if name == "" {
		name = "/DeviceRGB"
	}
	if s.profile != nil {
		name = fmt.Sprintf("[ /ICCBased %d 0 R ]", profile)
	}
	if s.inverted {
		name += " /Decode [ 1 0 1 0 1 0 1 0 ]"
	}
	return name
}

// part is a text, or the content of an image.
type part struct {
	text  string
	image *platform.Media
}

func (p part) length() int64 {
	if p.image != nil {
		return p.image.Bytes
	}
	return int64(len(p.text))
}

// layout returns the document. Its objects are the catalog, the list of pages, and for each page the page, its drawing,
// its image and the color profile of that, which may be empty.
func layout(images []platform.Media, spaces []space) (parts []part) {
	const each = 4 // objects of a page
	var offsets []int64
	var at int64
	add := func(p part) {
		parts = append(parts, p)
		at += p.length()
	}
	object := func(body string) {
		offsets = append(offsets, at)
		add(part{text: fmt.Sprintf("%d 0 obj\n%s", len(offsets), body)})
	}
	add(part{text: "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n"})
	object("<< /Type /Catalog /Pages 2 0 R >>\nendobj\n")
	var kids strings.Builder
	for i := range images {
		fmt.Fprintf(&kids, "%d 0 R ", 3+each*i)
	}
	object(fmt.Sprintf("<< /Type /Pages /Kids [ %s] /Count %d >>\nendobj\n", kids.String(), len(images)))
	for i, m := range images {
		page := 3 + each*i
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "+
			"/Resources << /XObject << /I %d 0 R >> >> >>\nendobj\n", m.Width, m.Height, page+1, page+2))
		drawing := fmt.Sprintf("q %d 0 0 %d 0 0 cm /I Do Q", m.Width, m.Height)
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", len(drawing), drawing))
		object(fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s "+
			"/BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n", m.Width, m.Height,
			spaces[i].describe(page+3), m.Bytes))
		add(part{image: &images[i]})
		add(part{text: "\nendstream\nendobj\n"})
		object(fmt.Sprintf("<< /N %d /Length %d >>\nstream\n%s\nendstream\nendobj\n", max(spaces[i].components, 1),
			len(spaces[i].profile), spaces[i].profile))
	}
	var end bytes.Buffer
	fmt.Fprintf(&end, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&end, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&end, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	add(part{text: end.String()})
	return parts
}

// reader reads a range of the document, and opens one image at a time.
type reader struct {
	ctx        context.Context
	parts      []part
	skip, left int64
	open       io.ReadCloser
}

// Read implements io.Reader.
func (r *reader) Read(b []byte) (int, error) {
	for r.left > 0 {
		if r.open == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.open.Read(b[:min(int64(len(b)), r.left)])
		if r.left -= int64(n); errors.Is(err, io.EOF) {
			err = r.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// next opens the next part that the range has.
func (r *reader) next() (err error) {
	for len(r.parts) > 0 && r.skip >= r.parts[0].length() {
		r.skip -= r.parts[0].length()
		r.parts = r.parts[1:]
	}
	if len(r.parts) == 0 {
		return io.ErrUnexpectedEOF
	}
	p := r.parts[0]
	r.parts = r.parts[1:]
	if p.image == nil {
		r.open = io.NopCloser(strings.NewReader(p.text[r.skip:]))
	} else if r.open, err = p.image.Open(r.ctx, r.skip, p.image.Bytes-r.skip); err != nil {
		r.open = nil
		return err
	}
	r.skip = 0
	return nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

const (
	// commentPage is the number of comments of a page, and mostNested bounds the comments whose replies are listed.
	commentPage = 100
	mostNested  = 10
	// commentScope is the right to read the comments on posts of members. LinkedIn grants it to few applications.
	commentScope  = "r_member_social"
	commentPrefix = "urn:li:comment:("
)

// remark is a comment as LinkedIn returns it. It names its author by a URN alone.
type remark struct {
	URN     string `json:"$URN"`
	Actor   string `json:"actor"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
	Created struct {
		Time int64 `json:"time"` // Unix milliseconds
	} `json:"created"`
	Summary struct {
		Total int `json:"aggregatedTotalComments"`
	} `json:"commentsSummary"`
}

// Comments implements platform.CommentReader.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	after string) (page platform.CommentPage, err error) {
	if !strings.HasPrefix(a.ID, organization) && !slices.Contains(a.Token.Scopes, commentScope) {
		return page, platform.Unsupported("reading comments on posts of members")
	}
	start, _ := strconv.Atoi(after)
	all, more, err := p.remarks(ctx, a, post.ID, start, platform.CodePostNotFound)
	if err != nil {
		return page, err
	}
	add := func(r remark, parent string) {
		page.Comments = append(page.Comments, platform.Comment{ID: r.URN, ParentID: parent, Text: r.Message.Text,
			Author: platform.Author{Handle: r.Actor}, At: time.UnixMilli(r.Created.Time), Own: r.Actor == a.ID})
	}
	nested := 0
	for _, r := range all {
		add(r, "")
		if r.Summary.Total == 0 {
			continue
		}
		if nested++; nested > mostNested {
			page.Partial = true
			continue
		}
		replies, further, err := p.remarks(ctx, a, r.URN, 0, platform.CodeCommentNotFound)
		if err != nil && !platform.Gone(err) {
			return platform.CommentPage{}, err
		}
		for _, one := range replies {
			add(one, r.URN)
		}
		page.Partial = page.Partial || err != nil || further
	}
	if more {
		page.Next = strconv.Itoa(start + len(all))
	}
	return page, nil
}

// remarks returns a page of the comments on a post, or of the replies to a comment, and whether there are more.
func (p *Platform) remarks(ctx context.Context, a platform.Account, urn string, start int,
	absent platform.Code) (all []remark, more bool, err error) {
	var answer struct {
		Elements []remark `json:"elements"`
		Paging   paging   `json:"paging"`
	}
	call := p.Call(http.MethodGet, "/rest/socialActions/"+url.PathEscape(urn)+"/comments", a.Token.Access)
	call.Query = url.Values{"start": {strconv.Itoa(start)}, "count": {strconv.Itoa(commentPage)}}
	err = p.Client.JSON(ctx, call, p.ofComments(absent), &answer)
	return answer.Elements, answer.Paging.more(start, len(answer.Elements), commentPage), err
}

// Reply implements platform.Replier. LinkedIn has replies to comments on the post only: a reply to a reply is written
// below the same comment.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	to := r.To.ID
	if r.To.ParentID != "" {
		to = r.To.ParentID
	}
	thread, _, ok := parse(to)
	if !ok {
		return "", platform.CommentGone()
	}
	call := p.Call(http.MethodPost, "/rest/socialActions/"+url.PathEscape(to)+"/comments", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"actor": a.ID, "object": thread, "parentComment": to,
		"message": map[string]string{"text": r.Text}}
	var made remark
	if err := p.Client.JSON(ctx, call, p.ofComments(platform.CodeCommentNotFound), &made); err != nil {
		return "", err
	}
	if _, _, ok := parse(made.URN); !ok {
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	return made.URN, nil
}

// DeleteComment implements platform.CommentDeleter.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.PublishedPost,
	commentID string) error {
	thread, id, ok := parse(commentID)
	if !ok {
		return nil
	}
	call := p.Call(http.MethodDelete, "/rest/socialActions/"+url.PathEscape(thread)+"/comments/"+id, a.Token.Access)
	call.Query = url.Values{"actor": {a.ID}}
	err := p.Client.JSON(ctx, call, p.ofComments(platform.CodeCommentNotFound), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// parse returns the post and the number of a comment from its URN.
func parse(urn string) (thread, id string, ok bool) {
	inner, of := strings.CutPrefix(urn, commentPrefix)
	inner, whole := strings.CutSuffix(inner, ")")
	thread, id, both := strings.Cut(inner, ",")
	_, err := strconv.ParseUint(id, 10, 64)
	return thread, id, of && whole && both && err == nil && strings.HasPrefix(thread, "urn:li:")
}

// ofComments classifies the refusals of calls about comments. What does not exist has the code absent.
func (p *Platform) ofComments(absent platform.Code) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		switch {
		case a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "":
			return platform.Limited(15 * time.Minute) // a reply ends within an hour
		case a.Status != http.StatusNotFound:
			return p.classify(publishes, true)(a)
		case absent == platform.CodeCommentNotFound:
			return platform.CommentGone()
		}
		return platform.Reject(absent, "LinkedIn does not have the post.")
	}
}
