package factory

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// keepDeleted is the time for which the item of a deleted factory stays. It tells resources
// that refer to the factory that it was deleted.
const keepDeleted = 90 * 24 * time.Hour

type removeInput struct {
	FactoryPath
	httpapi.IfMatch
}

// remove deletes a factory. It leaves the lists at once, and takes no more plans; a task ends its work under way.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *removeInput) (out Factory, err error) {
	found, beside, err := s.findAll(ctx, []string{in.ID}, factoryrecord.BookKey(in.ID))
	if err != nil {
		return out, err
	}
	it, ok := found[in.ID]
	if !ok {
		return out, errs.Missing(Kind, in.ID)
	}
	var f Factory
	if err := it.Decode(&f); err != nil {
		return out, err
	}
	if err := in.Check(f.Version); err != nil {
		return out, err
	}
	book, err := factoryrecord.BookOf(beside[0])
	if err != nil {
		return out, err
	}
	book.Deleted = true
	now := s.now()
	if err := book.Write(tx, now, it.Owner, f.ID, beside[0]); err != nil {
		return out, err
	}
	f.State = StateDeleted
	quota.Free(tx, now, it)
	it.Listed, it.ExpireAt = store.Key{}, now.Add(keepDeleted)
	if err := s.replace(tx, it, &f); err != nil {
		return out, err
	}
	if err := f.Notify(tx, it.Owner); err != nil {
		return out, err
	}
	return f, factoryrecord.StartEnd(tx, now, it.Owner, f.ID)
}
