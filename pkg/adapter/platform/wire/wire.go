// Package wire gives the HTTP client of the adapters the errors, tokens and files of platforms. All its errors are of
// type *platform.Error. A call that makes a post is marked: if its answer is lost, the error is platform.Unknown. Start
// with API, whose method Call makes a call.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/wire"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

var errNoToken = errors.New("there is no access token")

// UploadTimeout bounds the upload of a part of a file.
const UploadTimeout = 5 * time.Minute

// Doer sends a request. It follows no redirect.
type Doer = wire.Doer

// Answer is a complete answer.
type Answer = wire.Answer

// Config has the dependencies of all adapters. HTTP, BaseURL and Now are optional.
type Config struct {
	HTTP Doer
	// BaseURL replaces all addresses of the platform.
	BaseURL string
	// App returns the operator's application. Only platforms with OAuth need it.
	App func(ctx context.Context) (platform.App, error)
	Now func() time.Time
}

// Client calls one platform. It is safe for concurrent use.
type Client struct {
	name string
	cfg  Config
}

// New returns a client of a platform.
func New(name string, cfg Config) *Client {
	if cfg.HTTP == nil {
		cfg.HTTP = wire.Strict(nil)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	return &Client{name: name, cfg: cfg}
}

// Now returns the present time by the clock of the configuration.
func (c *Client) Now() time.Time { return c.cfg.Now() }

// Wait returns how long to wait until a limit ends, and false if the header of an answer does not say it.
func (c *Client) Wait(a Answer, header string) (time.Duration, bool) {
	return safehttp.Wait(a.Header.Get(header), c.Now())
}

// Base returns the address of the platform, or the address that replaces it.
func (c *Client) Base(own string) string {
	if c.cfg.BaseURL != "" {
		return c.cfg.BaseURL
	}
	return own
}

// Trusts reports whether an address that the platform has named is on the platform's own domain,
// with TLS, or on the server that replaces it.
func (c *Client) Trusts(address, domain string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if base, err := url.Parse(c.cfg.BaseURL); err == nil && c.cfg.BaseURL != "" && u.Scheme == base.Scheme &&
		u.Host == base.Host {
		return true
	}
	return u.Scheme == "https" && (u.Host == domain || strings.HasSuffix(u.Host, "."+domain))
}

// App returns the operator's application.
func (c *Client) App(ctx context.Context) (platform.App, error) {
	if c.cfg.App == nil {
		return platform.App{}, notConfigured(nil)
	}
	app, err := c.cfg.App(ctx)
	if err != nil {
		return platform.App{}, platform.Later(platform.CodePlatformUnavailable,
			"The platform's application could not be read.").Because(err)
	}
	if app.ID == "" {
		return platform.App{}, notConfigured(errors.New("there is no application"))
	}
	return app, nil
}

func notConfigured(cause error) error {
	return platform.Reject(platform.CodeNotConfigured, "The platform is not set up here.").Because(cause)
}

// Call is one request. At most one of JSON, Form and Body is set.
type Call struct {
	Name    string // for the log, because the address may contain a token
	Method  string
	URL     string
	Query   url.Values
	Header  http.Header
	Bearer  platform.Secret // sent in the header Authorization
	JSON    any
	Form    url.Values
	Body    *Body
	Secrets []platform.Secret // redacted in the logged part of a refusal

	// Posts reports whether the call may make a post visible.
	Posts bool
	// Void reports whether an answer without a body is complete.
	Void    bool
	Timeout time.Duration // 30 s if it is 0
}

// Classifier classifies an answer by its content. It returns nil if the answer is no refusal of the platform.
type Classifier func(a Answer) *platform.Error

// JSON makes a call, classifies its answer and decodes it into out, unless out is nil.
func (c *Client) JSON(ctx context.Context, call Call, refused Classifier, out any) error {
	answer, err := c.Do(ctx, call)
	if err != nil {
		return err
	}
	if err := c.Check(call, answer, refused); err != nil {
		return err
	}
	if out == nil || call.Void && len(answer.Body) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return c.GarbledError(call, err)
	}
	return nil
}

// Check returns the error of an answer that is a refusal, or that is not the platform's.
func (c *Client) Check(call Call, answer Answer, refused Classifier) error {
	var e *platform.Error
	if refused != nil {
		e = refused(answer)
	}
	if e == nil && answer.OK() {
		if page(answer) {
			return c.GarbledError(call, errors.New("it is a page of HTML"))
		}
		return nil
	}
	if e == nil {
		e = byKind(wire.KindOf(answer.Status), call.Posts && answer.Status != http.StatusTooEarly)
	}
	if e.RetryAfter == 0 && (e.Kind == platform.Retry || e.Kind == platform.Quota) {
		e.RetryAfter = safehttp.RetryAfter(answer.Header, c.Now())
	}
	secrets := []string{call.Bearer.Reveal()}
	for _, s := range call.Secrets {
		secrets = append(secrets, s.Reveal())
	}
	if e.Words == "" {
		e.Saying(explanation(answer, secrets))
	}
	return e.Because(c.cause(call, answer.Refusal(secrets...)))
}

// page reports whether an answer is a page of HTML: proxies and maintenance answer with one, also with the status 200.
// No platform does.
func page(a Answer) bool {
	begin := strings.ToLower(strings.TrimLeft(string(a.Body[:min(len(a.Body), 256)]), text.ByteOrderMark+" \t\r\n"))
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html")
}

// byKind returns the error of a kind of failure. The argument posts reports whether the call may have made a post.
func byKind(kind wire.Kind, posts bool) *platform.Error {
	switch kind {
	case wire.Lost:
		return platform.Lost(nil)
	case wire.Invalid, wire.Late, wire.Unreachable:
		return platform.Later(platform.CodePlatformUnavailable, "The platform could not be reached.")
	case wire.Canceled:
		return platform.Later(platform.CodeCanceled, "The call to the platform was canceled.")
	case wire.Limited:
		return platform.Limited(0)
	case wire.Unauthorized:
		return platform.TokenExpired()
	case wire.Unreadable:
		return platform.Busy()
	case wire.Unavailable:
		if posts { // a proxy in front of the platform may have answered while the platform continues
			return platform.Lost(nil)
		}
		return platform.Busy()
	}
	return platform.Odd()
}

// GarbledError returns the error of an answer that cannot be read, or lacks a member.
func (c *Client) GarbledError(call Call, cause error) *platform.Error {
	return c.failed(call, wire.Unread(cause, call.Posts))
}

// Do makes a call. It returns an error if there is no complete answer.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	header := call.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if call.Bearer != "" {
		header.Set("Authorization", "Bearer "+call.Bearer.Reveal())
	}
	if call.JSON != nil {
		header.Set("Content-Type", "application/json; charset=UTF-8") // TikTok asks for it
	}
	answer, fault := wire.Do(ctx, c.cfg.HTTP, wire.Call{Method: call.Method, URL: call.URL, Query: call.Query,
		Header: header, JSON: call.JSON, Form: call.Form, Body: call.Body, Acts: call.Posts, Timeout: call.Timeout})
	if fault != nil {
		return Answer{}, c.failed(call, fault)
	}
	return answer, nil
}

func (c *Client) failed(call Call, fault *wire.Fault) *platform.Error {
	return byKind(fault.Kind, call.Posts).Because(c.cause(call, fault.Cause))
}

func (c *Client) cause(call Call, err error) error {
	return fmt.Errorf("%s: %s: %w", c.name, call.Name, err)
}

// API makes the calls of one platform. Adapters embed it.
type API struct {
	Client *Client
	Root   string      // address before the paths
	Header http.Header // of every call, or nil
	// Classify classifies the refusals of a call; posts reports whether the call may have made a post.
	Classify func(posts bool) Classifier
}

// Call returns a call of the API that sends a token.
func (g API) Call(method, path string, token platform.Secret) Call {
	return Call{Name: method + " " + path, Method: method, URL: g.Root + path, Header: g.Header.Clone(), Bearer: token}
}

// Send makes a call and decodes its answer into out, unless out is nil.
func (g API) Send(ctx context.Context, call Call, out any) error {
	return g.Client.JSON(ctx, call, g.Classify(call.Posts), out)
}

// Get makes a call that changes nothing.
func (g API) Get(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	call := g.Call(http.MethodGet, path, token)
	call.Query = query
	return g.Send(ctx, call, out)
}

// Body is a body that is streamed.
type Body = wire.Body

// Range returns a range of a file as a body. The file is opened at the first read, and closed with the request.
func Range(ctx context.Context, m platform.Media, offset, length int64) *Body {
	return &Body{Type: m.MIME, Length: length,
		Reader: &lazy{open: func() (io.ReadCloser, error) { return m.Open(ctx, offset, length) }}}
}

// File is a file of a multipart form.
type File struct {
	Field, Name string
	Media       platform.Media
}

// Multipart returns a form with fields and files as a body. Its length is known before the files are read.
func Multipart(ctx context.Context, fields url.Values, files ...File) (*Body, error) {
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	body := &Body{Type: w.FormDataContentType()}
	var parts many
	flush := func() {
		part := bytes.Clone(head.Bytes())
		head.Reset()
		body.Length += int64(len(part))
		parts = append(parts, bytes.NewReader(part))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := w.WriteField(name, fields.Get(name)); err != nil {
			return nil, fmt.Errorf("wire: form: %w", err)
		}
	}
	for _, f := range files {
		header := textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.Field, f.Name)},
			"Content-Type":        {f.Media.MIME},
		}
		if _, err := w.CreatePart(header); err != nil {
			return nil, fmt.Errorf("wire: form: %w", err)
		}
		flush()
		content := Range(ctx, f.Media, 0, f.Media.Bytes)
		body.Length += content.Length
		parts = append(parts, content.Reader)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("wire: form: %w", err)
	}
	flush()
	body.Reader = &parts
	return body, nil
}

// FileName returns the name of a file in a form, which matters for its extension only.
func FileName(m platform.Media) string {
	_, extension, _ := strings.Cut(m.MIME, "/")
	return "file." + strings.ReplaceAll(extension, "quicktime", "mov")
}

// lazy opens a reader at the first read.
type lazy struct {
	open func() (io.ReadCloser, error)
	r    io.ReadCloser
}

// Read implements io.Reader.
func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open()
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

// Close implements io.Closer. The transport calls it, since it closes the body of a request.
func (l *lazy) Close() error {
	if l.r == nil {
		return nil
	}
	return l.r.Close()
}

// many reads its readers in order, and closes those that implement io.Closer.
type many []io.Reader

// Read implements io.Reader.
func (m *many) Read(p []byte) (int, error) {
	for len(*m) > 0 {
		n, err := (*m)[0].Read(p)
		if errors.Is(err, io.EOF) {
			if c, ok := (*m)[0].(io.Closer); ok {
				_ = c.Close() // it was read to its end
			}
			*m = (*m)[1:]
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (m *many) Close() error {
	for _, r := range *m {
		if c, ok := r.(io.Closer); ok {
			_ = c.Close() // the request has failed
		}
	}
	*m = nil
	return nil
}

// explainingMembers are the members in which platforms explain a refusal to a person, the best first: error_user_msg of
// Meta, error_msg and error_text of VK, detail of X and Rutube, error_description of RFC 6749, description of Telegram,
// and message of all others. An error that is an object has them, too.
var explainingMembers = []string{"error_user_msg", "error_msg", "error_text", "detail", "error_description",
	"description",
	"message"}

// maxExplanations bounds the explanations of one refusal, which some platforms give for each wrong member.
const maxExplanations = 5

// explanation returns the platform's explanation of a refusal without the secrets of the call, or an empty text.
func explanation(a Answer, secrets []string) string {
	var body any
	if json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	text := strings.Join(distinct(explanations(body)), " ")
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[removed]")
			}
		}
	}
	return text
}

// explanations returns the explanations in a body: those of an object, of its error and of its errors, or those of each
// member in the form of Rutube, {"title": ["…"]}.
func explanations(body any) (all []string) {
	switch b := body.(type) {
	case string:
		if b = strings.TrimSpace(plain(b)); b != "" {
			return []string{b}
		}
	case []any:
		for _, one := range b {
			all = append(all, explanations(one)...)
		}
		return all
	case map[string]any:
		return ofObject(b)
	}
	return nil
}

func ofObject(b map[string]any) (all []string) {
	if inner, ok := b["error"].(map[string]any); ok {
		if all = ofObject(inner); len(all) > 0 {
			return all
		}
	}
	for _, member := range explainingMembers {
		if all = explanations(b[member]); len(all) > 0 {
			break
		}
	}
	if listed, ok := b["errors"].([]any); ok {
		all = append(all, explanations(listed)...)
	}
	if len(all) > 0 {
		return all
	}
	for _, member := range slices.Sorted(maps.Keys(b)) {
		texts, ok := b[member].([]any)
		if !ok || member == "errors" || member == "request_params" {
			continue
		}
		for _, one := range texts {
			text, ok := one.(string)
			if !ok {
				continue
			}
			if member != "non_field_errors" {
				text = member + ": " + text
			}
			all = append(all, plain(text))
		}
	}
	if len(all) > 0 {
		return all
	}
	// A platform that explains nothing has at least named the error.
	for _, member := range []string{"error", "code"} {
		if name, ok := b[member].(string); ok && name != "" {
			return []string{name}
		}
	}
	return nil
}

// distinct returns the first explanations, each once.
func distinct(all []string) (some []string) {
	for _, text := range all {
		if !slices.Contains(some, text) && len(some) < maxExplanations {
			some = append(some, text)
		}
	}
	return some
}

var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[A-Za-z!][^<>]*>`) })

// plain removes the tags of HTML from an explanation, such as those of the links in Google's. It keeps a tag in quotes,
// because that is what the explanation is about.
func plain(text string) string {
	text = html.UnescapeString(text)
	var b strings.Builder
	end := 0
	for _, at := range tag().FindAllStringIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		if quoted := strings.HasSuffix(text[:at[0]], `"`) && strings.HasPrefix(text[at[1]:], `"`); quoted {
			b.WriteString(text[at[0]:at[1]])
		}
		end = at[1]
	}
	return b.String() + text[end:]
}
