package media_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// world is the area with its worker and a bucket.
type world struct {
	*apitest.Caller
	importertest.Worker
	t      *testing.T
	db     *store.DB
	clock  *apitest.Clock
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

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: apitest.NewClock(), bucket: &importertest.Bucket{Objects: map[string][]byte{}},
		urls: &urls{Client: safehttp.New(safehttp.Options{})}}
	w.db = storetest.Open(t, w.clock.Now)
	signer := apitest.Signer(t, w.clock.Now)
	w.Caller = apitest.New(t, w.db, &apitest.Log{}, w.clock.Now, mediaarea.NewService(w.db, signer, w.urls,
		w.clock.Now))
	w.Worker = importertest.Worker{T: t, DB: w.db, Clock: w.clock, Kernel: w.newKernel(w.bucket)}
	return w
}

func (w *world) newKernel(o mediaarea.Objects) *task.Kernel {
	worker := &mediaarea.Importer{DB: w.db, Objects: o, URLs: w.urls, Manifests: w.manifests, Now: w.clock.Now}
	return task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{mediaarea.Kind: worker}, Now: w.clock.Now, Name: rand.Text,
		Chance: func() float64 { return 0.5 },
	})
}

func (w *world) create(body object) (m mediaarea.Media) {
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/media", body).Into(w.t, http.StatusCreated, &m)
	return m
}

func (w *world) get(mediaID string) (m mediaarea.Media) {
	w.t.Helper()
	w.Call(http.MethodGet, "/v1/media/"+mediaID, nil).Into(w.t, http.StatusOK, &m)
	return m
}

// notify sends the notice of S3 that a media was uploaded.
func (w *world) notify(mediaID string) {
	w.t.Helper()
	w.Notify("uploads/acc/test/" + mediaID)
}

// start takes the first step of a media's task, as the relay's message asks for it.
func (w *world) start(mediaID string) {
	w.t.Helper()
	m := mediaarea.Wake(mediaID)
	m.Wake, m.Step = false, 1
	w.Do(m)
}

// due takes the steps of a media's task that are due after a while.
func (w *world) due(mediaID string, after time.Duration) {
	w.t.Helper()
	w.DoAfter(mediaarea.TaskKey(mediaID), after)
}

// bring makes a media of an uploaded file.
func (w *world) bring(mimeType string, content []byte) mediaarea.Media {
	w.t.Helper()
	m := w.create(importertest.Declare(mimeType, content))
	w.bucket.Upload(w.t, m.Upload.URL, content)
	w.notify(m.ID)
	return w.get(m.ID)
}

// checksum is the header that S3 compares an upload with.
func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}
