package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/media"
)

// Signer returns a signer of the files in a bucket that does not exist.
func Signer(t testing.TB, now func() time.Time, options ...func(*aws.Config)) *media.Signer {
	t.Helper()
	cfg := aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		})}
	for _, change := range options {
		change(&cfg)
	}
	signer, err := media.NewSigner(cfg, "bucket", now)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
