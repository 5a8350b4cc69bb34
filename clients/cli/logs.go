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

const (
	// logPause is the pause between requests for new entries. It doubles up to logIdle while there are none, so that
	// few requests are counted.
	logPause, logIdle = 2 * time.Second, 10 * time.Second
	// ownPolls is the operation of these requests, whose entries are not printed.
	ownPolls = "listAuditEntries"
)

func logsCommand(w machine) *cobra.Command {
	parent := &cobra.Command{Use: "logs", Short: "Read the requests of your account"}
	c := &calling{machine: w}
	tail := c.bare("tail", "Print requests as they are made", "Print requests as they are made, from the "+
		"audit log; those that read it are left out. The API key needs the scope account:manage. Ctrl-C ends the command.")
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
	pause := logPause
	for {
		query := url.Values{"limit": {"100"}}
		if from != "" {
			query.Set("from", from)
		}
		var page []struct {
			ID        string `json:"id"`
			At        string `json:"created_at"`
			Operation string `json:"operation_id"`
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
		pause = min(2*pause, logIdle)
		for i := len(page) - 1; i >= 0; i-- {
			if slices.Contains(seen, page[i].ID) {
				continue
			}
			seen = append(seen, page[i].ID)
			if page[i].Operation == ownPolls {
				continue
			}
			if pause = logPause; !first {
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
		if err := c.machine.wait(ctx, pause); err != nil {
			return err
		}
	}
}
