package media_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// world is the area with its worker and a bucket.
type world struct {
	*apitest.Caller
	t      *testing.T
	db     *store.DB
	clock  *apitest.Clock
	bucket *bucket
	urls   *urls
	kernel *task.Kernel
}

// urls is what lies at public addresses, and how often it was fetched.
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
	w := &world{t: t, clock: apitest.NewClock(), bucket: &bucket{objects: map[string][]byte{}},
		urls: &urls{Client: safehttp.New(safehttp.Options{})}}
	w.db = storetest.Open(t, w.clock.Now)
	signer, err := media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}, "bucket", w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.Caller = apitest.New(t, w.db, &apitest.Log{}, w.clock.Now, mediaarea.NewService(w.db, signer, w.urls,
		w.clock.Now))
	w.kernel = w.newKernel(w.bucket)
	return w
}

func (w *world) newKernel(o importer.Objects) *task.Kernel {
	worker := &importer.Worker{DB: w.db, Objects: o, URLs: w.urls, Now: w.clock.Now}
	return task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{incoming.Kind: worker}, Now: w.clock.Now, Name: rand.Text,
		Chance: func() float64 { return 0.5 },
	})
}

// bucket stores objects in memory.
type bucket struct {
	objects map[string][]byte
	fail    error
}

func (b *bucket) Open(_ context.Context, key string) (io.ReadCloser, error) {
	content, ok := b.objects[key]
	switch {
	case b.fail != nil:
		return nil, b.fail
	case !ok:
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (b *bucket) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	all, err := io.ReadAll(content)
	b.objects[f.Key] = all
	return err
}

func (b *bucket) Delete(_ context.Context, key string) error {
	delete(b.objects, key)
	return nil
}

func (b *bucket) Remove(_ context.Context, place media.Place) error {
	for key := range b.objects {
		if strings.HasPrefix(key, place.Prefix()) {
			delete(b.objects, key)
		}
	}
	return nil
}

func declare(mimeType string, content []byte) object {
	sum := sha256.Sum256(content)
	return object{"mime_type": mimeType, "bytes": len(content), "sha256": hex.EncodeToString(sum[:])}
}

func (w *world) create(body object) (m incoming.Media) {
	w.t.Helper()
	w.Call(http.MethodPost, "/v1/media", body).Into(w.t, http.StatusCreated, &m)
	return m
}

func (w *world) get(mediaID string) (m incoming.Media) {
	w.t.Helper()
	w.Call(http.MethodGet, "/v1/media/"+mediaID, nil).Into(w.t, http.StatusOK, &m)
	return m
}

// upload puts a file where the signed URL leads.
func (w *world) upload(m incoming.Media, content []byte) {
	w.t.Helper()
	u, err := url.Parse(m.Upload.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.bucket.objects[strings.TrimPrefix(u.Path, "/")] = content
}

// notify has the worker get the notice of S3 that a media was uploaded, and takes all
// steps that are due then.
func (w *world) notify(mediaID string) {
	w.t.Helper()
	key := "uploads/acc/test/" + mediaID
	body, err := json.Marshal(object{"source": "aws.s3", "detail-type": "Object Created",
		"detail": object{"bucket": object{"name": "b"}, "object": object{"key": key}}})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = importer.Notified(func(_ context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		var m task.Message
		if err := json.Unmarshal([]byte(batch.Records[0].Body), &m); err != nil || m.Queue != topology.ImportMedia {
			w.t.Fatalf("%s: %v", batch.Records[0].Body, err)
		}
		w.do(m)
		return events.SQSEventResponse{}, nil
	})(w.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: string(body)}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// start takes the first step of a media's task, as the relay's message asks for it.
func (w *world) start(mediaID string) {
	w.t.Helper()
	m := incoming.Wake(mediaID)
	m.Wake, m.Step = false, 1
	w.do(m)
}

// do takes steps until the next one is later than a minute.
func (w *world) do(m task.Message) {
	w.t.Helper()
	for range 50 {
		next, err := w.kernel.Do(w.t.Context(), m, 1)
		if err != nil {
			w.t.Fatal(err)
		}
		if next == nil || next.Delay > 2*time.Minute {
			return
		}
		w.clock.Add(next.Delay)
		m = next.Message
	}
	w.t.Fatal("50 steps are no end")
}

// due takes the steps of a media's task that are due after a while.
func (w *world) due(mediaID string, after time.Duration) {
	w.t.Helper()
	w.clock.Add(after)
	it, err := w.db.Get(w.t.Context(), incoming.TaskKey(mediaID))
	if err != nil {
		w.t.Fatal(err)
	}
	var t task.Task
	if err := it.Decode(&t); err != nil {
		w.t.Fatal(err)
	}
	w.do(t.Message)
}

// bring makes a media of an uploaded file.
func (w *world) bring(mimeType string, content []byte) incoming.Media {
	w.t.Helper()
	m := w.create(declare(mimeType, content))
	w.upload(m, content)
	w.notify(m.ID)
	return w.get(m.ID)
}

// checksum is the header that S3 compares an upload with.
func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}
