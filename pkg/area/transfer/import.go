package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ImportKind is the kind of the task of an import, and ImportItem that of its item in the table.
const (
	ImportKind task.Kind = "transfer.import"
	ImportItem string    = "import"
)

// ImportedPart is a part that an import reads.
type ImportedPart struct {
	// What it has. Null until it was fetched.
	Kind resource.Text `json:"kind" enum:"lines,files"`
	// Size in bytes: as declared, and once fetched as found.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal: as declared, and once fetched as found. Empty if it was not declared, until then.
	SHA256 string `json:"sha256"`
}

// Taken counts the resources of a type in an import.
type Taken struct {
	// Resources that are there now, also those of an earlier import of the same export.
	Imported int `json:"imported_count"`
	// Resources that were left out. left_out says why.
	LeftOut int `json:"left_out_count"`
}

// LeftOut is a reason for which resources of a type were left out.
type LeftOut struct {
	// Kind of the resources.
	Kind string `json:"kind" example:"social_account"`
	// Machine-readable reason. needs_consent: the owner of the account connects it anew. of_elsewhere: it tells of what
	// has happened in the other account. invalid: it is not as the format describes. missing: what it belongs to, or
	// its file, is not there. refused: an operation that creates such a resource would refuse it, too.
	Code string `json:"code" enum:"needs_consent,of_elsewhere,invalid,missing,refused"`
	// What happened and what to do about it, for one of them.
	Message string `json:"message"`
	// Old id of that one.
	ID string `json:"id"`
	// Number of such resources.
	Count int `json:"count"`
}

// Import is an import as callers see it.
type Import struct {
	resource.Resource
	// State of the import.
	State State `json:"state" filter:"state" enum:"running,completed,failed"`
	// Parts that it reads.
	Parts []ImportedPart `json:"parts" nullable:"false"`
	// Export that the parts are of. Null until the first was read.
	ExportID resource.Text `json:"export_id" example:"xpt_01h455vb4pex5vsknk084sn02q"`
	// Resources, by their types.
	Resources map[string]Taken `json:"resources"`
	// Why resources were left out: up to 100 reasons.
	LeftOut []LeftOut `json:"left_out" nullable:"false"`
	// Number of files that were taken over.
	Files int `json:"file_count"`
	// Number of files that resources have and no part has.
	MissingFiles int `json:"missing_file_count"`
	// New ids by the old ones, once completed. Empty until then, in lists, and of more than 1,000: map_url has all.
	Map map[string]string `json:"map"`
	// Signed URL of JSON lines with kind, old_id and new_id of each resource. Null until completed, and in lists.
	MapURL *string `json:"map_url" format:"uri"`
	// Why it failed. What was imported until then stays; another import of the same export continues it. Null unless
	// failed.
	Failure *Failure `json:"failure"`
	// Time of its end. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Time at which the import and its map are deleted. Null while it is running. What was imported stays.
	ExpiresAt *resource.Time `json:"expires_at"`
}

var _ = format.Define("import-failure", format.Format{
	Values: format.Words("not_fetched invalid_format unreadable storage_full authority_ended too_slow internal")})

// Failure is the reason for which an import has failed.
type Failure struct {
	// Machine-readable reason. not_fetched: a part cannot be fetched, or is not the one that was declared.
	// invalid_format: a part is no export, or is one of another export, or an archive has a sparse entry. unreadable:
	// reading a part has ended our function three times. storage_full: the account may not store as much.
	// authority_ended: the key or person that has started it may not import any more. too_slow: it has not ended within
	// a day. internal: something went wrong on our side.
	Code string `json:"code" format:"import-failure"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Pending returns the path that shows the import, and the time to look at it.
func (i Import) Pending() (path string, after time.Duration) {
	return "/v1/imports/" + i.ID, 2 * time.Second
}

// importRecord is the stored document of an import.
type importRecord struct {
	Import
	// URLs are the addresses of the parts. They are forgotten as parts are fetched.
	URLs []string `json:"urls"`
	// Authority is on whose behalf it imports.
	Authority authority.Authority `json:"authority"`
	// Source is the header of the first part of lines.
	Source *Header `json:"source,omitempty"`
	// Replay is the time from which posts go out again, each at its time, in the rehearsal of an export; or nil.
	Replay *time.Time `json:"replay,omitempty"`
	// Maps is the number of objects with parts of the map, and Mapped the number of their lines.
	Maps     int `json:"maps,omitempty"`
	MapParts int `json:"mapped,omitempty"`
	// NamedFiles is the number of files that its lines name.
	NamedFiles int `json:"named,omitempty"`
	// ReservedBytes are the bytes of its parts, which count for the storage of the account until it ends.
	ReservedBytes int64 `json:"reserved,omitempty"`
	// CountedParts is the number of parts whose bytes are reserved.
	CountedParts int `json:"counted,omitempty"`
}

// mostInline is the size of the largest map that the import shows.
const mostInline = 1000

// newImport adds an import and its task to the transaction.
func newImport(tx *store.Tx, now time.Time, o tenant.Owner, by authority.Authority, parts []partBody,
	metadata resource.Metadata, replay *time.Time) (Import, error) {
	r := importRecord{Authority: by, Replay: replay}
	r.Import = Import{Resource: resource.New(id.New(id.Import, now), now, metadata), State: Running,
		Resources: map[string]Taken{}, LeftOut: []LeftOut{}, Map: map[string]string{}}
	for _, p := range parts {
		r.Parts = append(r.Parts, ImportedPart{Bytes: p.Bytes, SHA256: p.SHA256})
		r.URLs = append(r.URLs, p.URL)
	}
	it, err := store.NewItem(ImportItem, o, r.ID, r)
	if err != nil {
		return r.Import, err
	}
	quota.Imports.Take(tx, now, &it)
	tx.Create(it, nil)
	return r.Import, task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(ImportKind, r.ID, 1),
		Kind: ImportKind, Queue: topology.ImportData, Subject: r.ID, Owner: o}, Deadline: now.Add(longest)}, nil)
}

// leaveOut counts a resource that is left out.
func (r *importRecord) leaveOut(why LeftOut) {
	_, counted := r.Resources[why.Kind]
	if k, _ := importKind(why.Kind); k.name == "" && !counted && len(r.Resources) >= mostReasons {
		why.Kind = unknownKind
	}
	t := r.Resources[why.Kind]
	t.LeftOut++
	r.Resources[why.Kind] = t
	exact := why.Code == codeRefused || why.Code == codeInvalid
	find := func() int {
		return slices.IndexFunc(r.LeftOut, func(l LeftOut) bool {
			return l.Kind == why.Kind && l.Code == why.Code && (!exact || l.Message == why.Message)
		})
	}
	at := find()
	if at < 0 && len(r.LeftOut) >= mostReasons {
		exact = false
		at = find()
	}
	if at >= 0 {
		r.LeftOut[at].Count++
	} else if why.Count = 1; len(r.LeftOut) < mostReasons {
		r.LeftOut = append(r.LeftOut, why)
	}
}

// mostReasons bounds the reasons that an import shows, and the kinds of which it has resources.
const mostReasons = 100

// unknownKind is the kind of lines that have none, and of those of further kinds that exports do not have.
const unknownKind = "unknown"

// The codes of LeftOut, in the order of its description.
const (
	codeConsent   = "needs_consent"
	codeElsewhere = "of_elsewhere"
	codeInvalid   = "invalid"
	codeMissing   = "missing"
	codeRefused   = "refused"
)

// The bounds of parts that are imported: a part, a line of one, and the lines that one step takes.
const (
	mostPart  = 1 << 30
	mostLine  = 1 << 20
	stepLines = 500
	fetchTime = 8 * time.Minute
	fetches   = 4
)

// URLs fetches from the addresses of callers. NewClient returns an implementation.
type URLs interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewClient returns the client for the addresses of parts.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: mostPart + 1, Timeout: fetchTime,
		Redirects: safehttp.MaxRedirects})
}

// Importer carries out imports. It fetches all parts first: their URLs may end soon. Then it notes
// which files the lines name, reads these files and keeps copies of them, and takes the lines, a step for some of each.
// Each resource is created in a transaction of its own, under an id that follows from the old one, so that a step that
// is taken again finds what is there; its files are stored after that.
type Importer struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	Now     func() time.Time
	// Envelope seals the secrets of webhooks, which are drawn from Random.
	Envelope *seal.Envelope
	Random   io.Reader
	// Manifests reads the manifests of files. If it is nil, they are not checked.
	Manifests provenance.Reader
	// Addresses checks the addresses of webhooks. If it is nil, only public ones are permitted.
	Addresses safehttp.Checker
	// Lines and Entries replace the numbers of lines and of entries of archives of a step unless they are 0.
	Lines, Entries int
}

// place is how far an import is.
type place struct {
	// FetchedParts is the number of parts that are in the bucket.
	FetchedParts int `json:"fetched,omitempty"`
	// NamedUntil is behind the lines whose files are noted, Files behind the files that are read, and Taken behind the
	// lines that are taken.
	NamedUntil at `json:"named,omitzero"`
	Files      at `json:"files,omitzero"`
	TakenUntil at `json:"taken,omitzero"`
	// MapComplete reports that the map is whole, or that the import has failed: what it has read is removed then.
	MapComplete bool     `json:"joined,omitempty"`
	Failure     *Failure `json:"failure,omitempty"`
}

// at is a place in the parts of a kind: the number of parts before it, and that of lines or bytes of the next part.
type at struct {
	Part   int   `json:"part,omitempty"`
	Offset int64 `json:"done,omitempty"`
}

// in moves the place to the next part of a kind, and reports whether there is one.
func (a *at) in(parts []ImportedPart, kind resource.Text) bool {
	for a.Part < len(parts) && parts[a.Part].Kind != kind {
		*a = at{Part: a.Part + 1}
	}
	return a.Part < len(parts)
}

// failedError is an error of a step that ends the import.
type failedError struct{ Failure }

func (f *failedError) Error() string { return f.Code + ": " + f.Message }

func failure(code, format string, args ...any) error {
	return &failedError{Failure{code, fmt.Sprintf(format, args...)}}
}

// Import takes the next lines or files of an import, or ends it. After a failure, what was imported until then stays.
func (w *Importer) Import(ctx context.Context, s *task.Run) error {
	if s.Cause() != nil {
		f := failureOf(s.Cause())
		return w.end(s, &Failure{f.Code, f.Message})
	}
	var p place
	if err := s.Recall("place", &p); err != nil {
		return err
	}
	if err := s.Guard(ctx, nil); errors.Is(err, task.ErrDeaths) {
		return w.end(s, p.tooHard())
	} else if err != nil {
		return err
	}
	_, r, err := running[importRecord](ctx, w.DB, s)
	if err != nil || r == nil {
		return err
	}
	if p.MapComplete {
		more, err := w.Objects.RemoveSome(ctx, inputPrefix(s))
		switch {
		case err != nil:
			return task.Again(err)
		case more:
			return s.Sleep(0)
		}
		return w.end(s, p.Failure)
	}
	err = w.next(ctx, s, r, &p)
	var ended *failedError
	var of *authority.EndedError
	switch {
	case errors.As(err, &ended):
		p = place{MapComplete: true, Failure: &ended.Failure}
	case errors.As(err, &of):
		p = place{MapComplete: true, Failure: &Failure{authority.Code, of.Error()}}
	case err != nil && !errors.Is(err, task.ErrMoved):
		return task.Again(err)
	case err != nil:
		return err
	}
	return errors.Join(s.Keep("place", p), s.Sleep(0))
}

// tooHard returns the failure of a part that cannot be read.
func (p place) tooHard() *Failure {
	what := fmt.Sprintf("lines of part %d", p.TakenUntil.Part+1)
	switch begin := (at{}); {
	case p.Failure != nil || p.MapComplete:
		what = "end of the import"
	case p.NamedUntil == begin && p.Files == begin && p.TakenUntil == begin:
		what = fmt.Sprintf("beginning of the import, or part %d", p.FetchedParts)
	case p.TakenUntil == begin:
		what = fmt.Sprintf("files of part %d, from byte %d,", p.Files.Part+1, p.Files.Offset)
	}
	return &Failure{"unreadable", fmt.Sprintf("Reading the %s has ended our function %d times. Export again, and "+
		"import the new parts.", what, task.MostDeaths)}
}

// next does what is next, on behalf of the caller, and moves the place behind it.
func (w *Importer) next(ctx context.Context, s *task.Run, r *importRecord, p *place) error {
	by, err := r.Authority.Find(ctx, w.DB, s.Owner, w.Now())
	if err == nil {
		err = authority.Lacks(by.Principal, auth.AccountManage)
	}
	if err != nil {
		return err
	}
	ctx = auth.NewContext(ctx, by.Principal)
	switch {
	case p.FetchedParts < len(r.Parts):
		return w.fetch(ctx, s, r, p)
	case p.NamedUntil.in(r.Parts, KindLines):
		return w.name(ctx, s, r, p)
	case p.Files.in(r.Parts, KindFiles):
		return w.files(ctx, s, r, p)
	case p.TakenUntil.in(r.Parts, KindLines):
		return w.lines(ctx, s, r, p)
	}
	p.MapComplete = true
	return w.join(ctx, s, r)
}

// change commits a change of the import with the step.
func (w *Importer) change(s *task.Run, change func(*importRecord)) {
	s.Also(changing(w.DB, s, w.Now, func(_ *store.Tx, _ *store.Item, r *importRecord) error {
		change(r)
		return nil
	}))
}

// end ends the import of a step.
func (w *Importer) end(s *task.Run, failure *Failure) error {
	s.Forget("place")
	return s.End(changing(w.DB, s, w.Now,
		func(tx *store.Tx, it *store.Item, r *importRecord) error {
			stays := keep
			if r.Replay != nil {
				stays *= 60 // longer than what the rehearsal may play
			}
			at, until := resource.Instant(w.Now()), resource.Instant(w.Now().Add(stays))
			r.State, r.EndedAt, r.ExpiresAt, r.Failure, r.URLs = Completed, &at, &until, failure, nil
			if failure != nil {
				r.State = Failed
			}
			r.MissingFiles = max(0, r.NamedFiles-r.Files)
			it.ExpireAt = until.Time
			if r.ReservedBytes > 0 {
				tx.Count(quota.BytesKey(s.Owner), -r.ReservedBytes, math.MaxInt64, store.ErrConflict)
				r.ReservedBytes = 0
			}
			return event.Add(tx, w.Now(), it.Owner, event.ImportCompleted, r.Import)
		}))
}

// checkEncoding refuses the beginning of a part that is a text, but not in UTF-8. No archive begins so.
func checkEncoding(begin []byte, part int) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(begin, []byte(mark)) {
			return failure("invalid_format", "Part %d is a text in UTF-16 or UTF-32. Save it in UTF-8, and import it "+
				"again.", part)
		}
	}
	return nil
}

type mapLine struct {
	// Kind of the resource. Empty for one that is a part of the resource before it.
	Kind string `json:"kind,omitempty"`
	// OldID is its id in the export, and NewID that of what was imported.
	OldID string `json:"old_id"`
	NewID string `json:"new_id"`
}

// scan reads the lines of a part from a place on, until a function returns false, or for as many as a step takes. It
// returns the place behind them.
func (w *Importer) scan(ctx context.Context, s *task.Run, from at,
	take func(n int, text []byte) (more bool, err error)) (next at, err error) {
	body, err := w.Objects.Open(ctx, partKey(s, from.Part+1))
	if err != nil {
		return from, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	n, last := 0, int(from.Offset)+cmp.Or(w.Lines, stepLines)
	for lines.Scan() {
		if n++; n <= int(from.Offset) {
			continue
		}
		more, err := take(n, bytes.TrimPrefix(lines.Bytes(), []byte(clip.ByteOrderMark)))
		if err = cmp.Or(err, ctx.Err()); err != nil || !more || n == last {
			return at{from.Part, int64(n)}, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return from, failure("invalid_format", "Line %d of part %d has more than 1 MiB.", n+1, from.Part+1)
	} else if err != nil {
		return from, err
	}
	return at{Part: from.Part + 1}, nil
}

// lines takes some lines of a part.
func (w *Importer) lines(ctx context.Context, s *task.Run, r *importRecord, p *place) (err error) {
	t := &taker{w: w, s: s, record: &importRecord{Import: Import{Resources: map[string]Taken{}}}, source: r.Source,
		factories: factory.NewService(w.DB, w.Now), items: map[string]store.Item{}, principal: auth.FromContext(ctx),
		by: r.Authority, replay: r.Replay}
	p.TakenUntil, err = w.scan(ctx, s, p.TakenUntil, func(n int, text []byte) (bool, error) {
		err := t.line(ctx, p.TakenUntil.Part+1, n, text)
		return t.bytes < stepBytes, err
	})
	if err != nil {
		return err
	}
	maps := r.Maps + 1
	w.change(s, func(r *importRecord) { r.took(t, maps) })
	return w.put(ctx, s, maps, &t.mapText)
}

// took adds what a step has taken.
func (r *importRecord) took(t *taker, maps int) {
	r.Maps, r.MapParts = maps, r.MapParts+t.count
	r.NamedFiles, r.Files = r.NamedFiles+t.files, r.Files+t.copiedFiles
	for name, taken := range t.record.Resources {
		all := r.Resources[name]
		all.Imported += taken.Imported
		r.Resources[name] = all
	}
	for _, why := range t.leftOut {
		r.leaveOut(why)
	}
}

// put stores a part of the map, or the whole one as number 0.
func (w *Importer) put(ctx context.Context, s *task.Run, n int, content io.Reader) error {
	f, err := media.Spool(ctx, content, mostPart)
	if err != nil {
		return err
	}
	defer f.Close()
	return w.Objects.Put(ctx, media.File{Key: objectKey(Imports, s.Owner, s.Subject, kindMap, n), MIMEType: linesType,
		Bytes: f.Size, SHA256: hex.EncodeToString(f.Sum)}, f)
}

// join joins the parts of the map.
func (w *Importer) join(ctx context.Context, s *task.Run, r *importRecord) error {
	m := wholeMap{seen: map[string]bool{}, again: map[string]int{}}
	for n := 1; n <= r.Maps; n++ {
		body, err := w.Objects.Open(ctx, objectKey(Imports, s.Owner, s.Subject, kindMap, n))
		if err != nil {
			return err
		}
		if err := errors.Join(m.add(body), body.Close()); err != nil {
			return err
		}
	}
	w.change(s, m.count)
	return w.put(ctx, s, 0, &m.text)
}

// wholeMap is the map of an import. A resource that has several lines is there once, and counts once.
type wholeMap struct {
	text  bytes.Buffer
	lines int
	seen  map[string]bool
	// again is the number of further lines of resources, by their types.
	again map[string]int
}

// add adds the lines of a part of the map that are of resources which no line before is of.
func (m *wholeMap) add(part io.Reader) error {
	lines := bufio.NewScanner(part)
	for lines.Scan() {
		var l mapLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		k, _ := importKind(l.Kind)
		switch of := k.idMember() + l.OldID; {
		case m.seen[of] && l.Kind != "":
			m.again[l.Kind]++
		case !m.seen[of]:
			if m.seen[of] = true; k.idMember() == "id" { // a feed has the id of its factory
				m.lines++
				_, _ = m.text.Write(append(lines.Bytes(), '\n'))
			}
		}
	}
	return lines.Err()
}

// count corrects the numbers of an import, which count lines.
func (m *wholeMap) count(r *importRecord) {
	r.MapParts = m.lines
	for kind, n := range m.again {
		taken := r.Resources[kind]
		taken.Imported -= n
		r.Resources[kind] = taken
	}
}

// fetch copies the next part into the bucket.
func (w *Importer) fetch(ctx context.Context, s *task.Run, r *importRecord, p *place) error {
	declared := r.Parts[p.FetchedParts]
	body, err := w.open(ctx, s, r.URLs[p.FetchedParts], p.FetchedParts+1)
	if err != nil {
		return err
	}
	f, err := media.Spool(ctx, body, mostPart)
	_ = body.Close()
	switch {
	case errors.Is(err, media.ErrTooLarge), errors.Is(err, safehttp.ErrBodyTooLarge):
		return failure("not_fetched", "Part %d has more than 1 GiB.", p.FetchedParts+1)
	case err != nil && s.Failures+1 >= fetches:
		return failure("not_fetched", "Part %d could not be read to its end. Export again, and import the new parts.",
			p.FetchedParts+1)
	case err != nil:
		return err
	}
	defer f.Close()
	found := ImportedPart{KindFiles, f.Size, hex.EncodeToString(f.Sum)}
	if declared.SHA256 != "" && declared.SHA256 != found.SHA256 ||
		declared.Bytes != 0 && declared.Bytes != found.Bytes {
		return failure("not_fetched", "Part %d is not the one that was declared: it has %d bytes and the SHA-256 %s.",
			p.FetchedParts+1, found.Bytes, found.SHA256)
	}
	first := make([]byte, 512)
	n, _ := f.ReadAt(first, 0)
	if err := checkEncoding(first[:n], p.FetchedParts+1); err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(first[:n], []byte(clip.ByteOrderMark))), []byte("{")) {
		found.Kind = KindLines
	}
	if err := w.reserve(ctx, s, p.FetchedParts, f.Size); err != nil {
		return err
	}
	n = p.FetchedParts
	p.FetchedParts++
	w.change(s, func(r *importRecord) { r.Parts[n], r.URLs[n] = found, "" })
	return w.Objects.Put(ctx, media.File{Key: partKey(s, n+1), MIMEType: mimeType(string(found.Kind)), Bytes: f.Size,
		SHA256: found.SHA256}, f)
}

// partKey returns the key of the n-th part of the import of a step.
func partKey(s *task.Run, n int) string { return fmt.Sprintf("%spart-%05d", inputPrefix(s), n) }

// reserve counts the bytes of a part for the storage of its account, before the part is stored. The parts count until
// the import ends, and its files from then on with what shows them. A step that is taken again finds them counted.
func (w *Importer) reserve(ctx context.Context, s *task.Run, n int, bytes int64) error {
	return w.DB.Change(ctx, func(tx *store.Tx) error {
		it, r, err := running[importRecord](ctx, w.DB, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
		}
		if r.CountedParts > n || bytes == 0 {
			return nil
		}
		r.CountedParts, r.ReservedBytes = n+1, r.ReservedBytes+bytes
		tx.Count(quota.BytesKey(s.Owner), bytes, incoming.MostBytes(s.Owner), failure("storage_full", "The media of "+
			"the account may have %d GiB together, and have more with part %d. Delete some, and import again.",
			incoming.MostBytes(s.Owner)>>30, n+1))
		err = it.Encode(r)
		tx.Replace(it)
		return err
	})
}

// open starts reading the part at an address.
func (w *Importer) open(ctx context.Context, s *task.Run, address string, n int) (io.ReadCloser, error) {
	if address == "" {
		return w.Objects.Open(ctx, partKey(s, n))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failure("not_fetched", "The URL of part %d is not valid.", n)
	}
	resp, err := w.URLs.Do(req)
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &blocked):
		return nil, failure("not_fetched", "Part %d could not be fetched. %s", n, safehttp.Describe(err))
	case err != nil && s.Failures+1 >= fetches:
		return nil, failure("not_fetched", "Part %d could not be fetched: %s.", n, safehttp.Describe(err))
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	if pause, again := safehttp.Again(resp, w.Now()); again && s.Failures+1 < fetches {
		return nil, &task.RetryError{Err: fmt.Errorf("transfer: part %d: status %d", n, resp.StatusCode), After: pause}
	}
	return nil, failure("not_fetched", "Part %d could not be fetched: the server answered with status %d. URLs of "+
		"exports end: read the export again for new ones.", n, resp.StatusCode)
}
