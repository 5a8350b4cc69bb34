//go:build deployed

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	settings "github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/verify/harness/poll"
)

// failOver runs the service in the replica's region, as after the loss of the customer's region.
// The local AWS copies tables, secrets and keys to other regions, but makes no replicas of
// tables from a template.
func failOver(t *testing.T, d *deployment) {
	t.Helper()
	home, there := d.aws(otherRegion), d.aws(standbyRegion)
	key := aws.String("alias/hooli-staging-secrets")
	sealed, err := kms.NewFromConfig(home).Encrypt(t.Context(),
		&kms.EncryptInput{KeyId: key, Plaintext: []byte("a data key")})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := kms.NewFromConfig(there).Decrypt(t.Context(),
		&kms.DecryptInput{KeyId: key, CiphertextBlob: sealed.CiphertextBlob})
	if err != nil || string(opened.Plaintext) != "a data key" {
		t.Fatalf("what one region has sealed cannot be opened in the other: %v", err)
	}
	tables := []*dynamodb.Client{dynamodb.NewFromConfig(home), dynamodb.NewFromConfig(there)}
	for _, name := range []string{"hooli-staging-state", "hooli-staging-audit"} {
		replicate(t, tables[0], tables[1], name)
	}
	if out, err := d.run("diff", "-region", standbyRegion); err == nil ||
		!strings.Contains(out, "stop-replication-to-replica") {
		t.Fatalf("while the secrets are replicas: %v\n%s", err, out)
	}
	secrets := secretsmanager.NewFromConfig(there)
	for _, name := range settings.SharedSecrets {
		if _, err := secrets.StopReplicationToReplica(t.Context(),
			&secretsmanager.StopReplicationToReplicaInput{SecretId: aws.String("hooli/staging/" + name)}); err != nil {
			t.Fatal(err)
		}
	}
	d.must(standbyName+"-api", "deploy", "-approval", "never", "-region", standbyRegion)
	if stacks := d.stacks(standbyRegion); len(stacks) != 4 ||
		stacks[standbyName+"-data"]["TableName"] != "hooli-staging-state" {
		t.Fatalf("in the region of the replica there is %v", stacks)
	}
	event, _ := json.Marshal(map[string]any{"resource": "/healthz", "path": "/healthz", "httpMethod": "GET",
		"requestContext": map[string]any{"stage": "staging", "requestId": "1"}})
	out, err := lambda.NewFromConfig(there).Invoke(t.Context(),
		&lambda.InvokeInput{FunctionName: aws.String("hooli-staging-docs"), Qualifier: aws.String("live"),
			Payload: event})
	var answer struct{ StatusCode int }
	if err != nil || json.Unmarshal(out.Payload, &answer) != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("a call there: %v, %+v", err, answer)
	}
	d.must("-data is kept", "destroy", "-yes", "-region", standbyRegion)
}

// replicate makes the replica of a table in the local AWS, and checks that it follows.
func replicate(t *testing.T, home, there *dynamodb.Client, name string) {
	t.Helper()
	_, err := home.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &name,
		ReplicaUpdates: []types.ReplicationGroupUpdate{
			{Create: &types.CreateReplicationGroupMemberAction{RegionName: aws.String(standbyRegion)}},
		}})
	// If the response was lost, the SDK has repeated the call although the replica exists.
	if _, missing := there.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}); missing != nil {
		t.Fatalf("no replica of %s: %v, %v", name, err, missing)
	}
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "copied"},
		"sk": &types.AttributeValueMemberS{Value: "#"}}
	if _, err := home.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: key}); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "the item in the replica of "+name, func() bool {
		out, err := there.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: key})
		return err == nil && len(out.Item) > 0
	})
}
