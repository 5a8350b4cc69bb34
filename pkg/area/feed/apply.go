package feed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/sheet"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The bounds of a run: the refusals that it shows, those of the catalog that its task keeps, the rows that are compared
// at once, the writes of a transaction, and the rows that one step writes.
const (
	mostRefusals = 1000
	mostLate     = 200
	compareRows  = 100
	mostWrites   = 80
	stepRows     = 5000
	// refusalBytes bounds the refusals in the item of a run, which has up to 400 KB.
	refusalBytes = 150 << 10
)

// errEnough ends the reading of a feed.
var errEnough = errors.New("feed: enough rows")

// check fetches the feed and reads it once, so that a broken one changes nothing. It notes what is refused, and holds
// the run if too much is gone. Each later step reads the kept file anew, up to its place, and sweep reads the ids: at
// 50,000 rows one reading takes less than a second, and a run would else hold what it has read for as long as it lasts.
func (s *sync) check(ctx context.Context) error {
	if s.run.Settings == nil {
		s.run.Settings = s.feed.settings()
	}
	file, same, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	if same {
		return s.end(Completed, event.FeedCompleted, func(tx *store.Tx, f *Record, r *runRecord) error {
			r.NotModified = true
			return s.follow(tx, f) // because offers begin and end by themselves
		})
	}
	defer file.Close()
	out, err := os.CreateTemp("", "refusals-*")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(out.Close(), os.Remove(out.Name())) }()
	list := csv.NewWriter(out)
	_ = list.Write([]string{"row", "member", "reason"}) // Flush returns the error
	var shown []feed.Refusal
	size, there, counts := 0, map[[8]byte]bool{}, Counts{}
	err = feed.Read(ctx, file, s.options(), func(r feed.Row, refused *feed.Refusal) error {
		counts.Read++
		if r.ID != "" {
			there[feed.Key(r.ID)] = true
		}
		if refused == nil {
			return nil
		}
		counts.Refused++
		size += len(refused.Member) + len(refused.Reason) + 40
		if len(shown) < mostRefusals && size < refusalBytes {
			shown = append(shown, *refused)
		}
		return list.Write(cells(*refused))
	})
	if err != nil {
		return err
	}
	if list.Flush(); list.Error() != nil {
		return list.Error()
	}
	if counts.Refused > 0 {
		if err := s.keepEarly(ctx, out); err != nil {
			return err
		}
	}
	if err := s.keep(ctx, feedKey(s.task.Owner, s.run.ID), "application/octet-stream", file.File); err != nil {
		return err
	}
	gone, known, err := s.gone(ctx, there)
	if err != nil {
		return err
	}
	s.place.Counts = counts
	note := func(_ *store.Tx, _ *Record, r *runRecord) error {
		r.Total, r.Gone, r.Counts, r.Validators = counts.Read, gone, counts, s.run.Validators
		r.Settings = s.run.Settings
		r.Refusals = append([]feed.Refusal{}, shown...)
		return nil
	}
	if gone > 0 && gone*5 >= known && !s.run.Confirmed {
		return s.end(Held, event.FeedHeld, func(tx *store.Tx, f *Record, r *runRecord) error {
			r.HeldReason = MassRemoval
			return note(tx, f, r)
		})
	}
	s.place.Checked = true
	s.change(func(tx *store.Tx, f *Record, r *runRecord) error {
		now := resource.Instant(s.Now())
		r.State, r.StartedAt = Running, &now
		return note(tx, f, r)
	})
	return s.again()
}

// fetch returns the feed in a file, or that it has not changed. A run that was confirmed reads what it was confirmed
// for.
func (s *sync) fetch(ctx context.Context) (file *media.SpooledFile, same bool, err error) {
	file, err = s.spool(ctx, func() (body io.ReadCloser, err error) {
		if s.run.Confirmed {
			return s.Objects.Open(ctx, feedKey(s.task.Owner, s.run.ID))
		}
		body, err = s.open(ctx)
		if err == nil && body == nil {
			same, body = true, io.NopCloser(strings.NewReader(""))
		}
		return body, err
	})
	var failed *failedError
	switch {
	case err == nil, errors.As(err, &failed):
	case errs.CodeOf(err) == errs.NotFound:
		err = failure("not_fetched", "The file of the feed is not there any more. Call syncFeed for a new run.")
	case ctx.Err() == nil && !s.run.Confirmed && s.feed.Source.URL != nil && s.task.Failures+1 >= fetches:
		err = failure("not_fetched", "The feed could not be read to its end. %s", safehttp.Describe(err))
	}
	return file, same, err
}

// cells are the cells of a refusal.
func cells(r feed.Refusal) []string {
	return []string{strconv.Itoa(r.Row), sheet.Text(r.Member), sheet.Text(r.Reason)}
}

// keepEarly stores the refusals of the feed, which appendLate reads again.
func (s *sync) keepEarly(ctx context.Context, list io.ReadSeeker) error {
	return errors.Join(s.keep(ctx, refusalsKey(s.task.Owner, s.run.ID), refusalsType, list),
		s.keep(ctx, earlyKey(s.task.Owner, s.run.ID), refusalsType, list))
}

// keep stores a file of the run.
func (s *sync) keep(ctx context.Context, key, mimeType string, file io.ReadSeeker) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return s.Objects.Put(ctx, media.File{Key: key, MIMEType: mimeType, Bytes: size}, file)
}

// gone counts the products of the feed that are not in it any more, and all that were.
func (s *sync) gone(ctx context.Context, there map[[8]byte]bool) (gone, known int, err error) {
	err = s.DB.Each(ctx, s.active(), func(it store.Item) error {
		r, err := product.Decode(&it)
		if err != nil {
			return err
		}
		if known++; !there[feed.Key(r.SKU)] {
			gone++
		}
		return nil
	})
	return gone, known, err
}

// active lists the products of the feed that are not archived.
func (s *sync) active() store.Query {
	filters := product.InFeed()
	filters["state"] = string(product.Active)
	return store.Query{Index: store.ByParent, Partition: product.Partition(s.task.Owner, s.run.FactoryID),
		OldestFirst: true, Limit: 200, Filters: filters}
}

// entry is a row whose product differs from it.
type entry struct {
	row feed.Row
	// number is that of the row among all, and same the number of rows before it that have changed nothing, behind the
	// entry before.
	number, same int
}

// applier puts rows into the catalog, as many as a step takes.
type applier struct {
	*sync
	// read is the number of rows that were read, and written that of rows that were written.
	read, written int
	batch         []entry
	waiting       []entry
	// same is the number of rows behind the last waiting one that have changed nothing.
	same int
}

// apply puts the rows behind the place into the catalog.
func (s *sync) apply(ctx context.Context, file io.ReadSeeker) error {
	a := &applier{sync: s}
	err := feed.Read(ctx, file, s.options(), func(r feed.Row, refused *feed.Refusal) error {
		if a.read++; a.read <= s.place.Applied {
			return nil
		}
		if refused == nil {
			a.batch = append(a.batch, entry{row: s.shown(r), number: a.read})
		}
		if len(a.batch) < compareRows {
			return nil
		}
		if err := a.compare(ctx); err != nil {
			return err
		}
		if len(a.waiting) < mostWrites {
			return nil
		}
		if err := a.flush(ctx); err != nil {
			return err
		}
		if a.written >= cmp.Or(s.StepRows, stepRows) {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	s.place.AllApplied = err == nil
	if err := errors.Join(a.compare(ctx), a.flush(ctx)); err != nil {
		return err
	}
	return s.again()
}

// shown returns a row with the photos that products of the feed get.
func (s *sync) shown(r feed.Row) feed.Row {
	switch {
	case s.run.Settings.Photos == PhotosNone:
		r.Photos = nil
	case s.run.Settings.Photos == PhotosMain && len(r.Photos) > 1:
		r.Photos = r.Photos[:1]
	}
	return r
}

// compare finds the rows of the batch whose products differ from them.
func (a *applier) compare(ctx context.Context) error {
	if len(a.batch) == 0 {
		return nil
	}
	items, err := a.products(ctx, a.batch)
	if err != nil {
		return err
	}
	for i, e := range a.batch {
		if product.HasRow(&items[i], product.RowHash(e.row)) {
			a.same++
			continue
		}
		e.same, a.same = a.same, 0
		a.waiting = append(a.waiting, e)
	}
	a.batch = a.batch[:0]
	return nil
}

// products reads the products with the SKUs of rows. The item of a row without one is zero.
func (s *sync) products(ctx context.Context, rows []entry) ([]store.Item, error) {
	keys := make([]store.Key, len(rows))
	for i, e := range rows {
		keys[i] = product.SKUKey(s.task.Owner, s.run.FactoryID, e.row.ID)
	}
	holders, err := s.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	items, known, at := make([]store.Item, len(rows)), []store.Key{}, []int{}
	for i, h := range holders {
		if productID := product.HolderOf(h); productID != "" {
			known, at = append(known, store.IDKey(productID)), append(at, i)
		}
	}
	if len(known) == 0 {
		return items, nil
	}
	found, err := s.DB.GetAll(ctx, known...)
	if err != nil {
		return nil, err
	}
	for i, it := range found {
		items[at[i]] = it
	}
	return items, nil
}

// promotions reads the promotions of the sales of products. The item of a product without one is zero.
func (s *sync) promotions(ctx context.Context, products []store.Item) ([]store.Item, error) {
	all, keys, at := make([]store.Item, len(products)), []store.Key{}, []int{}
	for i, it := range products {
		if it.Kind == "" {
			continue
		}
		r, err := product.Decode(&it)
		if err != nil {
			return nil, err
		}
		if key := r.PromotionKey(); key.PK != "" {
			keys, at = append(keys, key), append(at, i)
		}
	}
	if len(keys) == 0 {
		return all, nil
	}
	found, err := s.DB.GetAll(ctx, keys...)
	for i, it := range found {
		all[at[i]] = it
	}
	return all, err
}

// flush writes the rows that wait, in as many transactions as they need. Each moves the place of the run.
func (a *applier) flush(ctx context.Context) error {
	for len(a.waiting) > 0 {
		took, next := 0, place{}
		a.task.Forget("batch")
		_, err := task.Commit(ctx, a.task, "batch", func(ctx context.Context, tx *store.Tx) (done bool, err error) {
			next = a.place
			if took, err = a.put(ctx, tx, &next); err != nil {
				return false, err
			}
			err = a.write(ctx, tx, func(_ *store.Tx, _ *Record, r *runRecord) error {
				r.Counts = next.Counts
				return nil
			})
			return true, errors.Join(err, a.task.Keep("place", next))
		})
		if err != nil {
			return err
		}
		a.place, a.waiting, a.written = next, a.waiting[took:], a.written+took
		if err := a.spill(ctx); err != nil {
			return err
		}
	}
	a.place.Counts.Unchanged, a.same = a.place.Counts.Unchanged+a.same, 0
	a.place.Applied = a.read
	return nil
}

// put adds the first rows that wait to the transaction, and moves the place behind them.
func (a *applier) put(ctx context.Context, tx *store.Tx, p *place) (took int, err error) {
	p.AllApplied = false // the rest is noted when the step ends
	items, err := a.products(ctx, a.waiting)
	if err != nil {
		return 0, err
	}
	promotions, err := a.promotions(ctx, items)
	if err != nil {
		return 0, err
	}
	p.Late = append([]feed.Refusal{}, p.Late...)
	for i, e := range a.waiting {
		if tx.Len() > mostWrites {
			break
		}
		done, err := a.shelf.Put(tx, items[i], promotions[i], e.row)
		var of *errs.Error
		switch {
		case errors.As(err, &of) && len(of.Details)+len(of.Param) > 0:
			p.refuse(e.row.Number, of)
		case err != nil:
			return 0, err
		case done == product.Created:
			p.Counts.Created++
		case done == product.Changed:
			p.Counts.Changed++
		default:
			p.Counts.Unchanged++
		}
		p.Photos = p.Photos || len(e.row.Photos) > 0
		p.Counts.Unchanged += e.same
		took, p.Applied = i+1, e.number
	}
	return took, nil
}

// refuse notes that the catalog does not take a row.
func (p *place) refuse(row int, e *errs.Error) {
	p.Counts.Refused++
	r := feed.Refusal{Row: row, Member: strings.TrimPrefix(e.Param, "/"), Reason: e.Message}
	if len(e.Details) > 0 {
		r.Member, r.Reason = strings.TrimPrefix(e.Details[0].Param, "/"), e.Details[0].Message
	}
	p.Late = append(p.Late, r)
}

// sweep archives some products that the feed has no more, and then ends the run.
func (s *sync) sweep(ctx context.Context, file io.ReadSeeker) error {
	if s.run.Gone == 0 {
		return s.complete(ctx)
	}
	there := map[[8]byte]bool{}
	err := feed.Read(ctx, file, s.options(), func(r feed.Row, _ *feed.Refusal) error {
		if r.ID != "" {
			there[feed.Key(r.ID)] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	q := s.active()
	for pages := 0; pages < 100; pages++ {
		q.After, q.Limit = s.place.After, 50
		page, err := s.DB.List(ctx, q)
		if err != nil {
			return err
		}
		if err := s.withdraw(ctx, page, there); err != nil {
			return err
		}
		if page.Next == nil {
			return s.complete(ctx)
		}
	}
	return s.again()
}

// withdraw archives the products of a page that are gone, and moves the place behind the page.
func (s *sync) withdraw(ctx context.Context, page store.Page, there map[[8]byte]bool) error {
	var keys []store.Key
	for _, it := range page.Items {
		r, err := product.Decode(&it)
		if err != nil {
			return err
		}
		if !there[feed.Key(r.SKU)] {
			keys = append(keys, it.Key)
		}
	}
	next := s.place
	next.After = page.Next
	if len(keys) == 0 {
		s.place = next
		return nil
	}
	s.task.Forget("batch")
	_, err := task.Commit(ctx, s.task, "batch", func(ctx context.Context, tx *store.Tx) (done bool, err error) {
		next.Counts.Archived = s.place.Counts.Archived
		items, err := s.DB.GetAll(ctx, keys...)
		if err != nil {
			return false, err
		}
		promotions, err := s.promotions(ctx, items)
		if err != nil {
			return false, err
		}
		for i, it := range items {
			if it.Kind == "" {
				return false, nil
			}
			gone, err := s.shelf.Withdraw(tx, it, promotions[i])
			if err != nil {
				return false, err
			}
			if gone {
				next.Counts.Archived++
			}
		}
		err = s.write(ctx, tx, func(_ *store.Tx, _ *Record, r *runRecord) error {
			r.Counts = next.Counts
			return nil
		})
		return true, errors.Join(err, s.task.Keep("place", next))
	})
	s.place = next
	return err
}

// complete ends the run. Content and photos follow it. The bucket removes the file of the feed after some days.
func (s *sync) complete(ctx context.Context) error {
	late, err := s.late(ctx)
	if err == nil {
		err = s.appendLate(ctx, late)
	}
	if err != nil {
		return err
	}
	return s.end(Completed, event.FeedCompleted, func(tx *store.Tx, f *Record, r *runRecord) error {
		r.Refusals = append(r.Refusals, late[:min(len(late), mostRefusals-len(r.Refusals))]...)
		r.HeldReason = ""
		switch {
		case r.Settings.Round != f.Round: // what was set since is yet to be read
		case len(late) > 0: // what the catalog does not take now, it may take later
			f.ETag, f.LastModified = "", ""
		default:
			f.ETag, f.LastModified = r.Validators[0], r.Validators[1]
		}
		return s.follow(tx, f)
	})
}

// spill moves the refusals of the catalog into a file once they are many. A step that dies before its next transaction
// writes the same file again.
func (s *sync) spill(ctx context.Context) error {
	if len(s.place.Late) < mostLate {
		return nil
	}
	plain, err := json.Marshal(s.place.Late)
	if err == nil {
		err = s.keep(ctx, lateKey(s.task.Owner, s.run.ID, s.place.Spilled), "application/json", bytes.NewReader(plain))
	}
	if err == nil {
		s.place.Late, s.place.Spilled = nil, s.place.Spilled+1
	}
	return err
}

// late returns all refusals of the catalog.
func (s *sync) late(ctx context.Context) (all []feed.Refusal, err error) {
	for n := range s.place.Spilled {
		file, err := s.Objects.Open(ctx, lateKey(s.task.Owner, s.run.ID, n))
		if err != nil {
			return nil, err
		}
		var some []feed.Refusal
		plain, err := io.ReadAll(io.LimitReader(file, 1<<20))
		if err = errors.Join(err, file.Close()); err == nil {
			err = json.Unmarshal(plain, &some)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return append(all, s.place.Late...), nil
}

// appendLate writes the file of all refusals: those of the feed, and then those of the catalog.
func (s *sync) appendLate(ctx context.Context, late []feed.Refusal) error {
	if len(late) == 0 {
		return nil
	}
	var b bytes.Buffer
	if s.run.Refused > len(late) {
		was, err := s.Objects.Open(ctx, earlyKey(s.task.Owner, s.run.ID))
		if err != nil {
			return err
		}
		_, err = io.Copy(&b, io.LimitReader(was, 100<<20))
		if err = errors.Join(err, was.Close()); err != nil {
			return err
		}
	}
	out := csv.NewWriter(&b)
	if b.Len() == 0 {
		_ = out.Write([]string{"row", "member", "reason"}) // Flush returns the error
	}
	for _, r := range late {
		_ = out.Write(cells(r))
	}
	out.Flush()
	key := refusalsKey(s.task.Owner, s.run.ID)
	return errors.Join(out.Error(), s.keep(ctx, key, refusalsType, bytes.NewReader(b.Bytes())))
}
