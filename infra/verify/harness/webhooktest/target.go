package webhooktest

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/store"
)

// Destinations in an account of a customer, and the role by which they are reached.
const (
	QueueARN = "arn:aws:sqs:eu-central-1:111122223333:content-events"
	BusARN   = "arn:aws:events:us-east-1:111122223333:event-bus/shop/content"
	RoleARN  = "arn:aws:iam::111122223333:role/content-automation-events"
)

// On opens a table and returns a caller of its operations.
func On(t *testing.T) (*store.DB, *apitest.Clock, *apitest.Caller) {
	c := apitest.NewClock()
	db := storetest.Open(t, c.Now)
	return db, c, NewCaller(t, db, c, webhook.NewClient(true))
}

// Aimed returns the body that makes a webhook for a destination in AWS.
func Aimed(of, arn, role string) map[string]any {
	return map[string]any{"destination": map[string]any{"kind": of, "arn": arn, "role_arn": role},
		"event_types": []string{"*"}}
}

// Aim makes a webhook for a queue.
func Aim(t *testing.T, c *apitest.Caller) (w webhook.NewWebhook) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/webhooks", Aimed(webhook.TypeSQS, QueueARN, RoleARN)).Into(t, http.StatusCreated, &w)
	return w
}
