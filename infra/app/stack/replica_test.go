package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

const (
	standbyName = "hooli-prod-eu-central-1-"
	secretsKey  = "arn:aws:kms:eu-west-1:555566667777:key/mrk-1234abcd12ab34cd56ef1234567890ab"
	stateStream = "arn:aws:dynamodb:eu-central-1:555566667777:table/hooli-prod-state/stream/2026-11-22T00:00:00.000"
	found       = `{"secretsKey": "` + secretsKey + `", "stateStream": "` + stateStream + `",
		"auditStream": "arn:aws:dynamodb:eu-central-1:555566667777:table/hooli-prod-audit/stream/2026-11-22T00:00:00.000",
		"secrets": {"seal": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/seal-AbCdEf",
			"provider": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/provider-AbCdEf",
			"platform": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/platform-AbCdEf",
			"canary": "arn:aws:secretsmanager:eu-central-1:555566667777:secret:hooli/prod/canary-AbCdEf"}}`
	standbyAlias = "kms:eu-central-1:555566667777:alias/hooli-prod"
)

func TestTablesHaveReplicas(t *testing.T) {
	tables := hooli.of("AWS::DynamoDB::GlobalTable")
	if len(tables) != 2 || len(hooli.of("AWS::DynamoDB::Table")) != 0 {
		t.Fatalf("there are %d global tables", len(tables))
	}
	for id, r := range tables {
		if r.Properties.at("StreamSpecification", "StreamViewType") != "NEW_AND_OLD_IMAGES" ||
			r.DeletionPolicy != "RetainExceptOnCreate" ||
			r.Properties.at("TimeToLiveSpecification", "AttributeName") != "ttl" ||
			r.Properties["BillingMode"] != "PAY_PER_REQUEST" {
			t.Errorf("%s is %v", id, r.Properties)
		}
		if want := len(list(acmeTable(t, strings.Contains(id, "State"))["GlobalSecondaryIndexes"])); len(
			list(r.Properties["GlobalSecondaryIndexes"])) != want {
			t.Errorf("%s has the indexes %v", id, r.Properties["GlobalSecondaryIndexes"])
		}
		regions := map[any]bool{}
		for _, replica := range list(r.Properties["Replicas"]) {
			p := properties(replica.(map[string]any))
			regions[p["Region"]] = true
			if p.at("PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
				t.Errorf("%s: the replica in %v can be lost: %v", id, p["Region"], p)
			}
			if key := p.at("SSESpecification", "KMSMasterKeyId"); p["Region"] == "eu-central-1" &&
				!mentions(key, standbyAlias) || p["Region"] == "eu-west-1" && !holdsKey(key) {
				t.Errorf("%s: the replica in %v is encrypted with %v", id, p["Region"], key)
			}
		}
		if !regions["eu-west-1"] || !regions["eu-central-1"] || len(regions) != 2 {
			t.Errorf("%s is in %v", id, regions)
		}
	}
}

// acmeTable returns the properties of a table of a customer without a replica.
func acmeTable(t *testing.T, state bool) properties {
	t.Helper()
	_, p := named(t, acme["acme-prod-eu-central-1-data"], "AWS::DynamoDB::Table",
		map[bool]string{true: "State", false: "Audit"}[state])
	return p
}

func TestFilesAndSecretsAreCopied(t *testing.T) {
	data := hooli[hooliName+"data"]
	_, bucket := named(t, data, "AWS::S3::Bucket", "Media")
	for id, r := range data.Resources {
		if r.Type == "AWS::S3::Bucket" && !strings.HasPrefix(id, "MediaLog") {
			bucket = r.Properties
		}
	}
	rules := list(bucket.at("ReplicationConfiguration", "Rules"))
	if len(rules) != 1 {
		t.Fatalf("files are copied by %v", bucket["ReplicationConfiguration"])
	}
	rule := properties(rules[0].(map[string]any))
	_, there := named(t, standby[standbyName+"data"], "AWS::S3::Bucket", "Media")
	for id, r := range standby[standbyName+"data"].Resources {
		if r.Type == "AWS::S3::Bucket" && !strings.HasPrefix(id, "MediaLog") {
			there = r.Properties
		}
	}
	if rule["Status"] != "Enabled" || fmt.Sprint(rule.at("Destination", "Bucket")) != "arn:aws:s3:::"+
		fmt.Sprint(there["BucketName"]) ||
		rule.at("SourceSelectionCriteria", "SseKmsEncryptedObjects", "Status") != "Enabled" ||
		!mentions(rule.at("Destination", "EncryptionConfiguration", "ReplicaKmsKeyID"), standbyAlias) {
		t.Errorf("files are copied by %v into %v", rule, there["BucketName"])
	}
	if there.at("VersioningConfiguration", "Status") != "Enabled" || !mentions(there["BucketEncryption"], "aws:kms") {
		t.Errorf("the bucket of the copies is %v", there)
	}
	secrets := hooli.of("AWS::SecretsManager::Secret")
	for id, r := range secrets {
		replicas := list(r.Properties["ReplicaRegions"])
		if len(replicas) != 1 || !mentions(replicas, "eu-central-1") || !mentions(replicas, standbyAlias) {
			t.Errorf("%s is copied to %v", id, replicas)
		}
	}
	if len(secrets) != len(customer.SharedSecrets) {
		t.Errorf("there are %d secrets", len(secrets))
	}
	var watched []string
	for _, r := range data.Resources {
		if r.Type == "AWS::CloudWatch::Alarm" && mentions(r.Properties["AlarmDescription"], "a-replica-is-behind") {
			watched = append(watched, fmt.Sprint(r.Properties["MetricName"]))
		}
	}
	slices.Sort(watched)
	if got := strings.Join(watched, " "); got != "OperationsFailedReplication ReplicationLatency ReplicationLatency" {
		t.Errorf("alarms watch %s", got)
	}
}

// Secrets sealed in one region can be opened in the other: both keys have the same material.
func TestTheKeyOfSecretsIsInBothRegions(t *testing.T) {
	_, primary := named(t, hooli[hooliName+"data"], "AWS::KMS::Key", "SecretsKey")
	_, replica := named(t, standby[standbyName+"data"], "AWS::KMS::ReplicaKey", "SecretsKey")
	if primary["MultiRegion"] != true || replica["PrimaryKeyArn"] != secretsKey {
		t.Errorf("the key is %v, and its replica %v", primary["MultiRegion"], replica["PrimaryKeyArn"])
	}
	for id, r := range acme.of("AWS::KMS::Key") {
		if r.Properties["MultiRegion"] != nil {
			t.Errorf("%s of a customer without a replica is of several regions", id)
		}
	}
	if n := len(private.of("AWS::KMS::ReplicaKey")); n != 0 {
		t.Errorf("before the key is there, it has %d replicas", n)
	}
}

// After the loss of the region, the functions use the replicas. The stacks make no resource that
// stores data.
func TestTheServiceRunsOnTheReplicas(t *testing.T) {
	for _, kind := range []string{"AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret"} {
		for id := range failover.of(kind) {
			t.Errorf("%s is made again", id)
		}
	}
	if len(failover) != 4 || len(failover.of("AWS::Lambda::Function")) != len(hooli.of("AWS::Lambda::Function")) {
		t.Errorf("there are the stacks %d, and %d functions", len(failover), len(failover.of("AWS::Lambda::Function")))
	}
	starts := map[string]string{}
	for id, r := range failover.of("AWS::Lambda::EventSourceMapping") {
		if text := fmt.Sprint(r.Properties["EventSourceArn"]); strings.Contains(text, "/stream/") {
			starts[id[strings.Index(id, "/")+1:][:5]] = fmt.Sprint(r.Properties["StartingPosition"])
			if !strings.Contains(text, "eu-central-1") {
				t.Errorf("%s reads %s", id, text)
			}
		}
	}
	if got := fmt.Sprint(starts); got != "map[Level:TRIM_HORIZON Relay:LATEST]" {
		t.Errorf("the streams are read from %s", got)
	}
	_, content := named(t, failover[standbyName+"areas"], "AWS::Lambda::Function", "ContentFunction")
	if content.at("Environment", "Variables", "TABLE_NAME") != "hooli-prod-state" ||
		!mentions(content.at("Environment", "Variables", "SEAL_SECRET_ARN"), "secret:hooli/prod/seal-AbCdEf") {
		t.Errorf("content has %v", content["Environment"])
	}
	// The stack of the data does not change after the loss, except for the values now known.
	for id, r := range standby.of("AWS::KMS::Key") {
		if after, ok := failover.of("AWS::KMS::Key")[id]; !ok || fmt.Sprint(after) != fmt.Sprint(r) {
			t.Errorf("%s is replaced", id)
		}
	}
	for kind := range map[string]bool{"AWS::S3::Bucket": true, "AWS::EC2::EIP": true, "AWS::KMS::ReplicaKey": true} {
		before, after := standby.of(kind), failover.of(kind)
		if len(before) == 0 || len(before) != len(after) {
			t.Errorf("there are %d of %s, and then %d", len(before), kind, len(after))
		}
	}
}

// Before a failover, the replica's region has no functions. Its network has only free resources,
// and the addresses that receivers permit. The failover makes the rest.
func TestTheNetworkOfTheReplicaWaits(t *testing.T) {
	interfaces := func(s stacks) (n int) {
		for _, r := range s.of("AWS::EC2::VPCEndpoint") {
			if r.Properties["VpcEndpointType"] == "Interface" {
				n++
			}
		}
		return n
	}
	if nats, n := len(standby.of("AWS::EC2::NatGateway")), interfaces(standby); nats != 0 || n != 0 {
		t.Errorf("while nothing runs there, %d NAT gateways and %d interface endpoints are paid for", nats, n)
	}
	if nats, n := len(failover.of("AWS::EC2::NatGateway")), interfaces(failover); nats != 2 ||
		n != interfaces(hooli) || n == 0 {
		t.Errorf("after a failover there are %d NAT gateways and %d interface endpoints", nats, n)
	}
	for id, r := range failover.of("AWS::EC2::NatGateway") {
		if !mentions(r.Properties["AllocationId"], "Address") || !mentions(r.Properties["SubnetId"], "PublicSubnet") {
			t.Errorf("%s is %v", id, r.Properties)
		}
	}
	for _, kind := range []string{
		"AWS::EC2::VPC", "AWS::EC2::EIP", "AWS::EC2::Subnet", "AWS::EC2::RouteTable",
		"AWS::EC2::SubnetRouteTableAssociation", "AWS::EC2::InternetGateway", "AWS::EC2::FlowLog",
	} {
		before, after := standby.of(kind), failover.of(kind)
		if len(before) == 0 || fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("a failover changes %s from\n%v\nto\n%v", kind, before, after)
		}
	}
	if !mentions(standby[standbyName+"data"].Outputs["EgressAddresses"], "Address2") {
		t.Error("the addresses are not known before the failover")
	}
}

func TestTheReplicaMustBeKnown(t *testing.T) {
	s := customer.Settings{Customer: "hooli", Home: "eu-west-1", Region: "eu-central-1",
		Isolation: customer.Isolation{Replica: &customer.Replica{Region: "eu-central-1"}}}
	if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "`make deploy`") {
		t.Errorf("without what was found: %v", err)
	}
}
