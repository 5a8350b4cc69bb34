// Package diagnose connects the function that makes the diagnoses of factories.
package diagnose

import (
	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function.
func Handlers(w *job.Worker) worker.Handlers { return worker.Handlers{diagnosis.TaskKind: w} }
