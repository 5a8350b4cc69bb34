// Package manager reads secrets from AWS Secrets Manager. Start with Secret.
package manager

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// Secret returns a function that reads the secret of that ARN or name.
func Secret(cfg aws.Config, id string) func(context.Context) (string, error) {
	client := secretsmanager.NewFromConfig(cfg)
	return func(ctx context.Context) (string, error) {
		out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
		if err != nil {
			return "", err
		}
		if out.SecretString == nil {
			return "", errors.New("the secret holds no text")
		}
		return *out.SecretString, nil
	}
}
