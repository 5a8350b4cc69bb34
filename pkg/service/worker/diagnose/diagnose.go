// Package diagnose connects the function that makes the diagnoses of factories, and suggests replies to comments.
package diagnose

import (
	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/area/engagement/suggest"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function.
func Handlers(w *job.Worker) worker.Handlers {
	return worker.Handlers{diagnosis.TaskKind: w,
		suggest.Kind: &suggest.Worker{DB: w.DB, Providers: w.Providers, Offer: w.Offer, Now: w.Now}}
}
