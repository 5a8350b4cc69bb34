//go:build deployed

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// foreign is a customer's AWS account. The local AWS accepts its number as the credentials of
// its root.
const foreign = "111122223333"

// foreignAWS reaches the customer's account.
func foreignAWS() aws.Config {
	cfg := running.AWS()
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: foreign, SecretAccessKey: "test"}, nil
	})
	return cfg
}

// inbox is a queue in the customer's account.
type inbox struct {
	t      *testing.T
	client *sqs.Client
	url    string
	arn    string
}

func newInbox(t *testing.T, name string) inbox {
	t.Helper()
	q := inbox{t: t, client: sqs.NewFromConfig(foreignAWS()), arn: "arn:aws:sqs:" + running.Region +
		":" + foreign + ":" + name}
	made, err := q.client.CreateQueue(t.Context(),
		&sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{
			// The statement for the bus, which is an AWS service and not a principal of the account.
			"Policy": policy("Allow", object{"Principal": object{"Service": "events.amazonaws.com"},
				"Action": "sqs:SendMessage", "Resource": q.arn}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	q.url = *made.QueueUrl
	return q
}

// next waits for a message and removes it from the queue.
func (q inbox) next() (m types.Message) {
	q.t.Helper()
	poll.Until(q.t, "a message in "+q.arn, func() bool {
		out, err := q.client.ReceiveMessage(q.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q.url,
			MessageAttributeNames: []string{"All"}})
		if err != nil {
			q.t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			return false
		}
		m = out.Messages[0]
		_, err = q.client.DeleteMessage(q.t.Context(),
			&sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
		return err == nil
	})
	return m
}

// policy writes a policy of one statement.
func policy(effect string, statement object) string {
	statement["Effect"] = effect
	b, err := json.Marshal(object{"Version": "2012-10-17", "Statement": []object{statement}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// roleFor makes a role in the customer's account that trusts the webhook, as the reference
// describes. The role permits one action.
func roleFor(t *testing.T, name string, to destination, action, resource string) {
	t.Helper()
	foreignIAM(t, "CreateRole", map[string]string{"RoleName": name, "AssumeRolePolicyDocument": policy("Allow", object{
		"Principal": object{"AWS": to.PrincipalARN}, "Action": "sts:AssumeRole",
		"Condition": object{"StringEquals": object{"sts:ExternalId": to.ExternalID}},
	})})
	foreignIAM(t, "PutRolePolicy", map[string]string{
		"RoleName": name, "PolicyName": "send",
		"PolicyDocument": policy("Allow", object{"Action": action, "Resource": resource}),
	})
}

// foreignIAM calls IAM, which the project has no client for.
func foreignIAM(t *testing.T, action string, parameters map[string]string) {
	t.Helper()
	form := url.Values{"Action": {action}, "Version": {"2010-05-08"}}
	for name, value := range parameters {
		form.Set(name, value)
	}
	status, answer := signed(t, foreignAWS(), http.MethodPost, "/", "iam", []byte(form.Encode()), "Content-Type",
		"application/x-www-form-urlencoded")
	if status != http.StatusOK {
		t.Fatalf("%s answered %d %s", action, status, answer)
	}
}

type destination struct {
	Kind         string `json:"kind"`
	ARN          string `json:"arn"`
	RoleARN      string `json:"role_arn"`
	Region       string `json:"region"`
	ExternalID   string `json:"external_id"`
	PrincipalARN string `json:"principal_arn"`
}

type targeted struct {
	ID, Secret  string
	URL         *string
	Destination destination
}

// aim makes a webhook with a destination in the customer's account.
func aim(t *testing.T, key, kind, arn, role string) targeted {
	t.Helper()
	made := into[targeted](call(t, key, "POST", "/v1/webhooks", object{
		"destination": object{"kind": kind, "arn": arn, "role_arn": "arn:aws:iam::" + foreign + ":role/" + role},
		"event_types": []string{"content.*"},
	}), http.StatusCreated)
	d := made.Destination
	if made.URL != nil || d.Kind != kind || d.ARN != arn || d.Region != running.Region || len(d.ExternalID) != 26 ||
		!strings.Contains(d.PrincipalARN, ":role/local-local-") {
		t.Errorf("made %+v", made)
	}
	return made
}

// sample sends a sample to a webhook, and returns a function that reads its log.
func sample(t *testing.T, key, hook string) func() logged {
	t.Helper()
	sent := into[logged](call(t, key, "POST", "/v1/webhooks/"+hook+"/test", object{"event_type": "content.generated"}),
		http.StatusAccepted)
	return func() logged {
		t.Helper()
		for _, d := range into[[]logged](call(t, key, "GET", "/v1/webhooks/"+hook+"/deliveries", nil), http.StatusOK) {
			if d.ID == sent.ID {
				return d
			}
		}
		t.Fatalf("the delivery %s is not in the log", sent.ID)
		return logged{}
	}
}

// TestAQueueOfTheCustomersOwn makes a webhook for a queue before its role exists, then makes the
// role, and verifies messages as receivers of requests do.
func TestAQueueOfTheCustomersOwn(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	queue := newInbox(t, "content-events")
	hook := aim(t, key, "sqs", queue.arn, "content-automation-queue")
	first := sample(t, key, hook.ID)
	poll.Until(t, "the first attempt", func() bool { return len(first().Attempts) == 1 })
	if a := first().Attempts[0]; a.Status == nil || *a.Status != http.StatusForbidden || a.Error == nil ||
		!strings.Contains(*a.Error, "trust policy") {
		t.Errorf("before there is the role: %+v", first())
	}
	roleFor(t, "content-automation-queue", hook.Destination, "sqs:SendMessage", queue.arn)
	m := queue.next()
	headers := http.Header{}
	for name, value := range m.MessageAttributes {
		headers.Set(name, *value.StringValue)
	}
	verifier, err := standardwebhooks.NewWebhook(hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify([]byte(*m.Body), headers); err != nil {
		t.Errorf("signature: %v", err)
	}
	var e webhookEvent
	if err := json.Unmarshal([]byte(*m.Body), &e); err != nil || e.Type != "content.generated" ||
		e.ID != headers.Get("webhook-id") || e.AccountID != c.id {
		t.Errorf("event %+v, %v", e, err)
	}
	poll.Until(t, "the record", func() bool { return first().State == "delivered" })
	if d := first(); len(d.Attempts) != 2 || *d.Attempts[1].Status != http.StatusOK || d.Attempts[1].Error != nil ||
		d.EventID != e.ID || !strings.Contains(d.Attempts[1].Body, *m.MessageId) {
		t.Errorf("delivery %+v", d)
	}

	// Another customer cannot use the queue by naming the role.
	thief := newCustomer(t)
	theirs := aim(t, thief.test.Secret, "sqs", queue.arn, "content-automation-queue")
	stolen := sample(t, thief.test.Secret, theirs.ID)
	poll.Until(t, "the thief's attempt", func() bool { return len(stolen().Attempts) == 1 })
	if d := stolen(); *d.Attempts[0].Status != http.StatusForbidden || !strings.Contains(*d.Attempts[0].Error,
		"external_id") {
		t.Errorf("delivery %+v", d)
	}

	// The error names the permission that the role lacks.
	other := newInbox(t, "other-events")
	moved := into[targeted](call(t, key, "PATCH", "/v1/webhooks/"+hook.ID,
		object{"destination": object{"arn": other.arn}}), http.StatusOK)
	if want := hook.Destination; moved.Destination.ARN != other.arn ||
		moved.Destination.ExternalID != want.ExternalID || moved.Destination.RoleARN != want.RoleARN {
		t.Errorf("moved %+v", moved)
	}
	refused := sample(t, key, hook.ID)
	poll.Until(t, "an attempt at the other queue", func() bool { return len(refused().Attempts) == 1 })
	if a := refused().Attempts[0]; a.Status == nil || *a.Status != http.StatusForbidden ||
		!strings.Contains(*a.Error, "sqs:SendMessage on "+other.arn) {
		t.Errorf("attempt %+v", refused())
	}
}

// TestABusOfTheCustomersOwn has a rule that forwards events from the customer's bus to a queue.
func TestABusOfTheCustomersOwn(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	queue := newInbox(t, "from-the-bus")
	buses := eventbridge.NewFromConfig(foreignAWS())
	name, rule := "content", "all"
	if _, err := buses.CreateEventBus(t.Context(), &eventbridge.CreateEventBusInput{Name: &name}); err != nil {
		t.Fatal(err)
	}
	if _, err := buses.PutRule(t.Context(), &eventbridge.PutRuleInput{
		EventBusName: &name, Name: &rule,
		EventPattern: aws.String(`{"source":["content-automation.webhooks"],"detail-type":[{"prefix":"content."}]}`),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := buses.PutTargets(t.Context(), &eventbridge.PutTargetsInput{
		EventBusName: &name, Rule: &rule, Targets: []ebtypes.Target{{Id: aws.String("queue"), Arn: &queue.arn}},
	}); err != nil {
		t.Fatal(err)
	}
	bus := fmt.Sprintf("arn:aws:events:%s:%s:event-bus/%s", running.Region, foreign, name)
	hook := aim(t, key, "eventbridge", bus, "content-automation-bus")
	roleFor(t, "content-automation-bus", hook.Destination, "events:PutEvents", bus)
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)
	var got struct {
		Source     string       `json:"source"`
		DetailType string       `json:"detail-type"`
		Account    string       `json:"account"`
		Detail     webhookEvent `json:"detail"`
	}
	m := queue.next()
	if err := json.Unmarshal([]byte(*m.Body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Source != "content-automation.webhooks" || got.DetailType != "content.generated" || got.Account != foreign ||
		got.Detail.Data.Object.ID != item.ID || got.Detail.AccountID != c.id {
		t.Errorf("got %s", *m.Body)
	}
	poll.Until(t, "the record", func() bool {
		made := into[[]logged](call(t, key, "GET", "/v1/webhooks/"+hook.ID+"/deliveries?state=delivered", nil),
			http.StatusOK)
		return len(made) == 1 && made[0].EventID == got.Detail.ID &&
			strings.Contains(made[0].Attempts[0].Body, "EventId")
	})
}
