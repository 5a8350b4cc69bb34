package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/service/worker"
)

func canaryCommand(out io.Writer, keep keeper) *cobra.Command {
	return valueCommand(out, keep, value{name: "canary", about: "Set the target of the canary",
		short: "Read the address of the API and a test key as JSON from standard input",
		long:  "The next probe uses them. {} ends the probes.",
		example: `  admin canary set < canary.json
  {"base_url": "https://api.acme.example", "key": "svc_test_…"}`,
		variable: "CANARY_SECRET", output: "CanarySecretArn", stored: "The target is stored.",
		check: func(text string) error {
			_, err := worker.ParseTarget(text)
			return err
		}})
}

func callerCommand(out io.Writer, keep keeper) *cobra.Command {
	return valueCommand(out, keep, value{name: "caller",
		about:    "Set the client certificate by which the account area and the server for agents call the API",
		short:    "Read a client certificate and its private key as JSON from standard input",
		long:     "They are in use after five minutes at the latest.",
		example:  `  jq -n --rawfile certificate client.pem --rawfile private_key client.key '$ARGS.named' | admin caller set`,
		variable: "CALLER_SECRET", output: "CallerSecretArn", stored: "The certificate is stored.",
		check: func(text string) error {
			_, err := secret.ParseCertificate(text)
			return err
		}})
}

// value is a value of a secret that an operator sets.
type value struct {
	name, about, short, long, example string
	// variable and output name the secret: in the environment, and among the outputs of the data stack.
	variable, output string
	stored           string
	check            func(text string) error
}

func valueCommand(out io.Writer, keep keeper, v value) *cobra.Command {
	cmd := group(v.name, v.about)
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	var secret string
	set := &cobra.Command{Use: "set", Short: v.short, Example: v.example, Args: cobra.NoArgs,
		Long: v.short + ", and replace the earlier ones. " + v.long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredentials))
			if err != nil {
				return err
			}
			if err := v.check(string(text)); err != nil {
				return err
			}
			if secret == "" {
				return errors.New("name the secret by --secret or " + v.variable + ": it is the output " + v.output +
					" of the data stack")
			}
			if err := keep(cmd.Context(), secret, string(text)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, v.stored)
			return err
		}}
	set.Flags().StringVar(&secret, "secret", os.Getenv(v.variable), "ARN or name of the secret")
	cmd.AddCommand(set)
	return cmd
}
