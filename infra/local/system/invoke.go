package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// FunctionName returns the name of a function as deployed.
func (s *System) FunctionName(function string) string { return customer + "-" + stage + "-" + function }

// Invoke calls a function by its name, and decodes its result.
func (s *System) Invoke(ctx context.Context, function, payload string, into any) error {
	client := lambda.NewFromConfig(s.AWS(), func(o *lambda.Options) {
		// The client must neither repeat a failed call nor cut it short.
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, &http.Client{Transport: direct.Transport}
	})
	out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(s.FunctionName(function)),
		Payload: []byte(payload)})
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
