// Package fetch reads sources: it fetches them, and extracts the texts of feeds and pages. Workers alone link it. Start
// with Fetcher.Read.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	clip "github.com/content-automation/api/pkg/base/text"

	readability "codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source"
)

// The bounds of one source: the time and the size of an answer, the attempts, the wait before the second one, and the
// articles that are kept.
const (
	timeout     = 8 * time.Second
	maxBody     = 2 << 20
	attempts    = 2
	wait        = 300 * time.Millisecond
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

// status is the error of an answer that is not a text.
type status int

func (s status) Error() string { return fmt.Sprintf("fetch: the source answered %d", int(s)) }

// Read returns the articles that a source has now. If the source has not changed since it was read into the cache, it
// returns the cache with the new time. A read that fails for a moment is tried twice.
func (f *Fetcher) Read(ctx context.Context, s source.Source, cached source.Cache) (c source.Cache, err error) {
	for n := range attempts {
		if n > 0 {
			select {
			case <-ctx.Done():
				return c, ctx.Err()
			case <-time.After(wait + rand.N(wait)):
			}
		}
		if c, err = f.read(ctx, s, cached); err == nil || !passing(err) {
			return c, err
		}
	}
	return c, err
}

// passing reports whether a read may succeed when it is tried again.
func passing(err error) bool {
	var code status
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &code):
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	case errors.As(err, &blocked), errors.Is(err, errContent), errors.Is(err, safehttp.ErrBodyTooLarge):
		return false
	}
	return true
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
	if cached.Modified != "" {
		req.Header.Set("If-Modified-Since", cached.Modified)
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
		return c, status(code)
	}
	c = source.Cache{Source: s, ETag: short(resp.Header.Get("ETag")),
		Modified: short(resp.Header.Get("Last-Modified")), At: f.Now()}
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
	if text == "" {
		text = title
	}
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
