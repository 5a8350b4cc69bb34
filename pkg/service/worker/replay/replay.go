// Package replay connects the function that delivers events that webhooks have missed.
package replay

import (
	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/service/worker"
)

// Handlers returns the handlers of the function.
func Handlers(d *dispatch.Dispatcher) worker.Handlers {
	return worker.Handlers{endpoint.ReplayKind: dispatch.Replayer{Dispatcher: d}}
}
