package product

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"

	clip "github.com/content-automation/api/pkg/base/text"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Foreign is a product as another system has it. Its texts are data of others: they are cut, and never followed.
type Foreign struct {
	// Source is the connection to the other system, and ID the product's id there.
	Source string `json:"source"`
	ID     string `json:"id"`
	// SKU is empty if the other system has none. Then the product has Fallback as SKU, as it has if the SKU is taken.
	SKU         string `json:"sku"`
	Fallback    string `json:"fallback"`
	Name        string `json:"name"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Price       string `json:"price"`
	Currency    string `json:"currency"`
	Archived    bool   `json:"archived"`
	// ReadAt is the time at which it began to be read there.
	ReadAt time.Time `json:"-"`
}

// Outcome is the effect of an import.
type Outcome int

// The outcomes of an import.
const (
	Unchanged Outcome = iota
	Created
	Changed
)

// foreignKind is the kind of the item that holds which product stands for one of another system.
const foreignKind = "foreign_product"

// bound is the document of that item. Digest is that of the foreign product as it was imported last, so that what the
// caller has changed since stays until it changes there. Read is when that was read: what was read before is older.
type bound struct {
	ID      string    `json:"id"`
	Product string    `json:"product"`
	Digest  []byte    `json:"digest"`
	ReadAt  time.Time `json:"read,omitzero"`
}

func foreignKey(o tenant.Owner, source, foreignID string) store.Key {
	return store.IDKey("foreign#" + o.String() + "#" + source + "#" + foreignID)
}

func foreignPartition(o tenant.Owner, source string) string {
	return "foreign#" + o.String() + "#" + source
}

// Importer imports products of other systems into catalogs.
type Importer struct {
	DB  *store.DB
	Now func() time.Time
}

// maxImports bounds the attempts at an import that conflicts with other changes.
const maxImports = 4

// Import creates or changes the product of a factory that stands for a foreign product. One foreign product has one
// product: importing it again changes that one, and a product that was deleted here stays deleted. Join adds to the
// transaction that creates the product. An error of type *errs.Error says what is wrong with the foreign product.
// Two imports of one product may run at once: the later one finds what the other has written, its SKU for example, and
// what was read last stays.
func (m Importer) Import(ctx context.Context, o tenant.Owner, factoryID string, f Foreign,
	join func(tx *store.Tx, productID string) error) (done Outcome, err error) {
	for range maxImports {
		done, err = m.try(ctx, o, factoryID, f, join)
		if !errors.Is(err, store.ErrConflict) && (err == nil || errs.CodeOf(err) != errs.Duplicate) {
			return done, err
		}
	}
	return Unchanged, err
}

func (m Importer) try(ctx context.Context, o tenant.Owner, factoryID string, f Foreign,
	join func(tx *store.Tx, productID string) error) (Outcome, error) {
	key := foreignKey(o, f.Source, f.ID)
	f.clean()
	plain, err := json.Marshal(f)
	if err != nil {
		return Unchanged, err
	}
	sum := sha256.Sum256(plain)
	found, err := m.DB.GetAll(ctx, key, SKUKey(o, factoryID, f.SKU))
	if err != nil {
		return Unchanged, err
	}
	var b bound
	if found[0].Kind != "" {
		if err := found[0].Decode(&b); err != nil {
			return Unchanged, err
		}
	}
	if string(b.Digest) == string(sum[:]) || f.ReadAt.Before(b.ReadAt) {
		return Unchanged, nil
	}
	if holder := HolderOf(found[1]); holder != "" && holder != b.Product {
		f.SKU = f.Fallback
	}
	now, tx := m.Now(), &store.Tx{}
	r := &StoredProduct{Product: Product{Resource: resource.New(id.New(id.Product, now), now, nil),
		FactoryID: factoryID, Attributes: map[string]string{}}}
	if b.Product != "" {
		return m.change(ctx, tx, found[0], b, f, sum[:])
	}
	if f.Archived {
		return Unchanged, nil
	}
	if err := f.apply(r, now); err != nil {
		return Unchanged, err
	}
	if err := Create(tx, o, r); err != nil {
		return Unchanged, err
	}
	it := store.Item{Key: key, Kind: foreignKind, Owner: o,
		Parent: store.Key{PK: foreignPartition(o, f.Source), SK: f.ID}}
	if err := it.Encode(bound{f.ID, r.ID, sum[:], f.ReadAt}); err != nil {
		return Unchanged, err
	}
	tx.Create(it, nil)
	if err := join(tx, r.ID); err != nil {
		return Unchanged, err
	}
	return Created, m.DB.Commit(ctx, tx)
}

// change changes the product of a foreign product that was imported before.
func (m Importer) change(ctx context.Context, tx *store.Tx, binding store.Item, b bound, f Foreign,
	digest []byte) (Outcome, error) {
	it, err := m.DB.Lookup(ctx, store.IDKey(b.Product))
	if err != nil {
		return Unchanged, err
	}
	b.Digest, b.ReadAt = digest, f.ReadAt
	if err := tx.Rewrite(binding, b); err != nil {
		return Unchanged, err
	}
	if it.Kind != ItemKind || it.Owner != binding.Owner {
		return Unchanged, m.DB.Commit(ctx, tx) // it was deleted here
	}
	r, err := Decode(&it)
	if err != nil {
		return Unchanged, err
	}
	now, sku := m.Now(), r.SKU
	if err := f.apply(r, now); err != nil {
		return Unchanged, err
	}
	r.Touch(now)
	if err := Replace(tx, it, r, sku); err != nil {
		return Unchanged, err
	}
	return Changed, m.DB.Commit(ctx, tx)
}

// apply takes the members of a foreign product over.
func (f Foreign) apply(r *StoredProduct, now time.Time) error {
	price, ok := money.Parse(f.Price, f.Currency)
	switch {
	case f.Archived: // it needs no price
		price = r.Price
	case f.Name == "":
		return errs.Invalid("/name", "is missing in the product %s", f.ID)
	case !ok:
		return errs.Invalid("/price", "of the product %s is no amount of a currency", f.ID)
	default:
		if err := r.CheckPrice(price, now); err != nil {
			return err
		}
	}
	if r.describe(f.SKU, f.Name, f.Description, f.URL, price); f.Archived {
		r.State = Archived
	}
	return nil
}

// clean cuts texts that are too long, and leaves out an address that is not valid.
func (f *Foreign) clean() {
	f.Name = clip.ClipLetters(line(f.Name), 200)
	f.Description = clip.ClipLetters(strings.TrimSpace(strings.Map(visible, f.Description)), 5000)
	if f.SKU = line(f.SKU); f.SKU == "" || len([]rune(f.SKU)) > 64 {
		f.SKU = f.Fallback
	}
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(f.URL) > 2048 {
		f.URL = ""
	}
}

// visible removes control characters but line breaks.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' || r == unicode.ReplacementChar {
		return -1
	}
	return r
}

func line(text string) string {
	return strings.Map(visible, strings.Join(strings.Fields(text), " "))
}

// Bound returns the ids in the other system of a page of the products that were imported from it, and the cursor of
// the next page, or nil.
func (m Importer) Bound(ctx context.Context, o tenant.Owner, source string, after *store.Cursor,
	most int) (ids []string, next *store.Cursor, err error) {
	page, err := m.DB.List(ctx, store.Query{Index: store.ByParent, Partition: foreignPartition(o, source),
		Limit: most, OldestFirst: true, After: after})
	if err != nil {
		return nil, nil, err
	}
	for _, it := range page.Items {
		var b bound
		if err := it.Decode(&b); err != nil {
			return nil, nil, err
		}
		ids = append(ids, b.ID)
	}
	return ids, page.Next, nil
}

// Archive archives the product of a foreign product that was deleted in the other system. It reports whether the
// product was active.
func (m Importer) Archive(ctx context.Context, o tenant.Owner, source, foreignID string) (bool, error) {
	done := false
	err := store.Retry(func() (err error) {
		done, err = m.archive(ctx, o, foreignKey(o, source, foreignID))
		return err
	})
	return done, err
}

func (m Importer) archive(ctx context.Context, o tenant.Owner, key store.Key) (bool, error) {
	found, err := m.DB.Lookup(ctx, key)
	if err != nil || found.Kind == "" {
		return false, err
	}
	var b bound
	if err := found.Decode(&b); err != nil {
		return false, err
	}
	it, err := m.DB.Lookup(ctx, store.IDKey(b.Product))
	if err != nil || !(it.Kind == ItemKind && it.Owner == o) {
		return false, err
	}
	r, err := Decode(&it)
	if err != nil || r.State == Archived {
		return false, err
	}
	r.State = Archived
	r.Touch(m.Now())
	tx := &store.Tx{}
	if err := Replace(tx, it, r, r.SKU); err != nil {
		return false, err
	}
	// If the other system restores it, the next import changes it again.
	b.Digest, b.ReadAt = nil, m.Now()
	if err := tx.Rewrite(found, b); err != nil {
		return false, err
	}
	return true, m.DB.Commit(ctx, tx)
}
