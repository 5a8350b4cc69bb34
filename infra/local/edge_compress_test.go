package main_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/infra/verify/harness/calltest"
)

// packed compresses a text.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestProxyCompressesWhatTheGatewayWould(t *testing.T) {
	long, short := strings.Repeat("x", gatewayresponse.CompressedFrom),
		strings.Repeat("x", gatewayresponse.CompressedFrom-1)
	already := string(packed(t, long))
	url := face(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path[strings.LastIndex(r.URL.Path, "/"):] {
		case "/long":
			_, _ = io.WriteString(w, long)
		case "/short":
			_, _ = io.WriteString(w, short)
		case "/already":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, already)
		}
	})
	for _, c := range []struct {
		method, path, accept string
		compressed           bool
		body                 string
	}{
		{"GET", "/long", "gzip", true, long},
		{"GET", "/long", "GZIP, deflate, br", true, long},
		{"GET", "/long", "br;q=0.5, gzip ; q=1.0", true, long},
		{"GET", "/long", "br;q=1.0, gzip;q=0.8", false, long},
		{"GET", "/long", "gzip;q=0", false, long},
		{"GET", "/long", "*", false, long},
		{"GET", "/long", "identity", false, long},
		{"GET", "/long", "gzip;q=much", false, long},
		{"GET", "/long", "", false, long},
		{"HEAD", "/long", "gzip", false, ""},
		{"GET", "/short", "gzip", false, short},
		{"GET", "/already", "gzip", true, long},
	} {
		req := calltest.Request(t, c.method, url+c.path, nil)
		req.Header.Set("Accept-Encoding", c.accept) // unchanged, without the client's own value
		req.Header.Set("Authorization", "Bearer svc_test_x")
		res, body := calltest.Send(t, req)
		if compressed := res.Header.Get("Content-Encoding") == "gzip"; compressed != c.compressed {
			t.Errorf("%s %s, %q: compressed: %t", c.method, c.path, c.accept, compressed)
			continue
		}
		if c.method != http.MethodHead && res.ContentLength != int64(len(body)) {
			t.Errorf("%s %s, %q: %d bytes, Content-Length %d", c.method, c.path, c.accept, len(body), res.ContentLength)
		}
		if c.compressed {
			r, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			body = string(plain)
		}
		if body != c.body {
			t.Errorf("%s %s, %q: the body has %d bytes", c.method, c.path, c.accept, len(body))
		}
	}
}

func TestProxyUnpacksRequestsAsTheGatewayDoes(t *testing.T) {
	var got string
	url := face(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		if r.Header.Get("Content-Encoding") != "" || r.ContentLength != int64(len(body)) {
			t.Errorf("Content-Encoding %q, Content-Length %d", r.Header.Get("Content-Encoding"), r.ContentLength)
		}
	})
	const text = `{"name":"Acme"}`
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		coding string
		body   []byte
		status int
		code   string
	}{
		{"gzip", packed(t, text), 200, ""},
		{"GZIP", packed(t, text), 200, ""},
		{"deflate", deflated.Bytes(), 200, ""},
		{"br", []byte(text), 415, "unsupported_media_type"},
		{"gzip, gzip", packed(t, text), 415, "unsupported_media_type"},
		{"gzip", []byte(text), 415, "unsupported_media_type"},
		{"gzip", packed(t, text)[:20], 415, "unsupported_media_type"},
		{"deflate", packed(t, text), 415, "unsupported_media_type"},
		{"gzip", packed(t, strings.Repeat(" ", 10<<20+1)), 413, "body_too_large"},
	} {
		got = ""
		req := calltest.Request(t, "POST", url+"/v1/factories", bytes.NewReader(c.body))
		req.Header.Set("Content-Encoding", c.coding)
		req.Header.Set("Authorization", "Bearer svc_test_x")
		res, body := calltest.Send(t, req)
		if res.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.coding, res.StatusCode, c.status)
			continue
		}
		if c.code == "" && got != text || c.code != "" && (got != "" || calltest.Code(t, res, body) != c.code) {
			t.Errorf("%s: the function has %q, the caller %s", c.coding, got, body)
		}
	}
}
