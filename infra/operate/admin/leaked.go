package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/auth"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// maxReport is the greatest size in bytes of the text that is searched for keys.
const maxReport = 16 << 20

// findCommand makes the command for reports of leaked keys. It reads secrets from standard
// input, so that no list of processes and no history shows them.
func findCommand(out io.Writer, s *services) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use: "find", Short: "Read a text from standard input, and name the keys whose secrets are in it",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxReport))
			if err != nil {
				return err
			}
			for _, secret := range regexp.MustCompile(auth.Pattern).FindAllString(string(text), -1) {
				shown := secret[:auth.PrefixLength] + "…" + secret[len(secret)-4:]
				if _, ok := auth.ParseKey(secret); !ok {
					fmt.Fprintf(out, "%s  is no key: its checksum is wrong\n", shown)
					continue
				}
				account, k, err := s.keys.FindSecret(cmd.Context(), secret)
				if errors.Is(err, store.ErrNotFound) {
					fmt.Fprintf(out, "%s  is unknown here\n", shown)
					continue
				}
				if err != nil {
					return err
				}
				if revoke && k.State != keyrecord.Revoked {
					if k, err = s.keys.End(cmd.Context(), account, k.ID); err != nil {
						return err
					}
					cmd.Annotations = map[string]string{madeAccount: string(account)}
				}
				fmt.Fprintf(out, "%s  %s  %s  %s\n", shown, account, k.ID, k.State)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "revoke these keys")
	return cmd
}
