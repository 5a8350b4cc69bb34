//go:build deployed

package e2e

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/infra/verify/harness/poll"
)

// A backup of the state table is restored into a new table during work. The account's money adds
// up there, and every task exists. If an entry is removed, the check reports it.
func TestARestoredTableIsWhole(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(100)
	for range 3 {
		call(t, c.live.Secret, http.MethodPost, "/v1/studio/images",
			object{"prompt": "A shoe", "model": "flux-pro-1.1"})
	}
	client, restored := dynamodb.NewFromConfig(running.AWS()), aws.String("restored-"+rand.Text())
	backup, err := client.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: &running.Table,
		BackupName: restored})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.RestoreTableFromBackup(t.Context(),
		&dynamodb.RestoreTableFromBackupInput{BackupArn: backup.BackupDetails.BackupArn,
			TargetTableName: restored}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: restored})
	})
	poll.Until(t, "the restored table", func() bool {
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: restored})
		return err == nil && out.Table.TableStatus == types.TableStatusActive
	})
	// Other tests also change the table at the same time.
	broken := func() []string {
		r, err := recovery.Check(t.Context(), client, *restored)
		if err != nil || r.Items == 0 || r.Accounts == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		return slices.DeleteFunc(r.Broken, func(s string) bool { return !strings.Contains(s, c.id) })
	}
	if found := broken(); len(found) > 0 {
		t.Errorf("after the restore: %q", found)
	}
	entries, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: restored, IndexName: aws.String("by_owner"), KeyConditionExpression: aws.String("owner_pk = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: c.id +
			"#live#balance_entry"}},
	})
	if err != nil || len(entries.Items) < 4 {
		t.Fatalf("%d entries, %v", len(entries.Items), err)
	}
	lost := entries.Items[0]
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: restored,
		Key: map[string]types.AttributeValue{"pk": lost["pk"], "sk": lost["sk"]}}); err != nil {
		t.Fatal(err)
	}
	if found := broken(); len(found) != 1 || !strings.Contains(found[0], "its entries add up to") {
		t.Errorf("without an entry: %q", found)
	}
}
