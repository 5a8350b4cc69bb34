//go:build deployed

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// as returns a configuration with a function's credentials in the local Lambda.
func as(t *testing.T, function string) aws.Config {
	t.Helper()
	// The credentials are valid once the function has been started, whatever it answers.
	var answer any
	if err := running.Invoke(t.Context(), function, "{}", &answer); err != nil {
		t.Log(err)
	}
	found, err := lambda.NewFromConfig(running.AWS()).GetFunctionConfiguration(t.Context(),
		&lambda.GetFunctionConfigurationInput{FunctionName: aws.String(running.FunctionName(function))})
	if err != nil {
		t.Fatal(err)
	}
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	digest := hash(*found.FunctionArn + ":" + *found.Role)
	cfg := running.AWS()
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{
			AccessKeyID: "ASIA" + strings.ToUpper(digest[:16]), SecretAccessKey: hash("secret:" + digest),
			SessionToken: hash("token:" + digest),
		}, nil
	})
	return cfg
}

// dynamoCall is a call of DynamoDB: its operation and its body.
type dynamoCall struct {
	operation string
	body      object
}

// onItem returns calls of DynamoDB on an item of a partition, by the action that each needs.
func onItem(partition string) map[string]dynamoCall {
	text := func(value string) object { return object{"S": value} }
	key := object{"pk": text(partition), "sk": text("-")}
	item := func(name string, members object) object {
		members["TableName"] = running.Table
		members[name] = key
		return members
	}
	transact := func(name string, members object) object {
		return object{"TransactItems": []object{{name: item("Key", members)}}}
	}
	return map[string]dynamoCall{
		"dynamodb:GetItem":    {"GetItem", item("Key", object{})},
		"dynamodb:PutItem":    {"PutItem", item("Item", object{})},
		"dynamodb:DeleteItem": {"DeleteItem", item("Key", object{})},
		"dynamodb:UpdateItem": {"UpdateItem", item("Key", object{})},
		"dynamodb:BatchGetItem": {"BatchGetItem",
			object{"RequestItems": object{running.Table: object{"Keys": []object{key}}}}},
		"dynamodb:Query": {"Query", object{
			"TableName": running.Table, "KeyConditionExpression": "#p = :p",
			"ExpressionAttributeNames": object{"#p": "pk"}, "ExpressionAttributeValues": object{":p": key["pk"]},
		}},
		"dynamodb:ConditionCheckItem": {"TransactWriteItems",
			transact("ConditionCheck", object{"ConditionExpression": "attribute_exists(pk)"})},
	}
}

// TestFunctionsCannotReachSecretsOfKeys calls DynamoDB with the credentials of each function that
// has the state table but does not issue keys. It tries each action that the role permits on an
// item of each denied partition.
func TestFunctionsCannotReachSecretsOfKeys(t *testing.T) {
	all, err := policies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, f := range topology.Functions {
		for _, s := range all[f.Name] {
			if s.Effect != "Deny" {
				continue
			}
			cfg := as(t, f.Name)
			for _, partition := range s.Condition["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"] {
				calls := onItem(strings.ReplaceAll(partition, "*", "none"))
				for _, action := range s.Action {
					c, ok := calls[action]
					if !ok {
						t.Errorf("%s: %s is not tried", f.Name, action)
						continue
					}
					body, err := json.Marshal(c.body)
					if err != nil {
						t.Fatal(err)
					}
					tried++
					status, answer := signed(t, cfg, http.MethodPost, "/", "dynamodb", body,
						"Content-Type", "application/x-amz-json-1.0", "X-Amz-Target", "DynamoDB_20120810."+c.operation)
					refused := status == http.StatusBadRequest || status == http.StatusForbidden
					if !refused || !strings.Contains(string(answer), "explicit deny") {
						t.Errorf("%s: %s on %s was answered %d: %s", f.Name, action, partition, status, answer)
					}
				}
			}
		}
	}
	if states := slices.DeleteFunc(slices.Clone(topology.Functions), func(f topology.Function) bool {
		return f.State == nil || f.May(topology.ManageKeySecrets) || f.CredentialsOnly
	}); tried < 4*len(states) {
		t.Errorf("%d calls were tried", tried)
	}
}
