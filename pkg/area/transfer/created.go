package transfer

import (
	"context"
	"errors"
	"maps"
	"slices"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// Imported is the kind of the item which says that an import has created a resource with files, so that it may store
// them, and no other import.
const Imported = "imported"

// importedFiles is such an item.
type importedFiles struct {
	Import string         `json:"import"`
	Files  []importedFile `json:"files"`
}

// importedFile is a file of the resource, and its copy in the import.
type importedFile struct {
	media.File
	Copy string `json:"copy"`
}

func importedKey(resourceID string) store.Key { return store.IDKey(Imported + "#" + resourceID) }

// create creates a resource, unless it is there, and then stores its files.
func (t *taker) create(ctx context.Context, k kind, take take, a adopted) error {
	key := store.IDKey(a.id)
	switch k.prefix {
	case id.Webhook:
		key = webhook.Ref{Owner: a.owner, ID: a.id}.Key()
	case id.ContentPlan:
		key = plan.Key(a.factory, a.id)
	}
	t.files += len(a.files)
	var files []importedFile
	var found bool
	err := t.w.DB.Change(ctx, func(tx *store.Tx) error {
		there, err := t.w.DB.Lookup(ctx, key)
		if found = there.Kind != ""; err != nil || found {
			return err
		}
		if err := take(ctx, t, tx, a); err != nil {
			return err
		}
		files, err = t.claim(tx, k, a)
		return err
	})
	switch {
	case err != nil:
		t.files -= len(a.files)
		return err
	case found:
		return t.again(ctx, a)
	}
	return t.keep(ctx, files)
}

// claim adds to the transaction that this import has created a resource with files. Their bytes count for the storage
// of the account, as long as the resource has them. Those of a media are counted with it, and those of photos are not.
func (t *taker) claim(tx *store.Tx, k kind, a adopted) (files []importedFile, err error) {
	bytes := int64(0)
	for _, url := range slices.Sorted(maps.Keys(a.files)) {
		if f := a.files[url]; f.Key != "" {
			files, bytes = append(files, importedFile{f.File, f.copy}), bytes+f.Bytes
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	it := store.Item{Key: importedKey(a.id), Kind: Imported, Owner: a.owner, ExpireAt: t.w.Now().Add(longest + keep)}
	if err := it.Encode(importedFiles{t.s.Subject, files}); err != nil {
		return nil, err
	}
	tx.Create(it, nil)
	if k.prefix == id.Media || k.prefix == id.Product {
		return files, nil
	}
	return files, quota.HoldBytes(tx, a.owner, a.id, bytes, incoming.MostBytes(a.owner),
		incoming.ErrTooManyBytes(a.owner))
}

// again stores the files of a resource that is there, if this import has created it: its function has died since. Those
// of any other resource stay as they are.
func (t *taker) again(ctx context.Context, a adopted) error {
	it, err := t.w.DB.Lookup(ctx, importedKey(a.id))
	if err != nil {
		return err
	}
	var of importedFiles
	if it.Kind == Imported {
		err = it.Decode(&of)
	}
	if err != nil {
		return err
	}
	if of.Import != t.s.Subject {
		t.files -= len(a.files)
		return nil
	}
	return t.keep(ctx, of.Files)
}

// keep stores the files of a resource that this import has created. No object is ever stored over another.
func (t *taker) keep(ctx context.Context, files []importedFile) error {
	for _, f := range files {
		if err := t.store(ctx, f); err != nil {
			return err
		}
		t.copied++
		t.bytes += f.Bytes
	}
	return nil
}

func (t *taker) store(ctx context.Context, f importedFile) error {
	body, err := t.w.Objects.Open(ctx, f.Copy)
	if err != nil {
		return err
	}
	defer body.Close()
	content, err := media.Spool(ctx, body, mostFile)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := t.w.Objects.PutNew(ctx, f.File, content); !errors.Is(err, media.ErrExists) {
		return err
	}
	return nil
}
