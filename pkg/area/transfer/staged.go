package transfer

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The bounds of the files that one step takes, and of the files of a line.
const (
	stepEntries = 200
	stepBytes   = 256 << 20
	mostFiles   = 1000
)

// The budgets of a step's files of an archive, of which the last may be as long as any, and of a line.
var (
	// Archives bounds what a step reads of an archive.
	Archives = budget.Budget{Name: "archive of an import", Bytes: 16 << 30, Elements: stepEntries + 1,
		Time: 15 * time.Minute}
	lineBudget = budget.Budget{Name: "line of an import", Bytes: mostLine, Elements: 200_000, Depth: 100,
		Time: 10 * time.Second}
)

// NamedFile is the kind of the item of a file that a line of an import names.
const NamedFile = "imported_file"

// namedFile is such a file: what its line says, and once an entry has it, what the entry is.
type namedFile struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// File is the file as it was read. Its key is that of its copy in the import.
	File *media.File `json:"found,omitempty"`
	// Refusal is why no entry is taken for it.
	Refusal string `json:"refused,omitempty"`
}

// inputs of an import are below a prefix of their own: its parts, and copies of the files that lines name. They are
// removed when it ends.
func inputPrefix(s *task.Run) string {
	return fmt.Sprintf("%s%s/%s/%s/in/", Imports, s.Owner.Account, s.Owner.Mode, s.Subject)
}

// fileKey is the key of the item of a named file of the import of a step.
func fileKey(s *task.Run, name string) store.Key {
	return store.IDKey(NamedFile + "#" + s.Subject + "#" + name)
}

// copyKey is the key of the copy of a named file.
func copyKey(s *task.Run, name string) string {
	sum := sha256.Sum256([]byte(name))
	return inputPrefix(s) + "file-" + hex.EncodeToString(sum[:])
}

// name notes the files that some lines of a part name, so that no others are taken.
func (w *Importer) name(ctx context.Context, s *task.Run, r *importRecord, p *place) (err error) {
	t := &taker{w: w, s: s, source: r.Source}
	files, order := map[string]LineFile{}, []string{}
	p.NamedUntil, err = w.scan(ctx, s, p.NamedUntil, func(n int, text []byte) (bool, error) {
		l, err := t.read(ctx, p.NamedUntil.Part+1, n, text)
		if err != nil || l.Kind == "" {
			return true, err
		}
		for _, f := range namedOf(l) {
			name, _ := strings.CutPrefix(f.URL, FileScheme)
			if _, there := files[name]; !there {
				files[name], order = f, append(order, name)
			}
		}
		return len(order) < mostFiles, nil
	})
	for some := range slices.Chunk(order, 50) {
		if err == nil {
			err = w.note(ctx, s, some, files)
		}
	}
	w.change(s, func(r *importRecord) {
		if r.Source = t.source; r.Source != nil {
			r.ExportID = resource.Text(r.Source.ExportID)
		}
	})
	return err
}

// note adds the items of named files that have none yet.
func (w *Importer) note(ctx context.Context, s *task.Run, names []string, files map[string]LineFile) error {
	keys := make([]store.Key, len(names))
	for i, name := range names {
		keys[i] = fileKey(s, name)
	}
	there, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	for i, name := range names {
		if there[i].Kind != "" {
			continue
		}
		it := store.Item{Key: keys[i], Kind: NamedFile, Owner: s.Owner, ExpireAt: w.Now().Add(longest + keep)}
		if err := it.Encode(namedFile{Bytes: files[name].Bytes, SHA256: files[name].SHA256}); err != nil {
			return err
		}
		tx.Create(it, nil)
	}
	return w.DB.Commit(ctx, tx)
}

// namedOf returns the files that a line may bring: those of its own resource, and of the photos of a product.
func namedOf(l Line) (all []LineFile) {
	if takers[l.Kind] == nil || len(l.Files) > mostFiles {
		return nil
	}
	for _, f := range l.Files {
		name, _ := strings.CutPrefix(f.URL, FileScheme)
		of, ok := parseFile(name)
		own := of.resource == l.ID || l.Kind == "product" && id.Valid(id.Photo, of.resource)
		if sum, err := hex.DecodeString(f.SHA256); ok && own && f.Bytes > 0 && err == nil && len(sum) == sha256.Size {
			all = append(all, f)
		}
	}
	return all
}

// tally counts the bytes that are read.
type tally struct {
	io.Reader
	n int64
}

// Read implements io.Reader.
func (t *tally) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.n += int64(n)
	return n, err
}

// blocks rounds a place in an archive up to its next block.
func blocks(n int64) int64 { return (n + 511) / 512 * 512 }

// files takes some of the files of a part.
func (w *Importer) files(ctx context.Context, s *task.Run, r *importRecord, p *place) error {
	if r.Source == nil {
		return failure("invalid_format", "No part has lines of JSON objects, so that nothing says which export it "+
			"is. Import the parts as the export has them.")
	}
	left := r.Parts[p.Files.Part].Bytes - p.Files.Offset
	body, err := w.Objects.Range(ctx, partKey(s, p.Files.Part+1), p.Files.Offset, left)
	if err != nil {
		return err
	}
	defer body.Close()
	m, end := Archives.Begin(ctx)
	defer end()
	from := &tally{Reader: m.Reader(body)}
	archive, over := tar.NewReader(from), false
	for n := 0; n < cmp.Or(w.Entries, stepEntries) && from.n < stepBytes; n++ {
		entry, err := archive.Next()
		if over = err == io.EOF; over {
			break
		}
		if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
			return failure("invalid_format", "Part %d is neither JSON lines nor a tar archive.", p.Files.Part+1)
		}
		if err != nil {
			return err
		}
		if err := m.Count(1); err != nil {
			return err
		}
		if isSparse(entry) {
			return failure("invalid_format", "The entry %.100q of part %d is sparse. Archive the files as they are, "+
				"such as by tar without -S.", entry.Name, p.Files.Part+1)
		}
		if err := w.entry(ctx, s, entry, archive); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, archive); err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	if p.Files.Offset += blocks(from.n); over {
		p.Files = at{Part: p.Files.Part + 1}
	}
	return nil
}

// isSparse reports whether an entry has more bytes than the archive.
func isSparse(entry *tar.Header) bool {
	if entry.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for name := range entry.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// entry takes the entry of an archive, if a line names it and it is what the line says.
func (w *Importer) entry(ctx context.Context, s *task.Run, entry *tar.Header, content io.Reader) error {
	if _, ok := parseFile(entry.Name); !ok || entry.Typeflag != tar.TypeReg {
		return nil
	}
	it, err := w.DB.Lookup(ctx, fileKey(s, entry.Name))
	if err != nil || it.Kind != NamedFile {
		return err
	}
	var f namedFile
	if err := it.Decode(&f); err != nil || f.Refusal != "" {
		return err
	}
	if before := f; entry.Size != f.Bytes {
		f.Refusal = fmt.Sprintf("Its file %s has %d bytes, and the line says %d.", entry.Name, entry.Size, f.Bytes)
	} else if err := w.inspect(ctx, s, entry.Name, content, &f); err != nil {
		return err
	} else if before.File != nil && f.Refusal == "" {
		return nil // it is there twice
	}
	if err := it.Encode(f); err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	return w.DB.Commit(ctx, tx)
}

// mostFile is the largest size of a stored file.
const mostFile = 512 << 20

// inspect reads a file, and keeps a copy of what is to be stored of it.
func (w *Importer) inspect(ctx context.Context, s *task.Run, name string, content io.Reader, f *namedFile) error {
	received, err := media.Spool(ctx, content, min(f.Bytes, mostFile))
	if errors.Is(err, media.ErrTooLarge) {
		f.Refusal = fmt.Sprintf("Its file %s has more bytes than a file may have.", name)
		return nil
	}
	if err != nil {
		return err
	}
	defer received.Close()
	if sum := hex.EncodeToString(received.Sum); sum != f.SHA256 {
		f.Refusal = fmt.Sprintf("Its file %s has the SHA-256 %s, and the line says %s.", name, sum, f.SHA256)
		return nil
	}
	if f.File != nil {
		return nil
	}
	accepted, err := w.accept(ctx, s.Owner.Mode == tenant.Test, name, received)
	if why := incoming.RefusalOf(err); why != nil {
		f.Refusal = fmt.Sprintf("Its file %s is refused: %s", name, why.Message)
		return nil
	}
	if errors.Is(err, probe.ErrUnsupported) {
		f.Refusal = fmt.Sprintf("Its file %s has no format that such files have.", name)
		return nil
	}
	if err != nil {
		return err
	}
	accepted.Key = copyKey(s, name)
	if err := w.Objects.Put(ctx, accepted.File, accepted.Content); err != nil {
		return err
	}
	f.File = &accepted.File
	return nil
}

// accept reads what a file is: that of a media or photo as if it was uploaded, and any other as if it was made.
func (w *Importer) accept(ctx context.Context, test bool, name string,
	received *media.SpooledFile) (a incoming.CleanFile,
	err error) {
	if of, _ := parseFile(name); id.Valid(id.Media, of.resource) || id.Valid(id.Photo, of.resource) {
		return incoming.Accept(ctx, probe.Decoder{}, w.Manifests, test, received)
	}
	info, err := probe.Read(received, received.Size)
	if err != nil {
		return a, err
	}
	if info.Type == media.Image && info.Width*info.Height > media.MaxPixels {
		return a, fmt.Errorf("%w: %d x %d pixels", probe.ErrUnsupported, info.Width, info.Height)
	}
	a = incoming.CleanFile{Ext: info.Ext, Content: received, File: info.File()}
	a.Bytes, a.SHA256 = received.Size, hex.EncodeToString(received.Sum)
	said, err := provenance.Read(ctx, received, received.Size)
	if errors.Is(err, provenance.ErrUnsupported) {
		return a, nil
	}
	if uri := said.Source.URI(); uri != "" || said.Manifest {
		a.Provenance = &media.Provenance{DigitalSourceType: uri, C2PA: said.Manifest}
	}
	return a, err
}

// OrphanMetric counts the objects without a record, once a day.
const OrphanMetric = "ObjectsWithoutRecord"

// settleAge is the age of an object from which on its record must be there. The files of a deleted resource stay for a
// day, and then their removal is tried until it succeeds.
const settleAge = 3 * 24 * time.Hour

// mostNamed bounds the objects that the log names.
const mostNamed = 100

// Lister lists the objects of the bucket.
type Lister interface {
	// List returns the next objects below a prefix after a key, in their order, and reports whether more follow.
	List(ctx context.Context, prefix, after string) (all []media.Object, more bool, err error)
}

// Comparer compares the bucket with the table: an object that no record has is counted by no quota, and no deletion
// finds it.
type Comparer struct {
	DB      *store.DB
	Objects Lister
	Now     func() time.Time
}

// Comparison is the result of a comparison.
type Comparison struct {
	// Objects is the number of objects of media, and Orphans that of those without a record, with their Bytes.
	Objects int   `json:"objects"`
	Orphans int   `json:"orphans"`
	Bytes   int64 `json:"bytes"`
	// AfterKey is the last key that was compared.
	AfterKey string `json:"after,omitempty"`
}

// CompareKind is the kind of the task of a comparison.
const CompareKind task.Kind = "files.compare"

// ServiceAccount owns the tasks that belong to no customer.
const ServiceAccount tenant.Account = "service"

// Compare has the bucket and the table compared, once a day: another call of the day does nothing.
func Compare(ctx context.Context, db *store.DB, now time.Time) error {
	day, tx := now.UTC().Format(time.DateOnly), &store.Tx{}
	if err := task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(CompareKind, day, 1), Kind: CompareKind,
		Queue: topology.Transfer, Subject: day, Owner: tenant.Of(ServiceAccount, tenant.Live)}}, nil); err != nil {
		return err
	}
	return db.CommitOnce(ctx, tx)
}

// pages is the number of pages of objects that one step compares.
const pages = 50

// Compare compares some of the objects. The last step reports the orphans by a metric and in the log.
func (c *Comparer) Compare(ctx context.Context, s *task.Run) error {
	var r Comparison
	if err := s.Recall("compared", &r); err != nil {
		return err
	}
	ctx = tenant.Unconfined(ctx)
	more := true
	for n := 0; n < pages && more; n++ {
		page, rest, err := c.Objects.List(ctx, "media/", r.AfterKey)
		if err == nil {
			err = c.compare(ctx, page, &r)
		}
		if err != nil {
			return task.Again(err)
		}
		if more = rest; len(page) > 0 {
			r.AfterKey = page[len(page)-1].Key
		}
	}
	if err := s.Keep("compared", r); err != nil || more {
		return errors.Join(err, s.Sleep(0))
	}
	metric.Add(OrphanMetric, int64(r.Orphans))
	slog.Info("bucket compared with table", "objects", r.Objects, "orphans", r.Orphans, "bytes", r.Bytes)
	return nil
}

// compare looks up the records of the objects of a page. Photos have none of their own: their product lists them.
func (c *Comparer) compare(ctx context.Context, page []media.Object, r *Comparison) error {
	of := map[string][]media.Object{}
	for _, o := range page {
		r.Objects++
		parts := strings.Split(o.Key, "/")
		if len(parts) < 5 || c.Now().Sub(o.At) < settleAge || id.Valid(id.Photo, parts[3]) {
			continue
		}
		of[parts[3]] = append(of[parts[3]], o)
	}
	ids := make([]string, 0, len(of))
	for resourceID := range of {
		ids = append(ids, resourceID)
	}
	for len(ids) > 0 {
		some := ids[:min(len(ids), 100)]
		ids = ids[len(some):]
		items, err := c.DB.GetAll(ctx, store.IDKeys(some)...)
		if err != nil {
			return err
		}
		for i, it := range items {
			for _, o := range of[some[i]] {
				parts := strings.Split(o.Key, "/")
				if it.Kind != "" && string(it.Owner.Account) == parts[1] && string(it.Owner.Mode) == parts[2] {
					continue
				}
				if r.Orphans++; r.Orphans <= mostNamed {
					slog.Warn("object without a record", "key", o.Key, "bytes", o.Bytes, "at", o.At)
				}
				r.Bytes += o.Bytes
			}
		}
	}
	return nil
}
