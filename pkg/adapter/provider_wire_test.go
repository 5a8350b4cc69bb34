package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

const secret = "key-of-the-service"

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// client makes a client of a provider that the handler plays.
func client(t *testing.T, h http.HandlerFunc) *wire.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return clientOf(t, server.URL)
}

func clientOf(t *testing.T, address string) *wire.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return wire.New(wire.Config{
		HTTP: &http.Client{Transport: transport}, BaseURL: address,
		Key: func(context.Context) (string, error) { return secret, nil },
		Now: func() time.Time { return noon },
	}, wire.Dialect{
		Provider:  "acme",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Key "+key) },
	})
}

func post(submits bool) wire.Call {
	return wire.Call{Method: http.MethodPost, Path: "/jobs", Body: map[string]any{"prompt": "x"}, Submits: submits}
}

// want checks the kind of an error. Neither the secret nor an address may be in the message for the caller, nor the
// secret in the log.
func want(t *testing.T, name string, err error, kind provider.ErrorKind, code string) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v is no *provider.Error", name, err)
	}
	if e.Kind != kind || e.Code != code || e.Message == "" {
		t.Errorf("%s: got %v, want %s %s", name, e, kind, code)
	}
	if strings.Contains(e.Message, "127.0.0.1") || strings.Contains(e.Message, "http") ||
		strings.Contains(e.Error(), secret) || strings.Contains(e.Error(), "127.0.0.1:") {
		t.Errorf("%s: tells too much: %v", name, e)
	}
	return e
}

func TestACallSendsAndReadsJSON(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"said":%q}`, fmt.Sprint(r.Method, r.URL, in, r.Header.Get("Authorization"),
			r.Header.Get("Content-Type"), r.Header.Get("Accept")))
	})
	var out struct{ Said string }
	call := post(true)
	call.Query = map[string][]string{"output": {"a b"}}
	if err := c.JSON(t.Context(), call, &out); err != nil {
		t.Fatal(err)
	}
	if want := "POST/jobs?output=a+b map[prompt:x]Key " + secret +
		"application/jsonapplication/json"; out.Said != want {
		t.Errorf("got %s, want %s", out.Said, want)
	}
}

func TestRefusalsAreTold(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string
		kind       provider.ErrorKind
		code       string
		after      time.Duration
	}{
		{429, "7", provider.Transient, "provider_busy", 7 * time.Second},
		{429, "Fri, 01 May 2026 12:01:30 GMT", provider.Transient, "provider_busy", 90 * time.Second},
		{429, "Fri, 01 May 2026 11:00:00 GMT", provider.Transient, "provider_busy", 0},
		{429, "", provider.Transient, "provider_busy", 0},
		{429, "soon", provider.Transient, "provider_busy", 0},
		{429, "3600", provider.Quota, "provider_quota", time.Hour},
		{429, "99999999999999", provider.Quota, "provider_quota", 24 * time.Hour},
		{402, "", provider.Quota, "provider_quota", 0},
		{401, "", provider.Quota, "provider_access", 0},
		{403, "", provider.Quota, "provider_access", 0},
		{408, "", provider.Transient, "provider_unavailable", 0},
		{500, "", provider.Transient, "provider_unavailable", 0},
		{502, "", provider.Transient, "provider_unavailable", 0},
		{503, "30", provider.Transient, "provider_unavailable", 30 * time.Second},
		{504, "", provider.Transient, "provider_unavailable", 0},
		{400, "9", provider.BadInput, "provider_refused", 0},
		{404, "", provider.BadInput, "provider_refused", 0},
		{413, "", provider.BadInput, "provider_refused", 0},
		{422, "", provider.BadInput, "provider_refused", 0},
	} {
		for _, submits := range []bool{true, false} {
			name := fmt.Sprint(c.status, " ", c.retryAfter)
			acme := client(t, func(w http.ResponseWriter, r *http.Request) {
				if c.retryAfter != "" {
					w.Header().Set("Retry-After", c.retryAfter)
				}
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `{"detail":"not with %s"}`, r.Header.Get("Authorization"))
			})
			e := want(t, name, acme.JSON(t.Context(), post(submits), nil), c.kind, c.code)
			if e.RetryAfter != c.after {
				t.Errorf("%s: after %v, want %v", name, e.RetryAfter, c.after)
			}
			if !strings.Contains(e.Error(), "not with Key [credential]") {
				t.Errorf("%s: the log lacks the answer: %v", name, e)
			}
		}
	}
}

func TestAProviderReadsItsOwnRefusals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	defer server.Close()
	c := wire.New(wire.Config{BaseURL: server.URL + "/", Key: func(context.Context) (string, error) {
		return secret,
			nil
	}}, wire.Dialect{
		Provider: "acme", Authorize: func(http.Header, string) {},
		Classify: func(_ wire.Call, status int, body []byte) *provider.Error {
			if string(body) == "/full" && status == http.StatusUnprocessableEntity {
				return &provider.Error{Kind: provider.Quota, Code: "full", Message: "Full."}
			}
			return nil
		},
	})
	e := want(t, "full", c.JSON(t.Context(), wire.Call{Method: "GET", Path: "/full"}, nil), provider.Quota, "full")
	if e.RetryAfter != 5*time.Second {
		t.Errorf("after %v, want that of the answer", e.RetryAfter)
	}
	want(t, "other", c.JSON(t.Context(), wire.Call{Method: "GET", Path: "/other"}, nil), provider.BadInput,
		"provider_refused")
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c := client(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		want(t, fmt.Sprint(status), c.JSON(t.Context(), post(true), nil), provider.Transient, "provider_unavailable")
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("followed %d times", n)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON":   "<html>",
		"cut short": `{"id":"1"`,
		"too large": `{"id":"` + strings.Repeat("1", 2<<20) + `"}`,
		"empty":     "",
	} {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		var out struct{ ID string }
		want(t, name, c.JSON(t.Context(), post(true), &out), provider.UnknownOutcome, "answer_lost")
		want(t, name, c.JSON(t.Context(), post(false), &out), provider.Transient, "provider_answer_invalid")
	}
}

func TestALostAnswerLeavesASubmissionOpen(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"the connection is closed unanswered": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"the connection is closed midway": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"id":`)
			panic(http.ErrAbortHandler)
		},
	} {
		c := client(t, h)
		want(t, name, c.JSON(t.Context(), post(true), nil), provider.UnknownOutcome, "answer_lost")
		want(t, name, c.JSON(t.Context(), post(false), nil), provider.Transient, "provider_unavailable")
	}
}

func TestNothingIsSubmittedWhereNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	err = clientOf(t, "http://"+address).JSON(t.Context(), post(true), nil)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Transient || e.Code != "provider_unavailable" {
		t.Errorf("refused: %v", err)
	}
}

// The handshake fails, so that no byte of the request is sent.
func TestNothingIsSubmittedWithoutAHandshake(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	err = clientOf(t, "https://"+listener.Addr().String()).JSON(t.Context(), post(true), nil)
	if provider.KindOf(err) != provider.Transient {
		t.Errorf("dropped: %v", err)
	}
}

// mortal is a connection that can die without anybody noticing.
type mortal struct {
	net.Conn
	dead *atomic.Bool
}

func (m mortal) Write(p []byte) (int, error) {
	if m.dead.Load() {
		return 0, syscall.EPIPE
	}
	return m.Conn.Write(p)
}

// deathly makes a client whose connections die, unnoticed, when kill is called. No
// more than so many are opened.
func deathly(t *testing.T, most int32) (c *wire.Client, kill func(), served, dialled *atomic.Int32) {
	t.Helper()
	served, dialled = new(atomic.Int32), new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	t.Cleanup(server.Close)
	var last *atomic.Bool
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if dialled.Add(1) > most {
			return nil, syscall.ECONNREFUSED
		}
		last = new(atomic.Bool)
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return mortal{conn, last}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return wire.New(wire.Config{
			HTTP: &http.Client{Transport: transport}, BaseURL: server.URL,
			Key: func(context.Context) (string, error) { return secret, nil },
		}, wire.Dialect{Provider: "acme", Authorize: func(http.Header, string) {}}), func() { last.Store(true) },
		served, dialled
}

// A kept-alive connection that died while idle is no lost answer: net/http
// sends the request on a new one.
func TestADeadKeptConnectionIsReplaced(t *testing.T) {
	c, kill, served, dialled := deathly(t, 3)
	for range 3 {
		if err := c.JSON(t.Context(), post(true), nil); err != nil {
			t.Fatal(err)
		}
		kill()
	}
	if served.Load() != 3 || dialled.Load() != 3 {
		t.Errorf("served %d times on %d connections, want 3 each", served.Load(), dialled.Load())
	}
	// There is no new one: still, no server can have received the request.
	want(t, "no more connections", c.JSON(t.Context(), post(true), nil), provider.Transient, "provider_unavailable")
}

func TestASlowProviderIsCutOff(t *testing.T) {
	c := client(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the caller has gone
		<-r.Context().Done()
	})
	for submits, kind := range map[bool]provider.ErrorKind{true: provider.UnknownOutcome, false: provider.Transient} {
		call := post(submits)
		call.Timeout = 20 * time.Millisecond
		err := c.JSON(t.Context(), call, nil)
		if provider.KindOf(err) != kind || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("submits %v: %v", submits, err)
		}
	}
}

func TestTheContextsErrorIsKept(t *testing.T) {
	started := make(chan struct{}, 1)
	c := client(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the caller has gone
		started <- struct{}{}
		<-r.Context().Done()
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.JSON(canceled, post(true), nil)
	if want(t, "before", err, provider.Transient, "canceled"); !errors.Is(err, context.Canceled) {
		t.Errorf("before: %v", err)
	}
	for submits, kind := range map[bool]provider.ErrorKind{true: provider.UnknownOutcome, false: provider.Transient} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-started; cancel() }()
		err = c.JSON(ctx, post(submits), nil)
		cancel()
		if !errors.Is(err, context.Canceled) || provider.KindOf(err) != kind {
			t.Errorf("meanwhile, submits %v: %v", submits, err)
		}
	}
}

func TestWithoutACredentialNobodyIsCalled(t *testing.T) {
	lost := errors.New("the store is down")
	for _, c := range []struct {
		key  string
		err  error
		kind provider.ErrorKind
		code string
	}{
		{"", nil, provider.Quota, "provider_not_configured"},
		{"", lost, provider.Transient, "provider_unavailable"},
	} {
		acme := wire.New(wire.Config{BaseURL: "http://127.0.0.1:1",
			Key: func(context.Context) (string, error) { return c.key, c.err }}, wire.Dialect{Provider: "acme"})
		err := acme.JSON(t.Context(), post(true), nil)
		want(t, c.code, err, c.kind, c.code)
		if c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("the cause is lost: %v", err)
		}
	}
}
