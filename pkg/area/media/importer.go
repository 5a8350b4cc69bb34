package media

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// fetchTime bounds one attempt to fetch a file.
const fetchTime = 80 * time.Second

// maxFetches bounds how often a file is fetched that does not arrive.
const maxFetches = 4

// Objects stores files.
type Objects interface {
	// Open starts reading an object. It fails with not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, key string) error
	// Remove removes all files of a place.
	Remove(ctx context.Context, place media.Place) error
}

// URLs fetches from the addresses of callers. NewClient returns an implementation.
type URLs interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewClient returns the client for the addresses that callers send.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: media.Limit("") + 1, Timeout: fetchTime,
		Redirects: safehttp.MaxRedirects})
}

// Importer takes the files that callers bring in.
type Importer struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	// Manifests reads the manifests of files. If it is nil, they are not checked.
	Manifests provenance.Reader
	// FFmpeg decodes HEIC and AVIF. If it is nil, they are refused.
	FFmpeg heif.Program
	Now    func() time.Time
}

func placeOf(o tenant.Owner, mediaID string) media.Place {
	return media.Place{Owner: o, Resource: mediaID, Attempt: 1}
}

// Import accompanies a media from its beginning until its files are gone. An error is none of the file: it is tried
// again without end.
func (w *Importer) Import(ctx context.Context, s *task.Run) error {
	_, r, err := w.read(ctx, s)
	switch {
	case err != nil:
		return task.Again(err)
	case r == nil:
		return w.Removed(ctx, s)
	case r.State == Pending:
		file, why, err := w.Look(ctx, s, r.Brought())
		if err != nil {
			return err
		}
		return w.change(s, func(tx *store.Tx, it store.Item, r *Record) error {
			if r.State != Pending {
				return task.ErrMoved
			}
			return Settle(tx, w.Now(), it, r, file, why)
		})
	}
	if left := r.ExpiresAt.Sub(w.Now()); left > 0 {
		if err := w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)); err != nil {
			return task.Again(err)
		}
		return s.Sleep(left)
	}
	// The next step finds it gone, and removes its files; or finds a later end.
	return w.change(s, func(tx *store.Tx, it store.Item, r *Record) error {
		switch {
		case r.ExpiresAt.After(w.Now()):
			return task.ErrMoved // it was used in between
		case !r.InUse && (r.Holders == 0 || s.Mode == tenant.Test): // items of test keys end as early, by themselves
			Expire(tx, it, r)
			return nil
		}
		r.Extend(w.Now())
		return tx.Rewrite(it, r)
	})
}

// read reads the media of a step. It returns nil if it was deleted.
func (w *Importer) read(ctx context.Context, s *task.Run) (it store.Item, r *Record, err error) {
	it, err = w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err == nil && it.Kind != "" {
		r, err = Decode(&it)
	}
	return it, r, err
}

// change ends a step that changes its media.
func (w *Importer) change(s *task.Run, change func(*store.Tx, store.Item, *Record) error) error {
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
		}
		return change(tx, it, r)
	})
	return s.Sleep(0)
}

// Removed removes the files of a media or photo that is no more.
func (w *Importer) Removed(ctx context.Context, s *task.Run) error {
	if left := s.DueAt.Sub(w.Now()); left > time.Second {
		return s.Sleep(left) // an upload has arrived too late; work that was accepted before still uses the file
	}
	return task.Again(errors.Join(w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)),
		w.Objects.Remove(ctx, placeOf(s.Owner, s.Subject))))
}

// Look inspects the file of a pending media or photo, and stores it. It returns the stored file, or the reason why it
// is rejected, or an error with which the step ends.
func (w *Importer) Look(ctx context.Context, s *task.Run, b FileSource) (*media.File, *Reason, error) {
	if s.Cause() != nil { // only a defect of ours leads to it
		return nil, &Reason{Code: "internal", Message: "Something went wrong on our side. Bring the file in again."},
			nil
	}
	// Two deliveries must not read the file at a URL at different times, and a file may end each function that reads
	// it.
	switch err := s.Guard(ctx, nil); {
	case errors.Is(err, task.ErrDeaths):
		return nil, &Reason{Code: "unreadable", Message: "The file could not be read. Convert it to " +
			"another format, and bring it in again."}, nil
	case err != nil:
		return nil, nil, task.Again(err)
	}
	file, err := w.take(ctx, s, b)
	var refused *rejectedError
	switch {
	case errors.Is(err, errNotHere):
		return nil, nil, s.Sleep(b.Arrival.Sub(w.Now()))
	case errors.As(err, &refused):
		return nil, &refused.Reason, nil
	}
	return file, nil, task.Again(err)
}

// rejectedError is the error of a file that is rejected.
type rejectedError struct{ Reason }

func (r *rejectedError) Error() string { return r.Code + ": " + r.Message }

func reject(code, format string, args ...any) error {
	return &rejectedError{Reason{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// errNotHere reports that a file was not uploaded yet.
var errNotHere = errors.New("importer: the file is not here yet")

func (w *Importer) open(ctx context.Context, s *task.Run, b FileSource) (io.ReadCloser, error) {
	if b.SourceURL != "" {
		return w.fetch(ctx, b.SourceURL)
	}
	key := b.Key
	if key == "" {
		key = media.UploadKey(s.Owner, s.Subject)
	}
	body, err := w.Objects.Open(ctx, key)
	switch {
	case errs.CodeOf(err) != errs.NotFound:
		return body, err
	case b.Key != "":
		return nil, reject("not_fetched", "The file of the media is gone. Bring it in again.")
	case w.Now().Before(b.Arrival):
		return nil, errNotHere
	}
	return nil, reject("not_uploaded", "The file was not uploaded. Bring it in again, and upload it within %.0f "+
		"minutes.", UploadTime.Minutes())
}

// fetch starts reading the file at an address.
func (w *Importer) fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, reject("not_fetched", "source_url is not a valid URL.")
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := w.URLs.Do(req)
	if err != nil {
		return nil, notFetched(err)
	}
	encoding := resp.Header.Get("Content-Encoding")
	if plain := encoding == "" || strings.EqualFold(encoding, "identity"); plain && resp.StatusCode == http.StatusOK {
		return &fetchBody{resp.Body}, nil
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil, reject("not_fetched", "The file could not be fetched: the server packs its answer by %.20q "+
			"(Content-Encoding), though it was asked not to. Have it send the file as it is, or upload the file.",
			encoding)
	}
	if pause, again := safehttp.Again(resp, w.Now()); again {
		return nil, &task.RetryError{After: pause, MaxFailures: task.NoLimit,
			Err: &lateError{fmt.Sprintf("the server answered with status %d", resp.StatusCode)}}
	}
	return nil, reject("not_fetched", "The file could not be fetched: the server answered with status %d.",
		resp.StatusCode)
}

// lateError is the failure of an attempt to fetch a file that may succeed later.
type lateError struct{ why string }

func (e *lateError) Error() string { return "importer: " + e.why }

// notFetched returns the failure of a fetch. It is final if the address is refused.
func notFetched(err error) error {
	var blocked *safehttp.BlockedError
	if errors.As(err, &blocked) {
		return reject("not_fetched", "The file could not be fetched. %s", safehttp.Describe(err))
	}
	if errors.Is(err, safehttp.ErrBodyTooLarge) {
		return media.ErrTooLarge
	}
	return &lateError{safehttp.Describe(err)}
}

// fetchBody is the body of an answer whose errors are errors of a fetch.
type fetchBody struct{ io.ReadCloser }

func (f *fetchBody) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = notFetched(err)
	}
	return n, err
}

// take reads a file once, and stores it. It returns a *rejectedError for a file that is rejected.
func (w *Importer) take(ctx context.Context, s *task.Run, b FileSource) (*media.File, error) {
	received, err := w.receive(ctx, s, b)
	if err != nil {
		return nil, err
	}
	defer received.Close()
	if err := compare(received, b.Declared); err != nil {
		return nil, err
	}
	if b.Declared.Type == media.Data {
		return w.store(ctx, s, feedFile(received, b.Declared.MIMEType))
	}
	a, err := Accept(ctx, probe.Decoder{FFmpeg: w.FFmpeg}, w.Manifests, s.Owner.Mode == tenant.Test, received)
	if err != nil {
		return nil, err
	}
	if d := b.Declared; d.MIMEType != "" && !media.Same(d.MIMEType, a.Came) || d.Type != "" && d.Type != a.Type {
		declared := d.MIMEType
		if declared == "" {
			declared = string(d.Type)
		}
		return nil, reject("type_mismatch", "The file was declared as %s, and is %s.", declared, a.Came)
	}
	return w.store(ctx, s, a)
}

// store stores a file under a key with its hash, so that nothing else is ever stored there.
func (w *Importer) store(ctx context.Context, s *task.Run, a CleanFile) (*media.File, error) {
	place := placeOf(s.Owner, s.Subject)
	a.ID, a.Key = s.Subject, place.Prefix()+a.SHA256+"."+a.Ext
	if a.Thumb = a.Thumbnail != nil; a.Thumb {
		if err := w.Objects.Put(ctx, a.File.Thumbnail(a.Thumbnail), bytes.NewReader(a.Thumbnail)); err != nil {
			return nil, err
		}
	}
	return &a.File, w.Objects.Put(ctx, a.File, a.Content)
}

// feedFile returns a feed of products, which is stored as it is: the run that reads it judges it.
func feedFile(received *media.SpooledFile, mimeType string) CleanFile {
	exts := map[string]string{"text/csv": "csv", "text/tab-separated-values": "tsv", "application/xml": "xml",
		"application/json": "json"}
	return CleanFile{Ext: cmp.Or(exts[mimeType], "txt"), Came: mimeType, Content: received,
		File: media.File{Type: media.Data, MIMEType: cmp.Or(mimeType, "application/octet-stream"), Bytes: received.Size,
			SHA256: hex.EncodeToString(received.Sum)}}
}

func (w *Importer) receive(ctx context.Context, s *task.Run, b FileSource) (*media.SpooledFile, error) {
	body, err := w.open(ctx, s, b)
	var received *media.SpooledFile
	most := media.Limit(b.Declared.Type)
	if err == nil {
		received, err = media.Spool(ctx, body, most)
		_ = body.Close()
	}
	var late *lateError
	switch {
	case errors.Is(err, media.ErrTooLarge):
		return nil, reject("too_large", "The file is larger than %d bytes.", most)
	case errors.As(err, &late) && s.Failures+1 >= maxFetches:
		return nil, reject("not_fetched", "The file could not be fetched, and was tried %d times. The last time, %s",
			maxFetches, lower(late.why))
	}
	return received, err
}

// lower returns a sentence as the continuation of a longer one.
func lower(sentence string) string {
	b := []byte(sentence)
	if len(b) > 0 && b[0] >= 'A' && b[0] <= 'Z' {
		b[0] += 'a' - 'A'
	}
	if len(b) > 0 && b[len(b)-1] != '.' {
		b = append(b, '.')
	}
	return string(b)
}

// compare refuses a file that is not the one that was declared.
func compare(f *media.SpooledFile, d Declared) error {
	if d.Bytes != 0 && d.Bytes != f.Size {
		return reject("size_mismatch", "The file has %d bytes, and %d were declared.", f.Size, d.Bytes)
	}
	if got := hex.EncodeToString(f.Sum); d.SHA256 != "" && d.SHA256 != got {
		return reject("checksum_mismatch", "The SHA-256 of the file is %s, and %s was declared.", got, d.SHA256)
	}
	return nil
}

// CleanFile is a file of a caller that may be used, as it is to be stored: without what is removed from it, and with
// neither id nor key.
type CleanFile struct {
	media.File
	// Ext is the end of its name, without the dot, and Came the MIME type of the file as it came: a HEIC, an AVIF and a
	// WebP that is turned become a JPEG or a PNG.
	Ext, Came string
	Content   io.ReadSeeker
	// Thumbnail is the thumbnail of a picture, or nil.
	Thumbnail []byte
}

// Accept reads a file that a caller has brought in. RefusalOf returns why it is refused. If manifests is a
// provenance.Signer, a signed file that has to be changed is signed anew: with the test certificate, if test is set.
func Accept(ctx context.Context, files probe.Decoder, manifests provenance.Reader, test bool,
	received *media.SpooledFile) (a CleanFile, err error) {
	found, err := files.Decode(ctx, received, received.Size)
	var refused *probe.Refused
	switch {
	case errors.As(err, &refused) && refused.TooLarge:
		return a, reject("too_large", "%s", refused.Message)
	case errors.As(err, &refused):
		return a, reject("unreadable", "%s", refused.Message)
	case err != nil:
		return a, err
	}
	origin, err := provenance.Inspect(ctx, manifests, found.Came, received, received.Size)
	if err != nil {
		return a, err
	}
	origin.SHA256 = hex.EncodeToString(received.Sum)
	if found.Likeness != 0 {
		origin.Likeness = found.Likeness.String()
	}
	a = CleanFile{Ext: found.Ext, Came: found.Came, Thumbnail: found.Thumbnail, File: found.File()}
	a.Inspection = &origin
	if s, ok := manifests.(provenance.Signer); ok && origin.Signature != provenance.None {
		signed, err := resigned(ctx, s, test, found, received)
		if err != nil {
			return a, err
		}
		if signed != nil {
			return a, a.holds(signed)
		}
	}
	if len(found.Edits) > 0 {
		if err := found.Apply(received); err != nil {
			return a, err
		}
		if err := received.Changed(ctx); err != nil {
			return a, err
		}
	}
	if found.Content != nil {
		return a, a.holds(bytes.NewReader(found.Content))
	}
	a.Content, a.Bytes, a.SHA256 = received, received.Size, hex.EncodeToString(received.Sum)
	return a, nil
}

// holds sets what is stored.
func (a *CleanFile) holds(content io.ReadSeeker) error {
	hash := sha256.New()
	_, err := content.Seek(0, io.SeekStart)
	if err == nil {
		a.Bytes, err = io.Copy(hash, content)
	}
	if err != nil {
		return fmt.Errorf("accept: read the file: %w", err)
	}
	a.Content, a.SHA256 = content, hex.EncodeToString(hash.Sum(nil))
	return nil
}

// resigned returns a changed file with a new signature, or nil if the file does not change or nobody can sign it. The
// file as it came is the parent of the new one (C2PA 2.4, parentOf), so that its history stays.
func resigned(ctx context.Context, s provenance.Signer, test bool, found probe.Decoded, received *media.SpooledFile) (
	io.ReadSeeker, error) {
	if found.Content == nil && len(found.Edits) == 0 {
		return nil, nil
	}
	var changed io.ReadSeeker = bytes.NewReader(found.Content)
	if len(found.Edits) > 0 {
		copied, err := unnamed(received, received.Size)
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		if err := found.Apply(copied); err != nil {
			return nil, err
		}
		changed = copied
	}
	to, err := unnamed(nil, 0)
	if err != nil {
		return nil, err
	}
	claim := provenance.Claim{Title: string(found.Type), Ingredients: []provenance.Ingredient{{Title: "original",
		MIMEType: found.Came, Relation: provenance.Parent, File: io.NewSectionReader(received, 0, received.Size)}}}
	name, err := s.Sign(ctx, test, claim, found.MIMEType, changed, to)
	if err != nil || name == "" {
		return nil, errors.Join(err, to.Close())
	}
	return to, nil
}

// unnamed returns a temporary file with the content of another. It has no name, and takes no room once it is closed or
// collected.
func unnamed(from io.ReaderAt, size int64) (*os.File, error) {
	f, err := os.CreateTemp("", "signed-*")
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	err = os.Remove(f.Name())
	if err == nil && from != nil {
		_, err = io.Copy(f, io.NewSectionReader(from, 0, size))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("accept: %w", err), f.Close())
	}
	return f, nil
}

// RefusalOf returns why a file is refused, or nil for any other error.
func RefusalOf(err error) *Reason {
	var refused *rejectedError
	if errors.As(err, &refused) {
		return &refused.Reason
	}
	return nil
}

// Handler is the handler of a queue.
type Handler func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error)

// notice is the event of S3 that an object was put into the bucket.
type notice struct {
	Source string `json:"source"`
	Detail struct {
		Object struct {
			Key string `json:"key"`
		} `json:"object"`
	} `json:"detail"`
}

// Notified makes of each notice of an upload the message that wakes the media's task, and
// passes on the other messages as they are.
func Notified(tasks Handler) Handler {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		for i, record := range batch.Records {
			var n notice
			if json.Unmarshal([]byte(record.Body), &n) != nil || n.Source != "aws.s3" {
				continue
			}
			body, err := json.Marshal(Wake(path.Base(n.Detail.Object.Key)))
			if err != nil {
				return events.SQSEventResponse{}, err
			}
			batch.Records[i].Body = string(body)
		}
		return tasks(ctx, batch)
	}
}
