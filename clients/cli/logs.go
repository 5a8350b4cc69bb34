package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

// logPause is the pause between requests for new entries.
const logPause = 2 * time.Second

func logsCommand(w machine) *cobra.Command {
	parent := &cobra.Command{Use: "logs", Short: "Read the requests of your account"}
	c := &calling{machine: w}
	tail := c.bare("tail", "Print requests as they are made", "Print requests as they are made, from the audit log. The API key "+
		"needs the scope account:manage. Ctrl-C ends the command.")
	tail.RunE = func(cmd *cobra.Command, _ []string) error {
		client, err := c.client()
		if err == nil {
			err = c.tail(cmd.Context(), client)
		}
		if cmd.Context().Err() != nil {
			return nil
		}
		return err
	}
	parent.AddCommand(tail)
	return parent
}

// tail prints the entries that are added after it begins. The newest entry of the first page marks the end of the log,
// by the clock of the service.
func (c *calling) tail(ctx context.Context, client *contentautomation.Client) error {
	seen, from, first := []string{}, "", true
	for {
		query := url.Values{"limit": {"100"}}
		if from != "" {
			query.Set("from", from)
		}
		var page []struct {
			ID string `json:"id"`
			At string `json:"created_at"`
		}
		var raw []json.RawMessage
		var data json.RawMessage
		if err := client.Do(ctx, http.MethodGet, "/v1/audit-log", query, nil, &data); err != nil {
			return failure{error: err}
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return failure{error: fmt.Errorf("the audit log cannot be read: %w", err)}
		}
		_ = json.Unmarshal(data, &raw)
		for i := len(page) - 1; i >= 0; i-- {
			if slices.Contains(seen, page[i].ID) {
				continue
			}
			seen = append(seen, page[i].ID)
			if !first {
				if err := c.print(json.RawMessage("[" + string(raw[i]) + "]")); err != nil {
					return err
				}
			}
		}
		if len(page) > 0 {
			from = page[0].At
		}
		seen = seen[max(0, len(seen)-1000):]
		first = false
		if err := c.machine.wait(ctx, logPause); err != nil {
			return err
		}
	}
}
