package worker_test

import (
	"reflect"
	"testing"

	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsworker"
)

// Whatever a function needs on AWS is opened: each has a handler.
func TestEachFunctionHasAHandler(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	for _, row := range worker.All {
		t.Run(row.Name, func(t *testing.T) {
			f := topology.FunctionNamed(row.Name)
			for _, name := range needs.Required(f) {
				t.Setenv(name, "a-"+name)
			}
			for _, q := range f.QueueAddresses() {
				t.Setenv(q.EnvName(), "https://sqs.eu-central-1.amazonaws.com/1/"+string(q))
			}
			handler := reflect.ValueOf(row.Open(awsworker.Open(f)))
			if !handler.IsValid() || handler.IsZero() {
				t.Errorf("%s has no handler", row.Name)
			}
		})
	}
}
