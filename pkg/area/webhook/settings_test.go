package webhook

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/record/resource"
)

// changed returns a webhook with a change that was redirected and settled.
func changed(t *testing.T, was WebhookRecord, edit func(*WebhookRecord)) WebhookRecord {
	t.Helper()
	r := was
	edit(&r)
	s := &Service{principal: arn.ARN{Partition: "aws"}}
	if was.Destination != nil {
		if err := s.redirect(t.Context(), &was, &r); err != nil {
			t.Fatal(err)
		}
	}
	r.settle(&was, apitest.NewClock().Now())
	return r
}

func TestEnablingAWebhookForgetsItsFailures(t *testing.T) {
	now := apitest.NewClock().Now()
	gone := ReasonGone
	url, other := "a", "b"
	was := WebhookRecord{Webhook: Webhook{URL: &url, State: StateDisabled,
		DisabledReason: &gone, FailingSince: resource.InstantOrNil(&now)}}
	r := changed(t, was, func(r *WebhookRecord) { r.Description = "x" })
	if r.FailingSince == nil || r.DisabledReason != &gone {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	r = changed(t, was, func(r *WebhookRecord) { r.State = StateEnabled })
	if r.FailingSince != nil || r.DisabledReason != nil {
		t.Errorf("enabled: %+v", r.Webhook)
	}
	r.FailingSince = resource.InstantOrNil(&now)
	if r = changed(t, r, func(r *WebhookRecord) { r.URL = &other }); r.FailingSince != nil {
		t.Errorf("another address: %+v", r.Webhook)
	}
}

func TestADestinationElsewhereStartsAfresh(t *testing.T) {
	now := apitest.NewClock().Now()
	to := Target{Kind: KindSQS, ARN: "arn:aws:sqs:eu-central-1:111122223333:events",
		RoleARN: "arn:aws:iam::111122223333:role/content-automation-b"}
	was := WebhookRecord{Webhook: Webhook{Destination: &to, State: StateEnabled,
		FailingSince: resource.InstantOrNil(&now)}}
	r := changed(t, was, func(r *WebhookRecord) { r.Description = "x" })
	if r.FailingSince == nil {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	other := to
	other.RoleARN = "arn:aws:iam::111122223333:role/content-automation-c"
	r = changed(t, was, func(r *WebhookRecord) { r.Destination = &other })
	if r.FailingSince != nil || r.URL != nil || r.Destination.RoleARN != other.RoleARN {
		t.Errorf("another role: %+v", r.Webhook)
	}
}
