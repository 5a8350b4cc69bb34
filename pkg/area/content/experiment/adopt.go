package experiment

import (
	"reflect"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds an experiment of an export to the transaction. It is stopped, without results: its posts are elsewhere.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, e Experiment) error {
	at := resource.Instant(now)
	e.ProfileID, e.State, e.EndedAt = o.ProfileID(), Stopped, &at
	for i, f := range e.Factors {
		if err := f.check("/factors/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
	r := &Record{Experiment: e, Authority: authority.Authority{}, Seed: e.ID}
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	if o.Mode == tenant.Test {
		it.ExpireAt = now.Add(generate.SandboxLife)
	}
	tx.Create(it, nil)
	return nil
}

// Input is the type of the body of the operation that creates an experiment. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()
