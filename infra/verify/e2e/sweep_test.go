//go:build deployed

package e2e

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
)

// sweep calls the function like an operator who knows that messages were lost.
func sweep(t *testing.T) (swept worker.SearchResult) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := running.Invoke(ctx, "due", `{"now":true}`, &swept); err != nil {
		t.Fatal(err)
	}
	return swept
}

// TestAnEmptiedQueueLosesNothing empties the queue of deliveries while the second attempt waits
// in it.
func TestAnEmptiedQueueLosesNothing(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	hooks.status = http.StatusServiceUnavailable
	hooks.subscribe(t, key, "content.generated")
	queue, deliver := sqs.NewFromConfig(running.AWS()), running.QueueURLs[topology.Deliver]
	purge := func() {
		if _, err := queue.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &deliver}); err != nil {
			t.Fatal(err)
		}
	}
	purge() // Its messages belong to other tests, which have ended.
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)
	poll.Until(t, "the first attempt", func() bool { return len(hooks.about(item.ID)) == 1 })

	waiting := func() (n int) {
		out, err := queue.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &deliver, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range out.Attributes {
			if strings.HasPrefix(name, "ApproximateNumberOfMessages") {
				count, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				n += count
			}
		}
		return n
	}
	// The message of the first attempt is gone, and the message of the second has arrived with
	// a delay of five seconds.
	poll.Until(t, "the message of the second attempt", func() bool {
		out, err := queue.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &deliver, AttributeNames: []types.QueueAttributeName{
				types.QueueAttributeNameApproximateNumberOfMessagesDelayed},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes["ApproximateNumberOfMessagesDelayed"] != "0" && waiting() == 1
	})
	purge()
	if n := waiting(); n != 0 {
		t.Fatalf("%d messages are left", n)
	}
	hooks.mu.Lock()
	hooks.status = 0
	hooks.mu.Unlock()
	// Until the second attempt is due, the sweep finds nothing.
	poll.Until(t, "the second attempt", func() bool {
		sweep(t)
		return len(hooks.about(item.ID)) == 2
	})
	if d := hooks.about(item.ID); d[0].event.ID != d[1].event.ID {
		t.Errorf("the repeat has another id: %s, %s", d[0].event.ID, d[1].event.ID)
	}
	if swept := sweep(t); len(hooks.about(item.ID)) != 2 {
		t.Errorf("swept %+v: delivered once more", swept)
	}
}

// TestAnEventThatTheBusLosesIsDelivered turns the bus off.
func TestAnEventThatTheBusLosesIsDelivered(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	hooks.subscribe(t, key, "content.generated")
	bus := eventbridge.NewFromConfig(running.AWS())
	rules, err := bus.ListRules(t.Context(), &eventbridge.ListRulesInput{EventBusName: &running.Bus})
	if err != nil || len(rules.Rules) != 1 {
		t.Fatalf("rules %+v, %v", rules, err)
	}
	rule := rules.Rules[0].Name
	if _, err := bus.DisableRule(t.Context(), &eventbridge.DisableRuleInput{EventBusName: &running.Bus,
		Name: rule}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := bus.EnableRule(context.Background(), &eventbridge.EnableRuleInput{EventBusName: &running.Bus,
			Name: rule}); err != nil {
			t.Error(err)
		}
	})
	lost := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)
	poll.Until(t, "the event", func() bool {
		return len(into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=content.*", nil), http.StatusOK)) == 1
	})
	if swept := sweep(t); swept.Events.Deliveries < 1 {
		t.Errorf("swept %+v", swept)
	}
	poll.Until(t, "the webhook", func() bool { return len(hooks.about(lost.ID)) == 1 })
}
