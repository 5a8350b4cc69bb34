package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/service/mcp"
)

// mcpCommand serves agents on this machine.
func mcpCommand(w machine) *cobra.Command {
	var key, base string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve an agent on this machine by the Model Context Protocol", Args: cobra.NoArgs,
		Long: "Serve an agent by the Model Context Protocol on the standard input and output. The agent starts the program. " +
			"Its calls come from this machine, so that keys with a list of addresses can be used. Use a test key (svc_test_…) " +
			"unless the agent is meant to spend credits and publish.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, base, err := w.access(key, base)
			if err != nil {
				return err
			}
			if _, err := newClient(w, key, base); err != nil { // which checks both
				return err
			}
			base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
			err = mcp.Stdio(cmd.Context(), cmd.InOrStdin(), w.out, base, key, w.now)
			if err != nil && cmd.Context().Err() == nil {
				return failure{error: err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "api-key", "", "API key; default: SVC_API_KEY, which other users of the machine do not see")
	cmd.Flags().StringVar(&base, "base-url", "", "base URL of the API; default: BASE_URL")
	return cmd
}
