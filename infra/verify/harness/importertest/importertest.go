// Package importertest has the bucket and the worker of files that tests upload.
package importertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	importer "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Bucket stores objects in memory.
type Bucket struct {
	Objects map[string][]byte
	Fail    error // of each read, if it is set
}

// Open implements media.Objects.
func (b *Bucket) Open(_ context.Context, key string) (io.ReadCloser, error) {
	content, ok := b.Objects[key]
	switch {
	case b.Fail != nil:
		return nil, b.Fail
	case !ok:
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Put implements media.Objects.
func (b *Bucket) Put(_ context.Context, f media.File, content io.ReadSeeker) (err error) {
	if _, err = content.Seek(0, io.SeekStart); err == nil {
		b.Objects[f.Key], err = io.ReadAll(content)
	}
	return err
}

// Delete implements media.Objects.
func (b *Bucket) Delete(_ context.Context, key string) error {
	delete(b.Objects, key)
	return nil
}

// Remove implements media.Objects.
func (b *Bucket) Remove(_ context.Context, place media.Place) error {
	for key := range b.Objects {
		if strings.HasPrefix(key, place.Prefix()) {
			delete(b.Objects, key)
		}
	}
	return nil
}

// Upload stores a file at the key of a signed URL, and returns the key.
func (b *Bucket) Upload(t testing.TB, signed string, content []byte) string {
	t.Helper()
	u, err := url.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimPrefix(u.Path, "/")
	b.Objects[key] = content
	return key
}

// Declare returns the body of a request to upload a file.
func Declare(mimeType string, content []byte) map[string]any {
	sum := sha256.Sum256(content)
	return map[string]any{"mime_type": mimeType, "bytes": len(content), "sha256": hex.EncodeToString(sum[:])}
}

// Worker is a world whose tasks take their steps in the test.
type Worker struct {
	*servicetest.World
	Tasks *task.Kernel
}

// Do takes steps until the next one is later than two minutes.
func (w *Worker) Do(m task.Message) {
	w.T.Helper()
	for range 50 {
		next, err := w.Tasks.Do(w.T.Context(), m, "")
		if err != nil {
			w.T.Fatal(err)
		}
		if next == nil || next.Delay > 2*time.Minute {
			return
		}
		w.Clock.Add(next.Delay)
		m = next.Message
	}
	w.T.Fatal("50 steps are no end")
}

// DoAfter takes the steps of a task that are due after a while.
func (w *Worker) DoAfter(of store.Key, after time.Duration) {
	w.T.Helper()
	w.Clock.Add(after)
	it, err := w.DB.Get(w.T.Context(), of)
	if err != nil {
		w.T.Fatal(err)
	}
	var t task.Task
	if err := it.Decode(&t); err != nil {
		w.T.Fatal(err)
	}
	w.Do(t.Message)
}

// Notify sends the notice of S3 that an object was created, and takes all steps that are due then.
func (w *Worker) Notify(key string) {
	w.T.Helper()
	body, err := json.Marshal(map[string]any{"source": "aws.s3", "detail-type": "Object Created",
		"detail": map[string]any{"bucket": map[string]any{"name": "b"}, "object": map[string]any{"key": key}}})
	if err != nil {
		w.T.Fatal(err)
	}
	_, err = importer.Notified(func(_ context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		var m task.Message
		if err := json.Unmarshal([]byte(batch.Records[0].Body), &m); err != nil || m.Queue != topology.ImportMedia {
			w.T.Fatalf("%s: %v", batch.Records[0].Body, err)
		}
		w.Do(m)
		return events.SQSEventResponse{}, nil
	})(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: string(body)}}})
	if err != nil {
		w.T.Fatal(err)
	}
}
