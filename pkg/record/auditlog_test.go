package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/auditlog"
)

var auditNow = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// change is a record of the stream about an entry that expires in 90 days.
func change(event string, by *events.DynamoDBUserIdentity) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventName: event, UserIdentity: by, Change: events.DynamoDBStreamRecord{
		SequenceNumber: "1", OldImage: map[string]events.DynamoDBAttributeValue{
			"pk": events.NewStringAttribute("acc_1#live"), "sk": events.NewStringAttribute("aud_1"),
			"kind": events.NewStringAttribute(auditlog.EntryKind), "acc": events.NewStringAttribute("acc_1"),
			"mode": events.NewStringAttribute("live"), "doc": events.NewStringAttribute("{}"),
			"ttl": events.NewNumberAttribute("1803027600"), // 2027-02-19
		},
	}}
}

// reported returns the metrics of the changes that a batch reports at a time.
func reported(at time.Time, records ...events.DynamoDBEventRecord) string {
	var counts bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&counts))
	auditlog.ReportChanges(events.DynamoDBEvent{Records: records}, at)
	return counts.String()
}

func TestAlterationsAreCounted(t *testing.T) {
	expiry := &events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "dynamodb.amazonaws.com"}
	got := reported(auditNow, change("INSERT", nil), change("MODIFY", nil), change("REMOVE", nil), change("REMOVE", expiry))
	if strings.Count(got, `"AuditEntriesAltered":1`) != 2 || strings.Count(got, `"change":"MODIFY"`) != 1 ||
		strings.Count(got, `"change":"REMOVE"`) != 1 {
		t.Errorf("counted %s", got)
	}
}

// The other replicas are not shown which one removes expired entries.
func TestTheRemovalOfWhatHasExpiredIsNoAlteration(t *testing.T) {
	if got := reported(auditNow, change("REMOVE", nil)); !strings.Contains(got, "AuditEntriesAltered") {
		t.Error("a removal before the entry has expired is not counted")
	}
	if got := reported(auditNow.Add(91*24*time.Hour), change("REMOVE", nil)); got != "" {
		t.Errorf("after it has expired, its removal is counted: %s", got)
	}
}
