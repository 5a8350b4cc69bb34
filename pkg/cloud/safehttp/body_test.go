package safehttp_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

func TestBodyIsCapped(t *testing.T) {
	const limit = 1000
	for _, tc := range []struct {
		size    int
		keep    int64
		tooMuch bool
	}{{0, 10, false}, {10, 100, false}, {limit, 10, false}, {limit, limit, false}, {limit, 2 * limit, false},
		{limit + 1, 10, true}, {limit + 1, 2 * limit, true}, {50_000_000, 10, true}} {
		srv := newServer(t, false, func(w http.ResponseWriter, _ *http.Request) {
			chunk := bytes.Repeat([]byte("a"), 32<<10)
			for left := tc.size; left > 0; left -= len(chunk) {
				if _, err := w.Write(chunk[:min(left, len(chunk))]); err != nil {
					return // the client had enough
				}
			}
		})
		resp, err := get(t, safehttp.New(safehttp.Options{AllowLoopback: true, MaxBody: limit}), srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := safehttp.ReadBody(resp, tc.keep)
		if errors.Is(err, safehttp.ErrBodyTooLarge) != tc.tooMuch || (err != nil && !tc.tooMuch) {
			t.Errorf("size %d, keep %d: error %v, want too large %v", tc.size, tc.keep, err, tc.tooMuch)
		}
		if want := min(int64(tc.size), tc.keep, limit); int64(len(body)) != want {
			t.Errorf("size %d, keep %d: %d bytes kept, want %d", tc.size, tc.keep, len(body), want)
		}
	}
}

// TestCompressedBodyIsNotUnpacked keeps a small answer from becoming a large one.
func TestCompressedBodyIsNotUnpacked(t *testing.T) {
	var asked atomic.Value
	srv := newServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b raw")
	})
	resp, err := get(t, safehttp.New(safehttp.Options{AllowLoopback: true}), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := safehttp.ReadBody(resp, 100)
	if err != nil || string(body) != "\x1f\x8b raw" || asked.Load() != "" {
		t.Errorf("body %q, %v, Accept-Encoding %q; want the bytes as sent and no offer", body, err, asked.Load())
	}
}

// TestSlowServersTimeOut has a server that never answers, and one that sends a
// byte of its answer now and then, for ever: both end at the total time-out.
func TestSlowServersTimeOut(t *testing.T) {
	stop := make(chan struct{})
	mute := newServer(t, false, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	drip := newServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-r.Context().Done():
				return
			case <-tick.C:
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	t.Cleanup(func() { close(stop) })
	const limit = 200 * time.Millisecond
	client := safehttp.New(safehttp.Options{AllowLoopback: true, Timeout: limit, MaxBody: 1 << 30})

	_, err := get(t, client, mute.URL)
	if got := safehttp.Describe(err); got != "The server did not answer in time." {
		t.Errorf("no answer: %q (%v)", got, err)
	}
	began := time.Now()
	resp, err := get(t, client, drip.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := safehttp.ReadBody(resp, 10)
	if took := time.Since(began); took < limit/2 {
		t.Errorf("the dripping answer ended after %v, want about %v", took, limit)
	}
	if got := safehttp.Describe(err); got != "The server did not answer in time." || len(body) == 0 {
		t.Errorf("dripping answer: %q, %q (%v)", body, got, err)
	}
}
