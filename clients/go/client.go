// Package contentautomation is the client of the Content-Automation API. It repeats requests that got no answer or may
// be repeated, with the same idempotency key, reads lists page by page, waits for work that runs in the background, and
// verifies webhooks.
package contentautomation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// Version is the version of this module.
const Version = "1.0.0"

const (
	defaultTimeout = 60 * time.Second
	defaultRetries = 2
	// maxAnswer bounds a response, so that a faulty server does not fill the memory.
	maxAnswer = 64 << 20
)

// Option configures a client.
type Option func(*Client)

// WithAPIKey sets the API key: svc_live_… or svc_test_…. The default is the variable SVC_API_KEY.
func WithAPIKey(key string) Option { return func(c *Client) { c.key = func() string { return key } } }

// WithBaseURL sets the base URL of the API, such as https://api.example.com. The default is the variable BASE_URL.
func WithBaseURL(base string) Option { return func(c *Client) { c.base = base } }

// WithInsecure sends a live key to a base URL without https too, such as http://sandbox:8080 of the sandbox.
func WithInsecure() Option { return func(c *Client) { c.insecure = true } }

// WithDefaultHeader sets a header of every request. WithHeader replaces it for a call.
func WithDefaultHeader(name, value string) Option {
	return func(c *Client) { c.header.Set(name, value) }
}

// WithLogger logs every attempt: at the level info, or as a warning if it fails, or if what the call uses ends. An entry
// has the method, the path, status, request_id, attempt, duration, and error, pause, deprecation and sunset where there
// is one. It never has the key, the query or a body.
func WithLogger(l *slog.Logger) Option { return func(c *Client) { c.log = l } }

// WithHTTPClient sets the HTTP client, for example one with another transport. Redirects are not followed.
func WithHTTPClient(c *http.Client) Option {
	return func(client *Client) {
		own := *c
		client.http = &own
	}
}

// WithMaxRetries sets how often a request is repeated. The default is 2.
func WithMaxRetries(n int) Option { return func(c *Client) { c.retries = max(n, 0) } }

// WithTimeout bounds each attempt. The default is 60 seconds.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithUserAgent adds the name of the program to the header User-Agent.
func WithUserAgent(name string) Option { return func(c *Client) { c.agent = name + " " + c.agent } }

// WithClock sets the clock, and how to wait: for tests.
func WithClock(now func() time.Time, sleep func(context.Context, time.Duration) error) Option {
	return func(c *Client) { c.now, c.sleep = now, sleep }
}

// transport has what all services of a client share.
type transport struct {
	base     string
	key      secret
	insecure bool
	header   http.Header
	log      *slog.Logger
	http     *http.Client
	retries  int
	timeout  time.Duration
	agent    string
	sleep    func(context.Context, time.Duration) error
	now      func() time.Time
}

// secret returns a text. It is a function, so that no verb of fmt prints the text.
type secret func() string

// String returns the kind of the key only.
func (s secret) String() string { return s()[:len("svc_test_")] + "…" }

var keyShape = regexp.MustCompile(`^svc_(live|test)_[0-9A-Za-z]{49}$`)

// New returns a client. It takes the API key from the variable SVC_API_KEY and the base URL from BASE_URL, unless options
// set them. It refuses a malformed key, and a live key for a URL that is not https.
func New(options ...Option) (*Client, error) {
	c := &Client{transport: transport{base: strings.TrimSpace(os.Getenv("BASE_URL")), http: &http.Client{}, header: http.Header{},
		log: slog.New(slog.DiscardHandler), retries: defaultRetries, timeout: defaultTimeout,
		agent: "content-automation-go/" + Version, sleep: sleep, now: time.Now}}
	WithAPIKey(strings.TrimSpace(os.Getenv("SVC_API_KEY")))(c) // a file with CRLF leaves a line break
	for _, option := range options {
		option(c)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.base = strings.TrimSuffix(strings.TrimRight(c.base, "/"), "/v1")
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.bind()
	return c, nil
}

// check checks the key and the base URL.
func (t *transport) check() error {
	switch key := t.key(); {
	case strings.TrimSpace(key) != key:
		return &ConfigError{"the API key has a space or a line break at its start or end"}
	case strings.TrimSpace(t.base) != t.base:
		return &ConfigError{"the base URL has a space or a line break at its start or end"}
	case key == "":
		return &ConfigError{"the API key is empty: use WithAPIKey, or set the variable SVC_API_KEY"}
	case !keyShape.MatchString(key):
		return &ConfigError{"the API key is malformed: a key is svc_live_ or svc_test_ and 49 letters and digits"}
	case t.base == "":
		return &ConfigError{"the base URL is missing: use WithBaseURL, or set the variable BASE_URL"}
	}
	u, err := url.Parse(t.base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil ||
		strings.ContainsAny(t.base, "?#") {
		return &ConfigError{"the base URL must be a URL such as https://api.example.com"}
	}
	if u.Scheme == "http" && strings.HasPrefix(t.key(), "svc_live_") && !loopback(u.Hostname()) && !t.insecure {
		return &ConfigError{"the base URL must use https for a live key; for a sandbox, use WithInsecure"}
	}
	return nil
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// String names the client without its key.
func (c *Client) String() string {
	return fmt.Sprintf("contentautomation.Client(%s, %s)", c.base, c.key)
}

// GoString names the client without its key.
func (c *Client) GoString() string { return c.String() }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// RequestOption configures a call.
type RequestOption func(*call)

// call is a call with its options.
type call struct {
	method, path string
	query        url.Values
	body         any
	header       http.Header
	retries      *int
	timeout      time.Duration
	response     *Response
	until        []string
	every, limit time.Duration
}

// WithIdempotencyKey sets the idempotency key. By default each call has a new one.
func WithIdempotencyKey(key string) RequestOption { return WithHeader("Idempotency-Key", key) }

// WithIfMatch makes a change only if the resource still has this version, such as item.Version, or this ETag.
func WithIfMatch[V string | int | int64](version V) RequestOption {
	etag := fmt.Sprint(version)
	if !etagShape.MatchString(etag) {
		etag = `"` + etag + `"`
	}
	return WithHeader("If-Match", etag)
}

var etagShape = regexp.MustCompile(`^(\*|(W/)?".*")$`)

// WithHeader sets a header of the request.
func WithHeader(name, value string) RequestOption {
	return func(c *call) { c.header.Set(name, value) }
}

// WithResponse stores status and headers of the response.
func WithResponse(r *Response) RequestOption { return func(c *call) { c.response = r } }

// WithCallTimeout bounds each attempt of this call.
func WithCallTimeout(d time.Duration) RequestOption { return func(c *call) { c.timeout = d } }

// WithCallRetries sets how often this call is repeated.
func WithCallRetries(n int) RequestOption { return func(c *call) { c.retries = &n } }

// Until sets the states that a waiting call waits for, such as ContentStatePublished, instead of all in which the work
// has succeeded.
func Until[S WorkState](states ...S) RequestOption {
	return func(c *call) {
		c.until = nil
		for _, s := range states {
			c.until = append(c.until, string(s))
		}
	}
}

// PollEvery sets the greatest pause between the requests of a waiting call. The default is 10 seconds.
func PollEvery(d time.Duration) RequestOption { return func(c *call) { c.every = d } }

// WaitAtMost bounds a waiting call. The default is 15 minutes.
func WaitAtMost(d time.Duration) RequestOption { return func(c *call) { c.limit = d } }

// Response has what a call returns beside its result.
type Response struct {
	Status    int
	Header    http.Header
	RequestID string
	// Replayed reports whether this is the response of an earlier request with the same idempotency key.
	Replayed bool
	// Body is the body as it was received.
	Body []byte
	// Attempts is the number of requests that were sent.
	Attempts int
}

// Ptr returns a pointer to a value, for optional members.
func Ptr[T any](v T) *T { return &v }

// Value returns what a pointer points to, or the zero value of its type if it is nil. Members of answers that may be null
// are pointers.
func Value[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// Nullable is an optional member that may be null. Its zero value leaves the member out.
type Nullable[T any] struct {
	value T
	state byte
}

// Set returns a member with a value.
func Set[T any](v T) Nullable[T] { return Nullable[T]{v, 1} }

// Null returns a member that is null: in a change it removes the value.
func Null[T any]() Nullable[T] { return Nullable[T]{state: 2} }

// IsZero reports whether the member is left out.
func (n Nullable[T]) IsZero() bool { return n.state == 0 }

// Get returns the value, and whether there is one.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == 1 }

// IsTimeout reports whether a call ended because an attempt, or waiting, took too long.
func IsTimeout(err error) bool {
	var c *ConnectionError
	var w *WaitTimeoutError
	return errors.As(err, &c) && c.Timeout || errors.As(err, &w)
}
