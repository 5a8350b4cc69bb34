// Package compose connects the function that makes finished media of generated parts.
package compose

import (
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// Config has the dependencies of the function.
type Config struct {
	DB       *store.DB
	Objects  generate.Objects
	Composer generate.Composer
	Now      func() time.Time
}

// Handlers returns the handlers of the function.
func Handlers(c Config) worker.Handlers {
	w := &generate.Worker{
		DB: c.DB, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{}}, Objects: c.Objects,
		Composer: c.Composer,
		Now:      c.Now,
	}
	return w.Handlers()
}
