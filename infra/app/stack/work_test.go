package stack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/cloud/topology"
)

const workStack = "acme-prod-eu-central-1-work"

// named returns the only resource of a type in a stack whose logical id begins with begins.
func named(t *testing.T, in template, kind, begins string) (string, properties) {
	t.Helper()
	for id, r := range in.Resources {
		if r.Type == kind && strings.HasPrefix(id, begins) {
			return id, r.Properties
		}
	}
	t.Fatalf("there is no %s %s", kind, begins)
	return "", nil
}

// called returns the id that callers of a function use: its alias, or the function itself if it
// has none.
func called(t *testing.T, in template, title string) string {
	t.Helper()
	for id, r := range in.Resources {
		if r.Type == "AWS::Lambda::Alias" && strings.HasPrefix(id, title+"Alias") {
			return id
		}
	}
	id, _ := named(t, in, "AWS::Lambda::Function", title+"Function")
	return id
}

func pointsAt(value any, logicalID string) bool {
	text, err := json.Marshal(value)
	return err == nil && strings.Contains(string(text), `"`+logicalID+`"`)
}

func TestEveryQueueHasDeadLettersAndTime(t *testing.T) {
	work := acme[workStack]
	dead := map[string]bool{}
	for _, f := range topology.Functions {
		if f.Trigger != topology.ByQueue {
			continue
		}
		for _, q := range f.Consumes {
			checkQueue(t, f, q, dead)
		}
	}
	// Every queue has a consumer, except for dead-letter queues.
	for id, r := range work.Resources {
		if r.Type != "AWS::SQS::Queue" {
			continue
		}
		if r.Properties["SqsManagedSseEnabled"] != true && r.Properties["KmsMasterKeyId"] == nil {
			t.Errorf("%s is not encrypted", id)
		}
		if strings.Contains(id, "DeadLetters") {
			if days, _ := r.Properties["MessageRetentionPeriod"].(float64); days != 14*24*3600 {
				t.Errorf("%s keeps dead letters for %v s, want 14 days", id, days)
			}
			// The operator's command finds them by the outputs.
			name := id[:strings.Index(id, "DeadLetters")] + "DeadLettersUrl"
			if !pointsAt(work.Outputs[name], id) {
				t.Errorf("the output %s is %v, not the address of %s", name, work.Outputs[name], id)
			}
		} else if r.Properties["RedrivePolicy"] == nil {
			t.Errorf("%s has no dead-letter queue", id)
		}
	}
}

// checkQueue checks a queue and how it calls its function.
func checkQueue(t *testing.T, f topology.Function, q topology.Queue, dead map[string]bool) {
	t.Helper()
	work, name := acme[workStack], topology.Title(string(q))
	queueID, queue := named(t, work, "AWS::SQS::Queue", name+"Queue")
	deadID, _ := named(t, work, "AWS::SQS::Queue", name+"DeadLetters")
	dead[deadID] = true
	if !pointsAt(queue.at("RedrivePolicy", "deadLetterTargetArn"), deadID) {
		t.Errorf("%s has no dead-letter queue", queueID)
	}
	least, factor := 3., 6.
	if f.ExtendsVisibility {
		// Failed messages come again within seconds. A message that a function does not finish
		// is hidden no longer than Lambda requires.
		least, factor = 15, 1
	}
	if n, _ := queue.at("RedrivePolicy", "maxReceiveCount").(float64); n < least {
		t.Errorf("%s gives up after %v attempts", queueID, n)
	}
	functionID := called(t, work, topology.Title(f.Name))
	_, function := named(t, work, "AWS::Lambda::Function", topology.Title(f.Name)+"Function")
	visibility, _ := queue["VisibilityTimeout"].(float64)
	timeout, _ := function["Timeout"].(float64)
	if timeout == 0 || visibility != factor*timeout {
		t.Errorf("%s shows a message again after %v s; its function may take %v s", queueID, visibility, timeout)
	}
	_, source := named(t, work, "AWS::Lambda::EventSourceMapping", name+"Source")
	if !pointsAt(source["EventSourceArn"], queueID) || !pointsAt(source["FunctionName"], functionID) {
		t.Errorf("%s does not call %s", queueID, functionID)
	}
}

func TestConsumersAnswerWhichMessagesFailed(t *testing.T) {
	sources := acme.of("AWS::Lambda::EventSourceMapping")
	for id, r := range sources {
		answers, _ := r.Properties["FunctionResponseTypes"].([]any)
		if !slices.Contains(answers, any("ReportBatchItemFailures")) {
			t.Errorf("one failed message of %s fails its whole batch", id)
		}
	}
	want := 0
	for _, f := range topology.Functions {
		want += len(f.Consumes)
		if f.Follows() || f.FollowsAudit() {
			want++
		}
	}
	if len(sources) != want {
		t.Errorf("there are %d event sources, want %d", len(sources), want)
	}
}

// TestSlowReceiversDoNotTakeAllFunctions checks that batches that wait for receivers leave the
// rest of the account's functions free.
func TestSlowReceiversDoNotTakeAllFunctions(t *testing.T) {
	for _, name := range []string{"Deliver", "DeliverSlow"} {
		_, source := named(t, acme[workStack], "AWS::Lambda::EventSourceMapping", name+"Source")
		if most, _ := source.at("ScalingConfig", "MaximumConcurrency").(float64); most < 20 || most > 100 {
			t.Errorf("%s runs up to %v times at once", name, source["ScalingConfig"])
		}
	}
}

// TestABacklogLeavesRoomForOthers checks that all queues together, and what is reserved, leave the API its part of the
// account's concurrency, if one, two or four stacks share it.
func TestABacklogLeavesRoomForOthers(t *testing.T) {
	const quota, requestPart = 1000.0, 4
	for stacks, all := range map[float64]stacks{1: acme, 2: sharing(t, 2), 4: small} {
		background, reserved := 0.0, 0.0
		for id, r := range all.of("AWS::Lambda::EventSourceMapping") {
			if r.Properties["StartingPosition"] != nil {
				continue
			}
			most, _ := r.Properties.at("ScalingConfig", "MaximumConcurrency").(float64)
			if most < 2 {
				t.Errorf("%v stacks: %s has no cap: %v", stacks, id, r.Properties["ScalingConfig"])
			}
			background += most
		}
		for _, r := range all.of("AWS::Lambda::Function") {
			kept, _ := r.Properties["ReservedConcurrentExecutions"].(float64)
			reserved += kept
		}
		if sum := background + reserved + quota/stacks/requestPart; sum > quota/stacks {
			t.Errorf("%v stacks: queues take %v and %v are reserved, so that calls have less than their part of %v", stacks,
				background, reserved, quota/stacks)
		}
		_, authorizer := named(t, all["acme-prod-eu-central-1-api"], "AWS::Lambda::Function", "AuthorizerFunction")
		kept, _ := authorizer["ReservedConcurrentExecutions"].(float64)
		for _, r := range all.of("AWS::ApiGateway::Stage") {
			of := properties(list(r.Properties["MethodSettings"])[0].(map[string]any))
			if rate := of["ThrottlingRateLimit"]; rate != 10*kept || kept != 200/stacks {
				t.Errorf("%v stacks: %v runs of the authorizer for %v calls a second", stacks, kept, rate)
			}
		}
	}
}

// sharing returns the stacks of acme if their account has as many.
func sharing(t *testing.T, number int) stacks {
	t.Helper()
	entry := maps.Clone(cdkContext()["customers"].(map[string]any)["acme"].(map[string]any))
	entry["accountStacks"] = number
	return brief(t.TempDir(), map[string]any{"customer": "acme", "customers": map[string]any{"acme": entry}})
}

// Lambda ends chains of about 16 calls unless the function permits them.
func TestStepsAreNoEndlessLoop(t *testing.T) {
	for _, f := range topology.Functions {
		want := "Terminate"
		for _, q := range f.Consumes {
			if slices.Contains(f.Sends, q) {
				want = "Allow"
			}
		}
		found := 0
		for id, r := range acme.of("AWS::Lambda::Function") {
			if r.Properties["FunctionName"] != "acme-prod-"+f.Name {
				continue
			}
			found++
			if r.Properties["RecursiveLoop"] != want {
				t.Errorf("%s: recursive loops are %v, want %s", id, r.Properties["RecursiveLoop"], want)
			}
		}
		if found != 1 {
			t.Errorf("%d functions are named for %s", found, f.Name)
		}
	}
	if _, loops := named(t, acme[workStack], "AWS::CloudWatch::Alarm", "LoopsAlarm"); loops["MetricName"] !=
		"RecursiveInvocationsDropped" || loops["Namespace"] != "AWS/Lambda" || loops["Dimensions"] != nil {
		t.Error("no alarm watches the chains that Lambda ends")
	}
}

func TestFilesOfABatchFitIntoStorage(t *testing.T) {
	const largest = 256 // MiB
	_, function := named(t, acme[workStack], "AWS::Lambda::Function", "GenerateFunction")
	batch := topology.FunctionNamed("generate").Batch
	if size, _ := function.at("EphemeralStorage", "Size").(float64); size < float64(batch*largest) {
		t.Errorf("%v MiB for %d files of %d MiB", size, batch, largest)
	}
}

func TestRelayReadsItsOwnKindsAlone(t *testing.T) {
	_, source := named(t, acme[workStack], "AWS::Lambda::EventSourceMapping", "RelaySource")
	filters, _ := source.at("FilterCriteria", "Filters").([]any)
	// One filter for new items, and one for each kind that analytics count. Lambda accepts five.
	if len(filters) != 1+len(analytics.Sources) || len(filters) > 5 {
		t.Fatalf("the filters are %v", filters)
	}
	for i, source := range analytics.Sources {
		pattern := fmt.Sprint(filters[i].(map[string]any)["Pattern"])
		if !strings.Contains(pattern, `"eventName":["INSERT","MODIFY"]`) ||
			!strings.Contains(pattern, `{"S":["`+source.Kind+`"]}`) || !strings.Contains(pattern, source.States[0]) {
			t.Errorf("%s is taken by %s", source.Kind, pattern)
		}
	}
	var pattern struct {
		EventName []string `json:"eventName"`
		Dynamodb  struct {
			NewImage struct {
				Kind struct{ S []string } `json:"kind"`
			}
		} `json:"dynamodb"`
	}
	if err := json.Unmarshal([]byte(fmt.Sprint(filters[len(filters)-1].(map[string]any)["Pattern"])),
		&pattern); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pattern.EventName, []string{"INSERT"}) || !slices.Equal(pattern.Dynamodb.NewImage.Kind.S,
		[]string{"task", "outbox", "event"}) {
		t.Errorf("the filter is %+v", pattern)
	}
	if source["BisectBatchOnFunctionError"] != true || source.at("DestinationConfig", "OnFailure",
		"Destination") == nil {
		t.Errorf("a record that cannot be handled stops the stream: %v", source)
	}
	if source["StartingPosition"] != "TRIM_HORIZON" {
		t.Errorf("records from before the first call of the function are lost: %v", source["StartingPosition"])
	}
}

// rule returns the target of the only rule for events of a source, and its pattern.
func rule(t *testing.T, source string) (target, pattern properties) {
	t.Helper()
	for id, r := range acme.of("AWS::Events::Rule") {
		if sources, _ := r.Properties.at("EventPattern", "source").([]any); !slices.Equal(sources, []any{source}) {
			continue
		}
		targets, _ := r.Properties["Targets"].([]any)
		if len(targets) != 1 || target != nil {
			t.Fatalf("%s has the targets %v, besides %v", id, targets, target)
		}
		target, pattern = properties(targets[0].(map[string]any)),
			properties(r.Properties["EventPattern"].(map[string]any))
	}
	return target, pattern
}

func TestEventsGoToTheDispatchQueue(t *testing.T) {
	queue, _ := named(t, acme[workStack], "AWS::SQS::Queue", "DispatchQueue")
	dead, _ := named(t, acme[workStack], "AWS::SQS::Queue", "EventDeadLetters")
	if target, _ := rule(t, "content-automation"); !pointsAt(target["Arn"], queue) ||
		!pointsAt(target.at("DeadLetterConfig", "Arn"), dead) {
		t.Errorf("events are sent to %v", target)
	}
}

func TestUploadsGoToTheQueueOfImports(t *testing.T) {
	queue, _ := named(t, acme[workStack], "AWS::SQS::Queue", "ImportMediaQueue")
	dead, _ := named(t, acme[workStack], "AWS::SQS::Queue", "UploadDeadLetters")
	target, pattern := rule(t, "aws.s3")
	if !pointsAt(target["Arn"], queue) || !pointsAt(target.at("DeadLetterConfig", "Arn"), dead) {
		t.Errorf("notices are sent to %v", target)
	}
	if got := fmt.Sprint(pattern.at("detail", "object")); got != "map[key:[map[prefix:uploads/]]]" ||
		pattern.at("detail", "bucket", "name") == nil {
		t.Errorf("the rule takes notices of %v", pattern)
	}
	announced := 0
	for _, r := range acme.of("AWS::S3::Bucket") {
		if r.Properties.at("NotificationConfiguration", "EventBridgeConfiguration", "EventBridgeEnabled") == true {
			announced++
		}
	}
	if announced != 1 {
		t.Errorf("%d buckets send notices", announced)
	}
}
