package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/service/worker"
)

func canaryCommand(out io.Writer, keep keeper) *cobra.Command {
	cmd := group("canary", "Set the target of the canary")
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	var secret string
	set := &cobra.Command{
		Use: "set", Short: "Read the address of the API and a test key as JSON from standard input",
		Long: "Read the address of the API and a test key as JSON from standard input, and replace the earlier ones. " +
			"The next probe uses them. {} ends the probes.",
		Example: `  admin canary set < canary.json
  {"base_url": "https://api.acme.example", "key": "svc_test_…"}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredentials))
			if err != nil {
				return err
			}
			if _, err := worker.ParseTarget(string(value)); err != nil {
				return err
			}
			if secret == "" {
				return errors.New("name the secret by --secret or CANARY_SECRET: it is the output CanarySecretArn of " +
					"the data stack")
			}
			if err := keep(cmd.Context(), secret, string(value)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, "The target is stored.")
			return err
		},
	}
	set.Flags().StringVar(&secret, "secret", os.Getenv("CANARY_SECRET"), "ARN or name of the secret")
	cmd.AddCommand(set)
	return cmd
}
