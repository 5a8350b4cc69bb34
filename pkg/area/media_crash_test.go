package area_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/importertest"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/media"
)

// lying returns the address of a server that announces twice the bytes that it sends.
func lying(t *testing.T, content []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(2*len(content)))
		_, _ = w.Write(content)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/"
}

// mediaDying is a bucket whose caller dies at one of its calls, before or after it.
type mediaDying struct {
	*importertest.Bucket
	die func()
	at  string
}

func (d *mediaDying) hit(call string) {
	if call == d.at {
		d.die()
	}
}

func (d *mediaDying) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	d.hit("before open")
	defer d.hit("after open")
	return d.Bucket.Open(ctx, key)
}

func (d *mediaDying) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	d.hit("before put")
	defer d.hit("after put")
	return d.Bucket.Put(ctx, f, content)
}

func (d *mediaDying) Delete(ctx context.Context, key string) error {
	d.hit("before delete")
	defer d.hit("after delete")
	return d.Bucket.Delete(ctx, key)
}

// A worker that dies leaves its lease behind. The media becomes ready all the same, once.
func TestAWorkerDies(t *testing.T) {
	for _, at := range []string{"before open", "after open", "before put", "after put", "before delete",
		"after delete"} {
		w := newMediaWorld(t)
		mimeType, content := "image/png", photo(1)
		if strings.HasSuffix(at, "put") { // a video is changed before
			mimeType, content = "video/mp4", noted(t)
		}
		m := w.create(importertest.Declare(mimeType, content))
		w.bucket.Upload(w.T, m.Upload.URL, content)
		ctx, cancel := context.WithCancel(t.Context())
		// The panic ends the worker's code immediately, and its memory is lost.
		kernel := w.newKernel(&mediaDying{w.bucket, func() { cancel(); panic("died") }, at})
		func() {
			defer func() { _ = recover() }()
			message := incoming.Wake(m.ID)
			for {
				next, err := kernel.Do(ctx, message, "")
				if err != nil || next == nil || next.Delay > time.Minute {
					t.Errorf("%s: it did not die: %+v, %v", at, next, err)
					return
				}
				message = next.Message
			}
		}()
		w.Clock.Add(time.Minute)
		w.notify(m.ID) // the queue delivers the message again
		got := w.get(m.ID)
		if got.State != incoming.Ready || got.Version != 2 || len(w.bucket.Objects) != 1 {
			t.Errorf("%s: %+v; there are %d objects", at, got, len(w.bucket.Objects))
		}
	}
}

// A file that ends each worker that reads it is given up.
func TestAFileThatEndsItsReader(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	kernel := w.newKernel(&mediaDying{w.bucket, func() { panic("died") }, "after open"})
	deaths := 0
	for range 10 {
		func() {
			defer func() {
				if recover() != nil {
					deaths++
				}
			}()
			if _, err := kernel.Do(t.Context(), incoming.Wake(m.ID), ""); err != nil {
				t.Fatal(err)
			}
		}()
		w.Clock.Add(time.Minute)
	}
	if got := w.get(m.ID); got.State != incoming.Rejected || got.Reason.Code != "unreadable" || deaths != 3 {
		t.Errorf("after %d deaths it is %+v, %+v", deaths, got, got.Reason)
	}
}

// An uploaded file is looked at again soon after its worker has died, not when a file that
// was not uploaded is given up.
func TestAnUploadIsSettledSoonAfterAKill(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	kernel := w.newKernel(&mediaDying{w.bucket, func() { panic("died") }, "after open"})
	func() {
		defer func() { _ = recover() }()
		_, err := kernel.Do(t.Context(), incoming.Wake(m.ID), "")
		t.Errorf("it did not die: %v", err)
	}()
	began := w.Now()
	w.Clock.Add(4 * time.Second) // the queue delivers the message again
	w.notify(m.ID)
	if got, took := w.get(m.ID), w.Now().Sub(began); got.State != incoming.Ready || took > 3*time.Minute {
		t.Errorf("after %v it is %+v", took, got)
	}
}

// A media that is deleted while its file is looked at stays deleted.
func TestADeletionDuringTheImport(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	w.Tasks = w.newKernel(&mediaDying{w.bucket, func() {
		w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, new(any))
	}, "before put"})
	w.notify(m.ID)
	w.due(m.ID, time.Hour)
	if len(w.bucket.Objects) != 0 {
		t.Errorf("%d objects stay", len(w.bucket.Objects))
	}
	w.due(m.ID, time.Hour)
	if found := w.Call(http.MethodGet, "/v1/media", nil); string(found.Data) != "[]" {
		t.Errorf("listed are %s", found.Data)
	}
}
