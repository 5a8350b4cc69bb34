// Package fetch reads sources: it fetches them, and extracts the texts of feeds and pages. Workers alone link it. Start
// with Fetcher.Read.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/content-automation/api/pkg/base/budget"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source"
)

// The bounds of one source: the time and the size of an answer, the attempts, the shortest and the longest wait before
// the second one, and the articles that are kept.
const (
	timeout     = 8 * time.Second
	maxBody     = 2 << 20
	attempts    = 2
	wait        = 300 * time.Millisecond
	longestWait = 3 * time.Second
	maxArticles = 15
)

// Client fetches addresses of callers.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewClient returns the client for sources.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: maxBody, Timeout: timeout,
		Redirects: safehttp.MaxRedirects, UserAgent: "content-automation-sources/1"})
}

// Fetcher reads sources.
type Fetcher struct {
	Client Client
	Now    func() time.Time
}

// refusal is the error of an answer that is not a text.
type refusal struct {
	status int
	// pause is the wait before another attempt, if another may succeed.
	pause time.Duration
	again bool
}

func (r *refusal) Error() string { return fmt.Sprintf("fetch: the source answered %d", r.status) }

// Read returns the articles that a source has now. If the source has not changed since it was read into the cache, it
// returns the cache with the new time. A read that fails for a moment is tried twice, unless the server asks for a long
// wait.
func (f *Fetcher) Read(ctx context.Context, s source.Source, cached source.Cache) (c source.Cache, err error) {
	for n := 1; ; n++ {
		if c, err = f.read(ctx, s, cached); err == nil {
			return c, nil
		}
		pause, again := passing(err)
		if pause = max(pause, wait+rand.N(wait)); !again || n == attempts || pause > longestWait {
			return c, err
		}
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passing reports whether a read may succeed when it is tried again, and the wait that the server asks for.
func passing(err error) (time.Duration, bool) {
	var answer *refusal
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &answer):
		return answer.pause, answer.again
	case errors.As(err, &blocked), errors.Is(err, errContent), errors.Is(err, safehttp.ErrBodyTooLarge):
		return 0, false
	}
	return 0, true
}

// errContent is the error of an answer whose text cannot be extracted.
var errContent = errors.New("fetch: the source has no text that can be read")

func (f *Fetcher) read(ctx context.Context, s source.Source, cached source.Cache) (c source.Cache, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errContent, err)
	}
	req.Header.Set("Accept", "application/rss+xml, application/atom+xml, application/feed+json, text/html;q=0.9, "+
		"*/*;q=0.5")
	if cached.ETag != "" {
		req.Header.Set("If-None-Match", cached.ETag)
	}
	if cached.LastModified != "" {
		req.Header.Set("If-Modified-Since", cached.LastModified)
	}
	resp, err := f.Client.Do(req)
	if err != nil {
		return c, fmt.Errorf("fetch: %w", err)
	}
	at := s.URL
	if resp.Request != nil { // behind redirects
		at = resp.Request.URL.String()
	}
	body, err := safehttp.ReadBody(resp, maxBody)
	switch code := resp.StatusCode; {
	case err != nil:
		return c, fmt.Errorf("fetch: %w", err)
	case code == http.StatusNotModified:
		cached.At = f.Now()
		return cached, nil
	case code != http.StatusOK:
		pause, again := safehttp.Again(resp, f.Now())
		return c, &refusal{code, pause, again}
	}
	c = source.Cache{Source: s, ETag: short(resp.Header.Get("ETag")),
		LastModified: short(resp.Header.Get("Last-Modified")), At: f.Now()}
	c.Articles, err = extract(ctx, s.Kind, at, resp.Header.Get("Content-Type"), body)
	return c, err
}

// short returns a validator, or "" for one that is too long to be kept.
func short(validator string) string {
	if len(validator) > 200 {
		return ""
	}
	return validator
}

// extract returns the articles of an answer.
func extract(ctx context.Context, kind source.Kind, at, contentType string,
	body []byte) (found []source.Article, err error) {
	defer func() {
		if r := recover(); r != nil { // the libraries read what strangers have written
			found, err = nil, fmt.Errorf("%w: %v", errContent, r)
		}
	}()
	base, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	if kind == source.Feed {
		return ofFeed(ctx, base, body)
	}
	if media, _, err := mime.ParseMediaType(contentType); err == nil && !strings.Contains(media, "html") &&
		!strings.HasPrefix(media, "text/") {
		return nil, fmt.Errorf("%w: it is %s", errContent, media)
	}
	return ofPage(ctx, base, contentType, body)
}

// ofFeed returns the newest articles of a feed.
func ofFeed(ctx context.Context, base *url.URL, body []byte) (found []source.Article, err error) {
	entries, err := ParseFeed(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	for _, e := range entries {
		link, err := base.Parse(e.URL)
		if err != nil || link.Scheme != "https" && link.Scheme != "http" || len(link.String()) > source.MaxURL {
			continue
		}
		text := cmp.Or(e.Content, e.Summary)
		if len(e.Summary) > len(text) {
			text = e.Summary
		}
		if a := articleOf(e.Title, link.String(), e.PublishedAt, text); a.Title != "" && len(found) < maxArticles {
			found = append(found, a)
		}
	}
	return found, nil
}

// ofPage returns the article of a page. One with too much in it is an error.
func ofPage(ctx context.Context, base *url.URL, contentType string, body []byte) ([]source.Article, error) {
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	small, err := BoundPage(ctx, decoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	page, err := readability.FromReader(bytes.NewReader(small), base)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContent, err)
	}
	var text strings.Builder
	if page.Node == nil || page.RenderText(&text) != nil || strings.TrimSpace(text.String()) == "" {
		return nil, errContent
	}
	var published *time.Time
	if at, err := page.PublishedTime(); err == nil && !at.IsZero() {
		published = &at
	}
	return []source.Article{articleOf(page.Title(), base.String(), published, text.String())}, nil
}

func articleOf(title, link string, published *time.Time, text string) source.Article {
	if published != nil {
		utc := published.UTC()
		published = &utc
	}
	title, text = oneLine(title, source.MaxTitle), oneLine(text, source.MaxText)
	text = cmp.Or(text, title)
	return source.Article{Title: title, URL: link, PublishedAt: published, Text: text}
}

// oneLine puts a text on one line of at most n characters, without control characters.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == '\u2028' || r == '\u2029' || r < ' ' {
			return ' '
		}
		return r
	}, html.UnescapeString(strings.ToValidUTF8(text, "")))), " ")
	return clip.ClipLetters(text, n)
}

// ErrTooMuch is the error of a page or feed with more in it than is read.
var ErrTooMuch = budget.ErrExceeded

// The most that a page and a feed may have. The tokenizers hold one tag, text or comment at a time: an attribute of a
// feed takes more memory than one of a page. Of a feed of XML, attributes count as elements. It may have grown to twice
// its bytes by its encoding.
var (
	pages = budget.Budget{Name: "page", Bytes: maxBody, Elements: 20_000, Depth: 100, Part: 512 << 10,
		Time: 5 * time.Second}
	feeds = budget.Budget{Name: "feed of XML", Bytes: 4 * maxBody, Elements: 70_000, Depth: 100, Part: 256 << 10,
		Time: 5 * time.Second}
	jsonFeeds = budget.Budget{Name: "feed of JSON", Bytes: maxBody, Elements: 50_000, Depth: 100, Time: 5 * time.Second}
)

// The most elements and namespaces of a feed of XML.
const (
	mostElements = 20_000
	mostSpaces   = 100
)

// Elements of a page by what becomes of them. A parser repeats open formatting elements in every paragraph, so that a
// small page becomes a huge tree. Their text is all that is wanted; of links, a parser has one open at a time.
var (
	formatting = set(atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small,
		atom.Strike, atom.Strong, atom.Tt, atom.U, atom.Marquee, atom.Object, atom.Applet, atom.Frameset)
	// dropped are left out with all that they have. HTML in pictures and formulas has rules of its own.
	dropped = set(atom.Svg, atom.Math, atom.Template, atom.Select)
	// raw have text alone, which no reader sees.
	raw = set(atom.Style, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Xmp,
		atom.Plaintext)
	void = set(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Image, atom.Input,
		atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr)
	// closed end by themselves where the next one begins.
	closed = set(atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot,
		atom.Option, atom.Optgroup, atom.Colgroup, atom.A)
	// attributes are those that the text, title and date of an article are found by.
	attributes = []string{"class", "id", "href", "itemprop", "itemscope", "itemtype", "property", "name", "content",
		"rel", "datetime", "style", "role", "hidden", "aria-hidden", "aria-modal", "lang", "dir", "src", "alt", "type"}
)

func set(all ...atom.Atom) map[atom.Atom]bool {
	in := map[atom.Atom]bool{}
	for _, a := range all {
		in[a] = true
	}
	return in
}

// BoundPage returns a page in UTF-8 without what can make its tree large: formatting, pictures, scripts, comments and
// end tags that end nothing. The text of its article, the links and the metadata stay. A page with too much in it is an
// error.
func BoundPage(ctx context.Context, body io.Reader) ([]byte, error) {
	m, end := pages.Begin(ctx)
	defer end()
	p := &page{tokens: html.NewTokenizer(body), m: m}
	p.tokens.SetMaxBuf(int(pages.Part))
	p.out.WriteString("<!DOCTYPE html>")
	for {
		if err := m.Err(); err != nil {
			return nil, err
		}
		kind := p.tokens.Next()
		if kind == html.ErrorToken {
			switch err := p.tokens.Err(); {
			case errors.Is(err, io.EOF):
				return p.out.Bytes(), nil
			case errors.Is(err, html.ErrBufferExceeded):
				return nil, fmt.Errorf("%w: more than %d bytes in one part", ErrTooMuch, pages.Part)
			default:
				return nil, fmt.Errorf("bound: %w", err)
			}
		}
		if err := p.take(kind); err != nil {
			return nil, err
		}
	}
}

// page writes the smaller form of a page.
type page struct {
	tokens *html.Tokenizer
	out    bytes.Buffer
	// open are the elements that have not ended, and depth is the number of those that do not end by themselves.
	open  []string
	depth int
	// within are the dropped elements that have not ended.
	within []atom.Atom
	// data reports that the text is that of a script with data, and hidden that it is of an element that is left out.
	data, hidden bool
	m            *budget.Meter
}

func (p *page) take(kind html.TokenType) error {
	switch kind {
	case html.TextToken:
		p.text()
	case html.StartTagToken, html.SelfClosingTagToken:
		return p.start()
	case html.EndTagToken:
		p.end()
	}
	return nil
}

func (p *page) text() {
	switch {
	case len(p.within) > 0 || p.hidden:
	case p.data:
		if text := p.tokens.Raw(); !bytes.Contains(text, []byte("<!--")) {
			p.out.Write(text)
		}
	default:
		p.out.WriteString(html.EscapeString(string(p.tokens.Text())))
	}
}

func (p *page) start() error {
	if err := p.m.Count(1); err != nil {
		return err
	}
	name, more := p.tokens.TagName()
	a, tag := atom.Lookup(name), string(name)
	switch {
	case dropped[a]:
		if p.within = append(p.within, a); len(p.within) > pages.Depth {
			return tooDeep()
		}
		return nil
	case raw[a]:
		p.hidden = true
		return nil
	case len(p.within) > 0, formatting[a]:
		p.hidden = p.hidden || a == atom.Script
		return nil
	}
	kept := p.attributes(more)
	if a == atom.Script {
		if p.hidden = !strings.Contains(kept, "application/ld+json"); p.hidden {
			return nil
		}
		p.data = true
	}
	p.out.WriteString("<" + tag + kept + ">")
	if void[a] {
		return nil
	}
	p.open = append(p.open, tag)
	if !closed[a] {
		p.depth++
	}
	if p.depth > pages.Depth || len(p.open) > pages.Elements {
		return tooDeep()
	}
	return nil
}

func tooDeep() error {
	return fmt.Errorf("%w: more than %d elements in one another", ErrTooMuch, pages.Depth)
}

// attributes returns the attributes of the start tag that are kept.
func (p *page) attributes(more bool) string {
	var kept strings.Builder
	known := map[string]bool{}
	for more && len(known) < len(attributes) {
		var name, value []byte
		name, value, more = p.tokens.TagAttr()
		if n := string(name); slices.Contains(attributes, n) && !known[n] {
			known[n] = true
			kept.WriteString(" " + n + `="` + html.EscapeString(string(value)) + `"`)
		}
	}
	return kept.String()
}

func (p *page) end() {
	name, _ := p.tokens.TagName()
	a, tag := atom.Lookup(name), string(name)
	p.hidden, p.data = false, false
	switch {
	case dropped[a]:
		if n := len(p.within); n > 0 && slices.Contains(p.within, a) {
			p.within = p.within[:slices.Index(p.within, a)]
		}
		return
	case len(p.within) > 0, formatting[a], raw[a]:
		return
	}
	// Only the last ones are looked at: an end tag far away from its start tag ends nothing.
	for i := len(p.open) - 1; i >= max(0, len(p.open)-2*pages.Depth); i-- {
		if p.open[i] != tag {
			continue
		}
		for _, ended := range p.open[i:] {
			if !closed[atom.Lookup([]byte(ended))] {
				p.depth--
			}
		}
		p.open = p.open[:i]
		p.out.WriteString("</" + tag + ">")
		return
	}
}

// ParseFeed returns the entries of a feed. One with too much in it is an error.
func ParseFeed(ctx context.Context, body []byte) (found []source.Entry, err error) {
	defer func() {
		if r := recover(); r != nil { // the library reads what strangers have written
			found, err = nil, fmt.Errorf("feed: %v", r)
		}
	}()
	if body, err = BoundFeed(ctx, body); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	read, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	for _, it := range read.Items {
		published := it.PublishedParsed
		if published == nil {
			published = it.UpdatedParsed
		}
		found = append(found, source.Entry{Key: cmp.Or(it.GUID, it.Link), Title: clip.OfHTML(it.Title), URL: it.Link,
			Summary: clip.OfHTML(it.Description), Content: clip.OfHTML(it.Content), PublishedAt: published})
	}
	return found, nil
}

// errEncoding is the error of a feed that changes its encoding after its beginning.
var errEncoding = errors.New("bound: the encoding is not that of the beginning")

// BoundFeed returns an XML or JSON feed in UTF-8, or an error if it has too much in it.
func BoundFeed(ctx context.Context, body []byte) ([]byte, error) {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte(clip.ByteOrderMark)), " \t\r\n")
	switch {
	case bytes.HasPrefix(body, []byte("{")):
		return body, jsonFeeds.JSON(ctx, body)
	}
	from := clip.Wide(body)
	if from == nil {
		from = clip.Declared(body, "")
	}
	if from != nil {
		decoded, err := io.ReadAll(from.NewDecoder().Reader(bytes.NewReader(body)))
		if err != nil {
			return nil, fmt.Errorf("bound: %w", err)
		}
		body = bytes.TrimPrefix(decoded, []byte(clip.ByteOrderMark))
	}
	body = clip.WithoutDeclaration(body)
	return body, elements(ctx, body)
}

// elements counts what an XML document has.
func elements(ctx context.Context, body []byte) error {
	m, end := feeds.Begin(ctx)
	defer end()
	input := m.Tokens(bytes.NewReader(body))
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errEncoding }
	var count, spaces int
	for {
		token, err := decoder.RawToken()
		input.Ended(decoder.InputOffset())
		switch {
		case errors.Is(err, io.EOF):
			return m.Err()
		case err != nil:
			return fmt.Errorf("bound: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			count++
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					spaces++
				}
			}
			if err := cmp.Or(m.Enter(), m.Count(len(t.Attr))); err != nil {
				return err
			}
		case xml.EndElement:
			m.Leave()
		}
		switch {
		case count > mostElements:
			return fmt.Errorf("%w: more than %d elements", ErrTooMuch, mostElements)
		case spaces > mostSpaces:
			return fmt.Errorf("%w: more than %d namespaces", ErrTooMuch, mostSpaces)
		}
	}
}
