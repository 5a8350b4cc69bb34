package stack_test

import (
	"strings"
	"testing"
)

// limits are the greatest lengths that AWS accepts for names in templates, by type and property.
var limits = map[string]map[string]int{
	"AWS::ApiGateway::Authorizer":     {"Name": 128},
	"AWS::ApiGateway::RestApi":        {"Name": 1024},
	"AWS::Backup::BackupPlan":         {"BackupPlan.BackupPlanName": 50},
	"AWS::Backup::BackupVault":        {"BackupVaultName": 50},
	"AWS::CloudWatch::CompositeAlarm": {"AlarmName": 255},
	"AWS::CloudWatch::Dashboard":      {"DashboardName": 255},
	"AWS::Cognito::UserPool":          {"UserPoolName": 128},
	"AWS::Cognito::UserPoolDomain":    {"Domain": 63},
	"AWS::DynamoDB::GlobalTable":      {"TableName": 255},
	"AWS::Events::EventBus":           {"Name": 256},
	"AWS::IAM::Role":                  {"RoleName": 64},
	"AWS::KMS::Alias":                 {"AliasName": 256},
	"AWS::Lambda::Function":           {"FunctionName": 64},
	"AWS::Lambda::Permission":         {"FunctionName": 140},
	"AWS::S3::Bucket":                 {"BucketName": 63},
	"AWS::SecretsManager::Secret":     {"Name": 512},
	"AWS::XRay::SamplingRule":         {"SamplingRule.RuleName": 32, "SamplingRule.ServiceName": 64},
}

// AWS accepts all names of a customer with the longest name that the settings permit.
func TestNamesOfTheLongestCustomer(t *testing.T) {
	name := strings.Repeat("n", 24)
	s := brief(t.TempDir(), map[string]any{"customer": name, "customers": map[string]any{name: map[string]any{
		"account": "777788889999", "region": "eu-west-1", "backup": map[string]any{"keepDays": 30},
		"replica": map[string]any{"region": "ap-southeast-1"},
	}}})
	checked := 0
	for stack, in := range s {
		if len(stack) > 128 {
			t.Errorf("the name of the stack %s is too long", stack)
		}
		for id, r := range in.Resources {
			for property, most := range limits[r.Type] {
				value, given := r.Properties.at(strings.Split(property, ".")...).(string)
				if given {
					checked++
				}
				if len(value) > most {
					t.Errorf("%s of %s is %s: %d characters, and AWS takes %d", property, id, value, len(value), most)
				}
			}
			for property, value := range r.Properties {
				if text, _ := value.(string); strings.HasSuffix(property, "Name") && strings.Contains(text, name) &&
					limits[r.Type] == nil {
					t.Errorf("%s.%s of %s is made of the customer's name, and its limit is not known: %s", r.Type,
						property, id, text)
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d names were checked", checked)
	}
}
