package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

// defaultWait bounds waiting.
const defaultWait = 15 * time.Minute

// waitCommand returns the command that waits for the work which the operation reads.
func (c *calling) waitCommand() *cobra.Command {
	cmd := c.bare(c.ends.name, "Wait until the work has ended", "Wait until the work has ended. It has succeeded in the states "+
		strings.Join(c.ends.done, ", ")+", and failed in the states "+strings.Join(c.ends.failed, ", ")+".")
	for _, p := range c.query {
		addFlag(cmd, p)
	}
	cmd.Flags().StringSliceVar(&c.until, "until", nil, "states to wait for instead")
	cmd.Flags().DurationVar(&c.atMost, "wait-at-most", defaultWait, "time after which waiting ends")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, path, err := c.prepare(args)
		if err != nil {
			return err
		}
		rule := *c.ends
		if len(c.until) > 0 {
			rule.done = c.until
		}
		return c.await(cmd.Context(), client, path, queryOf(given(cmd.Flags(), c.query)), rule)
	}
	return cmd
}

// await waits for the work at a path, and prints its result.
func (c *calling) await(ctx context.Context, client *contentautomation.Client, path string, query url.Values,
	rule ends) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	raw, err := client.Wait(ctx, path, rule.member, rule.done, rule.failed, contentautomation.WaitAtMost(c.atMost))
	if err != nil {
		return failure{error: err, json: c.json}
	}
	return c.print(raw)
}

// waitFor waits for the work that a call has begun: it has the id of the answer, or is found by the arguments.
func (c *calling) waitFor(ctx context.Context, client *contentautomation.Client, args []string, answer json.RawMessage,
) error {
	path := c.filled(c.begins.path, args)
	var begun struct{ ID string }
	if err := json.Unmarshal(answer, &begun); err != nil || begun.ID == "" {
		return failure{error: errors.New("the answer has no id to wait for"), json: c.json}
	}
	query := url.Values{}
	if before, after, found := strings.Cut(path, "{"); found {
		_, after, _ = strings.Cut(after, "}")
		path = before + url.PathEscape(begun.ID) + after
	} else if c.begins.selects != "" {
		query.Set(c.begins.selects, begun.ID)
	}
	return c.await(ctx, client, path, query, *c.begins)
}

// filled returns a path with the arguments in their places.
func (c *calling) filled(path string, args []string) string {
	for i, name := range c.args {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(args[i]))
	}
	return path
}
