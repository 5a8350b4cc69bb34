package people

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// told are the events that people hear of by e-mail.
var told = map[event.Type]person.Notice{event.WebhookDisabled: person.NoticeWebhooks,
	event.APIKeyExpiring: person.NoticeKeys, event.BalanceLow: person.NoticeSpend,
	event.SocialAccountNeedsReconnect: person.NoticeAccounts, event.IntegrationNeedsReconnect: person.NoticeAccounts}

// Announce returns a consumer of the bus that makes a task for each live event that people hear of, and then calls
// next. The id of the event is that of its task, so that an event which comes twice has one.
func Announce(db *store.DB, now func() time.Time,
	next func(context.Context, events.SQSEvent) (events.SQSEventResponse, error),
) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		failed := make([]error, len(batch.Records))
		for i, m := range batch.Records {
			failed[i] = announce(ctx, db, now(), m.Body)
		}
		out, err := next(ctx, batch)
		known := map[string]bool{}
		for _, f := range out.BatchItemFailures {
			known[f.ItemIdentifier] = true
		}
		for _, f := range queue.Response(batch.Records, failed).BatchItemFailures {
			if !known[f.ItemIdentifier] {
				out.BatchItemFailures = append(out.BatchItemFailures, f)
			}
		}
		return out, err
	}
}

func announce(ctx context.Context, db *store.DB, now time.Time, body string) error {
	var envelope struct {
		Detail event.Ref `json:"detail"`
	}
	// What cannot be read is reported by who handles the event.
	if json.Unmarshal([]byte(body), &envelope) != nil {
		return nil
	}
	ref := envelope.Detail
	if told[ref.Type] == "" || ref.Mode != tenant.Live || !id.Valid(id.Event, ref.ID) {
		return nil
	}
	tx := &store.Tx{Origin: ref.Request}
	t := task.Task{Message: task.Message{ID: task.ID(person.NoticeKind, ref.ID, 1), Kind: person.NoticeKind,
		Queue: topology.Mail, Subject: ref.ID, Owner: ref.Owner}, Deadline: now.Add(person.MailTime)}
	if err := task.Create(tx, now, t, person.Noticed{Event: ref.ID}); err != nil {
		return err
	}
	if err := db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
		return err
	}
	return nil
}

// about has the members of the objects of events that e-mails name.
type about struct {
	ID             string     `json:"id"`
	Name           string     `json:"name"`
	URL            string     `json:"url"`
	Description    string     `json:"description"`
	DisabledReason string     `json:"disabled_reason"`
	ExpiresAt      *time.Time `json:"expires_at"`
	CreatedBy      string     `json:"created_by"`
	Platform       string     `json:"platform"`
	Handle         string     `json:"handle"`
	DisplayName    string     `json:"display_name"`
	Kind           string     `json:"kind"`
	Balance        struct {
		Credits   int64 `json:"credits"`
		Threshold int64 `json:"low_threshold"`
	} `json:"balance"`
}

// newsOf returns the news of an event, unless it is gone.
func (h MailConfig) newsOf(ctx context.Context, eventID string) (n person.News, found bool, err error) {
	it, err := h.DB.Lookup(ctx, store.IDKey(eventID))
	if err != nil || it.PK == "" {
		return n, false, err
	}
	var e event.Event
	if err := it.Decode(&e); err != nil {
		return n, false, task.Permanent(err)
	}
	var of about
	if err := json.Unmarshal(e.Data.Object, &of); err != nil {
		return n, false, task.Permanent(fmt.Errorf("people: read the object of %s: %w", eventID, err))
	}
	n = person.News{Notice: told[e.Type], What: string(e.Type), Values: map[string]string{}}
	switch e.Type {
	case event.WebhookDisabled:
		n.Path = "/settings/webhooks/" + of.ID
		n.Values["name"], n.Values["reason"] = hookName(of.Description, of.URL, of.ID), of.DisabledReason
	case event.APIKeyExpiring:
		n.Path, n.Only = "/settings/api-keys/"+of.ID, of.CreatedBy
		n.Values["name"], n.Values["at"] = of.Name, moment(of.ExpiresAt)
	case event.BalanceLow:
		n.Path = "/settings/usage"
		n.Values["credits"] = strconv.FormatInt(of.Balance.Credits, 10)
		n.Values["threshold"] = strconv.FormatInt(of.Balance.Threshold, 10)
	case event.SocialAccountNeedsReconnect:
		n.Path = "/settings/social-accounts"
		n.Values["name"], n.Values["platform"] = cmp.Or(of.DisplayName, of.Handle, of.ID), of.Platform
	case event.IntegrationNeedsReconnect:
		n.Path = "/settings/integrations/" + of.ID
		n.Values["name"], n.Values["platform"] = cmp.Or(of.Name, of.ID), of.Kind
	}
	return n, true, nil
}

// hookName names a webhook. Of its address it shows the host alone: the rest may have a secret.
func hookName(description, address, hookID string) string {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	return cmp.Or(description, host, hookID)
}

// moment returns a time as e-mails show it, in all languages.
func moment(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}
