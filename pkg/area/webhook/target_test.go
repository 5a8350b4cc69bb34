package webhook_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
)

func TestDestinationsShowWhomToTrust(t *testing.T) {
	_, _, c := webhooktest.On(t)
	var all []webhook.NewWebhook
	for of, arn := range map[string]string{webhook.KindSQS: webhooktest.QueueARN,
		webhook.KindEventBridge: webhooktest.BusARN} {
		for range 2 {
			made := c.Call(http.MethodPost, "/v1/webhooks", webhooktest.Aimed(of, arn, webhooktest.RoleARN))
			var w webhook.NewWebhook
			made.Into(t, http.StatusCreated, &w)
			if !strings.Contains(made.Raw, `"url":null`) || w.Secret == "" || w.State != "enabled" {
				t.Errorf("created %s", made.Raw)
			}
			d := w.Destination
			if d.Kind != of || d.ARN != arn || d.RoleARN != webhooktest.RoleARN ||
				d.PrincipalARN != "arn:aws:iam::444455556666:role/acme-prod-eu-central-1-deliver" ||
				d.Region != strings.Split(arn, ":")[3] || len(d.ExternalID) != 26 {
				t.Errorf("destination %+v", d)
			}
			for _, other := range all {
				if other.Destination.ExternalID == d.ExternalID {
					t.Error("two webhooks have the same external id")
				}
			}
			all = append(all, w)
			var got webhook.Webhook
			c.Call(http.MethodGet, "/v1/webhooks/"+w.ID, nil).Into(t, http.StatusOK, &got)
			if got.URL != nil || *got.Destination != *d {
				t.Errorf("got %+v", got)
			}
		}
	}
	posted := c.Call(http.MethodPost, "/v1/webhooks", map[string]any{"url": hookURL, "event_types": []string{"*"}})
	if posted.Status != http.StatusCreated || !strings.Contains(posted.Raw, `"destination":null`) {
		t.Errorf("with a URL: %s", posted.Raw)
	}
}

func TestBadDestinationsAreRefused(t *testing.T) {
	_, _, c := webhooktest.On(t)
	const arn, role = "/destination/arn", "/destination/role_arn"
	for name, bad := range map[string]struct {
		body  map[string]any
		param string
	}{
		"no ARN": {webhooktest.Aimed(webhook.KindSQS,
			"https://sqs.eu-central-1.amazonaws.com/111122223333/content", webhooktest.RoleARN), arn},
		"empty": {webhooktest.Aimed(webhook.KindSQS, "", webhooktest.RoleARN), arn},
		"a bus for a queue": {webhooktest.Aimed(webhook.KindSQS, webhooktest.BusARN,
			webhooktest.RoleARN), arn},
		"a queue for a bus": {webhooktest.Aimed(webhook.KindEventBridge, webhooktest.QueueARN,
			webhooktest.RoleARN), arn},
		"a rule for a bus": {webhooktest.Aimed(webhook.KindEventBridge,
			"arn:aws:events:eu-central-1:111122223333:rule/content", webhooktest.RoleARN), arn},
		"another service": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sns:eu-central-1:111122223333:content", webhooktest.RoleARN), arn},
		"another partition": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws-cn:sqs:cn-north-1:111122223333:content", webhooktest.RoleARN), arn},
		"no region": {webhooktest.Aimed(webhook.KindSQS, "arn:aws:sqs::111122223333:content",
			webhooktest.RoleARN), arn},
		"a host for a region": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:evil.example/:111122223333:content", webhooktest.RoleARN), arn},
		"a dot in the region": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:eu-central.evil-1:111122223333:content", webhooktest.RoleARN), arn},
		"a short account": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:eu-central-1:11112222333:content", webhooktest.RoleARN), arn},
		"letters for an account": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:eu-central-1:11112222333a:content", webhooktest.RoleARN), arn},
		"no account": {webhooktest.Aimed(webhook.KindEventBridge,
			"arn:aws:events:eu-central-1::event-bus/content", webhooktest.RoleARN), arn},
		"the service's own account": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:eu-central-1:444455556666:deliver",
			"arn:aws:iam::444455556666:role/content-automation-events"), arn},
		"the service's own bus": {webhooktest.Aimed(webhook.KindEventBridge,
			"arn:aws:events:eu-central-1:444455556666:event-bus/acme", webhooktest.RoleARN), arn},
		"a role of the service": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::444455556666:role/content-automation-events"), role},
		"a FIFO queue": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN+".fifo",
			webhooktest.RoleARN), arn},
		"a path in the queue": {webhooktest.Aimed(webhook.KindSQS,
			"arn:aws:sqs:eu-central-1:111122223333:../content", webhooktest.RoleARN), arn},
		"every queue": {webhooktest.Aimed(webhook.KindSQS, "arn:aws:sqs:eu-central-1:111122223333:*",
			webhooktest.RoleARN), arn},
		"a long queue": {webhooktest.Aimed(webhook.KindSQS, "arn:aws:sqs:eu-central-1:111122223333:"+
			strings.Repeat("q", 81), webhooktest.RoleARN), arn},
		"a line break": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN+"\n",
			webhooktest.RoleARN), arn},
		"no role": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"content-automation-events"), role},
		"a user": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::111122223333:user/content-automation-events"), role},
		"a role of another": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::999922223333:role/content-automation-events"), role},
		"a role of another cloud": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws-cn:iam::111122223333:role/content-automation-events"), role},
		"a role of another name": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::111122223333:role/admin"), role},
		"a role below a path": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::111122223333:role/a/content-automation-events"), role},
		"every role": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::111122223333:role/content-automation-*"), role},
		"the beginning of a name": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:iam::111122223333:role/content-automation-"), role},
		"an assumed role": {webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
			"arn:aws:sts::111122223333:assumed-role/content-automation-events/a"), role},
		"an unknown type": {webhooktest.Aimed("sns", webhooktest.QueueARN, webhooktest.RoleARN),
			"/destination/kind"},
		"https": {webhooktest.Aimed("https", webhooktest.QueueARN, webhooktest.RoleARN),
			"/destination/kind"},
		"an external id of its own": {map[string]any{"event_types": []string{"*"},
			"destination": map[string]any{"kind": "sqs", "arn": webhooktest.QueueARN, "role_arn": webhooktest.RoleARN,
				"external_id": "x"}}, "/destination/external_id"},
		"a principal of its own": {map[string]any{"event_types": []string{"*"},
			"destination": map[string]any{"kind": "sqs", "arn": webhooktest.QueueARN, "role_arn": webhooktest.RoleARN,
				"principal_arn": "x"}}, "/destination/principal_arn"},
		"role left out": {map[string]any{"event_types": []string{"*"},
			"destination": map[string]any{"kind": "sqs", "arn": webhooktest.QueueARN}}, role},
		"nothing": {map[string]any{"event_types": []string{"*"}}, "/url"},
		"both": {map[string]any{"event_types": []string{"*"}, "url": hookURL,
			"destination": webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN,
				webhooktest.RoleARN)["destination"]}, "/destination"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Call(http.MethodPost, "/v1/webhooks", bad.body).Refused(t, 422, "validation_failed", bad.param)
		})
	}
	var all []webhook.Webhook
	c.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 0 {
		t.Errorf("left over: %+v", all)
	}
}

func TestADestinationMovesButStaysOfItsType(t *testing.T) {
	_, _, c := webhooktest.On(t)
	w := webhooktest.Aim(t, c)
	path := "/v1/webhooks/" + w.ID
	const other = "arn:aws:sqs:eu-west-1:999922223333:content"
	const others = "arn:aws:iam::999922223333:role/content-automation-events"
	for name, bad := range map[string]struct {
		patch map[string]any
		param string
	}{
		"a URL":          {map[string]any{"url": hookURL}, "/url"},
		"no destination": {map[string]any{"destination": nil}, "/destination"},
		"another kind": {map[string]any{"destination": map[string]any{"kind": "eventbridge"}},
			"/destination/kind"},
		"a bus": {map[string]any{"destination": map[string]any{"arn": webhooktest.BusARN}},
			"/destination/arn"},
		"another external id": {map[string]any{
			"destination": map[string]any{"external_id": w.Destination.ExternalID}}, "/destination/external_id"},
		"the service's account": {map[string]any{
			"destination": map[string]any{"arn": "arn:aws:sqs:eu-central-1:444455556666:deliver",
				"role_arn": "arn:aws:iam::444455556666:role/content-automation-events"}}, "/destination/arn"},
		"arn of another account": {map[string]any{"destination": map[string]any{"arn": other}},
			"/destination/role_arn"},
		"a role of another name": {map[string]any{
			"destination": map[string]any{"role_arn": "arn:aws:iam::111122223333:role/x"}}, "/destination/role_arn"},
		"no role": {map[string]any{"destination": map[string]any{"role_arn": nil}},
			"/destination/role_arn"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Call(http.MethodPatch, path, bad.patch).Refused(t, 422, "validation_failed", bad.param)
		})
	}
	var got webhook.Webhook
	c.Call(http.MethodPatch, path,
		map[string]any{"destination": map[string]any{"arn": other, "role_arn": others}}).Into(t, http.StatusOK, &got)
	want := *w.Destination
	want.ARN, want.RoleARN, want.Region = other, others, "eu-west-1"
	if *got.Destination != want || got.Version != 2 || got.URL != nil {
		t.Errorf("moved %+v", got.Destination)
	}
	c.Call(http.MethodPatch, path, map[string]any{"description": "x", "destination": map[string]any{}}).Into(t,
		http.StatusOK, &got)
	if *got.Destination != want || got.Description != "x" {
		t.Errorf("described %+v", got)
	}
	posted := create(t, c, hookURL, "*")
	c.Call(http.MethodPatch, "/v1/webhooks/"+posted.ID,
		map[string]any{"destination": map[string]any{"arn": webhooktest.QueueARN, "role_arn": webhooktest.RoleARN}}).
		Refused(t, 422, "validation_failed", "/destination")
}

func TestAnExternalIDNeedsRandomness(t *testing.T) {
	c := apitest.NewClock()
	// Not enough for the external id, and enough for it but not for the secret.
	for _, n := range []int{16 - 1, 16 + 32 - 1} {
		db := storetest.Open(t, c.Now)
		s := webhook.NewService(db, webhook.NewClient(true), webhooktest.DeliverRole, webhooktest.Envelope(), c.Now,
			strings.NewReader(strings.Repeat("k", n)))
		a := apitest.New(t, db, &apitest.Log{}, c.Now, s).Call(http.MethodPost, "/v1/webhooks",
			webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN, webhooktest.RoleARN))
		if a.Status != http.StatusInternalServerError {
			t.Errorf("with %d bytes: %d %s", n, a.Status, a.Raw)
		}
	}
}
