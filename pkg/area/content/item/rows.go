package item

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// PublicationKind is the kind of a publication in the table. It is a row under its item: it has the item's partition,
// and a version of its own. The document of the item has no publications.
const PublicationKind = "publication"

// PublicationKey is the key of the publication of an item to a social account. Its account is one of the
// SocialAccountIDs of the item, so that a list of items reads their publications in one batch.
func PublicationKey(itemID, accountID string) store.Key {
	return store.Key{PK: itemID, SK: "publication#" + accountID}
}

// Row is the stored document of a publication.
type Row struct {
	Publication
	Posting Posting `json:"posting,omitzero"`
	// FactoryID and ContentKind are those of the item.
	FactoryID   string `json:"factory_id"`
	ContentKind Kind   `json:"content_kind"`
}

// DecodeRow reads the row of a publication.
func DecodeRow(it *store.Item) (r Row, err error) {
	err = it.Decode(&r)
	r.Publication.Posting = r.Posting
	return r, err
}

// AccountPartition returns the partition of store.ByParent that lists the publications of an account that are scheduled
// or under way, in the order of PlaceAt.
func AccountPartition(accountID string) string { return "slots#" + accountID }

// PlaceAt returns the place of a publication with a time among those of its account.
func PlaceAt(publicationID string, at time.Time) string {
	return resource.SortableTime(at) + "#" + publicationID
}

// row returns the publication as an item of the table. It replaces was, unless that is the zero Item.
func (r *Record) row(o tenant.Owner, pub *Publication, was store.Item) (store.Item, error) {
	if was.PK == "" {
		was = store.Item{Key: PublicationKey(r.Item.ID, pub.SocialAccountID), Kind: PublicationKind, Owner: o}
	}
	was.Filters, was.Parent = map[string]string{"state": pub.State}, store.Key{}
	if !pub.Posting.At.IsZero() {
		was.Parent = store.Key{PK: AccountPartition(pub.SocialAccountID), SK: PlaceAt(pub.ID, pub.Posting.At)}
	}
	return was, was.Encode(Row{*pub, pub.Posting, r.Item.FactoryID, r.Item.Kind})
}

// ShownKind is the kind of the row of an item that shows a product. The runs of a feed find the items by it that they
// may concern.
const ShownKind = "shown_product"

const shownSK = "product"

// ShownPartition returns the partition of store.ByDue that lists the items of a factory that show products: by the id
// of the product, or by WaitsForProduct those that each run looks at.
func ShownPartition(factoryID string) string { return "shown#" + factoryID }

// followed is the time since its creation for which an item follows the runs of a feed.
const followed = 180 * 24 * time.Hour

// writeShown adds the row of the product to the transaction, unless it stays as it was.
func (r *Record) writeShown(tx *store.Tx, o tenant.Owner) {
	end := r.Item.CreatedAt.Add(followed)
	if r.Brief.Product == nil || !end.After(r.Item.UpdatedAt.Time) {
		return
	}
	place, remake := r.Brief.Product.ProductID, ""
	if r.Item.Remake != nil && r.Item.Remake.Reason != nil {
		remake = *r.Item.Remake.Reason
	}
	if r.Item.State == Generated && r.NotPublished == WaitsForProduct && !r.Item.Outdated.Gone() &&
		remake != RemakeNotSet {
		place = WaitsForProduct
	}
	due := store.Key{PK: ShownPartition(r.Item.FactoryID), SK: place + "#" + r.Item.ID}
	switch row := r.was.shown; {
	case row.PK == "":
		tx.Create(store.Item{Key: store.Key{PK: r.Item.ID, SK: shownSK}, Kind: ShownKind, Owner: o, Due: due,
			ExpireAt: end, Doc: []byte("{}")}, nil)
	case row.Due != due:
		row.Due = due
		tx.Replace(row)
	}
}

// Unfollow adds to the transaction that no run of a feed finds the item.
func (r *Record) Unfollow(tx *store.Tx) {
	if r.was.shown.PK != "" {
		tx.Delete(r.was.shown)
	}
}

// storedState is what is known of the stored state of a record.
type storedState struct {
	// version and at are the version and the time of the last change in the document, and shown is the version with the
	// changes of the rows.
	version, shownVersion int64
	at                    resource.Time
	// rows are the publications by their accounts, or nil if they were not read, and shown is the row of the product.
	rows  map[string]store.Item
	shown store.Item
	// awaits is the account of a publication that must still be under way when the transaction commits, or empty.
	awaits string
}

// Lookup reads an item with its publications in one query, and other items in one batch. The record is nil if the owner
// has no such item any more.
func Lookup(ctx context.Context, db *store.DB, o tenant.Owner, itemID string, others ...store.Key) (it store.Item,
	r *Record, beside []store.Item, err error) {
	under, err := db.Under(ctx, itemID)
	if err == nil && len(others) > 0 {
		beside, err = db.GetAll(ctx, others...)
	}
	if err != nil || len(under) == 0 || under[0].Owner != o {
		return it, nil, beside, err
	}
	r, err = Of(under)
	return under[0], r, beside, err
}

// Of returns the record of an item. Under has the item, and then its publications. The record is nil without an item.
func Of(under []store.Item) (*Record, error) {
	if len(under) == 0 || under[0].Kind != ItemKind {
		return nil, nil
	}
	r, err := Decode(&under[0])
	if err != nil {
		return nil, err
	}
	return r, r.take(under[1:])
}

// take adds the publications of the item to the record, in the order of its accounts. Zero items are left out.
func (r *Record) take(rows []store.Item) error {
	r.was.rows = map[string]store.Item{}
	for _, it := range rows {
		if it.Kind == ShownKind {
			r.was.shown = it
		}
		if it.Kind != PublicationKind {
			continue
		}
		row, err := DecodeRow(&it)
		if err != nil {
			return err
		}
		r.Item.Publications = append(r.Item.Publications, row.Publication)
		r.was.rows[row.SocialAccountID] = it
		r.Item.Version += row.Posting.OwnChanges
		if row.UpdatedAt.After(r.Item.UpdatedAt.Time) {
			r.Item.UpdatedAt = row.UpdatedAt
		}
	}
	r.was.shownVersion = r.Item.Version
	r.Item.sortPublications()
	return nil
}

// sortPublications brings the publications into the order of their accounts, and adds accounts that are missing.
func (r *Item) sortPublications() {
	for i := range r.Publications {
		if accountID := r.Publications[i].SocialAccountID; !slices.Contains(r.SocialAccountIDs, accountID) {
			r.SocialAccountIDs = append(r.SocialAccountIDs, accountID)
		}
	}
	slices.SortStableFunc(r.Publications, func(a, b Publication) int {
		return cmp.Compare(slices.Index(r.SocialAccountIDs, a.SocialAccountID),
			slices.Index(r.SocialAccountIDs, b.SocialAccountID))
	})
}

// Publication returns the publication of an id, or nil if there is none.
func (r *Item) Publication(id string) *Publication {
	return r.publicationWhere(func(p Publication) bool { return p.ID == id })
}

// PublicationTo returns the publication to a social account, or nil if there is none.
func (r *Item) PublicationTo(accountID string) *Publication {
	return r.publicationWhere(func(p Publication) bool { return p.SocialAccountID == accountID })
}

func (r *Item) publicationWhere(is func(Publication) bool) *Publication {
	if i := slices.IndexFunc(r.Publications, is); i >= 0 {
		return &r.Publications[i]
	}
	return nil
}

// Attach reads the publications of records, which come from a list, in one batch.
func Attach(ctx context.Context, db *store.DB, records ...*Record) error {
	return attach(ctx, db, func(r *Record) []store.Key { return r.Item.PublicationKeys() }, records...)
}

// Complete reads the rows of an item that was read alone, and is changed.
func (r *Record) Complete(ctx context.Context, db *store.DB) error {
	return attach(ctx, db, func(r *Record) []store.Key {
		keys := r.Item.PublicationKeys()
		if len(keys) > 0 || r.Brief.Product != nil {
			keys = append(keys, store.Key{PK: r.Item.ID, SK: shownSK})
		}
		return keys
	}, r)
}

// attach reads those rows of records that have the keys.
func attach(ctx context.Context, db *store.DB, of func(*Record) []store.Key, records ...*Record) error {
	var keys []store.Key
	for _, r := range records {
		keys = append(keys, of(r)...)
	}
	if len(keys) == 0 {
		return nil
	}
	rows, err := db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for _, r := range records {
		n := len(of(r))
		if err := r.take(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// PublicationKeys returns the keys of the publications that the item may have.
func (r *Item) PublicationKeys() (keys []store.Key) {
	if r.State == Scheduled || r.State == Publishing || r.State == Published || r.State == Failed {
		for _, accountID := range r.SocialAccountIDs {
			keys = append(keys, PublicationKey(r.ID, accountID))
		}
	}
	return keys
}

// Page is a page of a list of items, with their publications.
type Page struct {
	store.Page
	Records []*Record
}

// List reads a page of items in one query, and their publications in one batch.
func List(ctx context.Context, db *store.DB, q store.Query) (p Page, err error) {
	if p.Page, err = db.List(ctx, q); err != nil {
		return p, err
	}
	for i := range p.Items {
		r, err := Decode(&p.Items[i])
		if err != nil {
			return p, err
		}
		p.Records = append(p.Records, r)
	}
	return p, Attach(ctx, db, p.Records...)
}

// Create adds a new item, and its publications, to a transaction.
func (r *Record) Create(tx *store.Tx, o tenant.Owner) error {
	r.was = storedState{}
	r.Item.sortPublications()
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	r.writeShown(tx, o)
	_, err = r.writeRows(tx, o, true)
	return err
}

// Replace adds to the transaction what has changed of an item, and of its publications, since they were read: the row
// of each publication that has changed, and the item if its own state has. The version that callers see counts both.
func Replace(tx *store.Tx, it store.Item, r *Record) error {
	r.Item.sortPublications()
	own, err := r.changed(it)
	if err != nil {
		return err
	}
	if r.was.rows != nil { // it was read with its rows
		r.writeShown(tx, it.Owner)
	}
	written, err := r.writeRows(tx, it.Owner, own)
	if err != nil {
		return err
	}
	if r.was.awaits != "" && !slices.Contains(written, r.was.awaits) {
		tx.Unchanged(r.was.rows[r.was.awaits])
	}
	if !own {
		return nil
	}
	if err := r.encode(&it, r.Item.Version, r.Item.UpdatedAt); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// changed reports whether the item has changed, besides its publications.
func (r *Record) changed(it store.Item) (bool, error) {
	for accountID := range r.was.rows {
		if r.Item.PublicationTo(accountID) == nil {
			return true, nil
		}
	}
	now := it
	err := r.encode(&now, r.was.version+r.Item.ownChanges(), r.was.at)
	return !bytes.Equal(now.Doc, it.Doc) || now.Due != it.Due, err
}

// ownChanges returns how many changes of the publications have not changed the document of the item.
func (r *Item) ownChanges() (n int64) {
	for i := range r.Publications {
		n += r.Publications[i].Posting.OwnChanges
	}
	return n
}

// encode sets the document of the item and its places in the indexes. Version counts the changes of publications, too.
func (r *Record) encode(it *store.Item, version int64, at resource.Time) error {
	doc := *r
	doc.Item.Publications, doc.Item.Version, doc.Item.UpdatedAt = []Publication{}, version-r.Item.ownChanges(), at
	if err := it.Encode(&doc); err != nil {
		return err
	}
	r.Index(it)
	return nil
}

// writeRows adds the changes of the publications to the transaction, and returns the accounts of those that it writes.
// If the item is not written, the first of them counts the change.
func (r *Record) writeRows(tx *store.Tx, o tenant.Owner, own bool) (written []string, err error) {
	for _, accountID := range slices.Sorted(maps.Keys(r.was.rows)) {
		if r.Item.PublicationTo(accountID) == nil {
			tx.Delete(r.was.rows[accountID])
		}
	}
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		was, known := r.was.rows[pub.SocialAccountID]
		now, err := r.row(o, pub, was)
		if err != nil {
			return nil, err
		}
		if known && bytes.Equal(now.Doc, was.Doc) && now.Parent == was.Parent {
			continue
		}
		if !own && len(written) == 0 {
			pub.Posting.OwnChanges += r.Item.Version - r.was.shownVersion
			if now, err = r.row(o, pub, was); err != nil {
				return nil, err
			}
		}
		written = append(written, pub.SocialAccountID)
		tx.Put(now)
	}
	return written, nil
}

// RemoveRows adds to the transaction that the publications of an item are removed with it.
func (r *Record) RemoveRows(tx *store.Tx) error {
	if r.was.rows == nil && len(r.Item.PublicationKeys()) > 0 {
		return fmt.Errorf("item: the publications of %s were not read", r.Item.ID)
	}
	for _, accountID := range slices.Sorted(maps.Keys(r.was.rows)) {
		tx.Delete(r.was.rows[accountID])
	}
	r.Unfollow(tx)
	return nil
}
