// Package importmedia connects the function that checks the files that callers import.
package importmedia

import (
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/area/product/photos"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function.
func Handlers(w *importer.Worker) worker.Handlers {
	return worker.Handlers{incoming.Kind: w, incoming.Photo: &photos.Worker{Files: w}}
}
