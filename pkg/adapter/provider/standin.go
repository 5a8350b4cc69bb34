package provider

import (
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/cloud/metric"
)

// StandIn is a text model that takes the place of one that its provider refuses.
type StandIn struct {
	// ID is the model's id in the catalog. Model and Options are as in Request.
	ID      string
	Model   string
	Options map[string]string
}

// StandIns returns the models that may take the place of a text model, which the provider's id names: the best one
// first. Nil returns none.
type StandIns func(model string) []StandIn

// StandInMetric counts the calls for which another model took the place of the one that was asked for.
const StandInMetric = "ModelStandIns"

// CodeAccess is the code of a BadInput error by which a provider refuses a model to the service's account.
const CodeAccess = "provider_access"

// Call calls a text model. If the provider refuses the model to the account, as AWS refuses one that is Legacy, Call
// calls each model once that may take its place, until one is not refused. It returns the id of that model in the
// catalog, or an empty one if none took its place.
func (s StandIns) Call(model string, options map[string]string, call func(model string,
	options map[string]string) error) (standIn string, err error) {
	err = call(model, options)
	if s == nil || !refusesModel(err) {
		return "", err
	}
	for _, next := range s(model) {
		if again := call(next.Model, next.Options); !refusesModel(again) {
			metric.Add(StandInMetric, 1)
			slog.Warn("another model took the place of one that is refused", "model", model, "stand_in", next.ID,
				"error", err)
			return next.ID, again
		}
	}
	return "", err
}

// refusesModel reports whether a provider has refused a call because of its model: it does not have the model, or keeps
// the account from it. Nothing was generated.
func refusesModel(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == BadInput &&
		(e.Code == CodeAccess || FailureCode(e.Code) == FailedModel)
}

// Life is what a provider says of the life of a model.
type Life struct {
	// Legacy reports that the model will end, and is refused to accounts that have not used it lately.
	Legacy bool
	// End is the time from which on nobody has the model, or zero if none is named.
	End time.Time
}
