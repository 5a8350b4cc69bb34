// Package generatetest runs the work of an area to its end in that area's tests, with the relay and the queues in
// memory, and a clock that advances by itself.
package generatetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Only is a set of providers with a single one.
type Only struct{ provider.Provider }

var _ generate.Providers = Only{}

// For implements generate.Providers.
func (o Only) For(string, tenant.Mode) (provider.Provider, error) { return o.Provider, nil }

// Objects stores files in memory, and inspects them as the store for S3 does.
type Objects struct {
	mu    sync.Mutex
	files map[string][]byte
}

var _ generate.Objects = (*Objects)(nil)

// Save implements generate.Objects.
func (o *Objects) Save(_ context.Context, place media.Place, n int, body io.Reader,
	s *provenance.Statement) (media.File, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return media.File{}, err
	}
	info, err := probe.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return media.File{}, errs.Wrap(err, errs.UnsupportedMedia, "The format of the generated file is not supported.")
	}
	var origin *media.Provenance
	if s != nil {
		if b, err = provenance.Marked(context.Background(), b, *s); err != nil {
			return media.File{}, err
		}
		origin = &media.Provenance{DigitalSourceType: s.Source.URI()}
	}
	key := place.Key(n, info.Ext)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string][]byte{}
	}
	o.files[key] = b
	sum := sha256.Sum256(b)
	return media.File{
		ID: place.ID(n), Type: info.Type, MIMEType: info.MIMEType, Key: key, Width: info.Width, Height: info.Height,
		DurationSeconds: info.Seconds(), Bytes: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), Provenance: origin,
	}, nil
}

// Put implements generate.Objects and transfer.Objects.
func (o *Objects) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(content)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string][]byte{}
	}
	o.files[f.Key] = b
	return err
}

// PutNew implements transfer.Objects.
func (o *Objects) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	o.mu.Lock()
	_, there := o.files[f.Key]
	o.mu.Unlock()
	if there {
		return media.ErrExists
	}
	return o.Put(ctx, f, content)
}

// Range implements transfer.Objects.
func (o *Objects) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	body, err := o.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(body)
	offset = min(offset, int64(len(content)))
	return io.NopCloser(bytes.NewReader(content[offset:min(offset+length, int64(len(content)))])), err
}

// RemoveSome implements transfer.Objects.
func (o *Objects) RemoveSome(_ context.Context, prefix string) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.files, func(key string, _ []byte) bool { return strings.HasPrefix(key, prefix) })
	return false, nil
}

// Sum returns the SHA-256 of a file in hexadecimal.
func (o *Objects) Sum(ctx context.Context, key string) (string, error) {
	body, err := o.Open(ctx, key)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(body)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), err
}

// List lists the files below a prefix.
func (o *Objects) List(_ context.Context, prefix, after string) (all []media.Object, more bool, err error) {
	for _, key := range o.Keys() {
		if strings.HasPrefix(key, prefix) && key > after {
			all = append(all, media.Object{Key: key, Bytes: int64(len(o.files[key]))})
		}
	}
	return all, false, nil
}

// Open implements generate.Objects.
func (o *Objects) Open(_ context.Context, key string) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	content, ok := o.files[key]
	if !ok {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Remove implements generate.Objects.
func (o *Objects) Remove(_ context.Context, place media.Place) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.files, func(key string, _ []byte) bool { return strings.HasPrefix(key, place.Prefix()) })
	return nil
}

// Clear removes all files.
func (o *Objects) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.files)
}

// Keys lists the keys of the stored files.
func (o *Objects) Keys() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.files))
}

// Do answers for the signed URL of a file.
func (o *Objects) Do(req *http.Request) (*http.Response, error) {
	body, err := o.Open(req.Context(), strings.TrimPrefix(req.URL.Path, "/"))
	if err != nil {
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
}

// CheckURL implements safehttp.Checker: all addresses are permitted.
func (o *Objects) CheckURL(context.Context, string) error { return nil }

// Engine is an engine with a relay and queues in memory.
type Engine struct {
	t       testing.TB
	db      *store.DB
	clock   *apitest.Clock
	kernel  *task.Kernel
	worker  *generate.Worker
	Objects *Objects
	queue   []message
	relayed map[string]bool
}

type message struct {
	task.Message
	at time.Time
}

// New returns an engine for the areas with the given loaders. It begins without files.
func New(t testing.TB, db *store.DB, clock *apitest.Clock, providers generate.Providers,
	loaders map[string]generate.Loader) *Engine {
	return NewWith(t, db, clock, &Objects{}, providers, loaders)
}

// NewWith is New with the given files.
func NewWith(t testing.TB, db *store.DB, clock *apitest.Clock, files *Objects, providers generate.Providers,
	loaders map[string]generate.Loader) *Engine {
	e := &Engine{t: t, db: db, clock: clock, Objects: files, relayed: map[string]bool{}}
	e.worker = &generate.Worker{DB: db, Loaders: loaders, Providers: providers, Objects: e.Objects,
		Composer: Composer{Objects: e.Objects},
		Now:      clock.Now}
	e.kernel = task.NewKernel(task.Config{DB: db, Handlers: e.worker.Handlers(), Now: clock.Now, Name: rand.Text,
		Chance: func() float64 { return 0.5 }})
	return e
}

// Add adds the handlers of other kinds of tasks, which are made from the worker of the engine.
func (e *Engine) Add(of func(*generate.Worker) map[task.Kind]task.Handler) {
	maps.Copy(e.kernel.Handlers, of(e.worker))
}

// Handle adds the handler of another kind of task.
func (e *Engine) Handle(kind task.Kind, h task.Handler) { e.kernel.Handlers[kind] = h }

// late is the time from which a future task is ignored, such as the removal of a resource in weeks.
const late = 7 * 24 * time.Hour

// Step handles the message that is due first, and moves the clock to its time. It reports whether there was one.
func (e *Engine) Step() bool {
	e.t.Helper()
	for _, row := range storetest.Rows(e.t, e.db, task.ItemKind, task.OutboxKind) {
		if e.relayed[row["pk"]] {
			continue
		}
		var m task.Task
		if err := json.Unmarshal([]byte(row["doc"]), &m); err != nil {
			e.t.Fatal(err)
		}
		if m.DueAt.Sub(e.clock.Now()) > late {
			continue // no queue has it yet
		}
		e.relayed[row["pk"]] = true
		e.queue = append(e.queue, message{m.Message, e.clock.Now()})
	}
	if len(e.queue) == 0 {
		return false
	}
	slices.SortStableFunc(e.queue, func(a, b message) int { return a.at.Compare(b.at) })
	m := e.queue[0]
	e.queue = e.queue[1:]
	if wait := m.at.Sub(e.clock.Now()); wait > 0 {
		e.clock.Add(wait)
	}
	next, err := e.kernel.Do(context.Background(), m.Message, "")
	if errors.Is(err, task.ErrMoved) { // its function has died: the queue gives the message to another
		e.queue = append(e.queue, message{m.Message, e.clock.Now().Add(time.Minute)})
		return true
	}
	if err != nil {
		e.t.Fatalf("%s: %v", m.ID, err)
	}
	if next != nil {
		e.queue = append(e.queue, message{next.Message, e.clock.Now().Add(next.Delay)})
	}
	return true
}

// mostSteps bounds the steps of work that never ends.
const mostSteps = 5000

// Drain handles all messages until there are none.
func (e *Engine) Drain() {
	e.t.Helper()
	for range mostSteps {
		if !e.Step() {
			return
		}
	}
	e.t.Fatalf("%d steps are no end", mostSteps)
}
