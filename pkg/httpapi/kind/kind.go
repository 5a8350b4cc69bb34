// Package kind declares the resources of one kind once. What all kinds have in common follows from the declaration: a
// resource is found, shown, listed, created, changed and deleted. A kind adds its own rules by functions. Start with
// Kind; List, Get, Create, Update and Delete register its operations.
package kind

import (
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

// Kind declares the resources of a kind. R is the record that the table holds as JSON. It embeds resource.Resource, and
// has the members of the resource, by which bodies of requests fill it.
type Kind[R any] struct {
	DB  *store.DB
	Now func() time.Time

	// Name is the name of the kind in the table, and ID the prefix of its ids. Errors name it by the noun of the prefix.
	Name, ID string
	// Path is the path of one resource, for example /v1/profiles/{profile_id}. Its list is the path above.
	Path string
	// Function and Tag are those of its operations, and Reads and Writes the scopes that these need.
	Function, Tag string
	Reads, Writes auth.Scope
	// AccountWide makes the operations that change something refuse keys that are bound to profiles.
	AccountWide bool

	// Beside, if it is set, returns the keys of other items that are read with a resource, in the same round trip.
	Beside func(o tenant.Owner, resourceID string) []store.Key
	// Load, if it is set, completes a record that was read, or refuses it.
	Load func(ctx context.Context, f *Found[R]) error
	// Place, if it is set, gives the item of a record what lists and timers find it by, before it is written.
	Place func(it *store.Item, r *R)
	// Bound, if it is set, counts the resources.
	Bound *quota.Bound
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
	var others []store.Key
	if k.Beside != nil {
		others = k.Beside(auth.FromContext(ctx).Owner, resourceID)
	}
	noun, _ := id.Noun(k.ID)
	it, beside, err := resource.FindWith(ctx, k.DB, k.ID, noun, resourceID, others...)
	if err != nil {
		return nil, err
	}
	f := &Found[R]{Item: it, Beside: beside}
	if err := k.load(ctx, f, nil); err != nil {
		return nil, err
	}
	return f, httpapi.Matches(common(f.Record).Version, match)
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
	common(f.Record).Touch(k.Now())
	if err := f.Item.Encode(f.Record); err != nil {
		return err
	}
	if k.Place != nil {
		k.Place(&f.Item, f.Record)
	}
	tx.Replace(f.Item)
	return nil
}

// Add adds a new resource to the transaction. Its record has its id.
func (k *Kind[R]) Add(tx *store.Tx, o tenant.Owner, r *R) (it store.Item, err error) {
	if it, err = store.NewItem(k.Name, o, common(r).ID, r); err != nil {
		return it, err
	}
	if k.Place != nil {
		k.Place(&it, r)
	}
	if k.Bound != nil {
		k.Bound.Take(tx, k.Now(), &it)
	}
	tx.Create(it, nil)
	return it, nil
}

// Remove adds to the transaction that a resource is deleted.
func (k *Kind[R]) Remove(tx *store.Tx, it store.Item) {
	quota.Free(tx, k.Now(), it)
	tx.Delete(it)
}

// operation completes an operation of the kind.
func (k *Kind[R]) operation(op httpapi.Op, method, path string, codes ...errs.Code) httpapi.Op {
	op.Method, op.Path, op.Function, op.Tag, op.Scope = method, path, k.Function, k.Tag, k.Reads
	op.Errors = append(op.Errors, codes...)
	if method != http.MethodGet {
		op.Scope, op.AccountWide = k.Writes, k.AccountWide
	}
	if op.Opens == 0 && method == http.MethodGet {
		op.Opens = httpapi.Nothing
	}
	return op
}

// List registers the list of the caller's resources. The input embeds httpapi.PageInput. It may embed resource.Tagged
// and httpapi.Period, and its parameters with the tag filter are the filters of that name. Narrow may bound the query
// further.
func List[I, R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op, show Show[R, T],
	narrow ...func(context.Context, *I, *store.Query) error) {
	httpapi.List(r, k.operation(op, http.MethodGet, path.Dir(k.Path), errs.InvalidCursor),
		func(ctx context.Context, in *I) (page httpapi.Page[T], err error) {
			q, of, err := httpapi.Filtered(ctx, k.Name, k.ID, in)
			for _, bound := range narrow {
				if err == nil {
					err = bound(ctx, in, &q)
				}
			}
			if err != nil {
				return page, err
			}
			return httpapi.ListItems(ctx, k.DB, q, of, func(it store.Item) (shown T, err error) {
				f := &Found[R]{Item: it}
				if err := k.load(ctx, f, nil); err != nil {
					return shown, err
				}
				return show(ctx, f)
			})
		})
}

// Get registers the operation that shows a resource.
func Get[R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op, show Show[R, T]) {
	httpapi.Read(r, k.operation(op, http.MethodGet, k.Path), func(ctx context.Context, _ *struct{}) (out T, err error) {
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
	op = k.operation(op, http.MethodPost, path.Dir(k.Path))
	if op.Status == 0 {
		op.Status = http.StatusCreated
	}
	httpapi.Write(r, op, func(ctx context.Context, tx *store.Tx, in *createInput[B]) (out T, err error) {
		c := &Change[R, B]{Body: &in.Body, Now: k.Now()}
		c.Record, c.Item.Owner = new(R), auth.FromContext(ctx).Owner
		if err := fill(c.Record, in.Body); err != nil {
			return out, err
		}
		all := common(c.Record)
		*all = resource.New(id.New(k.ID, c.Now), c.Now, all.Metadata)
		if err := opened(ctx, tx, c); err != nil {
			return out, err
		}
		if c.Item, err = k.Add(tx, c.Item.Owner, c.Record); err != nil {
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
// of the patch that have the names of its own.
func Update[B, R, T any](r *httpapi.Router, k *Kind[R], op httpapi.Op,
	changed func(context.Context, *store.Tx, *Change[R, B]) error, show Show[R, T]) {
	op = k.operation(op, http.MethodPatch, k.Path, errs.VersionMismatch)
	httpapi.Write(r, op, func(ctx context.Context, tx *store.Tx, in *updateInput[B]) (out T, err error) {
		f, err := k.Find(ctx, httpapi.PathID(ctx), in.IfMatch)
		if err != nil {
			return out, err
		}
		c := &Change[R, B]{Found: *f, Was: f.Record, Body: &in.Body, Now: k.Now()}
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
	if op.Opens == 0 {
		op.Opens = httpapi.Deletion
	}
	op = k.operation(op, http.MethodDelete, k.Path, errs.VersionMismatch)
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
