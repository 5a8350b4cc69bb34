// Package manager reads secrets from AWS Secrets Manager. Start with Secret.
package manager

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// Secret returns a function that reads the secret of that ARN or name.
func Secret(cfg aws.Config, id string) func(context.Context) (string, error) {
	client := awsapi.New(cfg, "secretsmanager", "secretsmanager")
	return func(ctx context.Context) (string, error) {
		var out struct{ SecretString *string }
		if err := client.Call(ctx, "secretsmanager.GetSecretValue", map[string]string{"SecretId": id},
			&out); err != nil {
			return "", err
		}
		if out.SecretString == nil {
			return "", errors.New("the secret holds no text")
		}
		return *out.SecretString, nil
	}
}
