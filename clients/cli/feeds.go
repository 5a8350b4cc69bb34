package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

// feedFormat is the format of the feed in a file, by its beginning, or else by its name.
func feedFormat(name, head string) string {
	line, _, _ := strings.Cut(head, "\n")
	titles := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return strings.ContainsRune(",;\t\"\r", r) })
	switch {
	case strings.Contains(head, "<yml_catalog"):
		return "yml"
	case strings.HasPrefix(head, "<"):
		return "google_xml"
	case strings.HasPrefix(head, "{"):
		return "json_lines"
	case (slices.Contains(titles, "handle") || slices.Contains(titles, "url handle")) && slices.Contains(titles, "title"):
		return "shopify_csv"
	}
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".gz"))) {
	case ".tsv", ".txt":
		return "google_tsv"
	case ".jsonl", ".json", ".ndjson":
		return "json_lines"
	case ".yml", ".yaml":
		return "yml"
	case ".xml", ".rss":
		return "google_xml"
	}
	return "csv"
}

// beginning returns the beginning of a file, also of one that gzip has packed, without a byte order mark, and goes back
// to it.
func beginning(file *os.File) (string, error) {
	from := bufio.NewReader(file)
	if magic, _ := from.Peek(2); string(magic) == "\x1f\x8b" {
		if unpacked, err := gzip.NewReader(from); err == nil { // the run reports what is wrong with it
			from = bufio.NewReader(unpacked)
		}
	}
	head, _ := from.Peek(2048)
	text := strings.ReplaceAll(strings.ToValidUTF8(string(head), ""), "\x00", "") // of UTF-16
	_, err := file.Seek(0, io.SeekStart)
	return strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), err
}

var feedTypes = map[string]contentautomation.OwnMediaCreateMimeType{"google_xml": "application/xml",
	"yml": "application/xml", "google_tsv": "text/tab-separated-values", "json_lines": "application/json",
	"shopify_csv": "text/csv", "csv": "text/csv"}

// pushCommand makes a file of this machine the feed of a factory, and reads it.
func pushCommand(w machine) *cobra.Command {
	c := &calling{machine: w}
	cmd := c.bare("push FILE", "Make a file the feed of a factory, and read it", "Make a file of this machine the feed of "+
		"a factory: upload it, set it as the source, and read it to its end. What else the feed says stays. Rows that "+
		"are refused are listed, and the others go on. A run that is held waits for `feeds sync --confirm-run-id`, and "+
		"is the exit status 5; one that has failed is 9. After Ctrl-C a run goes on.")
	cmd.Example = "  " + w.called() + " feed push products.csv --factory-id fac_…"
	cmd.Args = cobra.ExactArgs(1)
	f := cmd.Flags()
	factory := f.String("factory-id", "", "factory whose catalog follows the feed (required)")
	format := f.String("format", "", "format of the feed; default: by the name and the beginning of the file")
	currency := f.String("currency", "", "currency of prices that have none, such as EUR")
	_ = cmd.MarkFlagRequired("factory-id") // it exists
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return cmp.Or(err, fmt.Errorf("%s is no file with a feed", args[0]))
		}
		head, err := beginning(file)
		if err != nil {
			return err
		}
		*format = cmp.Or(*format, feedFormat(args[0], head))
		if feedTypes[*format] == "" {
			return fmt.Errorf("the format %s is not known: there are %s", *format,
				strings.Join(slices.Sorted(maps.Keys(feedTypes)), ", "))
		}
		raw, err := c.push(cmd.Context(), client, file, *factory, *format, *currency)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			return failure{error: err, json: c.json}
		}
		if err := c.print(c.brief(raw)); err != nil {
			return err
		}
		return c.ended(raw)
	}
	return cmd
}

// feedRun is what is shown of a run while it is under way, and after it.
type feedRun struct {
	ID, State                                         string
	FactoryID                                         string `json:"factory_id"`
	Total, Created, Changed, Unchanged, Refused, Gone int
	Refusals                                          []struct {
		Row            int
		Member, Reason string
	}
	RefusalsURL *string `json:"refusals_url"`
	Failure     *contentautomation.Failure
}

// done returns the number of rows that are done.
func (r feedRun) done() int { return min(r.Created+r.Changed+r.Unchanged+r.Refused, r.Total) }

// brief leaves the refusals out of what people read of a run: they are listed below it.
func (c *calling) brief(raw json.RawMessage) json.RawMessage {
	var run map[string]json.RawMessage
	if c.json || json.Unmarshal(raw, &run) != nil {
		return raw
	}
	delete(run, "refusals")
	short, err := json.Marshal(run)
	if err != nil {
		return raw
	}
	return short
}

// mostShown is the number of refusals that are listed.
const mostShown = 20

// heldError is the end of a run that waits to be confirmed.
type heldError struct{ error }

// ended lists what a run has refused, and returns an error for one that is held.
func (c *calling) ended(raw json.RawMessage) error {
	var run feedRun
	if err := json.Unmarshal(raw, &run); err != nil {
		return failure{error: err, json: c.json}
	}
	if !c.json {
		for _, r := range run.Refusals[:min(len(run.Refusals), mostShown)] {
			fmt.Fprintf(c.notes, "row %d: %s: %s\n", r.Row, r.Member, r.Reason)
		}
		if more := run.Refused - mostShown; more > 0 && run.RefusalsURL != nil {
			fmt.Fprintf(c.notes, "… and %d more rows: %s\n", more, *run.RefusalsURL)
		}
	}
	if run.State != "held" {
		return nil
	}
	return failure{error: heldError{fmt.Errorf("the run is held: %d of the products are not in the feed any more. To "+
		"archive them:\n  %s feeds sync %s --confirm-run-id %s", run.Gone, c.called(), run.FactoryID, run.ID)}, json: c.json}
}

// push uploads a feed, sets it and reads it. It returns the run as the answer has it.
func (c *calling) push(ctx context.Context, client *contentautomation.Client, file *os.File, factory, format,
	currency string) (json.RawMessage, error) {
	at := "/v1/factories/" + url.PathEscape(factory) + "/feed"
	body, err := feedBody(ctx, client, at)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(c.notes, "Uploading the feed …")
	media, err := client.Media.Upload(ctx, file, feedTypes[format])
	if err != nil {
		return nil, err
	}
	body["source"], body["format"] = map[string]any{"media_id": media.ID}, format
	if currency != "" {
		body["currency"] = currency
	}
	if format != "csv" {
		delete(body, "mapping")
	}
	if err := client.Do(ctx, http.MethodPut, at, nil, body, nil); err != nil {
		return nil, err
	}
	var run feedRun
	if err := client.Do(ctx, http.MethodPost, at+"/sync", nil, map[string]any{}, &run); err != nil {
		return nil, err
	}
	fmt.Fprintln(c.notes, "The run is "+run.ID)
	return c.watch(ctx, client, at+"/runs/"+url.PathEscape(run.ID))
}

// feedBody returns the members of the feed that a factory has, as they are set.
func feedBody(ctx context.Context, client *contentautomation.Client, at string) (map[string]any, error) {
	var all map[string]any
	err := client.Do(ctx, http.MethodGet, at, nil, nil, &all)
	var refused *contentautomation.Error
	if err != nil && !(errors.As(err, &refused) && refused.Code == "not_found") {
		return nil, err
	}
	body := map[string]any{}
	for _, name := range []string{"mapping", "currency", "on_price_change", "on_sold_out", "on_removed",
		"remake_per_day", "photos"} {
		if all[name] != nil {
			body[name] = all[name]
		}
	}
	return body, nil
}

// watchEvery is the time between two looks at a run.
const watchEvery = time.Second

// watch shows the progress of a run until it has ended: as a bar on a terminal, and as a line at the end elsewhere.
func (c *calling) watch(ctx context.Context, client *contentautomation.Client, at string) (json.RawMessage, error) {
	for {
		var raw json.RawMessage
		var run feedRun
		err := client.Do(ctx, http.MethodGet, at, nil, nil, &raw)
		if err == nil {
			err = json.Unmarshal(raw, &run)
		}
		if err != nil {
			return nil, c.interrupted(err, at)
		}
		ended := run.State != "queued" && run.State != "running"
		c.progress(run, ended)
		if run.State == "failed" || run.State == "canceled" {
			return nil, &contentautomation.FailedError{State: run.State, Resource: raw, Failure: run.Failure}
		} else if ended {
			return raw, nil
		}
		if err := c.machine.wait(ctx, watchEvery); err != nil {
			return nil, c.interrupted(err, at)
		}
	}
}

// progress shows how much of a run is done.
func (c *calling) progress(run feedRun, ended bool) {
	const width = 30
	switch {
	case c.json || run.Total == 0:
	case c.terminal:
		full := run.done() * width / run.Total
		fmt.Fprintf(c.notes, "\r[%s%s] %d of %d rows", strings.Repeat("#", full), strings.Repeat(".", width-full), run.done(),
			run.Total)
		if ended {
			fmt.Fprintln(c.notes)
		}
	case ended:
		fmt.Fprintf(c.notes, "%d of %d rows\n", run.done(), run.Total)
	}
}

// interrupted tells how to see a run that goes on after Ctrl-C.
func (c *calling) interrupted(err error, at string) error {
	if parts := strings.Split(at, "/"); errors.Is(err, context.Canceled) && len(parts) == 7 {
		if c.terminal {
			fmt.Fprintln(c.notes)
		}
		fmt.Fprintf(c.notes, "The run goes on. To wait for it:\n  %s feeds wait-for-run %s %s\n", c.called(), parts[3], parts[6])
	}
	return err
}
