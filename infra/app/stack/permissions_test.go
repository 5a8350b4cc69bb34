package stack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/verify/judge/iam"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// list returns a member of a policy, which may be one value or several, as a list.
func list(value any) []any {
	if many, ok := value.([]any); ok {
		return many
	}
	return []any{value}
}

// without are the actions without an ARN.
var without = map[string]bool{
	"xray:PutTelemetryRecords": true, "xray:PutTraceSegments": true,
	"polly:GetSpeechSynthesisTask": true, "polly:StartSpeechSynthesisTask": true, "polly:SynthesizeSpeech": true,
	"bedrock:ListFoundationModels": true,
}

func TestNothingIsPermittedByWildcard(t *testing.T) {
	checked := 0
	for customer, s := range map[string]stacks{"acme": acme, "local": local} {
		for id, r := range s.of("AWS::IAM::Policy") {
			for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
				p := properties(statement.(map[string]any))
				if p["Effect"] != "Allow" {
					continue
				}
				checked++
				var named []string
				for _, action := range list(p["Action"]) {
					name := fmt.Sprint(action)
					if strings.ContainsAny(name, "*?") {
						t.Errorf("%s: %s permits %s", customer, id, name)
					}
					if !without[name] {
						named = append(named, name)
					}
				}
				for _, resource := range list(p["Resource"]) {
					if resource == "*" && len(named) > 0 {
						t.Errorf("%s: %s permits %v on everything", customer, id, named)
					}
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no statement was looked at")
	}
}

func TestEachFunctionHasARoleOfItsOwn(t *testing.T) {
	functions := acme.of("AWS::Lambda::Function")
	if len(functions) != len(topology.Functions) {
		t.Errorf("there are %d functions, want %d", len(functions), len(topology.Functions))
	}
	roles := map[string]string{}
	for id, r := range functions {
		role := fmt.Sprint(r.Properties["Role"])
		if other, ok := roles[role]; ok {
			t.Errorf("%s and %s share a role", id, other)
		}
		roles[role] = id
	}
	for id, r := range acme.of("AWS::IAM::Role") {
		for _, policy := range list(r.Properties["ManagedPolicyArns"]) {
			// AWS prescribes the gateway's own policy for the whole account.
			if text := fmt.Sprint(policy); policy != nil &&
				!strings.Contains(text, "AmazonAPIGatewayPushToCloudWatchLogs") {
				t.Errorf("%s has the managed policy %s", id, text)
			}
		}
	}
}

func TestWhatAFunctionMayDoIsWhatItIsTold(t *testing.T) {
	variables := map[string]map[string]any{}
	for id, r := range acme.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(fmt.Sprint(r.Properties["FunctionName"]), "acme-prod-")
		env, _ := r.Properties.at("Environment", "Variables").(map[string]any)
		variables[name] = env
		if env["STAGE"] != "prod" || env["CUSTOMER"] != "acme" || env["LOG_LEVEL"] != "info" {
			t.Errorf("%s has the environment %v", id, env)
		}
		if r.Properties["Runtime"] != "provided.al2023" || fmt.Sprint(r.Properties["Architectures"]) != "[arm64]" {
			t.Errorf("%s runs on %v, %v", id, r.Properties["Runtime"], r.Properties["Architectures"])
		}
		if r.Properties.at("TracingConfig", "Mode") != "Active" {
			t.Errorf("%s is not traced", id)
		}
	}
	for _, f := range topology.Functions {
		env := variables[f.Name]
		for name, want := range map[string]bool{
			"TABLE_NAME": f.State != nil, "AUDIT_TABLE_NAME": f.Audit != nil, "MEDIA_BUCKET": f.Media != topology.None,
			"BUS_NAME": f.May(topology.PublishEvents), "DELIVER_ROLE_ARN": f.May(topology.NameDeliverRole),
			"ALLOW_LOOPBACK_WEBHOOKS": f.May(topology.ReachAddresses),
			"SECRETS_KEY_ARN":         f.May(topology.SealSecrets, topology.OpenSecrets, topology.CallPlatforms),
			"PLATFORM_SECRET":         f.May(topology.CallPlatforms), "PLATFORM_ENDPOINT": false,
			"YOUTUBE_DAILY_UPLOADS": false, "X_DAILY_CENTS": false, "PLATFORMS": false, "SEAL_SECRET_ARN": f.Trigger == topology.ByRotation ||
				f.Trigger == topology.ByGateway && f.Audit != nil || f.May(topology.OpenClaims, topology.SignPeopleIn),
			"PROVIDERS": f.May(topology.KnowProviders), "PROVIDER_SECRET": f.May(topology.CallProviders),
			"PROVIDER_ENDPOINT": false,
			"FFMPEG_PATH":       f.May(topology.RunFFmpeg, topology.DecodePictures), "FONTS_PATH": f.May(topology.RunFFmpeg),
		} {
			if _, ok := env[name]; ok != want {
				t.Errorf("%s: %s is set: %v, want %v", f.Name, name, ok, want)
			}
		}
		if allowed := env["ALLOW_LOOPBACK_WEBHOOKS"]; f.May(topology.ReachAddresses) && allowed != "false" {
			t.Errorf("%s sends webhooks to the loopback address: %v", f.Name, allowed)
		}
		for _, queue := range f.QueueAddresses() {
			if env[queue.EnvName()] == nil {
				t.Errorf("%s does not know the queue %s", f.Name, queue)
			}
		}
	}
	for _, r := range local.of("AWS::Lambda::Function") {
		if allowed := r.Properties.at("Environment", "Variables", "ALLOW_LOOPBACK_WEBHOOKS"); allowed != nil &&
			allowed != "true" {
			t.Errorf("the local system refuses webhooks to this machine: %v", allowed)
		}
	}
}

// Inputs and uploads of callers go into separate folders, which are emptied.
func TestOnlyInputsAndUploadsArePut(t *testing.T) {
	for function, folder := range map[string]string{"Studio": "/inputs/*", "Media": "/uploads/*"} {
		found := false
		for policy, r := range acme.of("AWS::IAM::Policy") {
			for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
				p := properties(statement.(map[string]any))
				if !strings.Contains(policy, "/"+function+"Role") || !strings.Contains(fmt.Sprint(p["Action"]),
					"s3:PutObject") {
					continue
				}
				if found = true; !strings.Contains(fmt.Sprint(p["Resource"]), folder) {
					t.Errorf("%s may put %v", function, p["Resource"])
				}
			}
		}
		if !found {
			t.Errorf("%s may put nothing", function)
		}
	}
	for id, r := range acme.of("AWS::S3::Bucket") {
		if strings.Contains(id, "/MediaLog") {
			continue // The bucket of access logs.
		}
		emptied := map[any]any{}
		for _, rule := range list(r.Properties.at("LifecycleConfiguration", "Rules")) {
			of := properties(rule.(map[string]any))
			emptied[of["Prefix"]] = of["ExpirationInDays"]
			// What media cost after a year follows from this: infra/measure/prices.go.
			if of["Prefix"] == nil {
				to := properties(list(of["Transitions"])[0].(map[string]any))
				if of["ExpiredObjectDeleteMarker"] != true || to["StorageClass"] != "INTELLIGENT_TIERING" ||
					to["TransitionInDays"] != float64(customer.TierAfterDays) {
					t.Errorf("media that stay have the rule %v", of)
				}
			}
		}
		if emptied["inputs/"] != 2. || emptied["uploads/"] != 1. {
			t.Errorf("folders are emptied after days: %v", emptied)
		}
	}
}

// TestRolesOfCustomers checks the name of the role that assumes customers' roles for webhooks
// into their accounts, and that the API shows this name to customers.
func TestRolesOfCustomers(t *testing.T) {
	for customer, c := range map[string]struct {
		stacks stacks
		role   string
	}{
		"acme":  {acme, "acme-prod-eu-central-1-deliver"},
		"local": {local, "local-local-us-west-2-deliver"},
	} {
		named := map[string]string{} // by the role's logical id
		for id, r := range c.stacks.of("AWS::IAM::Role") {
			if name := r.Properties["RoleName"]; name != nil {
				named[id[strings.LastIndex(id, "/")+1:]] = fmt.Sprint(name)
			}
		}
		if len(named) != 1 {
			t.Errorf("%s: the roles %v have names", customer, named)
		}
		may := 0
		for id, r := range c.stacks.of("AWS::IAM::Policy") {
			for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
				p := properties(statement.(map[string]any))
				if !strings.Contains(fmt.Sprint(p["Action"]), "sts:") {
					continue
				}
				may++
				roles := list(r.Properties["Roles"])
				role, _ := roles[0].(map[string]any)["Ref"].(string)
				if p["Action"] != "sts:AssumeRole" || p["Resource"] != "arn:aws:iam::*:role/content-automation-*" ||
					len(roles) != 1 || named[role] != c.role {
					t.Errorf("%s: %s permits %v of %v to %v", customer, id, p["Action"], p["Resource"], roles)
				}
			}
		}
		if may != 1 {
			t.Errorf("%s: %d statements permit to assume roles", customer, may)
		}
		for _, r := range c.stacks.of("AWS::Lambda::Function") {
			if told := r.Properties.at("Environment", "Variables", "DELIVER_ROLE_ARN"); told != nil {
				if text := fmt.Sprint(told); !strings.Contains(text, "arn:aws:iam::") ||
					!strings.Contains(text, ":role/"+c.role) {
					t.Errorf("%s: customers are told of %s", customer, text)
				}
			}
		}
	}
}

// No function may change or remove entries of the audit log; some append entries.
func TestTheAuditLogIsAppendOnly(t *testing.T) {
	puts := 0
	for id, r := range acme.of("AWS::IAM::Policy") {
		for _, statement := range list(r.Properties.at("PolicyDocument", "Statement")) {
			p := properties(statement.(map[string]any))
			if !strings.Contains(fmt.Sprint(p["Resource"]), "Audit") || p["Effect"] != "Allow" {
				continue
			}
			for _, action := range list(p["Action"]) {
				switch action {
				case "dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query",
					"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator",
					"dynamodb:ListStreams":
				case "dynamodb:PutItem":
					puts++
				default:
					t.Errorf("%s permits %v on the audit log", id, action)
				}
			}
		}
	}
	if puts < 5 {
		t.Errorf("%d functions append entries", puts)
	}
}

// TestActionsAreOfIAM holds the policies of all stacks against what IAM's own list says, which the judges ask.
func TestActionsAreOfIAM(t *testing.T) {
	levels := iam.Levels()
	for _, s := range []stacks{acme, globex, initech, hooli, failover, private, small} {
		for name, template := range s {
			if err := iam.Check([]byte(template.text), levels); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
