package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
)

type feedIn struct {
	orderIn
	FactoryID    string `json:"factory_id"`
	SourceURL    string `json:"source_url,omitempty"`
	Format       string `json:"format,omitempty"`
	ConfirmRunID string `json:"confirm_run_id,omitempty"`
}

var feedTexts = map[string]string{
	"factory_id": "fac_… of type seller", "source_url": "https://… or med_…",
	"format":         "google_xml, google_tsv, yml, shopify_csv, csv, json_lines",
	"confirm_run_id": "run_… that is held: archive what is gone",
}

func (s *server) addFeeds() {
	add(s, tool[feedIn]{name: "sync_feed", scope: "products:write", effect: publishes,
		doc:   "Read a shop's feed into the catalog, and wait. With source_url and format, set it first.",
		texts: feedTexts, out: []string{"state", "refusals[]"}, run: syncFeed})
}

// kept are the members of a feed that stay if it gets another source.
var kept = []string{"mapping", "currency", "on_price_change", "on_sold_out", "on_removed", "photos", "schedule",
	"daily_time", "remake_per_day"}

// syncFeed reads a feed, and waits for its run. A repeat of the call looks at the same run.
func syncFeed(ctx context.Context, c call, in feedIn) (toolResult, error) {
	path := pathOf("factories", in.FactoryID, "feed")
	switch ask, err := c.asks(in.Confirmation); {
	case (in.SourceURL == "") != (in.Format == ""):
		return toolResult{}, invalid("source_url", "A feed is set by source_url and format. Send both or neither.")
	case in.SourceURL != "" && in.ConfirmRunID != "":
		return toolResult{}, invalid("confirm_run_id", "A run that is held is of the source that it has read: send no "+
			"source_url with it.")
	case err != nil:
		return toolResult{}, err
	case ask && in.ConfirmRunID != "":
		return c.input("This archives the products that are not in the feed any more. It costs no credits.",
			pick(in, "confirm_run_id")), nil
	case ask:
		return c.input("This reads the feed into the catalog: products are created, changed and archived, and posts "+
			"about them follow. It costs no credits.", pick(in, "source_url", "format")), nil
	}
	began := c.now()
	if in.SourceURL != "" {
		if err := c.setFeed(ctx, path, in); err != nil {
			return toolResult{}, err
		}
	}
	a, err := c.caller.call(ctx, http.MethodPost, path+"/sync", pick(in, "confirm_run_id"), c.key)
	if err != nil {
		return toolResult{}, err
	}
	return c.awaitRun(ctx, path+"/runs/", a, began)
}

// setFeed sets the source and the format of a feed, and keeps its other members.
func (c call) setFeed(ctx context.Context, path string, in feedIn) error {
	body := object{}
	was, err := into[object](c.get(ctx, path, nil))
	var refused *failure
	if err == nil {
		body = pick(was, kept...)
	} else if !errors.As(err, &refused) || refused.Code != errs.NotFound {
		return err
	}
	for name, value := range body {
		if value == nil {
			delete(body, name)
		}
	}
	body["format"], body["source"] = in.Format, object{"url": in.SourceURL}
	if strings.HasPrefix(in.SourceURL, "med_") {
		body["source"], body["schedule"] = object{"media_id": in.SourceURL}, "manual"
		delete(body, "daily_time")
	}
	if in.Format != "csv" {
		delete(body, "mapping")
	}
	_, err = c.caller.call(ctx, http.MethodPut, path, body, "") // a repeat sets the same, so that it needs no key
	return err
}

// runIn has the members of a run that its text tells.
type runIn struct {
	ID, State                                                   string
	Total, Created, Changed, Unchanged, Archived, Refused, Gone int64
}

// awaitRun reads a run until it has ended, or until the usual wait is over.
func (c call) awaitRun(ctx context.Context, runs string, a *answer, began time.Time) (toolResult, error) {
	note := a.note()
	run, err := into[runIn](a, nil)
	if err != nil {
		return toolResult{}, err
	}
	for pause := time.Second; ; pause += time.Second {
		if a, err = c.get(ctx, runs+url.PathEscape(run.ID), nil); err != nil {
			return toolResult{}, err
		}
		if run, err = into[runIn](a, nil); err != nil {
			return toolResult{}, err
		}
		left := usualWait*time.Second - c.now().Sub(began)
		works := run.State == "queued" || run.State == "running"
		if !works || left <= 0 || backoff.Sleep(ctx, min(pause, left)) != nil {
			break
		}
	}
	data, err := into[object](a, err)
	return toolResult{text: note + run.text(), data: pick(data, "id", "state", "held_reason", "read", "created",
		"changed", "unchanged", "archived", "refused", "refusals", "refusals_url", "failure")}, err
}

// text tells how far a run is, or what it did.
func (r runIn) text() string {
	text := fmt.Sprintf("%s is %s.", r.ID, r.State)
	switch r.State {
	case "queued", "running":
		text += fmt.Sprintf(" %d of %d rows are done. Call again with the same arguments to see how far it is.",
			r.Created+r.Changed+r.Unchanged+r.Refused, r.Total)
	case "held":
		text += fmt.Sprintf(" %d of the products are not in the feed any more, a fifth or more, so nothing was "+
			"changed. Ask the user. If the feed is right, call sync_feed with this confirm_run_id.", r.Gone)
	case "failed":
		text += " The failure says why."
	default:
		text += fmt.Sprintf(" %d created, %d changed, %d unchanged, %d archived, %d refused.", r.Created, r.Changed,
			r.Unchanged, r.Archived, r.Refused)
	}
	return text
}
