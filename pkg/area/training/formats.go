package training

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("training-failure", format.Format{Values: format.Values(FailedTraining, FailedRefused, FailedSamples,
		FailedUnavailable, FailedTimeout)})
	format.Define("training-outcome", format.Format{
		Values: strings.Fields("completed failed insufficient_balance spend_limit_reached rate_limited")})
}
