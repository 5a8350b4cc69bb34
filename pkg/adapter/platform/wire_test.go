package platform_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const token = platform.Secret("token-0001-secret")

var wireNow = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func serve(t *testing.T, h http.HandlerFunc) (*wire.Client, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return wire.New("acme", wire.Config{Now: func() time.Time { return wireNow }}), server.URL
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func file(content string) platform.Media {
	return platform.Media{MIME: "video/mp4", Bytes: int64(len(content)),
		Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(content[offset : offset+length])), nil
		}}
}

func TestALostAnswerIsUnknownOnlyWhereItMatters(t *testing.T) {
	broken := errors.New("the store is gone")
	half := platform.Media{MIME: "video/mp4", Bytes: 1 << 20,
		Open: func(context.Context, int64, int64) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("a beginning"), iotest.ErrReader(broken))), nil
		}}
	drain := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		abort(w, r)
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc // nil: nothing listens
		body  *wire.Body
		posts bool
		want  platform.ErrorKind
	}{
		"a read":                    {drain, nil, false, platform.Retry},
		"a post":                    {drain, nil, true, platform.Unknown},
		"a post with a file":        {drain, wire.Range(t.Context(), file("content"), 0, 7), true, platform.Unknown},
		"a post that never arrived": {nil, nil, true, platform.Retry},
		"a post of half a file":     {drain, wire.Range(t.Context(), half, 0, half.Bytes), true, platform.Retry},
		"a file that does not open": {drain,
			wire.Range(t.Context(), platform.Media{Open: func(context.Context, int64,
				int64) (io.ReadCloser, error) {
				return nil, broken
			}}, 0, 5), true, platform.Retry},
		"a post, 500":                {status(500, ""), nil, true, platform.Unknown},
		"a post, 502 in HTML":        {status(502, "<html>"), nil, true, platform.Unknown},
		"a read, 500":                {status(500, ""), nil, false, platform.Retry},
		"a post, 429":                {status(429, ""), nil, true, platform.Retry},
		"a post, 401":                {status(401, ""), nil, true, platform.Expired},
		"a post, 400":                {status(400, ""), nil, true, platform.Unclear},
		"a post, unreadable":         {status(200, "<html>"), nil, true, platform.Unknown},
		"a read, unreadable":         {status(200, "<html>"), nil, false, platform.Retry},
		"a post, far too long":       {status(200, strings.Repeat(" ", 2<<20)), nil, true, platform.Unknown},
		"a post, an empty answer":    {status(200, ""), nil, true, platform.Unknown},
		"a post, redirected":         {status(302, ""), nil, true, platform.Unknown},
		"a post, 408":                {status(408, ""), nil, true, platform.Unknown},
		"a read, too early for that": {status(425, ""), nil, false, platform.Retry},
	} {
		client, address := serve(t, c.serve)
		if c.serve == nil {
			closed := httptest.NewServer(nil)
			closed.Close()
			address = closed.URL
		}
		call := wire.Call{Name: "call", Method: http.MethodPost, URL: address + "/bot" + token.Reveal(), Body: c.body,
			Posts: c.posts, Bearer: token}
		err := client.JSON(t.Context(), call, nil, &struct{}{})
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), token.Reveal()) || strings.Contains(err.Error(), "http:") {
			t.Errorf("%s: the error shows a token or an address: %v", name, err)
		}
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://example.test/")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// net/http sends some requests again on a new connection. A post is none of them.
func TestAPostIsNotSentAgainOnAnotherConnection(t *testing.T) {
	for _, body := range []*wire.Body{nil, {Type: "text/plain", Length: 5, Reader: strings.NewReader("hello")}} {
		var posts atomic.Int64
		client, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Method == http.MethodPost {
				posts.Add(1)
				abort(w, r)
			}
		})
		if _, err := client.Do(t.Context(), wire.Call{Method: http.MethodGet, URL: address}); err != nil {
			t.Fatal(err) // the connection is kept
		}
		_, err := client.Do(t.Context(), wire.Call{Method: http.MethodPost, URL: address, Posts: true, Body: body})
		if platform.KindOf(err) != platform.Unknown || posts.Load() != 1 {
			t.Errorf("%v after %d posts, want one", err, posts.Load())
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	client, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	err := client.JSON(t.Context(), wire.Call{Method: http.MethodGet, URL: address, Bearer: token}, nil, nil)
	if err == nil || asked.Load() > 0 {
		t.Errorf("%v, and %d calls elsewhere", err, asked.Load())
	}
}

func TestThePlatformSaysWhenToComeBack(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "soon": 0, "-5": 0, "99999999999": 24 * time.Hour,
		wireNow.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		wireNow.Add(-time.Hour).Format(http.TimeFormat):       0,
	} {
		client, address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		err := client.JSON(t.Context(), wire.Call{Method: http.MethodGet, URL: address}, nil, nil)
		var e *platform.Error
		if !errors.As(err, &e) || e.RetryAfter != want {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
	}
}

func TestARefusalIsLoggedWithoutSecrets(t *testing.T) {
	client, address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "bad token "+r.Header.Get("Authorization")+" of "+r.FormValue("password"), http.StatusBadRequest)
	})
	call := wire.Call{Name: "login", Method: http.MethodPost, URL: address, Bearer: token,
		Form: url.Values{"password": {"pass-0001"}}, Secrets: []platform.Secret{"pass-0001"}}
	err := client.JSON(t.Context(), call, nil, nil)
	if err == nil || strings.Contains(err.Error(), "0001") ||
		!strings.Contains(err.Error(), "acme: login: status 400") {
		t.Errorf("got %v", err)
	}
}

func TestAFormIsStreamedWithItsLength(t *testing.T) {
	opened := 0
	m := file(strings.Repeat("content ", 10_000))
	open := m.Open
	m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		opened++
		return open(ctx, offset, length)
	}
	body, err := wire.Multipart(t.Context(), url.Values{"caption": {"Hello"}, "chat": {"1"}},
		wire.File{Field: "video", Name: "file.mp4", Media: m}, wire.File{Field: "other", Name: "file.mp4",
			Media: file("short")})
	if err != nil || opened != 0 {
		t.Fatalf("%v, and %d files opened before they are read", err, opened)
	}
	raw, err := io.ReadAll(iotest.OneByteReader(body.Reader))
	if err != nil || int64(len(raw)) != body.Length {
		t.Fatalf("%d bytes, want %d: %v", len(raw), body.Length, err)
	}
	_, params, err := mime.ParseMediaType(body.Type)
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(bytes.NewReader(raw), params["boundary"]).ReadForm(1 << 20)
	if err != nil || form.Value["caption"][0] != "Hello" || form.File["video"][0].Size != m.Bytes ||
		form.File["other"][0].Header.Get("Content-Type") != "video/mp4" {
		t.Errorf("read as %+v, %v", form, err)
	}
}

func TestAddressesThatAPlatformMayName(t *testing.T) {
	own := wire.New("acme", wire.Config{})
	replaced := wire.New("acme", wire.Config{BaseURL: "http://127.0.0.1:9000/acme"})
	for address, want := range map[string][2]bool{
		"https://acme.example/a":           {true, true},
		"https://upload.acme.example/a?b":  {true, true},
		"http://upload.acme.example/a":     {},
		"https://notacme.example/":         {},
		"https://acme.example.test/":       {},
		"https://acme.example@other.test/": {},
		"https://u@acme.example/":          {},
		"http://127.0.0.1:9000/x":          {false, true},
		"http://127.0.0.1:9001/x":          {},
		"":                                 {},
		"://":                              {},
	} {
		if got := [2]bool{own.Trusts(address, "acme.example"), replaced.Trusts(address, "acme.example")}; got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}

func TestAPlatformWithoutAnApplicationSaysSo(t *testing.T) {
	for name, app := range map[string]func(context.Context) (platform.App, error){
		"none": nil, "an empty one": func(context.Context) (platform.App, error) { return platform.App{}, nil },
	} {
		_, err := wire.New("acme", wire.Config{App: app}).Address(t.Context(), wire.OAuth{}, platform.Authorization{})
		var e *platform.Error
		if !errors.As(err, &e) || e.Code != platform.CodeNotConfigured {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := func(context.Context) (platform.App, error) { return platform.App{}, errors.New("no answer") }
	if _, err := wire.New("acme", wire.Config{App: broken}).App(t.Context()); platform.KindOf(err) != platform.Retry {
		t.Errorf("a secret store that does not answer: %v", err)
	}
}

// An outage, a limit or a proxy ends no connection, whatever the body says. The bodies are those of public reports.
func TestRefusalsOfTheTokenEndpoint(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   platform.ErrorKind
		code   platform.Code
	}{
		{400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, platform.Reconnect,
			platform.CodeNeedsReconnect},
		{401, `{"error":"invalid_grant"}`, platform.Reconnect, platform.CodeNeedsReconnect},
		{400, `{"error":"invalid_token"}`, platform.Reconnect, platform.CodeNeedsReconnect},
		{200, `{"error":"invalid_grant","error_description":"the grant is not known"}`, platform.Reconnect,
			platform.CodeNeedsReconnect}, // TikTok, VK
		{401, `{"error":"invalid_client"}`, platform.Retry, platform.CodeNotConfigured},
		{400, `{"error":"unauthorized_client"}`, platform.Retry, platform.CodeNotConfigured},
		{401, `{"error":"deleted_client"}`, platform.Retry, platform.CodeNotConfigured},
		{503, `{"error":"Service Unavailable"}`, platform.Retry, platform.CodePlatformUnavailable},         // X
		{500, `{"error":"internal_server_error"}`, platform.Retry, platform.CodePlatformUnavailable},       // LinkedIn
		{429, `{"error":"too_many_requests"}`, platform.Retry, platform.CodeRateLimited},                   // LinkedIn
		{503, `{"error":"backend_error"}`, platform.Retry, platform.CodePlatformUnavailable},               // YouTube
		{500, `{"error":"internal_error","log_id":"1"}`, platform.Retry, platform.CodePlatformUnavailable}, // TikTok
		{200, `{"error":"internal_error"}`, platform.Retry, platform.CodePlatformUnavailable},              // TikTok
		{500, `{"error":"server_error"}`, platform.Retry, platform.CodePlatformUnavailable},                // VK
		{200, `{"error":"slow_down"}`, platform.Retry, platform.CodeRateLimited},                           // VK
		{500, `{"error":"invalid_grant"}`, platform.Retry, platform.CodePlatformUnavailable},
		{502, `{"error":"invalid_token"}`, platform.Retry, platform.CodePlatformUnavailable},
		{429, `{"error":"invalid_grant"}`, platform.Retry, platform.CodeRateLimited},
		{403, `{"error":"invalid_grant"}`, platform.Retry, platform.CodePlatformUnavailable},
		{403, `{"error":"access_denied"}`, platform.Retry, platform.CodePlatformUnavailable},
		{403, `<html>Forbidden</html>`, platform.Retry, platform.CodePlatformUnavailable},
		{404, `{"error":"invalid_grant"}`, platform.Retry, platform.CodePlatformUnavailable},
		{407, ``, platform.Retry, platform.CodePlatformUnavailable},
		{401, `<html>Unauthorized</html>`, platform.Retry, platform.CodePlatformUnavailable},
		{401, `{"message":"Unauthorized"}`, platform.Retry, platform.CodePlatformUnavailable},
		{400, `{"error":{"code":400,"message":"invalid_grant"}}`, platform.Retry, platform.CodePlatformUnavailable},
		{400, `{"error":"temporarily_unavailable"}`, platform.Retry, platform.CodePlatformUnavailable},
		{400, `{"error":"invalid_request"}`, platform.Retry, platform.CodePlatformUnavailable},
		{400, ``, platform.Retry, platform.CodePlatformUnavailable},
		{302, `{"error":"invalid_grant"}`, platform.Retry, platform.CodePlatformUnavailable},
		{200, `{"access_token":""}`, platform.Retry, platform.CodePlatformUnavailable},
		{200, `<html>`, platform.Retry, platform.CodePlatformUnavailable},
	} {
		_, address := serve(t, status(c.status, c.body))
		o := wire.OAuth{Token: address, Public: true}
		cfg := wire.Config{App: func(context.Context) (platform.App, error) { return platform.App{ID: "app"}, nil }}
		client := wire.New("acme", cfg)
		_, renewed := client.Renew(t.Context(), o, platform.Token{Refresh: token}, nil)
		_, exchanged := client.Exchange(t.Context(), o, platform.Grant{Code: "c", Verifier: "v"}, nil)
		for _, err := range []error{renewed, exchanged} {
			var e *platform.Error
			if !errors.As(err, &e) || e.Kind != c.want || e.Code != c.code {
				t.Errorf("%d %s: %v, want %s, %s", c.status, c.body, err, c.want, c.code)
			}
		}
	}
}

// A token that has ended is revoked already. An outage is tried again.
func TestAnEndedTokenIsRevokedAlready(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   platform.ErrorKind // 0 for none
	}{
		{200, `{}`, 0}, {200, ``, 0}, {400, `{"error":"invalid_token"}`, 0}, {400, `{"error":"invalid_grant"}`, 0},
		{200, `{"error":"invalid_token"}`, 0}, {503, `{"error":"invalid_token"}`, platform.Retry},
		{403, `<html>`, platform.Retry}, {429, ``, platform.Retry},
	} {
		client, address := serve(t, status(c.status, c.body))
		err := client.Revoke(t.Context(), address, url.Values{"token": {"t"}})
		if (err != nil) != (c.want != 0) || err != nil && platform.KindOf(err) != c.want {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}
