package feed

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Input is the type of the body of the operation that sets a feed. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// Adopt adds an imported feed of a factory to the transaction. It is read when its owner says so: the account that it
// comes from may still follow the shop.
func Adopt(tx *store.Tx, now time.Time, f store.Item, v Feed, by authority.Authority) error {
	if err := factoryrecord.CheckSeller(f, "/factory_id", "a feed"); err != nil {
		return err
	}
	if (v.Source.URL == nil) == (v.Source.MediaID == nil) {
		return errs.Invalid("/source", "must have either url or media_id")
	}
	v.Schedule, v.DailyTime, v.State, v.NextRunAt, v.LastRun = Manual, "", Idle, nil, nil
	if v.Mapping == nil {
		v.Mapping = map[string]string{}
	}
	r := newRecord(now)
	r.Feed, r.Authority = v, by
	if err := r.check(); err != nil {
		return err
	}
	r.UpdatedAt, r.Version = resource.Instant(now), 1
	it, err := r.item(f.Owner)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}
