package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/store"
)

func analyticsCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("analytics", "Check and correct the sums of the analytics")
	add := func(use, short, long string, inspect func(context.Context, *store.DB, string,
		time.Time) (analytics.Report, error)) {
		c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs}
		factory := c.Flags().String("factory", "", "id of the factory")
		_ = c.MarkFlagRequired("factory")
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			r, err := inspect(cmd.Context(), s.db, *factory, s.now())
			if r.Account == "" {
				return err
			}
			cmd.Annotations = map[string]string{madeAccount: string(r.Account)}
			return errors.Join(err, show(out, r))
		}
		cmd.AddCommand(c)
	}
	add("verify", "Compute the sums of a factory anew, and compare them with those that are stored",
		"Compute the sums of a factory from its content items, and from the kept counts of deleted ones, "+
			"and compare them with those that are stored. The command fails and names the differences. It changes "+
			"nothing.", analytics.Verify)
	add("rebuild", "Compute the sums of a factory anew, and correct those that are stored",
		"Compute the sums of a factory as verify does, and correct the differences. Changes of the content are counted "+
			"meanwhile. Days become those of the factory's present time zone.", analytics.Rebuild)
	return cmd
}
