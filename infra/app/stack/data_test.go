package stack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/store"
)

// holdsKey reports whether a property refers to one of our keys.
func holdsKey(value any) bool {
	text, err := json.Marshal(value)
	return err == nil && strings.Contains(string(text), "Key")
}

func TestTablesAreEncryptedAndRecoverable(t *testing.T) {
	for customer, s := range map[string]stacks{"acme": acme, "globex": globex} {
		tables := s.of("AWS::DynamoDB::Table")
		if len(tables) != 2 {
			t.Fatalf("%s has %d tables", customer, len(tables))
		}
		for id, r := range tables {
			p := r.Properties
			if p.at("SSESpecification", "SSEType") != "KMS" || !holdsKey(p.at("SSESpecification", "KMSMasterKeyId")) {
				t.Errorf("%s is not encrypted with the customer's key", id)
			}
			if p.at("PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
				t.Errorf("%s cannot be recovered", id)
			}
			if r.DeletionPolicy != "RetainExceptOnCreate" || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s can be deleted by mistake", id)
			}
			if p.at("TimeToLiveSpecification", "AttributeName") != "ttl" ||
				p.at("TimeToLiveSpecification", "Enabled") != true {
				t.Errorf("%s does not forget", id)
			}
			if p["BillingMode"] != "PAY_PER_REQUEST" {
				t.Errorf("%s is billed by %v", id, p["BillingMode"])
			}
		}
	}
}

// A failed deployment removes the resources that it has made, so that the next one can make them
// again. No resource is retained or protected; `make deploy` protects the deployed stacks.
func TestAFailedFirstDeploymentLeavesNothing(t *testing.T) {
	for name, s := range map[string]stacks{"acme": acme, "globex": globex, "initech": initech, "hooli": hooli,
		"standby": standby, "failover": failover, "private": private} {
		for stack, in := range s {
			if in.Protected {
				t.Errorf("%s: %s cannot be deleted after it has failed", name, stack)
			}
			for id, r := range in.Resources {
				if r.DeletionPolicy == "Retain" {
					t.Errorf("%s: %s of %s outlives a deployment that has failed", name, id, stack)
				}
			}
			if strings.Contains(in.text, "DeletionProtectionEnabled") {
				t.Errorf("%s: a table of %s refuses to be removed", name, stack)
			}
		}
	}
}

func TestShapeOfTheTables(t *testing.T) {
	data := acme["acme-prod-eu-central-1-data"]
	for _, want := range []struct {
		table, stream string
		indexes       []string
	}{
		{"State", "NEW_IMAGE", []string{"by_owner[owner_pk owner_sk]", "by_parent[parent_pk parent_sk]",
			"by_due[due_pk due_sk]"}},
		{"Audit", "NEW_AND_OLD_IMAGES", []string{}},
	} {
		found := false
		for id, r := range data.Resources {
			if r.Type != "AWS::DynamoDB::Table" || !strings.HasPrefix(id, want.table) {
				continue
			}
			found = true
			if got := keys(r.Properties["KeySchema"]); got != "[pk sk]" {
				t.Errorf("%s has the key %s", id, got)
			}
			if got := fmt.Sprint(r.Properties.at("StreamSpecification", "StreamViewType")); got != want.stream {
				t.Errorf("%s streams %s, want %s", id, got, want.stream)
			}
			var indexes []string
			all, _ := r.Properties["GlobalSecondaryIndexes"].([]any)
			for _, index := range all {
				p := properties(index.(map[string]any))
				indexes = append(indexes, fmt.Sprint(p["IndexName"], keys(p["KeySchema"])))
				if want := map[bool]string{true: "KEYS_ONLY",
					false: "ALL"}[p.at("IndexName") == "by_due"]; p.at("Projection", "ProjectionType") != want {
					t.Errorf("the index %v of %s leaves something out", p["IndexName"], id)
				}
			}
			if !slices.Equal(indexes, want.indexes) {
				t.Errorf("%s has the indexes %v, want %v", id, indexes, want.indexes)
			}
		}
		if !found {
			t.Errorf("there is no table %s", want.table)
		}
	}
}

func keys(schema any) string {
	var names []any
	all, _ := schema.([]any)
	for _, key := range all {
		names = append(names, key.(map[string]any)["AttributeName"])
	}
	return fmt.Sprint(names)
}

func TestMediaIsPrivate(t *testing.T) {
	buckets := acme.of("AWS::S3::Bucket")
	if len(buckets) != 2 { // media, and the log of their requests
		t.Fatalf("there are %d buckets", len(buckets))
	}
	for id, r := range buckets {
		p := r.Properties
		for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls",
			"RestrictPublicBuckets"} {
			if p.at("PublicAccessBlockConfiguration", block) != true {
				t.Errorf("%s: %s is off", id, block)
			}
		}
		rules, _ := p.at("BucketEncryption", "ServerSideEncryptionConfiguration").([]any)
		if len(rules) != 1 {
			t.Fatalf("%s is not encrypted", id)
		}
		if logged := p.at("LoggingConfiguration", "DestinationBucketName") != nil; logged == strings.Contains(id,
			"MediaLog") {
			t.Errorf("%s: its requests are logged: %v", id, logged)
		}
		rule := properties(rules[0].(map[string]any))
		if strings.Contains(id, "MediaLog") {
			// S3 cannot write logs under a customer's key.
			if rule.at("ServerSideEncryptionByDefault", "SSEAlgorithm") != "AES256" {
				t.Errorf("%s is not encrypted: %v", id, rule)
			}
		} else if rule.at("ServerSideEncryptionByDefault", "SSEAlgorithm") != "aws:kms" ||
			!holdsKey(rule.at("ServerSideEncryptionByDefault", "KMSMasterKeyID")) {
			t.Errorf("%s is not encrypted with the customer's key: %v", id, rule)
		}
		if p.at("VersioningConfiguration", "Status") != "Enabled" {
			t.Errorf("%s keeps no versions", id)
		}
		if lifecycle, _ := p.at("LifecycleConfiguration", "Rules").([]any); len(lifecycle) == 0 {
			t.Errorf("%s keeps everything for ever", id)
		}
		if r.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s goes with its stack", id)
		}
	}
}

func TestKeysRotate(t *testing.T) {
	for id, r := range acme.of("AWS::KMS::Key") {
		if spec := r.Properties["KeySpec"]; spec == "ECC_NIST_P256" && r.Properties["KeyUsage"] == "SIGN_VERIFY" {
			continue // AWS rotates no asymmetric key
		}
		if r.Properties["EnableKeyRotation"] != true || r.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s: rotation %v, deletion %s", id, r.Properties["EnableKeyRotation"], r.DeletionPolicy)
		}
	}
	if n := len(acme.of("AWS::KMS::Key")); n != 4 {
		t.Errorf("there are %d keys", n)
	}
}

// TestTransportIsEncrypted requires a policy against plain HTTP for every bucket, queue and
// topic.
func TestTransportIsEncrypted(t *testing.T) {
	policies := map[string]string{
		"AWS::S3::Bucket": "AWS::S3::BucketPolicy", "AWS::SQS::Queue": "AWS::SQS::QueuePolicy",
		"AWS::SNS::Topic": "AWS::SNS::TopicPolicy",
	}
	for kind, policy := range policies {
		refused := map[string]bool{}
		for _, r := range acme.of(policy) {
			if !refusesPlain(r.Properties) {
				continue
			}
			text, _ := json.Marshal(r.Properties)
			for id := range acme.of(kind) {
				_, logical, _ := strings.Cut(id, "/")
				if strings.Contains(string(text), `{"Ref":"`+logical+`"}`) {
					refused[id] = true
				}
			}
		}
		for id := range acme.of(kind) {
			if !refused[id] {
				t.Errorf("%s takes plain HTTP", id)
			}
		}
	}
}

func refusesPlain(policy properties) bool {
	statements, _ := policy.at("PolicyDocument", "Statement").([]any)
	for _, statement := range statements {
		s := properties(statement.(map[string]any))
		if s["Effect"] == "Deny" && s.at("Condition", "Bool", "aws:SecureTransport") == "false" {
			return true
		}
	}
	return false
}

func TestLogsAreKeptForAWhileAndEncrypted(t *testing.T) {
	for customer, want := range map[string]float64{"acme": 90, "globex": 365} {
		s := acme
		if customer == "globex" {
			s = globex
		}
		groups := s.of("AWS::Logs::LogGroup")
		for id, r := range groups {
			if r.Properties["RetentionInDays"] != want {
				t.Errorf("%s is kept for %v days, want %v", id, r.Properties["RetentionInDays"], want)
			}
			if !holdsKey(r.Properties["KmsKeyId"]) {
				t.Errorf("%s is not encrypted with the customer's key", id)
			}
		}
		// One group for each function, and one for the gateway's access log.
		if n, want := len(groups), len(s.of("AWS::Lambda::Function"))+1; n != want {
			t.Errorf("%s has %d log groups, want %d", customer, n, want)
		}
	}
}

func TestLocalSystemKeepsNothing(t *testing.T) {
	for id, r := range local.of("AWS::DynamoDB::Table") {
		if r.DeletionPolicy != "Delete" {
			t.Errorf("%s outlives the local system", id)
		}
	}
}

// A setting warms the tables and their indexes. Without it, a table has what AWS gives to a new one.
func TestTablesAreWarmedByASetting(t *testing.T) {
	for name, x := range map[string]struct {
		of   stacks
		want string
	}{"acme": {acme, "<nil>"}, "small": {small, "map[ReadUnitsPerSecond:30000 WriteUnitsPerSecond:10000]"}} {
		places := 0
		for id, r := range x.of.of("AWS::DynamoDB::Table") {
			all := []any{map[string]any(r.Properties)}
			if indexes := r.Properties["GlobalSecondaryIndexes"]; indexes != nil {
				all = append(all, list(indexes)...)
			}
			for _, place := range all {
				places++
				if got := fmt.Sprint(place.(map[string]any)["WarmThroughput"]); got != x.want {
					t.Errorf("%s: %s has %s, want %s", name, id, got, x.want)
				}
			}
		}
		if places != 2+len(store.StateIndexes) {
			t.Errorf("%s has %d tables and indexes", name, places)
		}
	}
}
