// Package control has the parts that the fakes of all platforms share: faults for chosen
// calls, counts of visible posts, and access tokens that expire and are refreshed. It
// implements Fake.
package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxKept is the greatest size of the body that a CutOff call keeps.
const maxKept = 80 << 20

// Post is a visible post on a platform.
type Post struct {
	ID      string    `json:"id"`
	Account string    `json:"account"`
	Content string    `json:"content"` // its text and media, for comparison
	At      time.Time `json:"at"`
}

// Control is the state of one fake. It is safe for concurrent use.
type Control struct {
	now     func() time.Time
	limited func(w http.ResponseWriter, seconds int)

	mu       sync.Mutex
	calls    int
	ids      int64
	faults   map[int]Fault
	answers  []Answer
	posts    []Post
	changes  int
	comments []Comment
	waiting  chan struct{}
	media    map[string]Medium

	tokens tokens
}

var _ Fake = (*Control)(nil)

// New makes a Control. limited writes the platform's response to too many calls.
func New(now func() time.Time, limited func(w http.ResponseWriter, seconds int)) *Control {
	return &Control{
		now: now, limited: limited, faults: map[int]Fault{}, waiting: make(chan struct{}, 16),
		tokens: tokens{good: map[string]time.Time{}, refresh: map[string]bool{}},
	}
}

// Now returns the time of the fake's clock.
func (c *Control) Now() time.Time { return c.now() }

// ID returns a new id.
func (c *Control) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return strconv.FormatInt(17_900_000_000_000_000+c.ids, 10)
}

// Small returns a new id that fits into 32 bits.
func (c *Control) Small() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return 456_000_000 + c.ids
}

// Publish records a visible post.
func (c *Control) Publish(p Post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.At = c.now()
	c.posts = append(c.posts, p)
}

// Published returns the posts, oldest first.
func (c *Control) Published() []Post {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.posts)
}

// Kept returns a text in the form in which some platforms keep it: without empty lines (dilame/instagram-private-api
// #902).
func Kept(text string) string {
	return lines.ReplaceAllString(text, "\n")
}

var lines = regexp.MustCompile(`\n+`)

// Find returns the post with an id.
func (c *Control) Find(id string) (Post, bool) {
	posts := c.Published()
	i := slices.IndexFunc(posts, func(p Post) bool { return p.ID == id })
	if i < 0 {
		return Post{}, false
	}
	return posts[i], true
}

// Remove deletes a visible post, and reports whether it existed.
func (c *Control) Remove(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.posts)
	c.posts = slices.DeleteFunc(c.posts, func(p Post) bool { return p.ID == id })
	c.changes += before - len(c.posts)
	return len(c.posts) < before
}

// Rewrite replaces the content of a visible post, and reports whether it exists.
func (c *Control) Rewrite(id, content string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.posts {
		if c.posts[i].ID == id {
			c.posts[i].Content = content
			c.changes++
			return true
		}
	}
	return false
}

// Changes returns how often a visible post was changed or deleted.
func (c *Control) Changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// Posts implements Fake.
func (c *Control) Posts() []string {
	var all []string
	for _, p := range c.Published() {
		all = append(all, p.Account+": "+p.Content)
	}
	for _, text := range c.Comments() {
		all = append(all, CommentPrefix+text)
	}
	return all
}

// Calls implements Fake.
func (c *Control) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// Fail implements Fake.
func (c *Control) Fail(call int, f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[call] = f
}

// Calm implements Fake.
func (c *Control) Calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.faults)
	c.answers = nil
}

// Waiting implements Fake.
func (c *Control) Waiting() <-chan struct{} { return c.waiting }

func (c *Control) next() Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return c.faults[c.calls]
}

// Handle returns h with the faults for its calls.
func (c *Control) Handle(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault := c.next()
		if a, ok := c.said(r); ok {
			a.write(w, r)
			return
		}
		switch fault {
		case RateLimited:
			c.limited(w, 5)
		case ServerError:
			_, _ = io.Copy(io.Discard, r.Body) // the caller may have gone
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "<html>503 Service Unavailable</html>")
		case Garbage:
			h.ServeHTTP(httptest.NewRecorder(), r)
			_, _ = io.WriteString(w, "{\"\x00<html>")
		case AnswerLost:
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // closes the connection
		case RequestLost:
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		case CutOff:
			// The server must read the body to notice that the caller has gone.
			body, err := io.ReadAll(io.LimitReader(r.Body, maxKept))
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(httptest.NewRecorder(), r)
			c.waiting <- struct{}{}
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// JSON writes a value as a response.
func JSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may have gone
}

// Base returns the address at which a fake is reached. It includes a prefix that
// http.StripPrefix has removed.
func Base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	return scheme + "://" + r.Host + strings.TrimSuffix(asked, r.URL.EscapedPath())
}

// Public reports whether a platform would read a file at the address. On a local system,
// files are on loopback, without TLS.
func Public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Web reports whether an address is one of the web, which a post can lead to.
func Web(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// Sum reads a file, and returns its length and a hash of its content.
func Sum(r io.Reader) (int64, string, error) {
	h := newHash()
	n, err := io.Copy(h, r)
	return n, fmt.Sprintf("%x", h.Sum(nil)[:6]), err
}
