package webhook

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestEnablingAWebhookForgetsItsFailures(t *testing.T) {
	now := apitest.NewClock().Now()
	gone := ReasonGone
	url := "a"
	r := WebhookRecord{Webhook: Webhook{URL: &url, State: StateDisabled,
		DisabledReason: &gone, FailingSince: resource.InstantOrNil(&now)}}
	set := settingsOf(&r)
	set.Description = "x"
	if apply(&r, set, false, now); r.FailingSince == nil || r.DisabledReason != &gone {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	set.State = StateEnabled
	if apply(&r, set, false, now); r.FailingSince != nil || r.DisabledReason != nil {
		t.Errorf("enabled: %+v", r.Webhook)
	}
	r.FailingSince = resource.InstantOrNil(&now)
	set = settingsOf(&r)
	if apply(&r, set, true, now); r.FailingSince != nil {
		t.Errorf("another address: %+v", r.Webhook)
	}
}

func TestADestinationElsewhereStartsAfresh(t *testing.T) {
	now := apitest.NewClock().Now()
	role := targetSettings{"arn:aws:sqs:eu-central-1:111122223333:events",
		"arn:aws:iam::111122223333:role/content-automation-b"}
	r := WebhookRecord{Webhook: Webhook{
		Destination: &Target{Kind: KindSQS, ARN: role.ARN, RoleARN: role.RoleARN},
		State:       StateEnabled, FailingSince: resource.InstantOrNil(&now),
	}}
	s := &Service{principal: arn.ARN{Partition: "aws"}}
	change := func(set settings) {
		t.Helper()
		was := r.GoesTo()
		if err := s.redirect(t.Context(), &r, set); err != nil {
			t.Fatal(err)
		}
		apply(&r, set, r.GoesTo() != was, now)
	}
	set := settingsOf(&r)
	set.Description = "x"
	if change(set); r.FailingSince == nil {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	set.Destination.RoleARN = "arn:aws:iam::111122223333:role/content-automation-c"
	if change(set); r.FailingSince != nil || r.URL != nil || r.Destination.RoleARN != set.Destination.RoleARN {
		t.Errorf("another role: %+v", r.Webhook)
	}
}
