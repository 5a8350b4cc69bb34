package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// FunctionName returns the name under which a function is deployed.
func (s *System) FunctionName(function string) string { return customer + "-" + stage + "-" + function }

// Invoke calls a function by its name and reads its answer.
func (s *System) Invoke(ctx context.Context, function, payload string, into any) error {
	client := lambda.NewFromConfig(s.AWS(), func(o *lambda.Options) {
		// A failed call must not be repeated behind the caller's back, nor cut short.
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, &http.Client{Transport: direct.Transport}
	})
	out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(s.FunctionName(function)), Payload: []byte(payload)})
	if err == nil && out.FunctionError != nil {
		err = fmt.Errorf("%s: %s", *out.FunctionError, out.Payload)
	}
	if err == nil {
		err = json.Unmarshal(out.Payload, into)
	}
	if err != nil {
		return fmt.Errorf("calling the function %s: %w", function, err)
	}
	return nil
}
