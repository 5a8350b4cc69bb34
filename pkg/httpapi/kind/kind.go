// Package kind declares the resources of one kind once. What all kinds have in common follows from the declaration: a
// resource is found, shown, listed, created, changed and deleted. A kind adds its own rules by functions. Start with
// Kind; List, Get, Create, Update and Delete register its operations.
package kind

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind declares the resources of a kind. R is the record that the table holds as JSON. It embeds resource.Resource if
// callers make or change it, and has the members of the resource, by which bodies of requests fill it.
type Kind[R any] struct {
	// Name is the name of the kind in the table, and ID the prefix of its ids, by whose noun errors name it.
	Name, ID string
	// Path is the path of one resource, for example /v1/profiles/{profile_id}. Its list is the path above.
	Path string
	// Function and Tag are those of its operations, and Reads and Writes the scopes that these need.
	Function, Tag string
	Reads, Writes auth.Scope
	// AccountWide makes the operations that change something refuse keys that are bound to profiles.
	AccountWide bool

	// Partition, if it is set, returns the partition of store.Table that has the resources of an owner by their ids.
	// Else a resource is found by its id alone, and lists use the index of owners.
	Partition func(o tenant.Owner) string
	// Beside, if it is set, returns the keys of other items that are read with a resource, in the same round trip.
	Beside func(o tenant.Owner, resourceID string) []store.Key
	// Load, if it is set, completes a record that was read, or refuses it.
	Load func(ctx context.Context, f *Found[R]) error
	// Place, if it is set, gives the item of a record what lists and timers find it by, before each write.
	Place func(it *store.Item, r *R)
	// Count, if it is set, counts a new resource.
	Count func(tx *store.Tx, now time.Time, it *store.Item)

	db  *store.DB
	now func() time.Time
}

// On returns the kind with a table and a clock.
func (k Kind[R]) On(db *store.DB, now func() time.Time) *Kind[R] {
	k.db, k.now = db, now
	return &k
}

// Found is a resource of the caller.
type Found[R any] struct {
	Record *R
	// Item is the item of the record, and Beside are those that the kind has read with it.
	Item   store.Item
	Beside []store.Item
}

// Change is a resource that a call creates or changes. B is the body of the call.
type Change[R, B any] struct {
	// Found has the record with the members of the body in it. The item of a new one has only its owner.
	Found[R]
	// Was is the record before the change, or nil if it is new.
	Was  *R
	Body *B
	Now  time.Time
}

// Show returns what the caller sees of a resource.
type Show[R, T any] func(ctx context.Context, f *Found[R]) (T, error)

// common returns the common members of a record.
func common(record any) *resource.Resource {
	return record.(interface{ Common() *resource.Resource }).Common()
}

// Find reads a resource of the caller. It returns not_found as resource.Find does, and version_mismatch if the version
// is not one that the headers name.
func (k *Kind[R]) Find(ctx context.Context, resourceID string, match ...httpapi.IfMatch) (*Found[R], error) {
	return k.FindWith(ctx, resourceID, match)
}

// FindWith is Find, and reads other items in the same round trip, which follow those that the kind reads beside it.
func (k *Kind[R]) FindWith(ctx context.Context, resourceID string, match []httpapi.IfMatch,
	others ...store.Key) (*Found[R], error) {
	o := auth.FromContext(ctx).Owner
	if k.Beside != nil {
		others = append(k.Beside(o, resourceID), others...)
	}
	noun, _ := id.Noun(k.ID)
	it, beside, err := resource.FindAt(ctx, k.db, k.ID, noun, resourceID, k.key(o, resourceID), others...)
	f := &Found[R]{Item: it, Beside: beside}
	if err == nil {
		err = k.load(ctx, f, nil)
	}
	if err == nil && len(match) > 0 {
		err = httpapi.Matches(common(f.Record).Version, match)
	}
	return f, err
}

// key returns the key of a resource of an owner.
func (k *Kind[R]) key(o tenant.Owner, resourceID string) store.Key {
	if k.Partition == nil {
		return store.IDKey(resourceID)
	}
	return store.Key{PK: k.Partition(o), SK: resourceID}
}

// load decodes the record of an item, unless it is given one.
func (k *Kind[R]) load(ctx context.Context, f *Found[R], r *R) error {
	if f.Record = r; r == nil {
		f.Record = new(R)
		if err := f.Item.Decode(f.Record); err != nil {
			return err
		}
	}
	if k.Load == nil {
		return nil
	}
	return k.Load(ctx, f)
}

// Replace adds to the transaction that a resource is as its record says now, with the next version.
func (k *Kind[R]) Replace(tx *store.Tx, f *Found[R]) error {
	common(f.Record).Touch(k.now())
	if k.Place != nil {
		k.Place(&f.Item, f.Record)
	}
	return tx.Rewrite(f.Item, f.Record)
}

// Add adds a new resource to the transaction, with the id that its record has.
func (k *Kind[R]) Add(tx *store.Tx, now time.Time, o tenant.Owner, r *R) (it store.Item, err error) {
	if it, err = k.Item(o, r); err != nil {
		return it, err
	}
	if k.Count != nil {
		k.Count(tx, now, &it)
	}
	tx.Create(it, nil)
	return it, nil
}

// Item returns the item of a new resource.
func (k *Kind[R]) Item(o tenant.Owner, r *R) (store.Item, error) {
	it, err := store.NewItem(k.Name, o, common(r).ID, nil)
	if k.Partition != nil {
		it.Key, it.ListKey = k.key(o, it.PK), store.Key{}
	}
	if k.Place != nil {
		k.Place(&it, r)
	}
	if err == nil {
		err = it.Encode(r)
	}
	return it, err
}

// Remove adds to the transaction that a resource is deleted.
func (k *Kind[R]) Remove(tx *store.Tx, it store.Item) {
	quota.Free(tx, k.now(), it)
	tx.Delete(it)
}

// Op completes an operation of the kind. At is its path: that of the list, of one resource, or below it.
func (k *Kind[R]) Op(op httpapi.Op, method, at string) httpapi.Op {
	op.Method, op.Path, op.Function, op.Tag, op.Kind = method, at, k.Function, k.Tag, k.Name
	op.AccountWide = op.AccountWide || k.AccountWide && method != http.MethodGet
	list := at == path.Dir(k.Path)
	if method != http.MethodGet {
		op.Scope = cmp.Or(op.Scope, k.Writes)
	}
	switch {
	case method == http.MethodGet:
		op.Scope, op.Opens = cmp.Or(op.Scope, k.Reads), cmp.Or(op.Opens, httpapi.Nothing)
		if list {
			op.Errors = append(op.Errors, errs.InvalidCursor)
		}
		return op
	case list:
		op.Status = cmp.Or(op.Status, http.StatusCreated)
		return op
	case method == http.MethodDelete:
		op.Opens = cmp.Or(op.Opens, httpapi.Deletion)
	}
	op.Errors = append(op.Errors, errs.VersionMismatch)
	return op
}

// List registers the list of the caller's resources. The input embeds httpapi.PageInput; see Page.
func List[I, R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op, show Show[R, T],
	narrow ...func(context.Context, *I, *store.Query) error) {
	httpapi.List(r, k.Op(op, http.MethodGet, path.Dir(k.Path)),
		func(ctx context.Context, in *I) (httpapi.Page[T], error) { return Page(ctx, k, in, show, narrow...) })
}

// Page returns a page of the caller's resources. The input embeds httpapi.PageInput. It may embed
// resource.MetadataFilter and httpapi.Period, and its parameters with the tag filter are the filters of that name.
// Narrow may bound the query further.
func Page[I, R, T any](ctx context.Context, k *Kind[R], in *I, show Show[R, T],
	narrow ...func(context.Context, *I, *store.Query) error) (page httpapi.Page[T], err error) {
	q, of, err := httpapi.Filtered(ctx, k.Name, k.ID, in)
	if k.Partition != nil {
		q.Index, q.Partition = store.Table, k.Partition(auth.FromContext(ctx).Owner)
	}
	for _, bound := range narrow {
		if err == nil {
			err = bound(ctx, in, &q)
		}
	}
	if err != nil {
		return page, err
	}
	return httpapi.ListItems(ctx, k.db, q, of, func(it store.Item) (shown T, err error) {
		f := &Found[R]{Item: it}
		if err := k.load(ctx, f, nil); err != nil {
			return shown, err
		}
		return show(ctx, f)
	})
}

// Get registers the operation that shows a resource.
func Get[R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op, show Show[R, T]) {
	httpapi.Read(r, k.Op(op, http.MethodGet, k.Path), func(ctx context.Context, _ *struct{}) (out T, err error) {
		f, err := k.Find(ctx, httpapi.PathID(ctx))
		if err != nil {
			return out, err
		}
		return show(ctx, f)
	})
}

type createInput[B any] struct{ Body B }

// Create registers the operation that creates a resource. The record that opened gets has an id, and the members of the
// body that have the names of its own. The item has the owner, which is the caller unless opened sets another.
func Create[B, R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op,
	opened func(context.Context, *store.Tx, *Change[R, B]) error, show Show[R, T]) {
	op = k.Op(op, http.MethodPost, path.Dir(k.Path))
	httpapi.Write(r, op, func(ctx context.Context, tx *store.Tx, in *createInput[B]) (out T, err error) {
		c := &Change[R, B]{Body: &in.Body, Now: k.now()}
		c.Record, c.Item.Owner = new(R), auth.FromContext(ctx).Owner
		if err := fill(c.Record, in.Body); err != nil {
			return out, err
		}
		all := common(c.Record)
		*all = resource.New(id.New(k.ID, c.Now), c.Now, all.Metadata)
		if err := opened(ctx, tx, c); err != nil {
			return out, err
		}
		if c.Item, err = k.Add(tx, c.Now, c.Item.Owner, c.Record); err != nil {
			return out, err
		}
		return show(ctx, &c.Found)
	})
}

// fill gives a record the members of a body that it has.
func fill(record, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, record)
}

type updateInput[B any] struct {
	httpapi.IfMatch
	Body B
}

// Update registers the operation that changes a resource by a merge patch. The record that changed gets has the members
// of the patch that have the names of its own. A body with a method Beside names other items that are read with the
// resource.
func Update[B, R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op,
	changed func(context.Context, *store.Tx, *Change[R, B]) error, show Show[R, T]) {
	op = k.Op(op, http.MethodPatch, k.Path)
	httpapi.Write(r, op, func(ctx context.Context, tx *store.Tx, in *updateInput[B]) (out T, err error) {
		var others []store.Key
		if b, ok := any(in.Body).(interface{ Beside() []store.Key }); ok {
			others = b.Beside()
		}
		f, err := k.FindWith(ctx, httpapi.PathID(ctx), []httpapi.IfMatch{in.IfMatch}, others...)
		if err != nil {
			return out, err
		}
		c := &Change[R, B]{Found: *f, Was: f.Record, Body: &in.Body, Now: k.now()}
		next, err := httpapi.MergeRecord(ctx, *f.Record)
		if err != nil {
			return out, err
		}
		if err := k.load(ctx, &c.Found, &next); err != nil {
			return out, err
		}
		all := common(c.Record)
		all.Metadata = all.Metadata.OrEmpty()
		if err := changed(ctx, tx, c); err != nil {
			return out, err
		}
		if err := k.Replace(tx, &c.Found); err != nil {
			return out, err
		}
		return show(ctx, &c.Found)
	})
}

// Delete registers the operation that deletes a resource. Ended may refuse, and adds what else ends with it. The answer
// shows the resource as it was.
func Delete[R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op,
	ended func(context.Context, *store.Tx, *Found[R]) error, show Show[R, T]) {
	op = k.Op(op, http.MethodDelete, k.Path)
	httpapi.Write(r, op, func(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out T, err error) {
		f, err := k.Find(ctx, httpapi.PathID(ctx), *in)
		if err == nil && ended != nil {
			err = ended(ctx, tx, f)
		}
		if err != nil {
			return out, err
		}
		k.Remove(tx, f.Item)
		return show(ctx, f)
	})
}
