package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages, for packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: root.Name(), Section: "1", Source: "Content-Automation API"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return failure{error: fmt.Errorf("man: %w", err)}
			}
			return nil
		},
	}
}
