package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/objects/s3objects"
)

var objectsPlace = media.Place{Owner: tenant.Of("acc_1", tenant.Test), Resource: "cnt_1", Attempt: 1}

// bucket is a server that implements the parts of S3 that an upload needs. It fails the first calls as configured,
// and keeps the objects that it accepts.
type bucket struct {
	mu       sync.Mutex
	failures []int // status of the calls to come
	calls    int
	objects  map[string]object
}

type object struct {
	body        []byte
	contentType string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2":
		b.list(w, r)
		return
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		b.get(w, r)
		return
	case r.Method == http.MethodDelete:
		delete(b.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPut {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(b.failures) > 0 {
		status := b.failures[0]
		b.failures = b.failures[1:]
		w.WriteHeader(status)
		return
	}
	sum := sha256.Sum256(body)
	if r.Header.Get("x-amz-checksum-sha256") != base64.StdEncoding.EncodeToString(sum[:]) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if _, there := b.objects[r.URL.Path]; there && r.Header.Get("If-None-Match") == "*" {
		w.WriteHeader(http.StatusPreconditionFailed)
		_, _ = io.WriteString(w, `<Error><Code>PreconditionFailed</Code><Message>It is there.</Message></Error>`)
		return
	}
	b.objects[r.URL.Path] = object{body, r.Header.Get("Content-Type")}
}

// get answers for an object that was put, after the failures.
func (b *bucket) get(w http.ResponseWriter, r *http.Request) {
	if len(b.failures) > 0 {
		status := b.failures[0]
		b.failures = b.failures[1:]
		w.WriteHeader(status)
		return
	}
	o, ok := b.objects[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>`)
		return
	}
	if sum := sha256.Sum256(o.body); r.Header.Get("x-amz-checksum-mode") == "ENABLED" {
		w.Header().Set("x-amz-checksum-sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	_, _ = w.Write(o.body)
}

// list answers two objects a page.
func (b *bucket) list(w http.ResponseWriter, r *http.Request) {
	var found []string
	for path := range b.objects {
		if key := strings.TrimPrefix(path, "/media-bucket/"); strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
			found = append(found, key)
		}
	}
	fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%v</IsTruncated>", len(found) > 2)
	for _, key := range found[:min(2, len(found))] {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func start(t *testing.T, failures ...int) (*bucket, *objects.Store) {
	t.Helper()
	b := &bucket{failures: failures, objects: map[string]object{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, objects.New(s3objects.New(aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(server.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 3
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}, "media-bucket"))
}

func objectsSample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestSaveStoresTheFileAndDescribesIt(t *testing.T) {
	b, store := start(t)
	content := objectsSample(t, "video-9x16.mp4")
	got, err := store.Save(t.Context(), objectsPlace, 2, bytes.NewReader(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	want := media.File{
		ID: "cnt_1_1_2", Type: media.Video, MIMEType: "video/mp4", Key: "media/acc_1/test/cnt_1/1/2.mp4",
		Width: 540, Height: 960, DurationSeconds: 3, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
	}
	if got.Movie == nil || got.Movie.Picture.Codec != media.H264 || got.Movie.Sound.Codec != media.AAC {
		t.Fatalf("the video is %+v", got.Movie)
	}
	movie := got.Movie
	if got.Movie = nil; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	stored := b.objects["/media-bucket/"+want.Key]
	if !bytes.Equal(stored.body, content) || stored.contentType != "video/mp4" {
		t.Errorf("stored %d bytes as %q, want %d as video/mp4", len(stored.body), stored.contentType, len(content))
	}
	again, err := store.Save(t.Context(), objectsPlace, 2, bytes.NewReader(content), nil)
	if again.Movie == nil || *again.Movie != *movie {
		t.Errorf("saved again: %+v, want %+v", again.Movie, movie)
	}
	if again.Movie = nil; err != nil || again != want || len(b.objects) != 1 {
		t.Errorf("saved again: %+v, %v, %d objects; want the same one", again, err, len(b.objects))
	}
}

func TestSaveTriesAgainFromTheFirstByte(t *testing.T) {
	b, store := start(t, http.StatusServiceUnavailable, http.StatusInternalServerError)
	content := objectsSample(t, "image-4x5.png")
	file, err := store.Save(t.Context(), objectsPlace, 1, bytes.NewReader(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.objects["/media-bucket/"+file.Key].body; !bytes.Equal(got, content) || b.calls != 3 {
		t.Errorf("%d bytes after %d calls, want %d after 3", len(got), b.calls, len(content))
	}
}

func TestSaveTellsWhoseFaultItWas(t *testing.T) {
	content := objectsSample(t, "image-4x5.png")
	cause := errors.New("provider hung up")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx      context.Context
		failures []int
		maxBytes int64
		place    media.Place
		body     io.Reader
		code     errs.Code
		cause    error
		calls    int
	}{
		"the store is down": {failures: []int{503, 503, 503}, body: bytes.NewReader(content),
			code: errs.ProviderUnavailable, calls: 3},
		"no media": {body: strings.NewReader("<html>gone</html>"), code: errs.UnsupportedMedia},
		"too large": {maxBytes: int64(len(content)) - 1, body: bytes.NewReader(content),
			code: errs.UnsupportedMedia},
		"the source breaks": {body: io.MultiReader(bytes.NewReader(content[:500]), iotest.ErrReader(cause)),
			code: errs.Internal, cause: cause},
		"the caller's time has gone": {ctx: canceled, body: bytes.NewReader(content), code: errs.Internal,
			cause: context.Canceled},
		"no place": {place: media.Place{Owner: tenant.Of("acc_1", "")},
			body: bytes.NewReader(content), code: errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			b, store := start(t, c.failures...)
			ctx, at := t.Context(), objectsPlace
			if c.ctx != nil {
				ctx = c.ctx
			}
			if c.place != (media.Place{}) {
				at = c.place
			}
			if c.maxBytes > 0 {
				store.Most = c.maxBytes
			}
			file, err := store.Save(ctx, at, 1, c.body, nil)
			if err == nil {
				t.Fatalf("saved %+v", file)
			}
			if errs.CodeOf(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
			if c.cause != nil && !errors.Is(err, c.cause) {
				t.Errorf("got %v, want it to wrap %v", err, c.cause)
			}
			if len(b.objects) != 0 || b.calls != c.calls {
				t.Errorf("%d objects after %d calls, want none after %d", len(b.objects), b.calls, c.calls)
			}
		})
	}
}

func TestAFileOfExactlyTheLimitIsTaken(t *testing.T) {
	_, store := start(t)
	content := objectsSample(t, "voice.wav")
	store.Most = int64(len(content))
	file, err := store.Save(t.Context(), objectsPlace, 1, bytes.NewReader(content), nil)
	if err != nil || file.Type != media.Audio || file.DurationSeconds != 1.477 {
		t.Errorf("got %+v, %v", file, err)
	}
}

func TestSaveLeavesNothingInTheTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, store := start(t)
	for _, body := range []io.Reader{bytes.NewReader(objectsSample(t, "voice.wav")), strings.NewReader("not media")} {
		_, err := store.Save(t.Context(), objectsPlace, 1, body, nil)
		if err != nil && errs.CodeOf(err) != errs.UnsupportedMedia {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestOpenReadsAnObject(t *testing.T) {
	b, store := start(t, http.StatusServiceUnavailable)
	b.objects["/media-bucket/raw/bedrock/x/output.mp4"] = object{body: []byte("a video")}
	body, err := store.Open(t.Context(), "raw/bedrock/x/output.mp4")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err != nil || string(content) != "a video" {
		t.Errorf("got %q, %v", content, err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenTellsWhatIsMissing(t *testing.T) {
	for want, failures := range map[errs.Code][]int{
		errs.NotFound:            nil,
		errs.ProviderUnavailable: {http.StatusForbidden},
	} {
		_, store := start(t, failures...)
		if _, err := store.Open(t.Context(), "raw/nothing"); errs.CodeOf(err) != want {
			t.Errorf("after %v: got %v, want %s", failures, err, want)
		}
	}
}

func TestRemoveRemovesAnAttemptAlone(t *testing.T) {
	b, store := start(t)
	other := objectsPlace
	other.Attempt = 11 // begins like the first one
	picture := func() io.Reader { return bytes.NewReader(objectsSample(t, "image-1x1.png")) }
	for n := range 5 {
		if _, err := store.Save(t.Context(), objectsPlace, n+1, picture(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Save(t.Context(), other, 1, picture(), nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := store.Remove(t.Context(), objectsPlace); err != nil {
			t.Fatal(err)
		}
		if len(b.objects) != 1 || b.objects["/media-bucket/"+other.Key(1, "png")].body == nil {
			t.Errorf("there are %d objects", len(b.objects))
		}
	}
	if err := store.Remove(t.Context(), media.Place{Owner: tenant.Of("acc_1", "")}); err == nil {
		t.Error("a place that is none would be everything")
	}
}

// A key is given once, and its hash is that of its content.
func TestAnObjectIsStoredOnce(t *testing.T) {
	_, s := start(t)
	for n, content := range []string{"first", "second"} {
		sum := sha256.Sum256([]byte(content))
		f := media.File{Key: "media/a/live/x/1/1.png", MIMEType: "image/png", Bytes: int64(len(content)),
			SHA256: hex.EncodeToString(sum[:])}
		if err := s.PutNew(t.Context(), f, strings.NewReader(content)); (n > 0) != errors.Is(err, media.ErrExists) ||
			n == 0 && err != nil {
			t.Errorf("%s: %v", content, err)
		}
	}
	first := sha256.Sum256([]byte("first"))
	if sum, err := s.Sum(t.Context(), "media/a/live/x/1/1.png"); err != nil || sum != hex.EncodeToString(first[:]) {
		t.Errorf("the hash is %s, %v", sum, err)
	}
	if _, err := s.Sum(t.Context(), "media/a/live/x/1/2.png"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("no object: %v", err)
	}
}
