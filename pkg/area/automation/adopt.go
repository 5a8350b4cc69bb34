package automation

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Adopt adds an automation of an export to the transaction, on behalf of an authority. It is paused.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, d Details, by authority.Authority) error {
	d.ProfileID, d.State, d.CreatedBy = o.ProfileID(), Paused, by.Actor.ID
	d.LastRun, d.Runs, d.Failure = nil, []Run{}, nil
	if err := d.Trigger.check(); err != nil {
		return err
	}
	r := &Record{Details: d, Authority: by}
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	quota.Take(tx, &it, MaxPerOwner, "automations")
	tx.Create(it, nil)
	return task.Create(tx, now, task.Task{Message: message(r.ID, o), DueAt: now}, struct{}{})
}

// Input is the type of the body of the operation that creates an automation. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()
