package needs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// panics returns the value that f panics with.
func panics(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}

func TestRead(t *testing.T) {
	t.Setenv("TABLE_NAME", "state")
	t.Setenv("MEDIA_BUCKET", "media")
	t.Setenv("STAGE", "local")
	t.Setenv("SECRETS_KEY_ARN", "key")
	t.Setenv("ALLOW_LOOPBACK_WEBHOOKS", "true")
	if n := Read[Deliver](); n != (Deliver{State{"state"}, Media{"media"}, Loopback{"local", "true"}, Secrets{"key"}}) {
		t.Errorf("%+v", n)
	}
	t.Setenv("ALLOW_LOOPBACK_WEBHOOKS", "")
	if n := Read[Deliver](); n.AllowLoopback != "" {
		t.Errorf("%+v", n)
	}
	t.Setenv("MEDIA_BUCKET", "")
	if text := panics(func() { Read[Deliver]() }); !strings.Contains(text, "MEDIA_BUCKET") {
		t.Errorf("without a bucket: %s", text)
	}
}

func TestQueueURLs(t *testing.T) {
	t.Setenv("DELIVER_SLOW_QUEUE_URL", "https://sqs/slow")
	t.Setenv("DISPATCH_QUEUE_URL", "")
	if urls := QueueURLs([]topology.Queue{topology.DeliverSlow}); !maps.Equal(urls,
		map[topology.Queue]string{topology.DeliverSlow: "https://sqs/slow"}) {
		t.Errorf("%v", urls)
	}
	if text := panics(func() { QueueURLs(topology.Outbox) }); !strings.Contains(text, "DELIVER_QUEUE_URL") {
		t.Errorf("without a queue: %s", text)
	}
}

func TestEveryFunctionHasItsNeeds(t *testing.T) {
	var names []string
	for _, f := range topology.Functions {
		names = append(names, f.Name)
	}
	if listed := slices.Sorted(maps.Keys(Of())); !slices.Equal(listed, slices.Sorted(slices.Values(names))) {
		t.Errorf("needs are listed of %v", listed)
	}
}
