package metered

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"github.com/content-automation/api/infra/verify/permit"
)

// permitting returns a change of the configuration of a table's client, which notes the calls for which the function
// that is running has no permission. The engine of the tests refuses none.
func (w *World) permitting(of permit.Table) func(*aws.Config) {
	note := func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if w.running.Name != "" {
			w.forbidden = append(w.forbidden, permit.Missing(w.running, of, in.Parameters)...)
		}
		return next.HandleInitialize(ctx, in)
	}
	return func(cfg *aws.Config) {
		cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("permissions", note), middleware.Before)
		})
	}
}

// refusal returns an error if there were forbidden calls since the last one.
func (w *World) refusal() error {
	if len(w.forbidden) == 0 {
		return nil
	}
	all := strings.Join(w.forbidden, "\n")
	w.forbidden = nil
	return errors.New(all)
}
