package standalone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
)

// buckets serves objects by the part of the S3 protocol that the service and its callers use: GET with ranges, HEAD,
// PUT, DELETE and ListObjectsV2, each with a signed URL or a signed request. The first segment of the path names the
// bucket.
type buckets struct {
	blobs  blobs
	prefix string // of the path, which signatures include
	access accessKey
	now    func() time.Time
	// put is called with the name of each stored object.
	put func(bucket, key string)
}

// largestObject bounds an object.
const largestObject = 1 << 30

// ServeHTTP implements http.Handler.
func (b *buckets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Browsers upload by signed URLs.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPut)
		w.Header().Set("Access-Control-Allow-Headers", "content-type, x-amz-checksum-sha256")
		w.WriteHeader(http.StatusOK)
		return
	}
	if code, message := b.refuse(r); code != "" {
		fail(w, r, http.StatusForbidden, code, message)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, b.prefix+"/")
	bucket, key, _ := strings.Cut(name, "/")
	switch {
	case r.Method == http.MethodGet && key == "":
		b.list(w, r, bucket)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		b.get(w, r, name)
	case r.Method == http.MethodPut:
		b.store(w, r, bucket, key)
	case r.Method == http.MethodDelete:
		if err := b.blobs.remove(name); err != nil {
			broken(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		fail(w, r, http.StatusMethodNotAllowed, "MethodNotAllowed", "The method is not allowed for objects.")
	}
}

// refuse checks the signature of a request, and returns an error of S3, or an empty code.
func (b *buckets) refuse(r *http.Request) (code, message string) {
	q := r.URL.Query()
	if !q.Has("X-Amz-Signature") {
		if !b.access.signed(r) {
			return "AccessDenied", "Access Denied"
		}
		return "", ""
	}
	at, err := time.Parse(signatureTime, q.Get("X-Amz-Date"))
	lifetime, bad := strconv.Atoi(q.Get("X-Amz-Expires"))
	if err != nil || bad != nil {
		return "AuthorizationQueryParametersError", "X-Amz-Date and X-Amz-Expires are required."
	}
	if b.now().After(at.Add(time.Duration(lifetime) * time.Second)) {
		return "AccessDenied", "Request has expired"
	}
	if !b.access.presigned(r, q, at) {
		return "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."
	}
	return "", ""
}

func (b *buckets) get(w http.ResponseWriter, r *http.Request, name string) {
	object, at, err := b.blobs.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		fail(w, r, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	}
	if err != nil {
		broken(w, r, err)
		return
	}
	defer func() { _ = object.Close() }()
	kind := r.URL.Query().Get("response-content-type")
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	if caching := r.URL.Query().Get("response-cache-control"); caching != "" {
		w.Header().Set("Cache-Control", caching)
	}
	w.Header().Set("Accept-Ranges", "bytes")
	http.ServeContent(w, r, "", at, object)
}

func (b *buckets) store(w http.ResponseWriter, r *http.Request, bucket, key string) {
	if strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		fail(w, r, http.StatusNotImplemented, "NotImplemented", "Chunks with signatures are not supported.")
		return
	}
	if r.Header.Get("If-None-Match") == "*" {
		if object, _, err := b.blobs.open(bucket + "/" + key); err == nil {
			_ = object.Close()
			fail(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "There is an object with that key.")
			return
		}
	}
	content := &checked{r: http.MaxBytesReader(w, r.Body, largestObject), sum: sha256.New(),
		want: r.Header.Get("X-Amz-Checksum-Sha256")}
	err := b.blobs.put(bucket+"/"+key, content)
	switch {
	case errors.Is(err, errChecksum):
		fail(w, r, http.StatusBadRequest, "BadDigest", err.Error())
	case errors.As(err, new(*http.MaxBytesError)):
		fail(w, r, http.StatusBadRequest, "EntityTooLarge", "The object is too large.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		fail(w, r, http.StatusBadRequest, "IncompleteBody", "The body is shorter than its Content-Length.")
	case err != nil:
		broken(w, r, err)
	default:
		w.Header().Set("ETag", `"`+strconv.FormatInt(b.now().UnixNano(), 36)+`"`)
		w.WriteHeader(http.StatusOK)
		if b.put != nil {
			b.put(bucket, key)
		}
	}
}

// errChecksum reports content that is not the announced one.
var errChecksum = errors.New("the SHA256 you specified did not match the calculated checksum")

// checked compares the content that is read with its checksum.
type checked struct {
	r    io.Reader
	sum  hash.Hash
	want string // in base64, or empty
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if err == io.EOF && c.want != "" && base64.StdEncoding.EncodeToString(c.sum.Sum(nil)) != c.want {
		return n, errChecksum
	}
	return n, err
}

// mostListed is the number of keys of a page.
const mostListed = 1000

// list answers with the first page of the keys that begin with a prefix.
func (b *buckets) list(w http.ResponseWriter, r *http.Request, bucket string) {
	names, err := b.blobs.list(bucket + "/" + r.URL.Query().Get("prefix"))
	if err != nil {
		broken(w, r, err)
		return
	}
	at, _ := slices.BinarySearch(names, bucket+"/"+r.URL.Query().Get("continuation-token"))
	if after := r.URL.Query().Get("start-after"); after != "" {
		at, _ = slices.BinarySearch(names, bucket+"/"+after+"\x00")
	}
	names = names[at:]
	type object struct {
		Key          string
		Size         int64
		LastModified time.Time
	}
	out := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Name                  string
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []object
	}{Name: bucket}
	for i, name := range names {
		key := strings.TrimPrefix(name, bucket+"/")
		if i == mostListed {
			out.IsTruncated, out.NextContinuationToken = true, key
			break
		}
		one := object{Key: key}
		if content, at, err := b.blobs.open(name); err == nil {
			one.LastModified = at.UTC()
			one.Size, _ = content.Seek(0, io.SeekEnd)
			_ = content.Close()
		}
		out.Contents = append(out.Contents, one)
	}
	writeXML(w, r, http.StatusOK, out)
}

func writeXML(w http.ResponseWriter, r *http.Request, status int, v any) {
	var body bytes.Buffer
	body.WriteString(xml.Header)
	if err := xml.NewEncoder(&body).Encode(v); err != nil {
		slog.Error("an answer of the bucket cannot be written", "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// fail answers with an error of S3.
func fail(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	writeXML(w, r, status, struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message})
}

func broken(w http.ResponseWriter, r *http.Request, err error) {
	slog.Error("the bucket failed", "path", r.URL.Path, "error", err)
	fail(w, r, http.StatusInternalServerError, "InternalError", "We encountered an internal error. Please try again.")
}

// lifetimes are the times for which objects are kept, by the prefix of their keys. The deployed bucket has the same.
var lifetimes = map[string]time.Duration{
	media.Uploads: 24 * time.Hour, media.Inputs: 48 * time.Hour, "raw/": 7 * 24 * time.Hour,
	transfer.Exports: 9 * 24 * time.Hour, transfer.Imports: 9 * 24 * time.Hour,
}

// clean removes old objects, once an hour until the context ends.
func (b *buckets) clean(ctx context.Context, bucket string) {
	for {
		for prefix, lifetime := range lifetimes {
			if err := b.forget(bucket+"/"+prefix, lifetime); err != nil {
				slog.Error("old objects are not removed", "prefix", prefix, "error", err)
			}
		}
		if !sleep(ctx, time.Hour) {
			return
		}
	}
}

// forget removes the objects with a prefix that are older than their lifetime.
func (b *buckets) forget(prefix string, lifetime time.Duration) error {
	names, err := b.blobs.list(prefix)
	for _, name := range names {
		object, at, opened := b.blobs.open(name)
		if opened != nil {
			continue // removed meanwhile
		}
		_ = object.Close()
		if time.Since(at) > lifetime {
			err = errors.Join(err, b.blobs.remove(name))
		}
	}
	return err
}

// blobs stores the objects of the buckets, by bucket and key.
type blobs interface {
	// put stores the whole content, or nothing if reading it fails.
	put(name string, from io.Reader) error
	// open returns an object, or an error that is fs.ErrNotExist.
	open(name string) (io.ReadSeekCloser, time.Time, error)
	remove(name string) error
	// list returns the names with a prefix, in order.
	list(prefix string) ([]string, error)
}

// folder stores objects as files. The name of each file is the escaped name of its object.
type folder string

// partPrefix is the prefix of the files that are not whole yet. No object has it: names begin with a bucket.
const partPrefix = ".part-"

// openFolder makes a folder for objects, if it is not there. Otherwise it removes the files that the end of an earlier
// process has left unfinished.
func openFolder(dir string) (folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	parts, err := filepath.Glob(filepath.Join(dir, partPrefix+"*"))
	for _, part := range parts {
		err = errors.Join(err, os.Remove(part))
	}
	return folder(dir), err
}

func (f folder) path(name string) string { return filepath.Join(string(f), url.PathEscape(name)) }

func (f folder) put(name string, from io.Reader) error {
	part, err := os.CreateTemp(string(f), partPrefix+"*")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, from)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), f.path(name))
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}

func (f folder) open(name string) (io.ReadSeekCloser, time.Time, error) {
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, time.Time{}, err
	}
	return file, info.ModTime(), nil
}

func (f folder) remove(name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) list(prefix string) (names []string, err error) {
	files, err := os.ReadDir(string(f))
	for _, file := range files {
		name, unescaped := url.PathUnescape(file.Name())
		if unescaped == nil && strings.HasPrefix(name, prefix) && !strings.HasPrefix(file.Name(), partPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// memory stores objects in memory.
type memory struct {
	now func() time.Time // may be nil
	mu  sync.Mutex
	all map[string]content
}

type content struct {
	data []byte
	at   time.Time
}

func (m *memory) put(name string, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	at := time.Now()
	if m.now != nil {
		at = m.now()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[name] = content{data, at}
	return nil
}

func (m *memory) open(name string) (io.ReadSeekCloser, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.all[name]
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader(s.data), io.NopCloser(nil)}, s.at, nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, name)
	return nil
}

func (m *memory) list(prefix string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.all {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// localObjects are the objects of the bucket of the media for the service itself, which need no network.
type localObjects struct{ *buckets }

var _ objects.Client = (*localObjects)(nil)

// Put implements objects.Client.
func (o *localObjects) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return err
	}
	c := &checked{r: content, sum: sha256.New(), want: base64.StdEncoding.EncodeToString(sum)}
	if err := errors.Join(ctx.Err(), o.blobs.put(bucket+"/"+f.Key, c)); err != nil {
		return err
	}
	o.put(bucket, f.Key)
	return nil
}

// PutNew implements objects.Client.
func (o *localObjects) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	if there, _, err := o.blobs.open(bucket + "/" + f.Key); err == nil {
		_ = there.Close()
		return media.ErrExists
	}
	return o.Put(ctx, f, content)
}

// Open implements objects.Client.
func (o *localObjects) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return o.open(ctx, key)
}

func (o *localObjects) open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	object, _, err := o.blobs.open(bucket + "/" + key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.Wrap(err, errs.NotFound, "The file does not exist.")
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, errs.Wrap(err, errs.ProviderUnavailable, "The file could not be read.")
	}
	return object, nil
}

// Range implements objects.Client.
func (o *localObjects) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length <= 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	object, err := o.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := object.Seek(offset, io.SeekStart); err != nil {
		_ = object.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(object, length), object}, nil
}

// Sum implements objects.Client.
func (o *localObjects) Sum(ctx context.Context, key string) (string, error) {
	object, err := o.open(ctx, key)
	if err != nil {
		return "", err
	}
	defer func() { _ = object.Close() }()
	hash := sha256.New()
	_, err = io.Copy(hash, object)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// List implements objects.Client.
func (o *localObjects) List(_ context.Context, prefix, after string) (all []media.Object, more bool, err error) {
	names, err := o.blobs.list(bucket + "/" + prefix)
	if after != "" {
		at, _ := slices.BinarySearch(names, bucket+"/"+after+"\x00")
		names = names[at:]
	}
	for i, name := range names {
		if i == mostListed {
			return all, true, err
		}
		object, at, opened := o.blobs.open(name)
		if opened != nil {
			continue // removed meanwhile
		}
		size, _ := object.Seek(0, io.SeekEnd)
		_ = object.Close()
		all = append(all, media.Object{Key: strings.TrimPrefix(name, bucket+"/"), Bytes: size, At: at.UTC()})
	}
	return all, false, err
}

// Delete implements objects.Client.
func (o *localObjects) Delete(_ context.Context, key string) error {
	return o.blobs.remove(bucket + "/" + key)
}

// composer returns the composer of media.
func (s *Service) composer(files *objects.Store) generate.Composer {
	return turns{s.options.Compose(files), make(chan struct{}, max(1, s.processors/2)),
		make(chan struct{}, s.processors)}
}

// turns composes a few works at a time. The messages of the others are held, so that short steps of finished works do
// not wait behind them. Pictures take a moment and do not wait for videos.
type turns struct {
	generate.Composer
	videos, pictures chan struct{}
}

// Compose implements generate.Composer.
func (t turns) Compose(ctx context.Context, what generate.Composition, o generate.Origin, progress func(int),
	save generate.Save) error {
	turn := t.pictures
	switch what.(type) {
	case generate.Video, generate.MusicClip:
		turn = t.videos
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case turn <- struct{}{}:
	}
	defer func() { <-turn }()
	return t.Composer.Compose(ctx, what, o, progress, save)
}
