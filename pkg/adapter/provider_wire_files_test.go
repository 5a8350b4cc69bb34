package adapter_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

func TestAFileIsRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "real bytes")
	}))
	defer server.Close()
	f := wire.File(wire.NewFiles(safehttp.Options{AllowLoopback: true}), server.URL+"/a.mp4?signature=secret",
		provider.Rejected)
	for range 2 {
		r, err := f.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || string(content) != "real bytes" || r.Close() != nil {
			t.Errorf("%q, %v", content, err)
		}
	}
}

func TestFilesThatCannotBeHad(t *testing.T) {
	for _, c := range []struct {
		status int
		gone   provider.ErrorKind
		kind   provider.ErrorKind
		code   string
	}{
		{404, provider.Rejected, provider.Rejected, "result_expired"},
		{410, provider.Transient, provider.Transient, "result_expired"},
		{403, provider.Rejected, provider.Rejected, "result_expired"},
		{500, provider.Rejected, provider.Transient, "result_unreadable"},
		{429, provider.Rejected, provider.Transient, "result_unreadable"},
		{302, provider.Rejected, provider.Transient, "result_unreadable"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(c.status)
		}))
		_, err := wire.NewFiles(safehttp.Options{AllowLoopback: true}).Open(t.Context(),
			server.URL+"/a?signature=hush", c.gone)
		server.Close()
		if e := want(t, fmt.Sprint(c.status), err, c.kind, c.code); strings.Contains(e.Error(), "hush") {
			t.Errorf("%d: the address is told: %v", c.status, e)
		}
	}
}

// A provider's URLs are not trusted.
func TestFilesAreNotReadFromWithin(t *testing.T) {
	files := wire.NewFiles(safehttp.Options{})
	for _, address := range []string{
		"http://127.0.0.1/a", "https://127.0.0.1/a", "https://169.254.169.254/latest/meta-data", "https://[::1]/a",
		"file:///etc/passwd", "https://localhost/a", "data:image/png;base64,AAAA", "/a", "", "https://a b/\x00",
	} {
		_, err := files.Open(t.Context(), address, provider.Transient)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Rejected || e.Code != "result_invalid" {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestReadingIsBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			w.Header().Set("Content-Length", "1000")
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 500))
		if r.URL.Path == "/cut" {
			_ = http.NewResponseController(w).Flush() // the client reads the sent part before the cut
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	for path, c := range map[string]struct {
		limit int64
		kind  provider.ErrorKind
		code  string
	}{
		"/large": {100, provider.Rejected, "result_too_large"},
		"/cut":   {10_000, provider.Transient, "result_unreadable"},
	} {
		r, err := wire.NewFiles(safehttp.Options{AllowLoopback: true, MaxBody: c.limit}).Open(t.Context(),
			server.URL+path, provider.Rejected)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(r)
		want(t, path, err, c.kind, c.code)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNobodyServesAFile(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := wire.NewFiles(safehttp.Options{AllowLoopback: true}).Open(t.Context(), server.URL, provider.Rejected)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Transient || e.Code != "result_unreadable" {
		t.Errorf("got %v", err)
	}
}
