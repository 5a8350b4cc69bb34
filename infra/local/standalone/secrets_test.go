package standalone

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/store"
)

func secretsOf(t *testing.T, j journal, given map[string]string) *secrets {
	t.Helper()
	s, err := openSecrets(j, given)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecretsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := opened(t, dir)
	before := secretsOf(t, j, nil)
	seal, _ := before.get(SealSecret)
	access, _ := before.get(accessSecret)
	key, _ := before.get(keySecret)
	if len(seal) < 32 || len(access) < 32 || len(key) < 32 || seal == access || access == key {
		t.Errorf("the secrets are %q, %q and %q", seal, access, key)
	}
	before.put(CanarySecret, "canary")
	check := func(when, dir string) {
		t.Helper()
		if after := secretsOf(t, opened(t, dir), nil); !reflect.DeepEqual(after.all, before.all) {
			t.Errorf("%s: the secrets have changed", when)
		}
	}
	check("killed", copied(t, dir))
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	check("closed", dir)
}

// A run with fakes must not lose the credentials that the operator has put, nor leave those of the fakes.
func TestTheCredentialsOfFakesAreInMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	fakes := map[string]string{ProviderSecret: "of fakes"}
	run := func(given map[string]string) *secrets {
		dir = copied(t, dir)
		return secretsOf(t, opened(t, dir), given)
	}
	opened(t, dir)
	run(fakes)
	if value, there := run(nil).get(ProviderSecret); there {
		t.Errorf("after a run with fakes: %q", value)
	}
	run(nil).put(ProviderSecret, "real")
	if value, _ := run(fakes).get(ProviderSecret); value != "of fakes" {
		t.Errorf("with fakes: %q", value)
	}
	if value, _ := run(nil).get(ProviderSecret); value != "real" {
		t.Errorf("then: %q", value)
	}
}

func TestReadingASecret(t *testing.T) {
	s := secretsOf(t, journal{}, map[string]string{PlatformSecret: "apps"})
	if value, err := s.read(PlatformSecret)(t.Context()); err != nil || value != "apps" {
		t.Errorf("%q, %v", value, err)
	}
	if value, err := s.read("none")(t.Context()); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("%q, %v", value, err)
	}
}

// operated starts the operator's endpoint, and returns the configuration for it and one with another secret.
func operated(t *testing.T) (all *operator, right, wrong aws.Config) {
	t.Helper()
	key := accessKey{AccessKeyID: accessKeyID, SecretAccessKey: "secret"}
	all = &operator{made(t, journal{}).engine, secretsOf(t, journal{}, map[string]string{ProviderSecret: "{}"}),
		&buckets{blobs: &memory{all: map[string]content{}}, prefix: operatorPath, access: key}}
	server := httptest.NewServer(all)
	t.Cleanup(server.Close)
	config := func(id, secret string) aws.Config {
		return aws.Config{Region: "eu-central-1", BaseEndpoint: aws.String(server.URL + operatorPath),
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}, nil
			}), Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
	}
	return all, config(accessKeyID, "secret"), config(accessKeyID, "guess")
}

// refusal returns the code with which AWS refuses a call.
func refusal(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.ErrorCode()
}

func TestTheOperatorsCallsOfTables(t *testing.T) {
	_, right, wrong := operated(t)
	client, name := dynamodb.NewFromConfig(right), aws.String(StateTable)
	it := thing("a", "1", "thing")
	it["packed"] = bytesOf(0, 255)
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: it}); err != nil {
		t.Fatal(err)
	}
	key := attributes{"pk": text("a"), "sk": text("1")}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
	if err != nil || !reflect.DeepEqual(out.Item, it) {
		t.Errorf("%v, %v", out, err)
	}
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: it,
		ConditionExpression: aws.String("attribute_not_exists(pk)")})
	if code := refusal(err); code != "ConditionalCheckFailedException" {
		t.Errorf("a failed condition: %v", err)
	}
	_, err = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name})
	if code := refusal(err); code != "AccessDeniedException" {
		t.Errorf("removing a table: %v", err)
	}
	_, err = client.CreateTable(t.Context(), store.CreateInput("another", nil))
	if code := refusal(err); code != "AccessDeniedException" {
		t.Errorf("making a table: %v", err)
	}
	_, err = dynamodb.NewFromConfig(wrong).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
	if code := refusal(err); code != "UnrecognizedClientException" {
		t.Errorf("another secret: %v", err)
	}
}

func TestTheOperatorsCallsOfSecrets(t *testing.T) {
	all, right, wrong := operated(t)
	client, id := secretsmanager.NewFromConfig(right), aws.String(ProviderSecret)
	if _, err := client.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: id,
		SecretString: aws.String(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	out, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: id})
	if value, _ := all.secrets.get(ProviderSecret); err != nil || aws.ToString(out.SecretString) != `{"a":1}` ||
		value != `{"a":1}` {
		t.Errorf("%v, %v; it is %q", out, err, value)
	}
	for _, name := range []string{"none", ""} {
		_, err = client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &name})
		if code := refusal(err); code != "ResourceNotFoundException" {
			t.Errorf("no secret: %v", err)
		}
	}
	_, err = client.DeleteSecret(t.Context(), &secretsmanager.DeleteSecretInput{SecretId: id})
	if code := refusal(err); code != "UnknownOperationException" {
		t.Errorf("another operation: %v", err)
	}
	guess := secretsmanager.NewFromConfig(wrong)
	_, err = guess.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: id,
		SecretString: aws.String("guessed")})
	if value, _ := all.secrets.get(ProviderSecret); refusal(err) != "UnrecognizedClientException" || value == "guessed" {
		t.Errorf("another secret: %v; it is %q", err, value)
	}
}

func TestOtherServicesOfAWSAreRefused(t *testing.T) {
	_, right, _ := operated(t)
	_, err := sqs.NewFromConfig(right).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if refusal(err) != "UnknownOperationException" || !strings.Contains(err.Error(), "make stack") {
		t.Errorf("%v", err)
	}
}

func TestRequestsWithoutASignatureAreRefused(t *testing.T) {
	all, _, _ := operated(t)
	for _, header := range []string{"", "Bearer svc_test_x", "AWS4-HMAC-SHA256",
		"AWS4-HMAC-SHA256 Credential=" + accessKeyID, "AWS4-HMAC-SHA256 Credential=" + accessKeyID +
			"/20261123/us-west-2/dynamodb/aws4_request, SignedHeaders=host, Signature=00"} {
		for target, status := range map[string]int{"DynamoDB_20120810.Scan": http.StatusForbidden, "": http.StatusForbidden} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, operatorPath, strings.NewReader("{}"))
			r.Header.Set("Authorization", header)
			r.Header.Set("X-Amz-Target", target)
			r.Header.Set("X-Amz-Date", "20261123T000000Z")
			w := httptest.NewRecorder()
			if all.ServeHTTP(w, r); w.Code != status {
				t.Errorf("%q, %q: %d %s", header, target, w.Code, w.Body)
			}
		}
	}
}
