package stack_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

const hooliName = "hooli-prod-eu-west-1-"

func TestFunctionsOfADedicatedCustomerAreInItsNetwork(t *testing.T) {
	for id, r := range hooli.of("AWS::Lambda::Function") {
		subnets, groups := list(r.Properties.at("VpcConfig", "SubnetIds")),
			list(r.Properties.at("VpcConfig", "SecurityGroupIds"))
		if len(subnets) != 2 || len(groups) != 1 || !mentions(subnets, "PrivateSubnet1") ||
			!mentions(subnets, "PrivateSubnet2") {
			t.Errorf("%s is in the subnets %v with the groups %v", id, subnets, groups)
		}
	}
	for id, r := range acme.of("AWS::Lambda::Function") {
		if r.Properties["VpcConfig"] != nil {
			t.Errorf("%s of a shared customer is in a network", id)
		}
	}
	if n := len(acme.of("AWS::EC2::VPC")); n != 0 {
		t.Errorf("a shared customer has %d networks", n)
	}
	// Lambda joins the network with the function's role; its code cannot.
	denied := 0
	for _, r := range hooli.of("AWS::IAM::Policy") {
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			s := properties(statement.(map[string]any))
			if s["Effect"] == "Deny" && slices.Contains(list(s["Action"]), any("ec2:CreateNetworkInterface")) &&
				s.at("Condition", "ArnEquals", "lambda:SourceFunctionArn") != nil {
				denied++
			}
		}
	}
	if denied != len(topology.Functions) {
		t.Errorf("%d of %d functions cannot make interfaces themselves", denied, len(topology.Functions))
	}
}

// mentions reports whether a value contains a name.
func mentions(value any, name string) bool {
	text, err := json.Marshal(value)
	return err == nil && strings.Contains(string(text), name)
}

// Receivers permit the addresses of the NAT gateways, so all traffic must leave by them.
func TestEgressIsStatic(t *testing.T) {
	data := hooli[hooliName+"data"]
	addresses := 0
	for id, r := range data.Resources {
		if r.Type != "AWS::EC2::EIP" {
			continue
		}
		addresses++
		if r.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s is lost with the stack", id)
		}
		if !mentions(data.Outputs["EgressAddresses"], id) {
			t.Errorf("the output EgressAddresses is %v, without %s", data.Outputs["EgressAddresses"], id)
		}
	}
	if nats := len(hooli.of("AWS::EC2::NatGateway")); addresses != 2 || nats != 2 {
		t.Errorf("there are %d addresses and %d NAT gateways", addresses, nats)
	}
	outward := map[string]string{}
	for id, r := range hooli.of("AWS::EC2::Route") {
		if r.Properties["DestinationCidrBlock"] != "0.0.0.0/0" {
			t.Errorf("%s leads to %v", id, r.Properties["DestinationCidrBlock"])
		}
		for _, by := range []string{"NatGatewayId", "GatewayId"} {
			if r.Properties[by] != nil {
				outward[id[strings.Index(id, "/")+1:]] = by
			}
		}
	}
	if fmt.Sprint(outward) != "map[PrivateRoute1:NatGatewayId PrivateRoute2:NatGatewayId PublicRoute:GatewayId]" {
		t.Errorf("the routes are %v", outward)
	}
}

func TestSubnetsDoNotOverlap(t *testing.T) {
	network := netip.MustParsePrefix("10.20.0.0/16")
	var blocks []netip.Prefix
	for id, r := range hooli.of("AWS::EC2::Subnet") {
		block := netip.MustParsePrefix(fmt.Sprint(r.Properties["CidrBlock"]))
		if !network.Overlaps(block) || block.Bits() < network.Bits() || r.Properties["MapPublicIpOnLaunch"] != false {
			t.Errorf("%s has %v", id, r.Properties)
		}
		for _, other := range blocks {
			if other.Overlaps(block) {
				t.Errorf("%s of %s overlaps %s", block, id, other)
			}
		}
		blocks = append(blocks, block)
	}
	if len(blocks) != 4 {
		t.Errorf("there are the subnets %v", blocks)
	}
}

func TestCallsOfAWSStayInItsNetwork(t *testing.T) {
	var services []string
	for id, r := range hooli.of("AWS::EC2::VPCEndpoint") {
		name := strings.TrimPrefix(fmt.Sprint(r.Properties["ServiceName"]), "com.amazonaws.eu-west-1.")
		services = append(services, name)
		own := mentions(r.Properties["PolicyDocument"], "aws:PrincipalAccount")
		if want := slices.Contains([]string{"dynamodb", "kms", "secretsmanager"}, name); own != want {
			t.Errorf("%s is for this account alone: %v, want %v", id, own, want)
		}
	}
	slices.Sort(services)
	if want := []string{"bedrock-runtime", "dynamodb", "events", "kms", "s3", "secretsmanager", "sqs",
		"sts"}; !slices.Equal(services, want) {
		t.Errorf("there are endpoints of %v, want %v", services, want)
	}
	for id, r := range hooli.of("AWS::EC2::SecurityGroup") {
		for _, rule := range list(r.Properties["SecurityGroupEgress"]) {
			if p, ok := rule.(map[string]any); ok && (p["FromPort"] != 443. || p["ToPort"] != 443.) &&
				p["CidrIp"] != "255.255.255.255/32" {
				t.Errorf("%s lets out %v", id, p)
			}
		}
		if mentions(r.Properties["SecurityGroupIngress"], "0.0.0.0/0") {
			t.Errorf("%s lets everyone in", id)
		}
	}
	if len(hooli.of("AWS::EC2::FlowLog")) != 1 {
		t.Error("the network has no flow log")
	}
}

func TestAPrivateAPIAnswersItsEndpointsAlone(t *testing.T) {
	for id, r := range private.of("AWS::ApiGateway::RestApi") {
		if !slices.Equal(list(r.Properties.at("EndpointConfiguration", "Types")), []any{"PRIVATE"}) {
			t.Errorf("%s is %v", id, r.Properties["EndpointConfiguration"])
		}
		effects := map[any]any{}
		for _, statement := range list(r.Properties.at("Policy", "Statement")) {
			s := properties(statement.(map[string]any))
			effects[s["Effect"]] = s["Condition"]
		}
		probe, _ := named(t, private[hooliName+"data"], "AWS::EC2::VPCEndpoint", "ProbeEndpoint")
		for effect, operator := range map[string]string{"Allow": "StringEquals", "Deny": "StringNotEquals"} {
			condition, _ := effects[effect].(map[string]any)
			from := list(properties(condition).at(operator, "aws:SourceVpce"))
			if len(effects) != 2 || len(from) != 2 || from[0] != "vpce-0a1b2c3d4e5f67890" || !mentions(from[1], probe) {
				t.Errorf("%s: %s of %v", id, effect, condition)
			}
		}
	}
	for id, r := range acme.of("AWS::ApiGateway::RestApi") {
		if r.Properties["Policy"] != nil || !slices.Equal(list(r.Properties.at("EndpointConfiguration", "Types")),
			[]any{"REGIONAL"}) {
			t.Errorf("%s of a shared customer: %v, %v", id, r.Properties["Policy"],
				r.Properties["EndpointConfiguration"])
		}
	}
	if len(private.of("AWS::WAFv2::WebACLAssociation")) != 2 {
		t.Error("a private API or its pool has no firewall")
	}
}

// The canary calls a private API by an endpoint of its network. The endpoint has no private DNS,
// so calls to other APIs of the region, such as receivers of webhooks, do not use it.
func TestTheCanaryReachesAPrivateAPI(t *testing.T) {
	id, endpoint := named(t, private[hooliName+"data"], "AWS::EC2::VPCEndpoint", "ProbeEndpoint")
	if endpoint["ServiceName"] != "com.amazonaws.eu-west-1.execute-api" || endpoint["PrivateDnsEnabled"] != false ||
		len(list(endpoint["SubnetIds"])) != 2 {
		t.Errorf("the endpoint is %v", endpoint)
	}
	_, rest := named(t, private[hooliName+"api"], "AWS::ApiGateway::RestApi", "Api")
	if !mentions(rest.at("EndpointConfiguration", "VpcEndpointIds"), id) {
		t.Errorf("the API has no name at the endpoint: %v", rest["EndpointConfiguration"])
	}
	if address := private[hooliName+"api"].Outputs["ProbeUrl"]; !mentions(address, id) ||
		!mentions(address, ".execute-api.eu-west-1.") || !mentions(address, "/prod") {
		t.Errorf("the canary calls %v", address)
	}
	_, function := named(t, private[hooliName+"work"], "AWS::Lambda::Function", "CanaryFunction")
	if len(list(function.at("VpcConfig", "SubnetIds"))) != 2 {
		t.Errorf("the canary is in %v", function["VpcConfig"])
	}
	for name, s := range map[string]stacks{"acme": acme, "hooli": hooli} {
		for id := range s.of("AWS::EC2::VPCEndpoint") {
			if strings.Contains(id, "ProbeEndpoint") {
				t.Errorf("%s has a public API, and pays for %s", name, id)
			}
		}
	}
}

// A canary without a target, or one that does not run, raises an alarm, unless it cannot reach
// the API.
func TestASilentCanaryRaisesAnAlarm(t *testing.T) {
	unreached := brief(t.TempDir(),
		map[string]any{"customer": "acme", "customers": map[string]any{"acme": map[string]any{
			"account": "111122223333", "region": "eu-central-1",
			"privateEndpoints": []string{"vpce-0a1b2c3d4e5f67890"}}}})
	for name, c := range map[string]struct {
		stacks stacks
		want   int
	}{"acme": {acme, 1}, "hooli": {hooli, 1}, "private": {private, 1},
		"a private API without a network": {unreached, 0}} {
		found := 0
		for id, r := range c.stacks.of("AWS::CloudWatch::Alarm") {
			if !strings.Contains(id, "ProbesSilent") {
				continue
			}
			found++
			if p := r.Properties; p["TreatMissingData"] != "breaching" || p["Statistic"] != "SampleCount" ||
				p["ComparisonOperator"] != "LessThanThreshold" ||
				p["Threshold"] != 1. || p["EvaluationPeriods"] != 3. || len(list(p["AlarmActions"])) != 1 {
				t.Errorf("%s: %s is %v", name, id, p)
			}
		}
		if found != c.want {
			t.Errorf("%s has %d alarms of a silent canary, want %d", name, found, c.want)
		}
	}
}

func TestADomainHasCertificateRecordAndTruststore(t *testing.T) {
	apiStack := hooli[hooliName+"api"]
	_, domain := named(t, apiStack, "AWS::ApiGateway::DomainName", "ApiDomain")
	if domain["DomainName"] != "api.hooli.example" || domain["SecurityPolicy"] != "TLS_1_2" {
		t.Errorf("the domain is %v", domain)
	}
	if got := fmt.Sprint(domain["MutualTlsAuthentication"]); got != "map[TruststoreUri:s3://hooli-truststore/clients.pem TruststoreVersion:3HL4kqtJvjVBH40Nrjfkd]" {
		t.Errorf("client certificates are checked by %s", got)
	}
	certificate, c := named(t, apiStack, "AWS::CertificateManager::Certificate", "Certificate")
	if !pointsAt(domain["RegionalCertificateArn"], certificate) || !mentions(c["DomainValidationOptions"],
		"Z0123456789ABCDEFGHIJ") {
		t.Errorf("the domain has the certificate %v; the new one is validated by %v", domain["RegionalCertificateArn"],
			c["DomainValidationOptions"])
	}
	if c["KeyAlgorithm"] != "EC_prime256v1" {
		t.Errorf("the certificate has a key of %v", c["KeyAlgorithm"])
	}
	_, record := named(t, apiStack, "AWS::Route53::RecordSet", "DomainRecord")
	if record["Name"] != "api.hooli.example" || record["HostedZoneId"] != "Z0123456789ABCDEFGHIJ" ||
		!mentions(record["AliasTarget"], "RegionalDomainName") {
		t.Errorf("the record is %v", record)
	}
	for id, r := range hooli.of("AWS::ApiGateway::RestApi") {
		// The gateway's default name would require no client certificate.
		if r.Properties["DisableExecuteApiEndpoint"] != true {
			t.Errorf("%s can be called by another name", id)
		}
		// A domain with a truststore accepts no enhanced policy, and uses that of its API.
		if r.Properties["SecurityPolicy"] != "TLS_1_2" || r.Properties["EndpointAccessMode"] != nil {
			t.Errorf("%s has the policy %v and the mode %v", id, r.Properties["SecurityPolicy"],
				r.Properties["EndpointAccessMode"])
		}
	}
	for id, r := range initech.of("AWS::ApiGateway::RestApi") {
		if !mentions(r.Properties["SecurityPolicy"], "SecurityPolicy_TLS13_1_2_") {
			t.Errorf("%s of a domain without client certificates has the policy %v", id, r.Properties["SecurityPolicy"])
		}
	}
	for kind, want := range map[string]int{"AWS::CertificateManager::Certificate": 0, "AWS::Route53::RecordSet": 0,
		"AWS::ApiGateway::DomainName": 1} {
		if got := len(initech.of(kind)); got != want {
			t.Errorf("with a certificate of its own, there are %d %s, want %d", got, kind, want)
		}
	}
}

func TestConcurrencyOfADedicatedCustomer(t *testing.T) {
	areas := hooli[hooliName+"areas"]
	_, content := named(t, areas, "AWS::Lambda::Function", "ContentFunction")
	if content["ReservedConcurrentExecutions"] != 200. {
		t.Errorf("content reserves %v", content["ReservedConcurrentExecutions"])
	}
	targets := hooli.of("AWS::ApplicationAutoScaling::ScalableTarget")
	if len(targets) != 2 {
		t.Errorf("instances of %d functions are scheduled", len(targets))
	}
	_, target := named(t, areas, "AWS::ApplicationAutoScaling::ScalableTarget", "ContentInstances")
	if target["ResourceId"] != "function:hooli-prod-content:live" {
		t.Errorf("the schedule is of %v", target["ResourceId"])
	}
	var actions []string
	for _, action := range list(target["ScheduledActions"]) {
		p := properties(action.(map[string]any))
		actions = append(actions, fmt.Sprint(p["Schedule"], p["Timezone"], p.at("ScalableTargetAction", "MinCapacity"),
			p.at("ScalableTargetAction", "MaxCapacity")))
	}
	if got := strings.Join(actions,
		"; "); got != "cron(0 7 ? * MON-FRI *)Europe/Dublin5 5; cron(30 19 ? * MON-FRI *)Europe/Dublin0 0" {
		t.Errorf("the schedule is %s", got)
	}
}

func TestBackupsAreLockedAndCopied(t *testing.T) {
	data := hooli[hooliName+"data"]
	vaultID, vault := named(t, data, "AWS::Backup::BackupVault", "Vault")
	if got := fmt.Sprint(vault["LockConfiguration"]); got != "map[ChangeableForDays:3 MaxRetentionDays:90 "+
		"MinRetentionDays:90]" || !holdsKey(vault["EncryptionKeyArn"]) ||
		data.Resources[vaultID].DeletionPolicy != "RetainExceptOnCreate" {
		t.Errorf("the vault is %v", vault)
	}
	_, plan := named(t, data, "AWS::Backup::BackupPlan", "BackupPlan")
	rules := list(plan.at("BackupPlan", "BackupPlanRule"))
	if len(rules) != 1 {
		t.Fatalf("the plan has the rules %v", rules)
	}
	rule := properties(rules[0].(map[string]any))
	if !pointsAt(rule["TargetBackupVault"], vaultID) || rule.at("Lifecycle", "DeleteAfterDays") != 90. ||
		fmt.Sprint(rule["CopyActions"]) != "[map[DestinationBackupVaultArn:arn:aws:backup:eu-central-1:666677778888:backup-vault:hooli Lifecycle:map[DeleteAfterDays:90]]]" {
		t.Errorf("the rule is %v", rule)
	}
	_, selection := named(t, data, "AWS::Backup::BackupSelection", "BackupSelection")
	for _, kept := range []struct{ kind, begins string }{{"AWS::DynamoDB::GlobalTable", "State"},
		{"AWS::DynamoDB::GlobalTable", "Audit"}, {"AWS::S3::Bucket", "Media"}} {
		id, _ := named(t, data, kept.kind, kept.begins)
		if kept.begins == "Media" {
			id = "Media"
		}
		if !mentions(selection.at("BackupSelection", "Resources"), id) {
			t.Errorf("%s is not backed up: %v", kept.begins, selection)
		}
	}
	failures := 0
	for _, r := range data.Resources {
		if r.Type == "AWS::CloudWatch::Alarm" && r.Properties["Namespace"] == "AWS/Backup" {
			failures++
		}
	}
	if failures != 2 {
		t.Errorf("%d alarms watch the backups", failures)
	}
	if n := len(acme.of("AWS::Backup::BackupVault")); n != 0 {
		t.Errorf("without the setting, there are %d vaults", n)
	}
}
