package cloud_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"

	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// panics returns the value that f panics with.
func panics(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}

func TestRead(t *testing.T) {
	deliver := topology.FunctionNamed("deliver")
	for _, name := range needs.Required(deliver) {
		t.Setenv(name, "the "+name)
	}
	t.Setenv("ALLOW_LOOPBACK_WEBHOOKS", "true")
	want := needs.Needs{Table: "the TABLE_NAME", Bucket: "the MEDIA_BUCKET", Stage: "the STAGE", AllowLoopback: "true",
		SecretsKey: "the SECRETS_KEY_ARN"}
	if n := needs.Read(deliver); n != want {
		t.Errorf("%+v", n)
	}
	t.Setenv("MEDIA_BUCKET", "")
	if text := panics(func() { needs.Read(deliver) }); !strings.Contains(text, "MEDIA_BUCKET") {
		t.Errorf("without a bucket: %s", text)
	}
	if n := needs.Read(topology.FunctionNamed("due")); n.Bucket != "" {
		t.Errorf("a function without files has the bucket %s", n.Bucket)
	}
}

func TestTheFunctionIsNamed(t *testing.T) {
	t.Setenv(needs.FunctionName, "relay")
	if f := needs.Function(); f.Name != "relay" {
		t.Errorf("the function is %s", f.Name)
	}
	t.Setenv(needs.FunctionName, "")
	if text := panics(func() { needs.Function() }); !strings.Contains(text, "no function") {
		t.Errorf("without a name: %s", text)
	}
}

func TestQueueURLs(t *testing.T) {
	t.Setenv("DELIVER_SLOW_QUEUE_URL", "https://sqs/slow")
	t.Setenv("DISPATCH_QUEUE_URL", "")
	if urls := needs.QueueURLs([]topology.Queue{topology.DeliverSlow}); !maps.Equal(urls,
		map[topology.Queue]string{topology.DeliverSlow: "https://sqs/slow"}) {
		t.Errorf("%v", urls)
	}
	if text := panics(func() { needs.QueueURLs(topology.Outbox) }); !strings.Contains(text, "DELIVER_QUEUE_URL") {
		t.Errorf("without a queue: %s", text)
	}
}

// Every variable that is read is one that functions get, and the reverse.
func TestEveryVariableIsOfAFunction(t *testing.T) {
	params, err := env.GetFieldParams(&needs.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, p := range params {
		read[p.Key] = true
	}
	given := map[string]bool{}
	for _, f := range topology.Functions {
		for _, name := range append(needs.Required(f), needs.Optional(f)...) {
			given[name] = true
		}
	}
	if !maps.Equal(read, given) {
		t.Errorf("read are %v, and given %v", read, given)
	}
}
