package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/store"
)

// itemCommand makes the command that prints an item of the state table, because the console
// cannot show compressed documents.
func itemCommand(out io.Writer, s *services) *cobra.Command {
	return &cobra.Command{
		Use: "item PARTITION [SORT]", Short: "Print a stored item with its document", Args: cobra.RangeArgs(1, 2),
		Example: "admin item cnt_01h455vb4pex5vsknk084sn02q",
		RunE: func(cmd *cobra.Command, args []string) error {
			key := store.IDKey(args[0])
			if len(args) == 2 {
				key.SK = args[1]
			}
			it, err := s.db.Get(cmd.Context(), key)
			if err != nil {
				return err
			}
			return show(out, struct {
				Partition, Sort, Kind, Account, Mode string
				Version                              int64
				Filters, Attributes                  map[string]string
				Numbers                              map[string]int64
				Document                             json.RawMessage `json:",omitempty"`
			}{it.PK, it.SK, it.Kind, string(it.Account), string(it.Mode), it.Version, it.Filters, it.Attributes,
				it.Numbers, it.Doc})
		},
	}
}
