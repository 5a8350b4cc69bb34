package mcp

import (
	"context"
	"net/http"
	"strconv"
	"time"
	_ "time/tzdata" // for the time zones of factories

	"github.com/content-automation/api/pkg/base/clock"
)

type publishIn struct {
	ContentItemID    string   `json:"content_item_id"`
	When             string   `json:"when"`
	SocialAccountIDs []string `json:"social_account_ids,omitempty"`
	Confirmation     string   `json:"confirmation,omitempty"`
}

var publishTexts = map[string]string{
	"when": "now, never, 2027-01-15T09:00:00Z, or 2027-01-15T09:00 in the factory's time zone",
}

// publish schedules or publishes an item. Its idempotency keys have the version of the item, because the same change
// can be made again after another. An item that is as the call wants it is left as it is.
func publish(ctx context.Context, c call, in publishIn) (said, error) {
	path := pathOf("content-items", in.ContentItemID)
	item, err := into[struct {
		FactoryID string     `json:"factory_id"`
		State     string     `json:"state"`
		Version   int64      `json:"version"`
		PublishAt *time.Time `json:"publish_at"`
		Title     string     `json:"title"`
		Caption   string     `json:"caption"`
		Hashtags  []string   `json:"hashtags"`
		Accounts  []string   `json:"social_account_ids"`
	}](c.get(ctx, path, nil))
	if err != nil {
		return said{}, err
	}
	body, to, when := pick(in, "social_account_ids"), "/schedule", in.When
	switch in.When {
	case "now":
		to = "/publish"
		if item.State == "publishing" || item.State == "published" && len(in.SocialAccountIDs) == 0 {
			return c.read(ctx, path, "The item is already being published or published. ")
		}
	case "never":
		if len(in.SocialAccountIDs) > 0 {
			return said{}, invalid("social_account_ids", "An item that is taken off the schedule has no accounts.")
		}
		if item.PublishAt == nil {
			return c.read(ctx, path, "The item is not scheduled. ")
		}
		body["publish_at"] = nil
	default:
		if when, err = c.timeOf(ctx, "when", in.When, item.FactoryID); err != nil {
			return said{}, err
		}
		at, _ := time.Parse(time.RFC3339, when)
		if item.State == "scheduled" && item.PublishAt != nil && item.PublishAt.Equal(at) &&
			len(in.SocialAccountIDs) == 0 {
			return c.read(ctx, path, "The item is already scheduled for this time. ")
		}
		body["publish_at"] = when
	}
	ask, err := c.asks(in.Confirmation)
	switch {
	case err != nil:
		return said{}, err
	case ask && in.When == "never":
		return c.asked("This takes the item off the schedule.",
			object{"title": item.Title, "publish_at": item.PublishAt}), nil
	case ask:
		accounts := any(in.SocialAccountIDs)
		if len(in.SocialAccountIDs) == 0 {
			accounts = item.Accounts
		}
		if list, _ := accounts.([]string); len(list) == 0 {
			accounts = "those of the factory"
		}
		return c.asked("This publishes the item publicly: "+when+". It costs no credits.", object{"title": item.Title,
			"caption": item.Caption, "hashtags": item.Hashtags, "social_accounts": accounts, "publish_at": when}), nil
	}
	key := c.key + "-" + strconv.FormatInt(item.Version, 10)
	if _, err := c.caller.call(ctx, http.MethodPost, path+to, body, key); err != nil {
		return said{}, err
	}
	return c.read(ctx, path, "")
}

// read returns how an item stands after a decision about it. Its texts and files have been read before.
func (c call) read(ctx context.Context, path, note string) (said, error) {
	item, err := into[object](c.get(ctx, path, nil))
	out := itemSaid(note, item)
	out.data = pick(item, "id", "kind", "state", "title", "publish_at", "published_at", "approval", "waits_for",
		"social_account_ids", "omitted_accounts", "publications", "failure")
	return out, err
}

// timeOf reads a time. One without a zone is in the time zone of a factory's schedule, or UTC.
func (c call) timeOf(ctx context.Context, param, text, factory string) (string, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	zoneless := ""
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if _, err := time.Parse(layout, text); err == nil {
			zoneless = layout
		}
	}
	if zoneless == "" {
		return "", invalid(param, "%s must be a time such as 2027-01-15T09:00:00Z, or 2027-01-15T09:00 in the "+
			"factory's time zone.", param)
	}
	f, err := into[struct{ Schedule *struct{ Timezone string } }](c.get(ctx, pathOf("factories", factory), nil))
	if err != nil {
		return "", err
	}
	zone := time.UTC
	if f.Schedule != nil {
		if zone, err = time.LoadLocation(f.Schedule.Timezone); err != nil {
			return "", invalid(param, "The time zone of the factory is not known here: give a time such as "+
				"2027-01-15T09:00:00Z.")
		}
	}
	at, err := time.Parse(zoneless, text)
	return clock.Instant(at, zone).UTC().Format(time.RFC3339), err
}
