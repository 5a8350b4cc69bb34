package webhook

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store/storetest"
)

// Where the tests send to, and by which role.
const (
	queueARN = "arn:aws:sqs:eu-central-1:111122223333:content-events"
	busARN   = "arn:aws:events:us-east-1:111122223333:event-bus/shop/content"
	roleARN  = "arn:aws:iam::111122223333:role/content-automation-events"
)

// aimed is the body that makes a webhook for a destination.
func aimed(of, arn, role string) map[string]any {
	return map[string]any{"destination": map[string]any{"type": of, "arn": arn, "role_arn": role}, "event_types": []string{"*"}}
}

// aim makes a webhook for a queue.
func aim(t *testing.T, c *apitest.Caller) (w NewWebhook) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/webhooks", aimed(TypeSQS, queueARN, roleARN)).Into(t, http.StatusCreated, &w)
	return w
}

func TestDestinationsShowWhomToTrust(t *testing.T) {
	_, _, c := on(t)
	var all []NewWebhook
	for of, arn := range map[string]string{TypeSQS: queueARN, TypeEventBridge: busARN} {
		for range 2 {
			made := c.Call(http.MethodPost, "/v1/webhooks", aimed(of, arn, roleARN))
			var w NewWebhook
			made.Into(t, http.StatusCreated, &w)
			if !strings.Contains(made.Raw, `"url":null`) || w.Secret == "" || w.State != "enabled" {
				t.Errorf("created %s", made.Raw)
			}
			d := w.Destination
			if d.Type != of || d.ARN != arn || d.RoleARN != roleARN || d.PrincipalARN != "arn:aws:iam::444455556666:role/acme-prod-eu-central-1-deliver" ||
				d.Region != strings.Split(arn, ":")[3] || len(d.ExternalID) != 26 {
				t.Errorf("destination %+v", d)
			}
			for _, other := range all {
				if other.Destination.ExternalID == d.ExternalID {
					t.Error("two webhooks have the same external id")
				}
			}
			all = append(all, w)
			var got Webhook
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
	_, _, c := on(t)
	const arn, role = "/destination/arn", "/destination/role_arn"
	for name, bad := range map[string]struct {
		body  map[string]any
		param string
	}{
		"no ARN":                    {aimed(TypeSQS, "https://sqs.eu-central-1.amazonaws.com/111122223333/content", roleARN), arn},
		"empty":                     {aimed(TypeSQS, "", roleARN), arn},
		"a bus for a queue":         {aimed(TypeSQS, busARN, roleARN), arn},
		"a queue for a bus":         {aimed(TypeEventBridge, queueARN, roleARN), arn},
		"a rule for a bus":          {aimed(TypeEventBridge, "arn:aws:events:eu-central-1:111122223333:rule/content", roleARN), arn},
		"another service":           {aimed(TypeSQS, "arn:aws:sns:eu-central-1:111122223333:content", roleARN), arn},
		"another partition":         {aimed(TypeSQS, "arn:aws-cn:sqs:cn-north-1:111122223333:content", roleARN), arn},
		"no region":                 {aimed(TypeSQS, "arn:aws:sqs::111122223333:content", roleARN), arn},
		"a host for a region":       {aimed(TypeSQS, "arn:aws:sqs:evil.example/:111122223333:content", roleARN), arn},
		"a dot in the region":       {aimed(TypeSQS, "arn:aws:sqs:eu-central.evil-1:111122223333:content", roleARN), arn},
		"a short account":           {aimed(TypeSQS, "arn:aws:sqs:eu-central-1:11112222333:content", roleARN), arn},
		"letters for an account":    {aimed(TypeSQS, "arn:aws:sqs:eu-central-1:11112222333a:content", roleARN), arn},
		"no account":                {aimed(TypeEventBridge, "arn:aws:events:eu-central-1::event-bus/content", roleARN), arn},
		"a FIFO queue":              {aimed(TypeSQS, queueARN+".fifo", roleARN), arn},
		"a path in the queue":       {aimed(TypeSQS, "arn:aws:sqs:eu-central-1:111122223333:../content", roleARN), arn},
		"every queue":               {aimed(TypeSQS, "arn:aws:sqs:eu-central-1:111122223333:*", roleARN), arn},
		"a long queue":              {aimed(TypeSQS, "arn:aws:sqs:eu-central-1:111122223333:"+strings.Repeat("q", 81), roleARN), arn},
		"a line break":              {aimed(TypeSQS, queueARN+"\n", roleARN), arn},
		"no role":                   {aimed(TypeSQS, queueARN, "content-automation-events"), role},
		"a user":                    {aimed(TypeSQS, queueARN, "arn:aws:iam::111122223333:user/content-automation-events"), role},
		"a role of another":         {aimed(TypeSQS, queueARN, "arn:aws:iam::999922223333:role/content-automation-events"), role},
		"a role of another cloud":   {aimed(TypeSQS, queueARN, "arn:aws-cn:iam::111122223333:role/content-automation-events"), role},
		"a role of another name":    {aimed(TypeSQS, queueARN, "arn:aws:iam::111122223333:role/admin"), role},
		"a role below a path":       {aimed(TypeSQS, queueARN, "arn:aws:iam::111122223333:role/a/content-automation-events"), role},
		"every role":                {aimed(TypeSQS, queueARN, "arn:aws:iam::111122223333:role/content-automation-*"), role},
		"the beginning of a name":   {aimed(TypeSQS, queueARN, "arn:aws:iam::111122223333:role/content-automation-"), role},
		"an assumed role":           {aimed(TypeSQS, queueARN, "arn:aws:sts::111122223333:assumed-role/content-automation-events/a"), role},
		"an unknown type":           {aimed("sns", queueARN, roleARN), "/destination/type"},
		"https":                     {aimed("https", queueARN, roleARN), "/destination/type"},
		"an external id of its own": {map[string]any{"event_types": []string{"*"}, "destination": map[string]any{"type": "sqs", "arn": queueARN, "role_arn": roleARN, "external_id": "x"}}, "/destination/external_id"},
		"a principal of its own":    {map[string]any{"event_types": []string{"*"}, "destination": map[string]any{"type": "sqs", "arn": queueARN, "role_arn": roleARN, "principal_arn": "x"}}, "/destination/principal_arn"},
		"role left out":             {map[string]any{"event_types": []string{"*"}, "destination": map[string]any{"type": "sqs", "arn": queueARN}}, role},
		"nothing":                   {map[string]any{"event_types": []string{"*"}}, "/url"},
		"both":                      {map[string]any{"event_types": []string{"*"}, "url": hookURL, "destination": aimed(TypeSQS, queueARN, roleARN)["destination"]}, "/destination"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Call(http.MethodPost, "/v1/webhooks", bad.body).Refused(t, 422, "validation_failed", bad.param)
		})
	}
	var all []Webhook
	c.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 0 {
		t.Errorf("left over: %+v", all)
	}
}

func TestADestinationMovesButStaysOfItsType(t *testing.T) {
	_, _, c := on(t)
	w := aim(t, c)
	path := "/v1/webhooks/" + w.ID
	const other = "arn:aws:sqs:eu-west-1:999922223333:content"
	const others = "arn:aws:iam::999922223333:role/content-automation-events"
	for name, bad := range map[string]struct {
		patch map[string]any
		param string
	}{
		"a URL":                  {map[string]any{"url": hookURL}, "/url"},
		"no destination":         {map[string]any{"destination": nil}, "/destination"},
		"another type":           {map[string]any{"destination": map[string]any{"type": "eventbridge"}}, "/destination/type"},
		"a bus":                  {map[string]any{"destination": map[string]any{"arn": busARN}}, "/destination/arn"},
		"another external id":    {map[string]any{"destination": map[string]any{"external_id": w.Destination.ExternalID}}, "/destination/external_id"},
		"arn of another account": {map[string]any{"destination": map[string]any{"arn": other}}, "/destination/role_arn"},
		"a role of another name": {map[string]any{"destination": map[string]any{"role_arn": "arn:aws:iam::111122223333:role/x"}}, "/destination/role_arn"},
		"no role":                {map[string]any{"destination": map[string]any{"role_arn": nil}}, "/destination/role_arn"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Call(http.MethodPatch, path, bad.patch).Refused(t, 422, "validation_failed", bad.param)
		})
	}
	var got Webhook
	c.Call(http.MethodPatch, path, map[string]any{"destination": map[string]any{"arn": other, "role_arn": others}}).Into(t, http.StatusOK, &got)
	want := *w.Destination
	want.ARN, want.RoleARN, want.Region = other, others, "eu-west-1"
	if *got.Destination != want || got.Version != 2 || got.URL != nil {
		t.Errorf("moved %+v", got.Destination)
	}
	c.Call(http.MethodPatch, path, map[string]any{"description": "x", "destination": map[string]any{}}).Into(t, http.StatusOK, &got)
	if *got.Destination != want || got.Description != "x" {
		t.Errorf("described %+v", got)
	}
	posted := create(t, c, hookURL, "*")
	c.Call(http.MethodPatch, "/v1/webhooks/"+posted.ID, map[string]any{"destination": map[string]any{"arn": queueARN, "role_arn": roleARN}}).
		Refused(t, 422, "validation_failed", "/destination")
}

func TestADestinationElsewhereStartsAfresh(t *testing.T) {
	now := apitest.NewClock().Now()
	r := record{Webhook: Webhook{Destination: &Target{ARN: "a", RoleARN: "b"}, State: stateEnabled, FailingSince: &now}}
	set := r.settings()
	set.Description = "x"
	if r.apply(set); r.FailingSince == nil {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	set.Destination.RoleARN = "c"
	if r.apply(set); r.FailingSince != nil || r.URL != nil {
		t.Errorf("another role: %+v", r.Webhook)
	}
}

func TestAnExternalIDNeedsRandomness(t *testing.T) {
	c := apitest.NewClock()
	// Enough for one of both, and not for the other.
	for _, n := range []int{externalIDBytes - 1, externalIDBytes + secretBytes - 1} {
		db := storetest.Open(t, c.Now)
		s := NewService(db, local(), deliverRole, c.Now, strings.NewReader(strings.Repeat("k", n)))
		a := apitest.New(t, db, &apitest.Log{}, c.Now, s).Call(http.MethodPost, "/v1/webhooks", aimed(TypeSQS, queueARN, roleARN))
		if a.Status != http.StatusInternalServerError {
			t.Errorf("with %d bytes: %d %s", n, a.Status, a.Raw)
		}
	}
}
