package orchestrator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/orchestrator"
)

func TestTheStackOfTheOperators(t *testing.T) {
	defer jsii.Close()
	o, err := orchestrator.Read(func(string) any {
		return map[string]any{"account": "999988887777", "organization": "o-1a2b3c4d5e"}
	})
	if err != nil {
		t.Fatal(err)
	}
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
	orchestrator.Add(app, o, "eu-central-1")
	app.Synth(nil)
	text, err := os.ReadFile(filepath.Join(*app.Outdir(), orchestrator.StackName("eu-central-1")+".template.json"))
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &template)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range template.Resources {
		raw, _ := json.Marshal(r.Properties) // which was JSON
		found[r.Type] += string(raw)
	}
	for kind, wants := range map[string][]string{
		"AWS::DynamoDB::Table": {`"TableName":"content-automation-cells"`, `"PointInTimeRecoveryEnabled":true`},
		"AWS::S3::Bucket": {`"BucketName":"content-automation-releases-999988887777-eu-central-1"`,
			`"RestrictPublicBuckets":true`},
		"AWS::S3::BucketPolicy":            {`"aws:PrincipalOrgID":"o-1a2b3c4d5e"`, `"s3:GetObject"`},
		"AWS::StepFunctions::StateMachine": {`DISTRIBUTED`, `executeChangeSet`, `content-automation-cells`},
		"AWS::IAM::Role":                   {`"aws:SourceAccount":"999988887777"`},
		"AWS::IAM::Policy":                 {`arn:aws:iam::*:role/deploy`, `states:StartExecution`, `/waves/*`},
	} {
		for _, want := range wants {
			if !strings.Contains(found[kind], want) {
				t.Errorf("%s has no %s: %s", kind, want, found[kind])
			}
		}
	}
	// The orchestrator does nothing in the accounts of cells but by their role, and reads no code.
	for _, action := range []string{"cloudformation:", "iam:PassRole", `"*"`, "s3:PutObject"} {
		if strings.Contains(found["AWS::IAM::Policy"], action) {
			t.Errorf("the orchestrator may %s: %s", action, found["AWS::IAM::Policy"])
		}
	}
}

func TestSettingsOfTheOperators(t *testing.T) {
	for says, value := range map[string]any{"operators.account": nil,
		"operators.organization": map[string]any{"account": "999988887777", "organization": "acme"}} {
		if _, err := orchestrator.Read(func(string) any { return value }); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", value, err)
		}
	}
}
