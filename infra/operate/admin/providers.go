package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/social"
)

// keeper stores the value of a secret.
type keeper func(ctx context.Context, secret, value string) error

// keep stores a value in AWS Secrets Manager.
func keep(ctx context.Context, secret, value string) error {
	if secret == "" {
		return errors.New("name the secret by --secret or PROVIDER_SECRET, or PLATFORM_SECRET for the platforms: " +
			"they are the outputs ProviderSecretArn and PlatformSecretArn of the data stack")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return err
	}
	_, err = secretsmanager.NewFromConfig(cfg).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(secret), SecretString: aws.String(value),
	})
	return err
}

// maxCredentials bounds the input: a secret has 64 KiB at most.
const maxCredentials = 64 << 10

func providersCommand(out io.Writer, keep keeper) *cobra.Command {
	cmd := group("providers", "Set the credentials of the generation providers")
	return credentialsCommand(cmd, out, keep, "PROVIDER_SECRET", registry.CheckCredentials,
		"  admin providers set < credentials.json\n  "+registry.ExampleCredentials())
}

func platformsCommand(out io.Writer, keep keeper) *cobra.Command {
	cmd := group("platforms", "Set the applications that are registered with the social platforms")
	return credentialsCommand(cmd, out, keep, "PLATFORM_SECRET", social.CheckApps,
		"  admin platforms set < apps.json\n  "+social.ExampleApps())
}

// credentialsCommand adds a command to the group that replaces the value of a secret.
func credentialsCommand(cmd *cobra.Command, out io.Writer, keep keeper, variable string, check func(string) error,
	example string) *cobra.Command {
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	var secret string
	set := &cobra.Command{
		Use: "set", Short: "Read all credentials as JSON from standard input, and replace the earlier ones",
		Long: "Read all credentials as JSON from standard input, and replace the earlier ones. Functions use them " +
			"within five minutes.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredentials+1))
			if err != nil {
				return err
			}
			if len(value) > maxCredentials {
				return fmt.Errorf("the credentials are longer than %d KiB", maxCredentials>>10)
			}
			if err := check(string(value)); err != nil {
				return err
			}
			if err := keep(cmd.Context(), secret, string(value)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, "The credentials are stored.")
			return err
		},
	}
	set.Flags().StringVar(&secret, "secret", os.Getenv(variable), "ARN or name of the secret")
	cmd.AddCommand(set)
	return cmd
}
