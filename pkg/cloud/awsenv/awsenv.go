// Package awsenv builds the AWS configuration of a Lambda function from the environment that Lambda sets. It replaces
// config.LoadDefaultConfig, which also looks for profiles, single sign-on and instance roles: none of them exists in a
// function, and linking them costs start-up time. Config returns the configuration.
package awsenv

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// attemptTimeout bounds one attempt of one call. The services answer in milliseconds; a connection that takes longer
// should be tried again.
const attemptTimeout = 5 * time.Second

// maxAttempts bounds the attempts of one call, with the SDK's exponential back-off and full jitter between them.
const maxAttempts = 4

// bufferSize is the size of a connection's buffers. Most calls and answers fit into one.
const bufferSize = 32 << 10

// Config reads AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and, for a local system,
// AWS_ENDPOINT_URL. Lambda sets the first four for the whole life of an execution environment.
func Config() (aws.Config, error) {
	region := os.Getenv("AWS_REGION")
	if region == "" {
		return aws.Config{}, fmt.Errorf("awsenv: AWS_REGION is not set")
	}
	cfg := aws.Config{
		Region:      region,
		Credentials: aws.CredentialsProviderFunc(credentials),
		HTTPClient: awshttp.NewBuildableClient().WithTimeout(attemptTimeout).WithTransportOptions(
			func(t *http.Transport) {
				t.WriteBufferSize, t.ReadBufferSize = bufferSize, bufferSize
			}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = maxAttempts
				o.MaxBackoff = 2 * time.Second
			})
		},
	}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		cfg.BaseEndpoint = aws.String(endpoint)
	}
	return cfg, nil
}

func credentials(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		Source:          "Lambda environment",
	}
	if !c.HasKeys() {
		return c, fmt.Errorf("awsenv: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	}
	return c, nil
}

// Must returns v, or panics if err is not nil, at the start of a function.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
