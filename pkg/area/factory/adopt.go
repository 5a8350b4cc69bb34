package factory

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a factory of an export to the transaction, with the social accounts that it has here. It publishes nothing
// automatically. Media in its settings that the caller does not have are left out.
func (s *Service) Adopt(ctx context.Context, tx *store.Tx, now time.Time, o tenant.Owner, f Factory,
	accounts []string) error {
	f.SocialAccountIDs, f.AutoPublish, f.ProfileID = accounts, false, o.ProfileID()
	if f.State != StatePaused {
		f.State = StateActive
	}
	set := f.settings()
	set.Models = maps.Clone(set.Models)
	f.Models = nil // those of another account are as new
	maps.DeleteFunc(set.Models, func(kind, model string) bool {
		return f.checkModels(map[string]string{kind: model}, now) != nil
	})
	if err := f.apply(set, now); err != nil {
		return err
	}
	if s.setFiles(ctx, tx, o, &f, nil) != nil {
		var err error
		if f.Settings, err = f.Settings.withoutFiles(); err != nil {
			return err
		}
		f.Files = Files{}
	}
	it, err := f.item(o)
	if err != nil {
		return err
	}
	quota.Factories.Take(tx, now, &it)
	tx.Create(it, nil)
	return nil
}

// withoutFiles returns settings that name no media.
func (t TypeSettings) withoutFiles() (TypeSettings, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(t, &all); err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return name == "logo" || name == "intro" || name == "outro"
	})
	return json.Marshal(all)
}

// Input is the type of the body of the operation that creates a factory. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()
