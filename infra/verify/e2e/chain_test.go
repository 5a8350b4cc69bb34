package e2e

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// admin runs the operator's command, and returns its output.
func admin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "../../operate/admin"}, args...)...)
	cmd.Env = append(os.Environ(), strings.Fields(running.Environment())...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestTheAuditLogShowsItsAlteration alters an entry directly in the table.
func TestTheAuditLogShowsItsAlteration(t *testing.T) {
	c := newCustomer(t)
	if out, err := admin(t, "account", "top-up", c.id, "--credits", "5", "--operator", "ada"); err != nil {
		t.Fatal(out, err)
	}
	for _, key := range []string{c.test.Secret, c.live.Secret} {
		for range 3 {
			call(t, key, "GET", "/v1/me", nil)
		}
	}
	db := store.Open(running.AWS(), running.AuditTable)
	today := chain.On(tenant.Account(c.id), time.Now())
	poll.Until(t, "the chain", func() bool {
		r, err := chain.Verify(t.Context(), db, today, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return r.Entries == 7 && r.Pending == 0
	})
	day := []string{"audit", "verify", c.id, "--day", today.Date()}
	if out, err := admin(t, day...); err != nil || !strings.Contains(out, `"entries": 7`) {
		t.Fatalf("%s, %v", out, err)
	}

	client := dynamodb.NewFromConfig(running.AWS())
	found, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &running.AuditTable, KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: c.id +
			"#test"}},
	})
	if err != nil || len(found.Items) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	entry := found.Items[1]
	doc := entry["doc"].(*types.AttributeValueMemberS)
	doc.Value = strings.Replace(doc.Value, "getMe", "getNothing", 1)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &running.AuditTable,
		Item: entry}); err != nil {
		t.Fatal(err)
	}
	id := entry["sk"].(*types.AttributeValueMemberS).Value
	out, err := admin(t, day...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(out, id+" of "+c.id+"#test is altered") {
		t.Errorf("%s, %v; want the entry %s", out, err, id)
	}
}
