package area_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/task"
)

// mediaWorld is the area with its worker and a bucket.
type mediaWorld struct {
	importertest.Worker
	bucket *importertest.Bucket
	urls   *urls
	// manifests reads the manifests of files, if a test needs it.
	manifests provenance.Reader
}

// urls has the answer of all public addresses, and counts the fetches.
type urls struct {
	*safehttp.Client
	answer  http.HandlerFunc
	fetches int
}

func (u *urls) Do(req *http.Request) (*http.Response, error) {
	u.fetches++
	if u.answer == nil {
		return u.Client.Do(req)
	}
	rec := httptest.NewRecorder()
	u.answer(rec, req)
	return rec.Result(), nil
}

// public is an address that needs no look-up to be known as public.
const public = "https://93.184.215.14/a"

func newMediaWorld(t *testing.T) *mediaWorld {
	t.Helper()
	w := &mediaWorld{Worker: importertest.Worker{World: servicetest.New(t)},
		bucket: &importertest.Bucket{Objects: map[string][]byte{}},
		urls:   &urls{Client: safehttp.New(safehttp.Options{})}}
	w.Serve(mediaarea.NewService(w.DB, apitest.Signer(t, w.Now), w.urls, w.Now))
	w.Tasks = w.newKernel(w.bucket)
	return w
}

func (w *mediaWorld) newKernel(o mediaarea.Objects) *task.Kernel {
	worker := &mediaarea.Importer{DB: w.DB, Objects: o, URLs: w.urls, Manifests: w.manifests, Now: w.Clock.Now}
	return w.Kernel(map[task.Kind]task.Handler{mediaarea.Kind: task.Func(worker.Import)})
}

func (w *mediaWorld) create(body object) (m mediaarea.Media) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/media", body).Into(w.T, http.StatusCreated, &m)
	return m
}

func (w *mediaWorld) get(mediaID string) (m mediaarea.Media) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/media/"+mediaID, nil).Into(w.T, http.StatusOK, &m)
	return m
}

// notify sends the notice of S3 that a media was uploaded.
func (w *mediaWorld) notify(mediaID string) {
	w.T.Helper()
	w.Notify("uploads/acc/test/" + mediaID)
}

// start takes the first step of a media's task, as the relay's message asks for it.
func (w *mediaWorld) start(mediaID string) {
	w.T.Helper()
	m := mediaarea.Wake(mediaID)
	m.Wake, m.Step = false, 1
	w.Do(m)
}

// due takes the steps of a media's task that are due after a while.
func (w *mediaWorld) due(mediaID string, after time.Duration) {
	w.T.Helper()
	w.DoAfter(mediaarea.TaskKey(mediaID), after)
}

// bring makes a media of an uploaded file.
func (w *mediaWorld) bring(mimeType string, content []byte) mediaarea.Media {
	w.T.Helper()
	m := w.create(importertest.Declare(mimeType, content))
	w.bucket.Upload(w.T, m.Upload.URL, content)
	w.notify(m.ID)
	return w.get(m.ID)
}

// checksum is the header that S3 compares an upload with.
func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}
