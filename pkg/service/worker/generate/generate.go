// Package generate connects the function that takes the steps of generations, and of the background work of factories
// and sandboxes.
package generate

import (
	"maps"

	"github.com/content-automation/api/pkg/area/architect/chat"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/sandbox/reset"
	"github.com/content-automation/api/pkg/area/studio/generation"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/worker"
	factoryworker "github.com/content-automation/api/pkg/service/worker/factory"
)

// Handlers returns the handlers of the function. The loaders of w must be those of Loaders.
func Handlers(w *generate.Worker) worker.Handlers {
	handlers := factoryworker.Handlers(w, chat.Cleaner{DB: w.DB, Now: w.Now})
	maps.Copy(handlers, (&reset.Handler{DB: w.DB, Loaders: w.Loaders, Now: w.Now}).Handlers())
	return handlers
}

// Loaders returns the loaders of all generated resources, by the kind of their items. Sources are read by the reader,
// and repeats permits texts that repeat earlier ones, as fakes write them.
func Loaders(s *media.Signer, reader item.Reader, repeats bool) map[string]generate.Loader {
	sign := item.SignedBy(s)
	return map[string]generate.Loader{
		item.ItemKind:       item.Loader{Sign: sign, Reader: reader, Repeats: repeats},
		generation.ItemKind: generation.Loader{Sign: sign},
	}
}
