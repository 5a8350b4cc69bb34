// Package train connects the function that takes the steps of trainings.
package train

import (
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function.
func Handlers(w *job.Worker) worker.Handlers { return w.Handlers() }
